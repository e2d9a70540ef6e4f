import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, Unreachable } from '../client/errors.ts'

const backoffMsMin = 500
const backoffMsMax = 30_000

/** Told when the server goes away and when it is back, once each: a worker waits out a restart, it does not log it every second. */
export interface Reachability {
  away(why: string): void
  back(): void
}

/**
 * Makes a call until the server has answered it: an absent, overloaded or failing server is waited for with full jitter.
 *
 * @throws ApiError  a refusal, at once
 * @throws the signal's reason, when `signal` aborts
 */
export async function persist<T>(o: {
  readonly call: () => Promise<T>
  readonly reachability: Reachability
  readonly signal: AbortSignal
}): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    o.signal.throwIfAborted()
    try {
      const answer = await o.call()
      o.reachability.back()
      return answer
    } catch (error) {
      o.signal.throwIfAborted()
      const wait = waitMsAfter(error, attempt)
      if (wait === null) {
        o.reachability.back()
        throw error
      }
      o.reachability.away((error as Error).message)
      await sleep(wait, undefined, { signal: o.signal }).catch(() => o.signal.throwIfAborted())
    }
  }
}

/** Null when waiting does not help. */
function waitMsAfter(error: unknown, attempt: number): number | null {
  const jittered = Math.random() * Math.min(backoffMsMax, backoffMsMin * 2 ** attempt)
  if (error instanceof Unreachable) return jittered
  if (!(error instanceof ApiError)) return null
  if (error.status === 429) return Math.max(jittered, (error.retryAfterSeconds ?? 0) * 1000)
  return error.status >= 500 ? jittered : null
}

/** One for all calls of a worker, since the heartbeat and the end notice the same outage. */
export function watchReachability(told: { away(why: string): void; back(): void }): Reachability {
  let isAway = false
  return {
    away(why) {
      if (!isAway) told.away(why)
      isAway = true
    },
    back() {
      if (isAway) told.back()
      isAway = false
    },
  }
}
