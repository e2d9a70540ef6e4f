import { Refused } from '../domain/refused.ts'
import { counted, tickGate, tickOpensAt, windowUntil } from '../domain/tick.ts'
import { type Call, retrying } from './call.ts'
import { openSession, sessionFor } from './reach.ts'
import { commit, putHead } from './store.ts'
import { lookAtTick, parked, proactiveOf, todayOf } from './ticks.ts'

export interface TicksView {
  readonly state: 'off' | 'armed' | 'waiting' | 'running' | 'parked'
  /** What stands in the way; null: nothing does. */
  readonly reason: string | null
  /** When it is looked at next; null when off, parked, or while a turn runs. */
  readonly nextAt: number | null
  readonly today: { readonly ticks: number; readonly tokens: number }
  /** Null: nobody has written yet, or it is off. */
  readonly windowUntil: number | null
}

/** How a session's planner stands now: the first gate that would stop a tick is its reason. */
export async function viewTicks(call: Call, id: string): Promise<TicksView> {
  const { head, agent, row } = await sessionFor(call, id)
  const { item } = head
  const plan = item.tick ?? null
  const look = await lookAtTick(call.world, item.conv, agent, call.now)
  const day = look?.seat.today.day ?? ''
  const { ticks, tokens } = plan === null ? { ticks: 0, tokens: 0 } : counted(plan, day)
  const view = { today: { ticks, tokens }, windowUntil: plan === null ? null : windowUntil(plan, proactiveOf(agent)) }
  const none = { ...view, nextAt: null }
  // What hung on a session that was compacted hangs on the one that took over.
  if (look === null || row.item.compactedInto !== null)
    return { ...none, state: 'off', reason: 'session_archived', windowUntil: null }
  const unwritten = plan ?? { ...blank, parked: 'no_input', day }
  // What would meet the tick that is planned is told now, not when it comes.
  // Its budgets were drawn on when it was put.
  const seat = plan !== null && plan.waiting !== null ? { ...look.seat, short: null } : look.seat
  const planned = { ...seat, now: Math.max(call.now, plan?.nextAt ?? call.now) }
  const gate = tickGate(seat, unwritten) ?? tickGate(planned, unwritten)
  if (gate?.kind === 'off') return { ...none, state: 'off', reason: gate.reason, windowUntil: null }
  if (gate?.kind === 'parks') return { ...none, state: 'parked', reason: gate.reason }
  if (item.turn?.kind === 'tick') return { ...none, state: 'running', reason: null }
  if (plan !== null && plan.waiting !== null)
    return { ...none, state: 'waiting', reason: gate?.kind === 'waits' ? gate.reason : 'not_claimed' }
  // Switched on again since the last turn: that of the next one plans.
  if (gate === null && plan!.nextAt === null) return { ...none, state: 'waiting', reason: 'next_turn' }
  if (gate === null) return { ...view, state: 'armed', reason: null, nextAt: plan!.nextAt }
  const opensAt = Math.max(plan!.nextAt ?? 0, tickOpensAt(planned, unwritten) ?? 0)
  return { ...view, state: 'waiting', reason: gate.reason, nextAt: plan!.nextAt === null ? null : opensAt }
}

const blank = {
  nextAt: null,
  waiting: null,
  idle: 0,
  windowFrom: 0,
  ticks: 0,
  tokens: 0,
  reach: { hops: 0, depth: 0 },
}

/** Until a person writes. Parking what is parked changes its reason. */
export async function parkTicks(call: Call, id: string, reason: 'parked' | 'cancelled' = 'parked'): Promise<TicksView> {
  const { world, now } = call
  const before = await viewTicks(call, id)
  if (before.state === 'off')
    throw new Refused('ticks_off', `ticks are off in session ${id} (${before.reason}): there is nothing to park`)
  await retrying(async () => {
    const { head } = await openSession(call, id)
    const day = (await todayOf(world, head.item.owner, now)).day
    const quiet = parked(head.item, reason, day, now)
    await commit(world, [putHead(world, quiet.head, head.version, now), ...quiet.ops])
  })
  return await viewTicks(call, id)
}
