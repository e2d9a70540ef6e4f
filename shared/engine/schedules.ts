import type { Seat } from '../domain/admit.ts'
import type { Card } from '../domain/card.ts'
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
import { onOneLine } from '../domain/names.ts'
import { type Reach, reachOf } from '../domain/provenance.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Cursor, type Definition, type Misfire, noCounts, type Overlap } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import { compile, inWords } from '../time/index.ts'
import { allAgents } from './agents.ts'
import { noPurse } from './budgets.ts'
import { type Call, retrying } from './call.ts'
import { type CheckInput, checkOf } from './check-input.ts'
import { endSchedule } from './closing.ts'
import { Definitions } from './definitions.ts'
import { deliverOf } from './deliveries.ts'
import { linkOps, type Place, placeOf } from './links.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { asksFirst, nameOfConversation, promptOp } from './prompts.ts'
import {
  type Acting,
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
import { meansFlow, workOf } from './schedule-flow.ts'
import { type Agent, commit, headUnchanged, keys, putCard, putDefinition, read } from './store.ts'

/** What a caller gives to create a schedule; undefined and null: left out. */
export interface ScheduleInput {
  readonly name: string
  readonly session?: string | null | undefined
  readonly agent?: string | null | undefined
  readonly prompt?: string | null | undefined
  /** In place of a prompt: the name of one of the agent's flows. */
  readonly flow?: string | null | undefined
  readonly at?: string | null | undefined
  readonly every?: string | number | null | undefined
  readonly cron?: string | null | undefined
  readonly rrule?: string | null | undefined
  readonly dtstart?: string | null | undefined
  readonly tz?: string | null | undefined
  readonly channel?: string | null | undefined
  readonly note?: string | null | undefined
  readonly deliver?: readonly string[] | null | undefined
  readonly check?: CheckInput | null | undefined
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

/** A schedule for another session that waits for a person's word: all that it takes to make it then. */
export interface AskedSchedule {
  readonly id: string
  readonly input: ScheduleInput
  readonly agent: string
  readonly owner: string
  /** The conversation that asked. */
  readonly conv: string
  readonly reach: Reach
}

/** What came of a wish for a schedule: it is stored and armed, or a card asks a person first. */
export type Created = { readonly made: Loaded } | { readonly card: string }

/** A schedule that must be there when this answers. @throws Refused, `approval_needed` too where a person is asked first */
export async function createSchedule(
  call: Call,
  input: ScheduleInput,
  allowed: { readonly reach: Reach } | null = null,
): Promise<Loaded> {
  const created = await requestSchedule(call, input, allowed)
  if ('made' in created) return created.made
  throw new Refused('approval_needed', `card ${created.card} asks a person for this schedule`, [], {
    card: created.card,
  })
}

/**
 * @param allowed  a person has allowed it, with the reach that its maker's turn had
 * @throws         Refused, with nothing stored but, for `approval_needed`, the card
 */
export async function requestSchedule(
  call: Call,
  input: ScheduleInput,
  allowed: { readonly reach: Reach } | null = null,
): Promise<Created> {
  const { world, now } = call
  const id = call.newId('sch')
  return await retrying(async () => {
    if (call.repeatable) {
      const made = (await loadSchedules(world, [id]))[0] ?? null
      if (made !== null) return { made }
    }
    const found = await actingIn(call)
    const acting = found === null || allowed === null ? found : { ...found, reach: allowed.reach }
    const addressed = await targetOf(call, input, acting?.head ?? null)
    // A flow runs in no session: one that is named stands for its agent.
    const target = meansFlow(input) ? { ...addressed, head: null } : addressed
    await assertAgentSessions(call)
    const toOther = acting !== null && acting.head.conv !== target.head?.item.conv
    const definition = await define(call, id, input, {
      target,
      maker: acting?.head ?? null,
      reach: reachOf(acting?.reach ?? { hops: 0, depth: 0 }, toOther),
    })
    const recurrence = compile(definition.spec)
    const fault =
      frequencyFault(definition.spec, definition.kind, recurrence) ??
      futureFault(recurrence, now, definition.until) ??
      pastStartFault(definition.spec, now)
    if (fault !== null) throw fault
    const places: Place[] = [{ list: 'fires', key: placeOf(definition) }]
    if (toOther) places.push({ list: 'made', key: keys.links(acting.head.conv) })
    const links = await linkOps(world, id, places)
    if (toOther && allowed === null && asksFirst(acting.head))
      return { card: await askForSchedule(call, acting, target, definition, input) }
    const counted = toOther && allowed === null ? [await promptOp(call, acting, wishFor(definition, target))] : []
    const cursor = armed(newCursor(definition), definition, recurrence, nextFrom(definition, recurrence, now))
    await world.alarms.set({ kind: 'schedule', id }, cursor.dueAt!)
    await commit(world, [
      putCursor(world, cursor, 'absent', now),
      putDefinition(definition),
      ...links,
      // What is counted there is written, not only looked at.
      ...unchangedHeads(target.head, counted.length > 0 ? null : (acting?.stored ?? null)),
      ...counted,
    ])
    Definitions.of(world).add(definition, recurrence)
    // What was written is what a read would answer; a create is worth sparing it.
    const made: Loaded = {
      cursor: { key: keys.cursor(id), version: 1, item: cursor },
      definition,
      recurrence,
      agent: target.agent,
      head: target.head,
      maker: acting?.head ?? null,
      purse: noPurse,
      seat: openSeat,
    }
    return { made }
  })
}

/** How a schedule for another session reads to the person who is asked. */
const wishFor = (definition: Definition, target: Target) => ({
  title: `"${onOneLine(definition.name)}" is to run in ${target.head === null ? `new sessions of ${onOneLine(target.agent.name)}` : nameOfConversation(target.head.item)}`,
  body: `${inWords(definition.spec)}\n\n${definition.prompt ?? ''}`,
})

/** S0-23: in `ask` and `plan` a person allows it on a card of its own. @returns the card's id */
async function askForSchedule(
  call: Call,
  acting: Acting,
  target: Target,
  definition: Definition,
  input: ScheduleInput,
): Promise<string> {
  const { world, now, caller } = call
  const { head } = acting
  const id = call.newId('crd')
  if (call.repeatable && (await read(world, keys.card(head.owner, id))) !== null) return id
  const asked: AskedSchedule = {
    id: definition.id,
    input,
    agent: head.agent,
    owner: head.owner,
    conv: head.conv,
    reach: acting.reach,
  }
  const wish = wishFor(definition, target)
  const card: Card = {
    id,
    person: head.owner,
    kind: 'approval',
    title: wish.title,
    body: wish.body,
    group: null,
    label: 'decide',
    loop: null,
    seen: 1,
    autoSendOn: null,
    reason: null,
    status: 'open',
    schedule: null,
    session: head.session,
    agent: caller.kind === 'agent' ? caller.agent : null,
    run: null,
    request: { ...asked },
    createdAt: now,
    at: now,
    settledAt: null,
  }
  await commit(world, [putCard(card, 'absent'), headUnchanged(acting.stored)])
  return id
}

/** A schedule that was just made was made through open gates. */
const openSeat: Seat = {
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

export const newCursor = (definition: Definition): Cursor => ({
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
  held: null,
  incident: false,
  serial: definition.overlap !== 'allow',
  fires: 0,
  failures: 0,
  checkFailures: 0,
  counts: noCounts,
  backfill: [],
  deleted: false,
})

/** What the decision read of the conversations still holds when it is written: one that was archived meanwhile takes nothing new. */
export const unchangedHeads = (...heads: readonly (Stored<Head> | null)[]): Op[] => {
  const byKey = new Map(heads.flatMap((head) => (head === null ? [] : [[head.key[0], head] as const])))
  return [...byKey.values()].map(headUnchanged)
}

/** S2-55: the same answer whether the agent exists or not. */
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
  const work = await workOf(call, target.agent, input)
  const misfire = input.misfire ?? 'once'
  return {
    id,
    gen: 1,
    ...work,
    name: input.name,
    agent: target.agent.id,
    conv: target.head?.item.conv ?? null,
    spec: specOf(timeFields(input), call.now),
    every: input.every ?? null,
    jitter: input.jitter ?? null,
    jitterMs: input.jitter == null ? 0 : durationMs(input.jitter, 'jitter', limits.jitterMsMax),
    channel: input.channel == null ? null : await channelOf(call, input.channel),
    note: input.note ?? null,
    deliver: await deliverOf(call, input.deliver),
    check: await checkOf(call, target.agent, input.check),
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
