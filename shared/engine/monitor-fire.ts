import type { Limits } from '../domain/budget.ts'
import { limits } from '../domain/limits.ts'
import type { Message } from '../domain/message.ts'
import type { Monitor } from '../domain/monitor.ts'
import { type Event, eventText } from '../domain/monitor-text.ts'
import type { Head } from '../domain/session.ts'
import { Conflict, type Key, type Op, type Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { dayOf } from '../time/index.ts'
import { Charges, countersOf, limitedBy, noPurse, type Purse, purseOf } from './budgets.ts'
import { hint } from './fire.ts'
import { endedCard } from './monitor-cards.ts'
import { overOps } from './monitor-rows.ts'
import { type Agent, commit, headUnchanged, keys, type Person, putWaiting, readAll, ttlAfter } from './store.ts'

/** A monitor that has something to tell. */
export interface Fire {
  readonly stored: Stored<Monitor>
  readonly event: Event
}

/** What decides whether an event may go out: its conversation, and what is left of today. */
interface Seat {
  readonly head: Stored<Head> | null
  readonly agent: Agent | null
  readonly day: string
  /** Events of its conversation on that day; null: none yet. */
  readonly fires: number | null
  readonly purse: Purse
}

/**
 * Puts the events of many monitors, those of one conversation in one commit, and several conversations in one where they fit.
 *
 * @returns those that have to be looked at by themselves: a limit is near, or another commit came between
 */
export async function fireTogether(world: World, fires: readonly Fire[], now: number): Promise<Fire[]> {
  const seats = await loadSeats(
    world,
    fires.map(({ stored }) => stored.item),
    now,
  )
  const alone: Fire[] = []
  const byConv = new Map<string, Bundle>()
  for (const [i, fire] of fires.entries()) {
    const seat = seats[i]!
    const { conv } = fire.stored.item
    const bundle = byConv.get(conv) ?? { seat, fires: [] }
    const isFree = gateOf(seat) === null && seat.purse.counters.length === 0 && fire.event.kind !== 'tool_changed'
    if (isFree && (seat.fires ?? 0) + bundle.fires.length < limits.monitorFiresPerDay)
      byConv.set(conv, { seat, fires: [...bundle.fires, fire] })
    else alone.push(fire)
  }
  const lost = await Promise.all(packed(world, [...byConv.values()], now).map((pack) => putPack(world, pack)))
  return [...lost.flat(), ...alone]
}

interface Bundle {
  readonly seat: Seat
  readonly fires: readonly Fire[]
}

interface Pack {
  readonly ops: Op[]
  readonly put: { readonly fire: Fire; readonly head: Head; readonly message: Message }[]
}

const opsPerPack = 100
const charsPerPack = 1_000_000

/** Whole conversations, as many as go into one commit: the keys of one are distinct from those of another. */
function packed(world: World, bundles: readonly Bundle[], now: number): Pack[] {
  const packs: Pack[] = []
  let room = 0
  let chars = 0
  for (const { seat, fires } of bundles) {
    const ops = placeOps(seat, fires, now)
    const put = fires.map((fire) => {
      const message = messageOf(world, fire, now)
      ops.push(...firedOps(world, fire, message, now))
      return { fire, head: seat.head!.item, message }
    })
    const size = put.reduce((sum, { message }) => sum + message.text.length, 0)
    if (ops.length > room || size > chars) {
      packs.push({ ops: [], put: [] })
      room = opsPerPack
      chars = charsPerPack
    }
    packs.at(-1)!.ops.push(...ops)
    packs.at(-1)!.put.push(...put)
    room -= ops.length
    chars -= size
  }
  return packs
}

async function putPack(world: World, { ops, put }: Pack): Promise<Fire[]> {
  try {
    await commit(world, ops)
  } catch (error) {
    if (error instanceof Conflict) return put.map(({ fire }) => fire)
    throw error
  }
  world.meter.count('monitors', put.length)
  for (const { head, message } of put) await ring(world, head, message)
  return []
}

/** One event by itself, or why there is none. @throws Conflict: read again */
export async function fireAlone(world: World, fire: Fire, now: number): Promise<void> {
  const { stored, event } = fire
  const [seat] = await loadSeats(world, [stored.item], now)
  const isNotice = event.kind === 'tool_changed'
  const gate = gateOf(seat!)
  // A notice is no find: it does not count among them.
  if (gate !== null && !(isNotice && gate === 'daily_limit')) {
    const reason = isNotice ? 'tool_changed' : gate
    const card = isTold(gate)
      ? [await endedCard(world, stored.item, seat!, { reason: gate, toolChanged: isNotice }, now)]
      : []
    return await commit(world, [...overOps(world, stored, now, 'ended', { reason }), ...card])
  }
  const message = messageOf(world, fire, now)
  await commit(world, [
    ...(isNotice ? [headUnchanged(seat!.head!)] : placeOps(seat!, [fire], now)),
    ...firedOps(world, fire, message, now),
    ...new Charges().draw(seat!.purse, { wakes: 1 }).ops(now),
  ])
  world.meter.count('monitors', 1)
  await ring(world, seat!.head!.item, message)
}

/** Why no event goes out, or null. The names of budgets are those of `shortOf`. */
function gateOf({ head, agent, fires, purse }: Seat): string | null {
  if (agent === null || agent.deletedAt !== null) return 'agent_deleted'
  if (head === null || head.item.deletedAt !== null) return 'session_deleted'
  if (head.item.archivedAt !== null) return 'session_archived'
  if (head.item.left) return 'agent_left'
  if ((fires ?? 0) >= limits.monitorFiresPerDay) return 'daily_limit'
  return purse.short
}

/** Nobody waits for the news of a conversation that they closed themselves. */
const isTold = (gate: string): boolean => !['agent_deleted', 'session_deleted', 'session_archived'].includes(gate)

/** What the events of one conversation share: it must still be open, and the day must have room for all of them. */
function placeOps({ head, day, fires }: Seat, put: readonly Fire[], now: number): Op[] {
  const key = keys.events(head!.item.conv, day)
  const ttl = ttlAfter(now)
  const counted: Op =
    fires === null
      ? { put: key, item: { monitors: put.length }, expect: 'absent', ttl }
      : {
          patch: key,
          add: { monitors: put.length },
          guards: [{ attr: 'monitors', is: '<=', value: limits.monitorFiresPerDay - put.length }],
          ttl,
        }
  return [headUnchanged(head!), counted]
}

function firedOps(world: World, { stored, event }: Fire, message: Message, now: number): Op[] {
  const done =
    event.kind === 'tool_changed'
      ? overOps(world, stored, now, 'ended', { reason: 'tool_changed', message: message.id })
      : overOps(world, stored, now, 'fired', { message: message.id })
  return [...done, putWaiting(stored.item.conv, message)]
}

function messageOf(world: World, { stored: { item: monitor }, event }: Fire, now: number): Message {
  return {
    // Below what came before it within the same instant. That there is one only, the monitor's own item sees to.
    id: `msg_${world.ids.ulid(now)}`,
    kind: 'monitor',
    text: eventText(monitor, event),
    origin: {
      kind: 'monitor',
      principal: monitor.principal,
      agent: monitor.makerAgent,
      session: monitor.madeIn,
      schedule: null,
      run: null,
      ...monitor.reach,
    },
    automated: true,
    status: 'waiting',
    replyTo: null,
    at: now,
  }
}

const ring = (world: World, { session, agent }: Head, message: Message): Promise<void> =>
  hint(world, () =>
    world.bell.ring(session, { kind: 'message', session, agent, id: message.id, message: () => message }),
  )

/** Two requests however many: what they share is read once. */
async function loadSeats(world: World, monitors: readonly Monitor[], now: number): Promise<Seat[]> {
  const wanted = new Map<string, Key>()
  for (const { conv, agent, owner, principal } of monitors) {
    wanted.set(conv, keys.head(conv))
    wanted.set(agent, keys.agent(agent))
    wanted.set(owner, keys.person(owner))
    wanted.set(`limits ${principal}`, keys.limits(principal))
  }
  const names = [...wanted.keys()]
  const items = await readAll<unknown>(world, [...wanted.values()])
  const found = new Map(names.map((name, i) => [name, items[i] ?? null]))
  const at = <T>(name: string): Stored<T> | null => (found.get(name) ?? null) as Stored<T> | null
  const days = monitors.map(({ owner }) => dayOf(now, at<Person>(owner)?.item.tz ?? 'UTC').day)
  const dayKeys = new Map(monitors.map(({ conv }, i) => [conv, keys.events(conv, days[i]!)]))
  const limited = monitors.flatMap(({ agent, principal }) =>
    limitedBy(at<Agent>(agent)?.item ?? null, principal, at<Limits>(`limits ${principal}`)?.item ?? null),
  )
  const [counted, counters] = await Promise.all([
    readAll<{ readonly monitors: number }>(world, [...dayKeys.values()]),
    countersOf(world, limited, now),
  ])
  const fires = new Map([...dayKeys.keys()].map((conv, i) => [conv, counted[i]?.item.monitors ?? null]))
  return monitors.map(({ conv, agent, principal }, i) => ({
    head: at<Head>(conv),
    agent: at<Agent>(agent)?.item ?? null,
    day: days[i]!,
    fires: fires.get(conv) ?? null,
    purse: counters.size === 0 ? noPurse : purseOf([counters.get(agent), counters.get(principal)]),
  }))
}
