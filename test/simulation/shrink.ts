import type { FaultAt } from './faults.ts'
import { play } from './play.ts'
import type { History } from './steps.ts'

export interface Short {
  readonly history: History
  readonly faults: readonly FaultAt[]
  /** What it still finds. */
  readonly found: readonly string[]
}

/**
 * Leaves out faults, then steps, then faults again, as long as something is still found: halves first, then single ones.
 *
 * @param msMax  real time after which the shortest so far is taken
 */
export async function shrunk(history: History, msMax: number): Promise<Short> {
  const until = performance.now() + msMax
  const whole = await play(history)
  let best: Short = { history, faults: whole.faults, found: whole.found }
  if (whole.found.length === 0) return best
  const attempt = async (next: History, faults: readonly FaultAt[]): Promise<boolean> => {
    const { found } = await play(next, faults)
    if (found.length > 0) best = { history: next, faults, found }
    return found.length > 0
  }
  // The same faults by name do the same as the seed's, unless a name is met again otherwise.
  if (!(await attempt(history, whole.faults))) return best
  for (let before = Number.POSITIVE_INFINITY; before > sizeOf(best) && performance.now() < until; ) {
    before = sizeOf(best)
    await fewer(best.faults, until, (faults) => attempt(best.history, faults))
    await fewer(best.history.steps, until, (steps) => attempt({ ...best.history, steps }, best.faults))
  }
  return best
}

const sizeOf = ({ history, faults }: Short): number => history.steps.length + faults.length

/** Takes out parts, ever smaller ones, and keeps out what is not needed. */
async function fewer<T>(
  all: readonly T[],
  until: number,
  still: (rest: readonly T[]) => Promise<boolean>,
): Promise<void> {
  let kept = all
  if (kept.length > 0 && (await still([]))) return
  for (let size = Math.ceil(kept.length / 2); size >= 1 && kept.length > 0; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < kept.length; ) {
      if (performance.now() > until) return
      const rest = [...kept.slice(0, from), ...kept.slice(from + size)]
      if (await still(rest)) kept = rest
      else from += size
    }
}
