import { leaseMs, stepNameOf } from '../domain/job.ts'
import type { Message } from '../domain/message.ts'
import { isChecking, type Run } from '../domain/schedule.ts'
import { type Head, stateOf } from '../domain/session.ts'
import { proactiveDefaults } from '../domain/tick.ts'
import type { HandedJob } from '../engine/job-claims.ts'
import type { Loaded } from '../engine/load.ts'
import { nameOfMaker } from '../engine/prompts.ts'
import { nextTimes, type Preview, type Why } from '../engine/runs.ts'
import type { SessionView } from '../engine/sessions.ts'
import type { Agent, Person } from '../engine/store.ts'
import type { Beat, Claimed } from '../engine/turns.ts'
import type { QueueGrant } from '../ports/world.ts'
import { cronEquivalent, formatInstant, inWords, type Occurrence, shown } from '../time/index.ts'

/** How what is stored goes out: instants in ISO 8601 UTC with milliseconds, absence as null. */

const instant = (at: number | null): string | null => (at === null ? null : formatInstant(at))

export function schedule(loaded: Loaded) {
  const { definition: d, cursor, head, maker } = loaded
  const c = cursor.item
  const { spec } = d
  return {
    id: d.id,
    kind: d.kind,
    name: d.name,
    status: c.status,
    endedReason: c.status === 'ended' ? c.reason : null,
    pausedReason: c.status === 'paused' ? c.reason : null,
    agent: d.agent,
    session: head?.item.session ?? null,
    prompt: d.prompt,
    flow: d.flow ?? null,
    at: spec.kind === 'at' || spec.kind === 'every' ? spec.at : null,
    every: d.every,
    cron: spec.kind === 'cron' ? spec.cron : null,
    rrule: spec.kind === 'rrule' ? spec.rrule : null,
    dtstart: spec.kind === 'rrule' ? spec.dtstart : null,
    tz: spec.tz,
    channel: d.channel,
    note: d.note,
    deliver: d.deliver ?? [],
    check: d.check ?? null,
    misfire: d.misfire,
    overlap: d.overlap,
    onUnknown: d.onUnknown,
    jitter: d.jitter,
    until: instant(d.until),
    maxRuns: d.maxRuns,
    pauseAfterFailures: d.pauseAfterFailures,
    createdBy: d.createdBy,
    createdIn: maker?.session ?? null,
    createdAt: formatInstant(d.createdAt),
    editedAt: formatInstant(d.editedAt),
    nextAt: instant(c.nextAt),
    next: nextTimes(loaded, 3).map((o) => shown(o, spec.tz)),
    inWords: inWords(spec),
    cronEquivalent: cronEquivalent(spec),
    waitingFor: c.held === null || isChecking(c.held) ? null : `waiting until you write in ${nameOfMaker(loaded)}`,
    counts: c.counts,
  }
}

export function run(r: Run) {
  return {
    id: r.id,
    schedule: r.schedule,
    trigger: r.trigger,
    nominalAt: formatInstant(r.nominalAt),
    missedFrom: instant(r.missedFrom),
    missed: r.missed,
    at: formatInstant(r.at),
    outcome: r.outcome,
    reason: r.reason,
    result: r.result,
    message: r.message,
    turn: r.turn,
    session: r.session,
    trace: r.trace ?? null,
    flowRun: r.flowRun ?? null,
    endedAt: instant(r.endedAt),
  }
}

export function preview(p: Preview) {
  return {
    next: p.next.map((o: Occurrence) => shown(o, p.spec.tz)),
    inWords: inWords(p.spec),
    cronEquivalent: cronEquivalent(p.spec),
    notes: p.notes,
    refusal: p.refusal === null ? null : { code: p.refusal.code, detail: p.refusal.detail },
    tz: p.spec.tz,
  }
}

export function why(w: Why) {
  const { cursor, definition } = w.loaded
  return {
    schedule: definition.id,
    status: cursor.item.status,
    reason: cursor.item.reason,
    last: w.last.map(run),
    next: w.next.map((o) => shown(o, definition.spec.tz)),
    holds: w.holds,
  }
}

export function message(m: Message) {
  return {
    id: m.id,
    kind: m.kind,
    text: m.text,
    origin: m.origin,
    automated: m.automated,
    status: m.status,
    replyTo: m.replyTo,
    at: formatInstant(m.at),
  }
}

export function session(view: SessionView) {
  const { row, head, scheduled } = view
  const past = row.compactedInto !== null
  const badges: readonly 'scheduled'[] = view.firesHere || (!past && head.scheduledFired) ? ['scheduled'] : []
  return {
    id: row.id,
    agent: row.agent,
    title: past ? row.title : head.title,
    main: head.main,
    parent: head.parent,
    forkedFrom: head.forkedFrom,
    project: head.project,
    mode: head.mode,
    permission: head.permission,
    state: past ? 'archived' : stateOf(head),
    paused: head.paused,
    compacting: past ? false : head.compacting,
    compactedInto: row.compactedInto,
    waiting: view.waiting,
    goal: head.goal,
    pendingRequests: head.pendingRequests,
    scheduled: { count: scheduled.count, nextAt: instant(scheduled.nextAt) },
    badges,
    workerConnected: head.workerConnected,
    checks: head.checks,
    left: head.left,
    turn: past ? null : runningTurn(head),
    createdAt: formatInstant(row.createdAt),
    archivedAt: instant(head.archivedAt),
  }
}

const runningTurn = ({ turn }: Head) =>
  turn === null
    ? null
    : {
        id: turn.id,
        message: turn.message,
        kind: turn.kind,
        startedAt: formatInstant(turn.startedAt),
        leaseUntil: formatInstant(turn.leaseUntil),
        cancelled: turn.cancelled !== null,
      }

export function claimed(c: Claimed) {
  return {
    turn: c.turn === null ? null : { ...c.turn, leaseUntil: formatInstant(c.turn.leaseUntil) },
    message: message(c.message),
    notes: c.notes.map(message),
  }
}

export function job({ job: j, key }: HandedJob) {
  const work: { readonly script?: string; readonly tool?: string | null } =
    j.script === null ? { tool: j.tool } : { script: j.script }
  return {
    job: {
      id: j.id,
      kind: j.kind,
      agent: j.agent,
      session: j.session,
      schedule: j.schedule,
      ...work,
      args: j.args,
      ...(j.flow == null ? {} : { idempotencyKey: stepNameOf(j.flow.run, j.flow.step) }),
      timeoutSeconds: j.timeoutSeconds,
      leaseUntil: formatInstant(j.takenAt! + leaseMs(j)),
      ...(key === null ? {} : { key }),
    },
  }
}

export const beat = (b: Beat) => ({
  leaseUntil: formatInstant(b.leaseUntil),
  cancelled: b.cancelled,
  steer: b.steer.map(message),
})

export function agent(a: Agent) {
  return {
    id: a.id,
    name: a.name,
    owner: a.owner,
    team: a.team,
    sharedWith: a.sharedWith,
    project: a.project,
    proactive: { ...proactiveDefaults, ...a.proactive },
    autoApprove: a.autoApprove,
    budget: a.budget,
    mainSession: a.mainSession,
    workerConnected: a.workerConnected,
    createdAt: formatInstant(a.createdAt),
  }
}

export const person = (p: Person, key: string) => ({ id: p.id, name: p.name, tz: p.tz, admin: p.admin, key })

export const grant = (grant: QueueGrant | null) =>
  grant === null
    ? null
    : {
        url: grant.url,
        region: grant.region,
        endpoint: grant.endpoint,
        credentials: {
          accessKeyId: grant.accessKeyId,
          secretAccessKey: grant.secretAccessKey,
          sessionToken: grant.sessionToken,
        },
        expiresAt: formatInstant(grant.expiresAt),
      }
