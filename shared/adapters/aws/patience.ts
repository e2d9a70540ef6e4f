import { isPassing } from './failures.ts'

/** Time and chance, as whoever waits meets them. */
export interface Pace {
  /** Milliseconds of a clock that never jumps. */
  now(): number
  /** 0 up to 1, 1 left out. */
  random(): number
  pause(ms: number): Promise<void>
}

const realPace: Pace = {
  now: () => performance.now(),
  random: () => Math.random(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

const pauseMsMin = 25
const pauseMsMax = 1000
/** Within the time that a function has to answer, and long enough for two hundred that want one item. */
const patienceMs = 10_000
/** Kept back at the end of an invocation: a request that is under way may last for its own time-out (5 s), and what follows has to be told. */
const lastMs = 6_000

/**
 * How a process waits for a service that refuses for now: again and again, after pauses with full jitter, since those who met once must not
 * meet again; ten seconds a call at most, and never into the last seconds of the invocation.
 *
 * One for all the clients of a process. Lambda runs one invocation at a time in it, so that there is one end to mind.
 */
export class Patience {
  readonly #pace: Pace
  #until = Number.POSITIVE_INFINITY

  constructor(pace: Pace = realPace) {
    this.#pace = pace
  }

  /** An invocation begins that is cut off after `ms`. Until the next one, nothing is waited for beyond that. */
  begin(ms: number): void {
    this.#until = this.#pace.now() + ms - lastMs
  }

  /**
   * Tries again what is only refused for now.
   *
   * @throws what `attempt` threw last, once it is not passing or the patience is over
   */
  async calling<T>(attempt: () => Promise<T>): Promise<T> {
    const pauses = this.pauses()
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!isPassing(error) || !(await pauses.next())) throw error
      }
    }
  }

  /** The pauses of one call, each up to twice as long as the one before. */
  pauses(): { next(): Promise<boolean> } {
    const until = this.#pace.now() + patienceMs
    let most = pauseMsMin
    return {
      next: () => {
        const paused = this.pause(most, until)
        most = Math.min(pauseMsMax, most * 2)
        return paused
      },
    }
  }

  /**
   * One pause of up to `mostMs`, however long chance has it.
   *
   * @param until  of the pace's clock: it must be over by then
   * @returns      false at once when it would not be over in time
   */
  async pause(mostMs: number, until = Number.POSITIVE_INFINITY): Promise<boolean> {
    return await this.wait(this.#pace.random() * mostMs, until)
  }

  /** A pause of exactly `ms`, for what takes that long by itself and meets nobody. @returns as `pause` */
  async wait(ms: number, until = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#pace.now() + ms > Math.min(until, this.#until)) return false
    await this.#pace.pause(ms)
    return true
  }

  /** A whole number from `least` up to `most`, both included: what must not come all at once is spread by it. */
  spread(least: number, most: number): number {
    return least + Math.floor(this.#pace.random() * (most - least + 1))
  }
}
