import { type Head, hasLapsed } from '../domain/session.ts'
import { later } from '../ports/later.ts'
import type { World } from '../ports/world.ts'
import { retrying } from './call.ts'
import { hint } from './fire.ts'
import { keys, read } from './store.ts'

const closings = later(() => import('./closing.ts'))
const ends = later(() => import('./finish.ts'))
const ticks = later(() => import('./ticks.ts'))

/**
 * Looks at a conversation's head: ends its turn as `unknown` when the lease has run out, and goes on with a closing that was cut off. Looking
 * twice, early or at what is over does nothing.
 */
export async function lapse(world: World, conv: string, now: number): Promise<void> {
  const closing = await retrying(async () => {
    const head = await read<Head>(world, keys.head(conv))
    const turn = head?.item.turn ?? null
    if (head === null) return false
    if (turn === null || !hasLapsed(turn, now)) {
      // The lease was renewed since its alarm was set; nothing else brings the next one.
      if (turn !== null) await hint(world, () => world.alarms.set({ kind: 'turn', id: conv }, turn.leaseUntil))
      return head.item.closing
    }
    const reason = turn.cancelled === null ? 'lease_expired' : cancelReason(turn.cancelled)
    // A cancelled turn whose worker is silent was stopped all the same: nobody may be told that it is unknown.
    const result = turn.cancelled === null ? 'unknown' : 'failed'
    const { finish } = await ends()
    await finish(
      world,
      head,
      turn,
      { result, reason, answer: null, summary: null, tokens: null, usd: null, toolCalls: [], sleep: null },
      now,
    )
    world.log('warn', 'turn lease ran out', { turn: turn.id, session: head.item.session })
    return head.item.closing
  })
  // A closing that a crash cut off goes on here.
  if (closing) await (await closings()).closeConversation(world, conv, now)
}

/**
 * Puts a tick that is due, after everything else that is: where a budget is short, ticks go last. Early, stale or twice: nothing.
 */
export async function tick(world: World, conv: string, now: number): Promise<void> {
  await retrying(async () => {
    const head = await read<Head>(world, keys.head(conv))
    if (head?.item.tick != null) await (await ticks()).tickDue(world, head, now)
  })
}

export const cancelReason = (by: 'person' | 'overlap' | 'input'): string =>
  by === 'person' ? 'cancelled' : `cancelled_by_${by}`
