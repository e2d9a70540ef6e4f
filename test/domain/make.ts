import type { Seat } from '../../shared/domain/admit.ts'
import { type Advance, armed, type DueDecision, decideDue, nextFrom } from '../../shared/domain/due.ts'
import { type Cursor, type Definition, noCounts, type OpenRun } from '../../shared/domain/schedule.ts'
import type { Head, RunningTurn } from '../../shared/domain/session.ts'
import { compile, parseSpec, type SpecInput } from '../../shared/time/index.ts'

/** Plain values for the decisions: nothing here is a stand-in for anything. */

export const t = (iso: string): number => Date.parse(iso)
export const minute = 60_000
export const hour = 60 * minute
export const created = t('2026-03-01T00:00:00Z')

export const schedule = 'sch_01JSCHEDULE0000000000000AA'
export const agent = 'agt_01JAGENT0000000000000000AA'
export const ann = 'per_01JANN0000000000000000000A'
export const conv = '01JCONV00000000000000000AA'
export const session = `ses_${conv}`

export const openSeat: Seat = {
  agentDeleted: false,
  conversation: 'open',
  makerConversation: 'open',
  left: false,
  disconnected: false,
  uncheckable: false,
  agentSessions: true,
  promptsSpent: false,
  short: null,
}

export function definitionOf(time: SpecInput, over: Partial<Definition> = {}): Definition {
  return {
    id: schedule,
    gen: 1,
    kind: 'prompt',
    name: 'Nightly review',
    agent,
    conv,
    prompt: 'Review what changed.',
    spec: parseSpec(time, created),
    every: time.every ?? null,
    jitter: null,
    jitterMs: 0,
    channel: null,
    note: null,
    misfire: 'once',
    misfireWithinMs: null,
    overlap: 'buffer',
    onUnknown: 'leave',
    until: null,
    maxRuns: null,
    pauseAfterFailures: null,
    createdBy: ann,
    makerAgent: null,
    makerConv: null,
    makerTitle: null,
    reach: { hops: 0, depth: 0 },
    createdAt: created,
    editedAt: created,
    ...over,
  }
}

/** The cursor as creation leaves it: armed for the first time after `from`. */
export function cursorOf(definition: Definition, over: Partial<Cursor> = {}, from = created): Cursor {
  const recurrence = compile(definition.spec)
  const blank: Cursor = {
    id: definition.id,
    gen: definition.gen,
    status: 'active',
    reason: null,
    agent: definition.agent,
    conv: definition.conv,
    createdBy: definition.createdBy,
    makerAgent: definition.makerAgent,
    makerConv: definition.makerConv,
    nextAt: null,
    dueAt: null,
    covered: null,
    held: null,
    incident: false,
    serial: definition.overlap !== 'allow',
    open: [],
    fires: 0,
    failures: 0,
    checkFailures: 0,
    counts: noCounts,
    backfill: [],
    deleted: false,
  }
  return { ...armed(blank, definition, recurrence, nextFrom(definition, recurrence, from)), ...over }
}

export const waitingRun = (row = 'R#0000000001'): OpenRun => ({ row, gen: 1, at: created, session, turn: null })
export const runningRun = (row = 'R#0000000002', turn = 'trn_01JTURN00000000000000000AA'): OpenRun => ({
  ...waitingRun(row),
  turn,
})

export function decide(
  definition: Definition,
  now: number,
  o: { readonly cursor?: Cursor; readonly seat?: Partial<Seat> } = {},
): DueDecision {
  return decideDue({
    cursor: o.cursor ?? cursorOf(definition),
    definition,
    recurrence: compile(definition.spec),
    seat: { ...openSeat, ...o.seat },
    now,
  })
}

/** The decision of a look at which something was due. */
export function advanced(
  definition: Definition,
  now: number,
  o: { readonly cursor?: Cursor; readonly seat?: Partial<Seat> } = {},
): Advance {
  const decision = decide(definition, now, o)
  if (decision.kind !== 'advance') throw new Error(`nothing was due at ${new Date(now).toISOString()}`)
  return decision
}

export const turnOf = (over: Partial<RunningTurn> = {}): RunningTurn => ({
  id: 'trn_01JTURN00000000000000000AA',
  message: 'msg_01JMESSAGE00000000000000AA',
  kind: 'user',
  origin: {
    kind: 'user',
    principal: ann,
    agent: null,
    session: null,
    schedule: null,
    run: null,
    hops: 0,
    depth: 0,
  },
  runs: [],
  startedAt: created,
  leaseUntil: created + 120_000,
  leaseMs: 120_000,
  steerable: false,
  cancelled: null,
  ...over,
})

export const headOf = (over: Partial<Head> = {}): Head => ({
  conv,
  session,
  agent,
  owner: ann,
  title: 'Main',
  main: true,
  parent: null,
  forkedFrom: null,
  project: null,
  mode: 'agent',
  permission: 'auto',
  paused: false,
  compacting: false,
  goal: null,
  pendingRequests: 0,
  workerConnected: null,
  checks: false,
  left: false,
  scheduledFired: false,
  fresh: null,
  turn: null,
  createdAt: created,
  archivedAt: null,
  deletedAt: null,
  closing: false,
  ...over,
})
