import type { Ears } from '../../ports/world.ts'

const pauseMsMin = 1000
const pauseMsMax = 3000
const growth = 1.2

/**
 * The ears of a function that holds a claim open. They hear nothing: the call that rings runs in another process, and the
 * queue that carries the bell belongs to the worker, who would miss what somebody else takes from it. So they look again from time
 * to time: after a second at first, since whoever asks has often just been told to, then more and more seldom up to three, since each
 * look is a read that costs.
 */
export function openEars(): Ears {
  return {
    listen() {
      let pauseMs = pauseMsMin
      const closed = new AbortController()
      return {
        /** True: time to look again. False: the whole wait is over, or whoever waits has gone. */
        async rung(ms, signal) {
          const waitMs = Math.min(ms, pauseMs)
          pauseMs = Math.min(pauseMs * growth, pauseMsMax)
          const passed = await pause(waitMs, [closed.signal, ...(signal === undefined ? [] : [signal])])
          return passed && waitMs < ms
        },
        close: () => closed.abort(),
      }
    },
  }
}

/** @returns false when a signal cut it short, or `ms` is no time at all */
function pause(ms: number, signals: readonly AbortSignal[]): Promise<boolean> {
  if (!(ms > 0) || signals.some((signal) => signal.aborted)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (passed: boolean) => {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', abort)
      resolve(passed)
    }
    const abort = () => settle(false)
    const timer = setTimeout(() => settle(true), ms)
    for (const signal of signals) signal.addEventListener('abort', abort)
  })
}
