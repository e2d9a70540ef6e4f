import { parentPort } from 'node:worker_threads'
import type { FaultAt } from './faults.ts'
import { differs } from './pair.ts'
import { play } from './play.ts'
import { shrunk } from './shrink.ts'
import { drawn, type History } from './steps.ts'

/** What a thread is asked for: a history that a seed draws, or one that was kept. */
export type Ask =
  | { readonly seed: number; readonly pair: boolean }
  | { readonly history: History; readonly faults: readonly FaultAt[] }
  | { readonly shrink: number; readonly msMax: number }

/** What came of it, small enough to be sent. */
export interface Told {
  readonly seed: number
  readonly steps: number
  readonly events: number
  readonly faults: number
  readonly found: readonly string[]
  readonly counts: readonly (readonly [string, number])[]
  /** What is left of a history that was made shorter. */
  readonly short?: { readonly history: History; readonly faults: readonly FaultAt[] }
}

async function tell(ask: Ask): Promise<Told> {
  if ('shrink' in ask) {
    const short = await shrunk(drawn(ask.shrink), ask.msMax)
    const { history, faults, found } = short
    return { seed: ask.shrink, steps: history.steps.length, events: 0, faults: faults.length, found, counts: [], short }
  }
  const history = 'seed' in ask ? drawn(ask.seed) : ask.history
  const played = await play(history, 'seed' in ask ? null : ask.faults)
  const pair = 'seed' in ask && ask.pair && played.found.length === 0 ? differs(played, await play(history, [])) : []
  return {
    seed: history.seed,
    steps: history.steps.length,
    events: played.events,
    faults: played.faults.length,
    found: [...played.found, ...pair],
    counts: [...played.counts],
  }
}

parentPort!.on('message', async (ask: Ask) => {
  try {
    parentPort!.postMessage(await tell(ask))
  } catch (error) {
    // A history that cannot be played to its end is one that failed.
    const seed = 'seed' in ask ? ask.seed : 'shrink' in ask ? ask.shrink : ask.history.seed
    const found = [`the history broke off: ${(error as Error).stack}`]
    parentPort!.postMessage({ seed, steps: 0, events: 0, faults: 0, found, counts: [] } satisfies Told)
  }
})
