import { canUseSessions } from '../domain/access.ts'
import { isId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { inboxOrder, type Message } from '../domain/message.ts'
import { notFound } from '../domain/refused.ts'
import type { Result } from '../domain/schedule.ts'
import { type Head, hasLapsed, isGone, leaseMsOf, type Mode, type RunningTurn, runningTurn } from '../domain/session.ts'
import type { ToolCall } from '../domain/trace.ts'
import { startTurn } from '../domain/turn.ts'
import { Conflict, type Stored } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { finish } from './finish.ts'
import { hint, ringCancelled } from './fire.ts'
import { type Candidate, droppedTick, type Front, loadFront, take, takeNotes } from './inbox.ts'
import { cancelReason, lapse } from './lapse.ts'
import { agentFor, assertPerson, openSession, touched } from './reach.ts'
import { type Agent, asItem, commit, keys, putHead, read, type TurnRow } from './store.ts'
import { assertPlanner, parked, stillDue, todayOf } from './ticks.ts'

export interface Claimed {
  /** Null when the message steers a turn that runs already. */
  readonly turn: {
    readonly id: string
    readonly session: string
    readonly leaseUntil: number
    readonly mode: Mode
  } | null
  readonly message: Message
  readonly notes: readonly Message[]
}

export interface ClaimOptions {
  readonly leaseSeconds?: number | undefined
  readonly steer?: boolean | undefined
}

/** Takes the next message of a session and starts its turn; null: nothing may be taken now. */
export async function claimSession(call: Call, session: string, options: ClaimOptions): Promise<Claimed | null> {
  return await retrying(async () => {
    const { head } = await openSession(call, session)
    return await claimConversation(call, head.item.conv, options)
  })
}

/** Sessions of an agent that are looked at together. */
const frontsAtOnce = 25

/** Takes the next message among all open sessions of an agent, its fresh ones included. */
export async function claimAgent(call: Call, agent: string, options: ClaimOptions): Promise<Claimed | null> {
  await agentFor(call, agent)
  return await retrying(async () => {
    let best: { front: Front; candidate: Candidate } | null = null
    const convs = await openConversations(call, agent)
    for (let from = 0; from < convs.length; from += frontsAtOnce) {
      const fronts = await Promise.all(convs.slice(from, from + frontsAtOnce).map((conv) => frontOf(call, conv)))
      for (const front of fronts) {
        const candidate = front === null ? null : await nextOf(call, front)
        if (front === null || candidate === null) continue
        if (best === null || inboxOrder(candidate, best.candidate) < 0) best = { front, candidate }
      }
    }
    return best === null ? null : await start(call, best.front, best.candidate, options)
  })
}

/** The agent's walk follows an index: a session made this instant may be missing, and is found at the next ring. */
async function openConversations(call: Call, agent: string): Promise<string[]> {
  const { table } = call.world
  const convs: string[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<typeof table.find>> = await table.find('sessionsByAgent', agent, {
      limit: 100,
      ...(after === null ? {} : { after }),
    })
    const rows = await table.get(page.items.map((found) => found.key))
    for (const row of rows) if (row !== null && row.item.archived === false) convs.push(String(row.item.conv))
    after = page.next
  } while (after !== null)
  return convs
}

async function claimConversation(call: Call, conv: string, options: ClaimOptions): Promise<Claimed | null> {
  const front = await frontOf(call, conv)
  if (front === null) return null
  const { turn } = front.head.item
  if (turn !== null) return options.steer === true ? await steerOne(call, front, turn) : null
  const candidate = await nextOf(call, front)
  return candidate === null ? null : await start(call, front, candidate, options)
}

/** The conversation with its dead turn, if any, ended first. */
async function frontOf(call: Call, conv: string): Promise<Front | null> {
  const front = await loadFront(call.world, conv)
  if (front === null) return null
  const { turn } = front.head.item
  if (turn === null || !hasLapsed(turn, call.now)) return front
  await lapse(call.world, conv, call.now)
  return await loadFront(call.world, conv)
}

async function nextOf(call: Call, front: Front): Promise<Candidate | null> {
  const { item: head } = front.head
  if (head.turn !== null || head.paused || head.compacting || isGone(head)) return null
  const next = front.waiting.find((candidate) => !candidate.held) ?? null
  // Things may have changed since it was put: then it is planned anew, and nobody is woken.
  return next?.kind === 'tick' && !(await stillDue(call.world, front, call.now)) ? null : next
}

async function start(call: Call, front: Front, candidate: Candidate, options: ClaimOptions): Promise<Claimed> {
  const { world, now } = call
  const { head } = front
  const id = `trn_${world.ids.ulid(now)}`
  const taken = take(world, head.item.conv, candidate, id, now)
  const notes = front.notes.slice(0, limits.notesPerClaim)
  const leaseMs = leaseMsOf(options.leaseSeconds)
  const next: Head = {
    ...startTurn(head.item, {
      id,
      message: taken.message,
      run: taken.run,
      leaseMs,
      steerable: options.steer === true,
      day: candidate.kind === 'tick' ? (await todayOf(world, head.item.owner, now)).day : null,
      now,
    }),
    scheduledFired: head.item.scheduledFired || taken.run !== null,
  }
  const row: TurnRow = {
    id,
    conv: head.item.conv,
    session: head.item.session,
    message: taken.message.id,
    startedAt: now,
    outcome: null,
    summary: null,
    tokens: null,
    usd: null,
    trace: null,
    sleep: null,
    endedAt: null,
  }
  await commit(world, [
    putHead(world, next, head.version, now),
    // Kept from its end on: one that runs for longer than anything is kept must still be found.
    { put: keys.turn(id), item: asItem(row), expect: 'absent' },
    ...taken.ops,
    // What was planned for an idle session is planned anew when this turn ends.
    ...(candidate.kind === 'tick' ? [] : droppedTick(head.item, now)),
    ...takeNotes(head.item.conv, notes, now),
  ])
  world.meter.observe('wait', now - taken.message.at)
  await hint(world, () => world.alarms.set({ kind: 'turn', id: head.item.conv }, now + leaseMs))
  return {
    turn: { id, session: head.item.session, leaseUntil: now + leaseMs, mode: head.item.mode },
    message: taken.message,
    notes: notes.map((note) => ({ ...note.item, status: 'taken' })),
  }
}

/** Hands a message to the turn that runs (S0-40). A tick never steers: it would take the turn's own place. */
async function steerOne(call: Call, front: Front, turn: RunningTurn): Promise<Claimed | null> {
  const { world, now } = call
  const candidate = front.waiting.find((waiting) => waiting.kind !== 'tick')
  if (candidate === undefined || turn.cancelled !== null || isGone(front.head.item)) return null
  if (turn.runs.length >= limits.runsPerTurnMax) return null
  const taken = take(world, front.head.item.conv, candidate, turn.id, now)
  const runs = taken.run === null ? turn.runs : [...turn.runs, taken.run]
  await commit(world, [
    putHead(world, { ...front.head.item, turn: heard({ ...turn, runs }, [taken.message]) }, front.head.version, now),
    ...taken.ops,
  ])
  return { turn: null, message: taken.message, notes: [] }
}

export interface Beat {
  readonly leaseUntil: number
  readonly cancelled: boolean
  readonly steer: readonly Message[]
}

/** Extends the lease. A turn claimed with `steer` is handed what waits. */
export async function heartbeat(call: Call, turn: string): Promise<Beat> {
  return await retrying(async () => {
    const { world, now } = call
    const head = await headOfTurn(call, turn)
    const running = runningTurn(head.item, turn, now)
    const next: RunningTurn = { ...running, leaseUntil: Math.max(running.leaseUntil, now + running.leaseMs) }
    const steered = running.steerable && running.cancelled === null ? await steerAll(call, head, next) : null
    if (steered !== null) return steered
    await commit(world, [putHead(world, { ...head.item, turn: next }, head.version, now)])
    return { leaseUntil: next.leaseUntil, cancelled: running.cancelled !== null, steer: [] }
  })
}

async function steerAll(call: Call, head: Stored<Head>, turn: RunningTurn): Promise<Beat | null> {
  const { world, now } = call
  const front = await loadFront(world, head.item.conv)
  const room = Math.min(limits.notesPerClaim, limits.runsPerTurnMax - turn.runs.length)
  const waiting = front?.waiting.filter((w) => w.kind !== 'tick').slice(0, Math.max(0, room)) ?? []
  if (front === null || waiting.length === 0) return null
  if (front.head.version !== head.version) throw new Conflict(0, keys.head(head.item.conv))
  const taken = waiting.map((candidate) => take(world, head.item.conv, candidate, turn.id, now))
  const runs = [...turn.runs, ...taken.flatMap((t) => (t.run === null ? [] : [t.run]))]
  await commit(world, [
    putHead(
      world,
      {
        ...head.item,
        turn: heard(
          { ...turn, runs },
          taken.map((t) => t.message),
        ),
      },
      head.version,
      now,
    ),
    ...taken.flatMap((t) => t.ops),
  ])
  return { leaseUntil: turn.leaseUntil, cancelled: false, steer: taken.map((t) => t.message) }
}

/** A person's message that steers a turn is that person's word all the same. */
const heard = (turn: RunningTurn, messages: readonly Message[]): RunningTurn =>
  messages.some(({ kind }) => kind === 'user') ? { ...turn, heard: true } : turn

export interface EndInput {
  readonly outcome: Exclude<Result, 'unknown'>
  readonly answer: string | null
  readonly summary: string | null
  readonly tokens: number | null
  readonly usd: number | null
  readonly toolCalls: readonly ToolCall[]
  readonly sleep: TurnRow['sleep']
}

/**
 * Ends a turn. One that was cancelled ends too, whatever it says, and its words go nowhere; what it did leaves its trace.
 *
 * @returns the id of its trace; null when it reported no tool calls
 */
export async function endTurn(call: Call, turn: string, input: EndInput): Promise<string | null> {
  return await retrying(async () => {
    const head = await headOfTurn(call, turn)
    const running = runningTurn(head.item, turn, call.now)
    const { cancelled } = running
    if (input.sleep !== null && cancelled === null) await assertMaySleep(call, head.item)
    const ending =
      cancelled === null
        ? { ...input, result: input.outcome, reason: null }
        : {
            result: 'failed' as const,
            reason: cancelReason(cancelled),
            answer: null,
            summary: null,
            tokens: input.tokens,
            usd: input.usd,
            toolCalls: input.toolCalls,
            sleep: null,
          }
    return await finish(call.world, head, running, ending, call.now)
  })
}

async function assertMaySleep({ world }: Call, head: Head): Promise<void> {
  const agent = await read<Agent>(world, keys.agent(head.agent))
  if (agent !== null) assertPlanner(world, agent.item, head)
}

/** A person stops the turn: its worker hears it at its next heartbeat, at once when one waits. */
export async function cancelTurn(call: Call, turn: string): Promise<void> {
  assertPerson(call, 'stop a turn; an agent ends its own')
  const session = await retrying(async () => {
    const { world, now } = call
    const head = await headOfTurn(call, turn)
    const running = runningTurn(head.item, turn, now)
    if (running.cancelled !== null) return head.item
    const stopped: Head = { ...head.item, turn: { ...running, cancelled: 'person' } }
    // S3-43: whoever stops a tick wants no other.
    const day = (await todayOf(world, stopped.owner, now)).day
    const quiet = running.kind === 'tick' ? parked(stopped, 'cancelled', day, now) : { head: stopped, ops: [] }
    await commit(world, [putHead(world, quiet.head, head.version, now), ...quiet.ops])
    return head.item
  })
  await ringCancelled(call.world, session)
}

/** @throws Refused `not_found`, or `turn_not_running` when its conversation is gone */
async function headOfTurn(call: Call, turn: string): Promise<Stored<Head>> {
  const row = isId('trn', turn) ? await read<TurnRow>(call.world, keys.turn(turn)) : null
  const head = row === null ? null : await read<Head>(call.world, keys.head(row.item.conv))
  if (head === null) throw notFound('turn', turn)
  const agent = await read<Agent>(call.world, keys.agent(head.item.agent))
  if (agent === null || !canUseSessions(call.caller, agent.item)) throw notFound('turn', turn)
  return touched(call, agent.item, head)
}

/** The session and agent whose bells a waiting heartbeat of this turn listens to. */
export async function queueOfTurn(call: Call, turn: string): Promise<string> {
  return (await headOfTurn(call, turn)).item.session
}

/** Who may claim a session's or an agent's messages may hear its bell. */
export async function grantQueue(call: Call, of: { readonly session: string } | { readonly agent: string }) {
  if ('agent' in of) {
    await agentFor(call, of.agent)
    return await call.world.bell.grant(of.agent)
  }
  await openSession(call, of.session)
  return await call.world.bell.grant(of.session)
}
