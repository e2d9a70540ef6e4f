import { bare, timeOf } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import { type Head, isGone } from '../domain/session.ts'
import {
  afterTurn,
  counted,
  decideTick,
  type ProactiveSettings,
  parkedPlan,
  proactiveDefaults,
  type TickPlan,
  type TickSeat,
  unplanned,
} from '../domain/tick.ts'
import { tickMessage } from '../domain/tick-message.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { dayOf } from '../time/index.ts'
import { Charges, limitedBy, type Purse, purse, readOwnLimits } from './budgets.ts'
import { hint } from './fire.ts'
import { droppedTick, type Front, loadFront } from './inbox.ts'
import { type Agent, commit, keys, type Person, putHead, read } from './store.ts'

export const proactiveOf = (agent: Pick<Agent, 'proactive'>): ProactiveSettings => ({
  ...proactiveDefaults,
  ...(agent.proactive as Partial<ProactiveSettings>),
})

/** Whether sessions like this one have a planner at all (S3-3 to S3-8, S3-18, S3-19). */
export const hasPlanner = (world: World, agent: Pick<Agent, 'proactive'>, head: Head): boolean =>
  world.proactive && proactiveOf(agent).enabled && head.main && head.parent === null && !isGone(head)

/** @throws Refused `ticks_off` */
export function assertPlanner(world: World, agent: Agent, head: Head): void {
  if (hasPlanner(world, agent, head)) return
  const why = !world.proactive
    ? 'ticks are switched off for this deployment (ROUSE_EXPERIMENTAL_PROACTIVE)'
    : !proactiveOf(agent).enabled
      ? 'ticks are off for this agent (proactive.enabled)'
      : 'only main sessions have ticks, and child sessions have none'
  throw new Refused('ticks_off', `${why}: nothing would wake this session, so it cannot sleep. End the turn without it`)
}

/** Everything that a tick of a session would meet. */
export interface TickLook {
  readonly seat: TickSeat
  readonly purse: Purse
  readonly front: Front
}

export async function lookAtTick(world: World, conv: string, agent: Agent, now: number): Promise<TickLook | null> {
  const front = await loadFront(world, conv)
  return front === null ? null : await lookFrom(world, front, agent, now)
}

async function lookFrom(world: World, front: Front, agent: Agent, now: number): Promise<TickLook> {
  const head = front.head.item
  const { conv } = head
  const own = await readOwnLimits(world, head.owner)
  const drawn = await purse(world, limitedBy(agent, head.owner, own?.item ?? null), now)
  const times = front.cursors.flatMap(({ item }) =>
    item.conv === conv && item.status === 'active' && item.nextAt !== null && !item.deleted ? [item.nextAt] : [],
  )
  const seat: TickSeat = {
    switchedOn: world.proactive,
    settings: proactiveOf(agent),
    head,
    queue: front.waiting.filter(({ kind }) => kind !== 'tick').length,
    nextScheduleAt: times.length === 0 ? null : Math.min(...times),
    short: drawn.short,
    today: await todayOf(world, head.owner, now),
    now,
  }
  return { seat, purse: drawn, front }
}

/** The owner's day: when its budgets begin anew. */
export async function todayOf(world: World, owner: string, now: number): Promise<{ day: string; to: number }> {
  const person = await read<Person>(world, keys.person(owner))
  return dayOf(now, person?.item.tz ?? 'UTC')
}

/**
 * A planned tick whose time has come: it is put, or looked at later. Early, late, twice, or for a plan that has changed: nothing.
 *
 * @throws Conflict when anything came between; the caller reads again
 */
export async function tickDue(world: World, head: Stored<Head>, now: number): Promise<void> {
  const { item } = head
  const plan = item.tick ?? null
  if (plan === null || plan.nextAt === null || plan.nextAt > now || item.turn !== null || isGone(item)) return
  const agent = await read<Agent>(world, keys.agent(item.agent))
  const look =
    agent === null || agent.item.deletedAt !== null ? null : await lookAtTick(world, item.conv, agent.item, now)
  if (look === null)
    return await commit(world, [putHead(world, { ...item, tick: { ...plan, nextAt: null } }, head.version, now)])
  const decided = decideTick(look.seat, plan)
  const next: Head = { ...item, tick: decided.plan }
  await commit(world, [
    putHead(world, next, head.version, now),
    ...(decided.put ? new Charges().draw(look.purse, { wakes: 1 }).ops(now) : []),
  ])
  await armTick(world, next)
  if (!decided.put) return
  world.meter.count('ticks', 1)
  await ringTick(world, next)
}

/** Whether a tick that waits may begin; one that may not is dropped, and planned anew. @throws Conflict */
export async function stillDue(world: World, front: Front, now: number): Promise<boolean> {
  const { item, version } = front.head
  const plan: TickPlan = { ...item.tick!, waiting: null }
  const agent = await read<Agent>(world, keys.agent(item.agent))
  const look = agent === null ? null : await lookFrom(world, front, agent.item, now)
  // Its budgets were drawn on when it was put.
  const decided = look === null ? null : decideTick({ ...look.seat, short: null }, plan)
  if (decided?.put === true) return true
  const next: Head = { ...item, tick: decided?.plan ?? { ...plan, nextAt: null } }
  await commit(world, [putHead(world, next, version, now), ...droppedTick(item, now)])
  await armTick(world, next)
  return false
}

/** Short waits and long ones alike; one that is stale by then finds another plan. */
export async function armTick(world: World, { conv, tick }: Head): Promise<void> {
  const at = tick?.nextAt ?? null
  if (at !== null) await hint(world, () => world.alarms.set({ kind: 'turn', id: conv }, at))
}

async function ringTick(world: World, head: Head): Promise<void> {
  const message = tickMessage(head)!
  const { session, agent } = head
  await hint(world, () =>
    world.bell.ring(session, { kind: 'message', session, agent, id: message.id, message: () => message }),
  )
}

/** The plan that the end of a turn leaves; undefined: as it was, there is no planner. */
export async function planAfter(
  world: World,
  head: Head,
  turn: NonNullable<Head['turn']>,
  ended: { readonly sleep: { readonly seconds: number } | null; readonly tokens: number | null },
  now: number,
): Promise<TickPlan | null | undefined> {
  if (!head.main || head.parent !== null) return undefined
  const agent = await read<Agent>(world, keys.agent(head.agent))
  if (agent === null) return undefined
  if (!hasPlanner(world, agent.item, head)) return await spentOnly(world, head, turn, ended.tokens ?? 0, now)
  // S3-44: only a person's word is new input; what wakes by itself leaves the window as it is.
  const kind = turn.kind === 'user' || turn.heard === true ? 'user' : turn.kind === 'tick' ? 'tick' : 'other'
  const plan = head.tick ?? null
  if (plan === null && kind !== 'user') return undefined
  const { hops, depth } = turn.origin
  // Times alone cannot tell a word from before the park from one after it in the same moment.
  const putAt = turn.heard === true ? now : timeOf(bare(turn.message))
  const wordAt =
    plan?.word === true ? Math.max(putAt, (plan.parkedAt ?? 0) + 1) : Math.min(putAt, plan?.parkedAt ?? putAt)
  return afterTurn(plan, {
    kind,
    wordAt: kind === 'user' ? wordAt : null,
    cancelled: turn.cancelled !== null,
    sleepSeconds: ended.sleep?.seconds ?? null,
    tokens: ended.tokens ?? 0,
    reach: { hops, depth },
    settings: proactiveOf(agent.item),
    day: (await todayOf(world, head.owner, now)).day,
    now,
  })
}

/** Ticks were switched off while one ran: what it used is counted, and nothing is planned. */
async function spentOnly(
  world: World,
  head: Head,
  turn: NonNullable<Head['turn']>,
  tokens: number,
  now: number,
): Promise<TickPlan | undefined> {
  const plan = head.tick ?? null
  if (plan === null || turn.kind !== 'tick') return undefined
  const today = counted(plan, (await todayOf(world, head.owner, now)).day)
  return { ...plan, ...today, tokens: today.tokens + tokens, nextAt: null }
}

/** A head whose planner stands still until a person writes, with the tick that waited dropped. */
export function parked(
  head: Head,
  reason: string,
  day: string,
  now: number,
): { readonly head: Head; readonly ops: Op[] } {
  const plan = head.tick ?? null
  return {
    head: { ...head, tick: parkedPlan(plan ?? unplanned(day, now), reason, now) },
    ops: droppedTick(head, now),
  }
}
