import { isPassing } from './failures.ts'

const pauseMsMin = 25
const pauseMsMax = 1000
/** Within the time that a function has to answer, and long enough for two hundred that want one item. */
const patienceMs = 10_000

/**
 * Tries again what is only refused for now, after pauses with full jitter: those who met once must not meet again.
 *
 * @throws what `attempt` threw last, once it is not passing or ten seconds are over
 */
export async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  const pauses = new Pauses()
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isPassing(error) || !(await pauses.next())) throw error
    }
  }
}

export class Pauses {
  readonly #until = performance.now() + patienceMs
  #most = pauseMsMin

  /** Pauses, longer each time. @returns false at once when the patience is over */
  async next(): Promise<boolean> {
    const pauseMs = Math.random() * this.#most
    if (performance.now() + pauseMs > this.#until) return false
    this.#most = Math.min(pauseMsMax, this.#most * 2)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    return true
  }
}
