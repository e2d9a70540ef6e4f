import {
  bodyFault,
  durationMs,
  frequencyFault,
  futureFault,
  instantOf,
  mergeTime,
  misfireWithinMs,
  pastStartFault,
  specOf,
  type TimeFields,
  timeFieldNames,
  timeFields,
  timeFieldsOf,
} from '../domain/define.ts'
import { armed, disarmed, nextFrom } from '../domain/due.ts'
import { limits } from '../domain/limits.ts'
import { type Reach, reachOf } from '../domain/provenance.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Cursor, type Definition, type Misfire, noCounts, type Overlap } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import type { Op } from '../ports/table.ts'
import { compile } from '../time/index.ts'
import { allAgents } from './agents.ts'
import { type Call, retrying } from './call.ts'
import { look } from './fire.ts'
import { dropWaiting } from './inbox.ts'
import { linkOps, type Place, placeOf } from './links.ts'
import { type Loaded, loadSchedules } from './load.ts'
import {
  actingIn,
  assertAgentSessions,
  assertOpen,
  principal,
  reachableAgent,
  reachableSession,
  scheduleFor,
} from './reach.ts'
import { coverOpenSlot, endSchedule } from './schedule-ends.ts'
import { type Agent, keys, putCursor, putDefinition, tokenOf } from './store.ts'

/** What a caller gives to create a schedule; undefined and null: left out. */
export interface ScheduleInput {
  readonly name: string
  readonly session?: string | null | undefined
  readonly agent?: string | null | undefined
  readonly prompt?: string | null | undefined
  readonly at?: string | null | undefined
  readonly every?: string | number | null | undefined
  readonly cron?: string | null | undefined
  readonly rrule?: string | null | undefined
  readonly dtstart?: string | null | undefined
  readonly tz?: string | null | undefined
  readonly channel?: string | null | undefined
  readonly note?: string | null | undefined
  readonly misfire?: Misfire | null | undefined
  readonly overlap?: Overlap | null | undefined
  readonly onUnknown?: 'leave' | 'retry' | null | undefined
  readonly jitter?: string | number | null | undefined
  readonly until?: string | null | undefined
  readonly maxRuns?: number | null | undefined
  readonly pauseAfterFailures?: number | null | undefined
}

/** The target of a schedule, resolved. */
interface Target {
  readonly agent: Agent
  readonly head: Head | null
}

/** @returns the schedule as stored and armed. @throws Refused, with nothing stored */
export async function createSchedule(call: Call, input: ScheduleInput): Promise<Loaded> {
  const { world, now } = call
  const id = call.newId('sch')
  return await retrying(async () => {
    if (call.repeatable) {
      const made = (await loadSchedules(world, [id]))[0] ?? null
      if (made !== null) return made
    }
    const acting = await actingIn(call)
    const target = await targetOf(call, input, acting?.head ?? null)
    await assertAgentSessions(call)
    const toOther = acting !== null && acting.head.conv !== target.head?.conv
    const definition = await define(call, id, input, {
      target,
      maker: acting?.head ?? null,
      reach: reachOf(acting?.reach ?? { hops: 0, depth: 0 }, toOther),
    })
    const recurrence = compile(definition.spec)
    const fault =
      frequencyFault(definition.spec, 'prompt', recurrence) ??
      futureFault(recurrence, now, definition.until) ??
      pastStartFault(definition.spec, now)
    if (fault !== null) throw fault
    const cursor = armed(newCursor(definition), definition, recurrence, nextFrom(definition, recurrence, now))
    const places: Place[] = [{ list: 'fires', key: placeOf(definition) }]
    if (toOther) places.push({ list: 'made', key: keys.links(acting.head.conv) })
    await world.alarms.set({ kind: 'schedule', id }, cursor.dueAt!)
    await world.table.commit(
      [putCursor(world, cursor, 'absent', now), putDefinition(definition), ...(await linkOps(world, id, places))],
      tokenOf('create', id),
    )
    return (await loadSchedules(world, [id]))[0]!
  })
}

const newCursor = (definition: Definition): Cursor => ({
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
  open: [],
  fires: 0,
  failures: 0,
  counts: noCounts,
  backfill: [],
  deleted: false,
})

/** S2-55: the same answer whether the agent exists or not. */
const notAllowed = (what: string): Refused =>
  new Refused('schedule_agent_not_allowed', `this key can talk to no agent of ${what}; ask its owner to share it`)

async function targetOf(
  call: Call,
  input: Pick<ScheduleInput, 'session' | 'agent'>,
  acting: Head | null,
): Promise<Target> {
  const { caller } = call
  if ((input.session ?? null) !== null && (input.agent ?? null) !== null)
    throw bodyFault(
      'session',
      'expected either "session" (a conversation) or "agent" (a fresh session per run), got both',
    )
  // Without a session an agent's key reaches only its own agent.
  const alone = caller.kind === 'agent' && acting === null
  if (typeof input.session === 'string') {
    const found = await reachableSession(call, input.session)
    if (found === null || (alone && found.agent.id !== caller.agent)) throw notAllowed(`session ${input.session}`)
    assertOpen(found)
    return { agent: found.agent, head: found.head.item }
  }
  if (typeof input.agent === 'string') {
    const agent = await reachableAgent(call, input.agent)
    if (agent === null || (alone && agent.id !== caller.agent)) throw notAllowed(input.agent)
    return { agent, head: null }
  }
  if (caller.kind === 'agent') {
    const agent = await reachableAgent(call, caller.agent)
    if (agent === null) throw notAllowed(caller.agent)
    return { agent, head: acting }
  }
  const agents = await allAgents(call)
  if (agents.length === 1) return { agent: agents[0]!, head: null }
  throw bodyFault(
    'agent',
    `expected "session" or "agent": this key can talk to ${agents.length} agents, and the schedule must say which one it wakes`,
  )
}

/** Everything of a definition that does not follow from the call's place. @throws Refused */
async function define(
  call: Call,
  id: string,
  input: ScheduleInput,
  place: { readonly target: Target; readonly maker: Head | null; readonly reach: Reach },
): Promise<Definition> {
  const { target, maker } = place
  const prompt = input.prompt ?? null
  if (prompt === null || prompt.trim() === '')
    throw bodyFault('prompt', 'expected the text that the agent gets at each run')
  const misfire = input.misfire ?? 'once'
  return {
    id,
    gen: 1,
    kind: 'prompt',
    name: input.name,
    agent: target.agent.id,
    conv: target.head?.conv ?? null,
    prompt,
    spec: specOf(timeFields(input), call.now),
    every: input.every ?? null,
    jitter: input.jitter ?? null,
    jitterMs: input.jitter == null ? 0 : durationMs(input.jitter, 'jitter', limits.jitterMsMax),
    channel: input.channel == null ? null : await channelOf(call, input.channel),
    note: input.note ?? null,
    misfire,
    misfireWithinMs: misfireWithinMs(misfire),
    overlap: input.overlap ?? (target.head === null ? 'skip' : 'buffer'),
    onUnknown: input.onUnknown ?? 'leave',
    until: input.until == null ? null : instantOf(input.until, 'until'),
    maxRuns: input.maxRuns ?? null,
    pauseAfterFailures: input.pauseAfterFailures ?? null,
    createdBy: principal(call),
    makerAgent: call.caller.kind === 'agent' ? call.caller.agent : null,
    makerConv: maker?.conv ?? null,
    makerTitle: maker?.title ?? null,
    reach: place.reach,
    createdAt: call.now,
    editedAt: call.now,
  }
}

async function channelOf(call: Call, session: string): Promise<string> {
  const found = await reachableSession(call, session)
  if (found === null) throw notFound('session', session)
  assertOpen(found)
  return session
}

export type SchedulePatch = { readonly [field in keyof ScheduleInput]?: ScheduleInput[field] | undefined }

/**
 * Changes what is given and leaves the rest, the zone too; null clears. A paused schedule stays paused (S2-49), a finished
 * one runs again when given a time to come (S2-50). A refused change changes nothing.
 *
 * @param ifMatch  the version the caller saw, or null
 */
export async function editSchedule(
  call: Call,
  id: string,
  patch: SchedulePatch,
  ifMatch: string | null,
): Promise<Loaded> {
  const { world, now } = call
  await scheduleFor(call, id)
  await look(world, [id], now)
  return await retrying(async () => {
    const loaded = await scheduleFor(call, id)
    const { cursor, definition: old } = loaded
    if (cursor.item.status === 'ended') throw ended(id, cursor.item.reason)
    if (ifMatch !== null && ifMatch !== etagOf(loaded))
      throw new Refused(
        'precondition_failed',
        `schedule ${id} has changed since ${ifMatch}: it is ${etagOf(loaded)} now. Read it again`,
      )
    const target = await retargeted(call, loaded, patch)
    const definition = await redefined(call, old, patch, target)
    const recurrence = compile(definition.spec)
    const timed = timeFieldNames.some((name) => patch[name] !== undefined)
    const bounded = timed || patch.until !== undefined || patch.maxRuns !== undefined
    const fault =
      (timed ? frequencyFault(definition.spec, definition.kind, recurrence) : null) ??
      (bounded && cursor.item.status !== 'done' ? futureFault(recurrence, now, definition.until) : null) ??
      (timed ? futureFault(recurrence, now, definition.until) : null) ??
      (typeof patch.at === 'string' ? pastStartFault(definition.spec, now) : null)
    if (fault !== null) throw fault

    let next: Cursor = { ...cursor.item, gen: definition.gen, agent: definition.agent, conv: definition.conv }
    const retimed = bounded || patch.jitter !== undefined
    if (retimed && cursor.item.status !== 'paused') {
      if (timed && cursor.item.status === 'done') next = { ...next, fires: 0 }
      const spent = definition.maxRuns !== null && next.fires >= definition.maxRuns
      const from = timed || cursor.item.nextAt === null ? now : cursor.item.nextAt - 1
      next = armed(next, definition, recurrence, spent ? null : nextFrom(definition, recurrence, from))
    }
    const moved = old.conv !== definition.conv || old.agent !== definition.agent
    const dropped = moved ? await dropWaiting(world, next, 'moved', now) : { cursor: next, ops: [] as Op[] }
    const revived = cursor.item.status === 'done' && next.status === 'active'
    const links = moved || revived ? await linkOps(world, id, [{ list: 'fires', key: placeOf(definition) }]) : []
    if (dropped.cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, dropped.cursor.dueAt)
    await world.table.commit(
      [
        putCursor(world, dropped.cursor, cursor.version, now),
        putDefinition(definition),
        ...dropped.ops,
        ...links,
        ...(timed ? coverOpenSlot(loaded, 'edited', now) : []),
      ],
      tokenOf('edit', id, cursor.version),
    )
    return (await loadSchedules(world, [id]))[0]!
  })
}

/** S2-48: the conversation, when the patch names one; else the one it has. */
async function retargeted(call: Call, loaded: Loaded, patch: SchedulePatch): Promise<Target> {
  if (patch.session == null && patch.agent == null) return { agent: loaded.agent!, head: loaded.head?.item ?? null }
  const acting = await actingIn(call)
  const target = await targetOf(call, patch, acting?.head ?? null)
  if (acting !== null) reachOf(acting.reach, acting.head.conv !== target.head?.conv)
  return target
}

async function redefined(call: Call, old: Definition, patch: SchedulePatch, target: Target): Promise<Definition> {
  const kept = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given)
  const time: TimeFields = mergeTime(timeFieldsOf(old), patch)
  const timed = timeFieldNames.some((name) => patch[name] !== undefined)
  const spec = timed
    ? specOf(time, old.spec.kind === 'every' && time.every !== null ? old.createdAt : call.now)
    : old.spec
  const prompt = kept(patch.prompt, old.prompt)
  if (old.kind === 'prompt' && (prompt === null || prompt.trim() === ''))
    throw bodyFault('prompt', 'expected the text that the agent gets at each run')
  const misfire = patch.misfire === undefined ? old.misfire : (patch.misfire ?? 'once')
  const jitter = kept(patch.jitter, old.jitter)
  return {
    ...old,
    gen: old.gen + 1,
    name: patch.name ?? old.name,
    agent: target.agent.id,
    conv: target.head?.conv ?? null,
    prompt,
    spec,
    every: timed ? time.every : old.every,
    jitter,
    jitterMs: jitter === null ? 0 : durationMs(jitter, 'jitter', limits.jitterMsMax),
    channel: patch.channel == null ? kept(patch.channel, old.channel) : await channelOf(call, patch.channel),
    note: kept(patch.note, old.note),
    misfire,
    misfireWithinMs: misfireWithinMs(misfire),
    overlap: patch.overlap === undefined ? old.overlap : (patch.overlap ?? (target.head === null ? 'skip' : 'buffer')),
    onUnknown: patch.onUnknown === undefined ? old.onUnknown : (patch.onUnknown ?? 'leave'),
    until: patch.until == null ? kept(patch.until, old.until) : instantOf(patch.until, 'until'),
    maxRuns: kept(patch.maxRuns, old.maxRuns),
    pauseAfterFailures: kept(patch.pauseAfterFailures, old.pauseAfterFailures),
    editedAt: call.now,
  }
}

const ended = (id: string, reason: string | null): Refused =>
  new Refused(
    'schedule_ended',
    `schedule ${id} has ended (${reason ?? 'unknown'}) and does not run again; make a new one`,
  )

/** S2-45: a pause clears the next run. Pausing what is paused or done changes nothing. */
export async function pauseSchedule(call: Call, id: string, reason: string | null): Promise<Loaded> {
  await scheduleFor(call, id)
  await look(call.world, [id], call.now)
  return await change(call, id, (loaded) => {
    if (loaded.cursor.item.status !== 'active') return null
    return { cursor: disarmed(loaded.cursor.item, 'paused', reason), ops: coverOpenSlot(loaded, 'paused', call.now) }
  })
}

/** S2-46, S2-47: the next run counts from now; what the pause left out is not made up. */
export async function resumeSchedule(call: Call, id: string): Promise<Loaded> {
  return await change(call, id, ({ cursor, definition, recurrence }) => {
    if (cursor.item.status !== 'paused') return null
    const next = nextFrom(definition, recurrence, call.now)
    return { cursor: armed({ ...cursor.item, failures: 0 }, definition, recurrence, next), ops: [] }
  })
}

async function change(
  call: Call,
  id: string,
  decide: (loaded: Loaded) => { readonly cursor: Cursor; readonly ops: readonly Op[] } | null,
): Promise<Loaded> {
  const { world, now } = call
  return await retrying(async () => {
    const loaded = await scheduleFor(call, id)
    const { cursor } = loaded
    if (cursor.item.status === 'ended') throw ended(id, cursor.item.reason)
    const decided = decide(loaded)
    if (decided === null) return loaded
    if (decided.cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, decided.cursor.dueAt)
    await world.table.commit(
      [putCursor(world, decided.cursor, cursor.version, now), ...decided.ops],
      tokenOf('change', id, cursor.version),
    )
    return (await loadSchedules(world, [id]))[0]!
  })
}

/** S2-51: it never runs again; what waits of it leaves the inbox before this answers. Its runs stay readable. */
export async function removeSchedule(call: Call, id: string): Promise<void> {
  await scheduleFor(call, id)
  await endSchedule(call.world, id, 'deleted', call.now)
}

/** The version a caller saw: an edit, a pause or a fire makes another. */
export const etagOf = (loaded: Loaded): string => `"${loaded.cursor.item.gen}-${loaded.cursor.version}"`
