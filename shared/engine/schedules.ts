import type { Seat } from '../domain/admit.ts'
import {
  bodyFault,
  durationMs,
  frequencyFault,
  futureFault,
  instantOf,
  misfireWithinMs,
  pastStartFault,
  specOf,
  timeFields,
} from '../domain/define.ts'
import { armed, nextFrom } from '../domain/due.ts'
import { limits } from '../domain/limits.ts'
import { type Reach, reachOf } from '../domain/provenance.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Cursor, type Definition, type Misfire, noCounts, type Overlap } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import { compile } from '../time/index.ts'
import { allAgents } from './agents.ts'
import { type Call, retrying } from './call.ts'
import { endSchedule } from './closing.ts'
import { Definitions } from './definitions.ts'
import { linkOps, type Place, placeOf } from './links.ts'
import { type Loaded, loadSchedules } from './load.ts'
import {
  actingIn,
  assertAgentSessions,
  assertOpen,
  openSession,
  principal,
  reachableAgent,
  reachableSession,
  scheduleFor,
} from './reach.ts'
import { putCursor } from './rows.ts'
import { type Agent, commit, headUnchanged, keys, putDefinition } from './store.ts'

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
export interface Target {
  readonly agent: Agent
  readonly head: Stored<Head> | null
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
    const toOther = acting !== null && acting.head.conv !== target.head?.item.conv
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
    await commit(world, [
      putCursor(world, cursor, 'absent', now),
      putDefinition(definition),
      ...(await linkOps(world, id, places)),
      ...unchangedHeads(target.head, acting?.stored ?? null),
    ])
    Definitions.of(world).add(definition)
    // What was written is what a read would answer; a create is worth sparing it.
    return {
      cursor: { key: keys.cursor(id), version: 1, item: cursor },
      definition,
      recurrence,
      agent: target.agent,
      head: target.head,
      maker: acting?.head ?? null,
      seat: openSeat,
    }
  })
}

/** A schedule that was just made was made through open gates. */
const openSeat: Seat = {
  agentDeleted: false,
  conversation: 'open',
  makerConversation: 'open',
  left: false,
  disconnected: false,
  agentSessions: true,
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
  covered: null,
  dueAt: null,
  open: [],
  serial: definition.overlap !== 'allow',
  fires: 0,
  failures: 0,
  counts: noCounts,
  backfill: [],
  deleted: false,
})

/** S2-55: the same answer whether the agent exists or not. */
/** What the decision read of the conversations still holds when it is written: one that was archived meanwhile takes nothing new. */
export const unchangedHeads = (...heads: readonly (Stored<Head> | null)[]): Op[] => {
  const byKey = new Map(heads.flatMap((head) => (head === null ? [] : [[head.key[0], head] as const])))
  return [...byKey.values()].map(headUnchanged)
}

const notAllowed = (what: string): Refused =>
  new Refused('schedule_agent_not_allowed', `this key can talk to no agent of ${what}; ask its owner to share it`)

export async function targetOf(
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
    return { agent: found.agent, head: found.head }
  }
  if (typeof input.agent === 'string') {
    const agent = await reachableAgent(call, input.agent)
    if (agent === null || (alone && agent.id !== caller.agent)) throw notAllowed(input.agent)
    return { agent, head: null }
  }
  if (caller.kind === 'agent') {
    const agent = await reachableAgent(call, caller.agent)
    if (agent === null) throw notAllowed(caller.agent)
    return { agent, head: acting === null ? null : (await openSession(call, acting.session)).head }
  }
  const agents = await allAgents(call)
  const own = agents.filter((agent) => agent.owner === caller.person)
  const only = own.length === 1 ? own[0] : agents.length === 1 ? agents[0] : undefined
  if (only !== undefined) return { agent: only, head: null }
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
    conv: target.head?.item.conv ?? null,
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

export async function channelOf(call: Call, session: string): Promise<string> {
  const found = await reachableSession(call, session)
  if (found === null) throw notFound('session', session)
  assertOpen(found)
  return session
}

/** S2-51: it never runs again; what waits of it leaves the inbox before this answers. Its runs stay readable. */
export async function removeSchedule(call: Call, id: string): Promise<void> {
  await scheduleFor(call, id)
  await endSchedule(call.world, id, 'deleted', call.now)
}
