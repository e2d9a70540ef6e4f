import type { MessageKind } from './message.ts'
import type { Origin } from './provenance.ts'
import type { Head, RunRef } from './session.ts'
import { whileRunning } from './tick.ts'

/** A head whose next message somebody has taken. */
export function startTurn(
  head: Head,
  o: {
    readonly id: string
    readonly message: { readonly id: string; readonly kind: MessageKind; readonly origin: Origin }
    readonly run: RunRef | null
    readonly leaseMs: number
    readonly steerable: boolean
    /** Today, in the owner's zone; null where no tick begins. */
    readonly day: string | null
    readonly now: number
  },
): Head {
  const { tick = null } = head
  return {
    ...head,
    ...(tick === null ? {} : { tick: whileRunning(tick, o.day === null ? null : { day: o.day }) }),
    turn: {
      id: o.id,
      message: o.message.id,
      kind: o.message.kind,
      origin: o.message.origin,
      runs: o.run === null ? [] : [o.run],
      startedAt: o.now,
      leaseUntil: o.now + o.leaseMs,
      leaseMs: o.leaseMs,
      steerable: o.steerable,
      cancelled: null,
    },
  }
}
