/**
 * What is counted. `of`: the word that tells the kinds of one counter apart, null where there is one kind.
 *
 * Runs are counted where a commit has written them into the ledger (`engine/sight.ts`), so that the ledger and the numbers say the same.
 */
export const counters = {
  fires: { of: null, help: 'Runs that went out: a prompt was put, or a flow begun' },
  skips: { of: 'reason', help: 'Runs that were left out' },
  missed: { of: 'reason', help: 'Nominal times that nobody makes up' },
  held: { of: 'reason', help: 'Runs that wait for a word from a person' },
  checks: { of: 'verdict', help: 'Checks that found nothing, or failed' },
  ends: { of: 'result', help: 'Runs that ended' },
  deliveries: { of: 'result', help: 'Tries to send what the end of a run sends out' },
  ticks: { of: null, help: 'Ticks that were put' },
  monitors: { of: null, help: 'Monitors that fired' },
  conflicts: { of: null, help: 'Commits that lost a race and were decided again' },
  stranded: { of: null, help: 'What was found due long after its time: no alarm had brought it' },
  set_aside: { of: null, help: 'Items that cannot be read or decided, and are looked at no more' },
  calls: { of: 'class', help: 'Calls of the API that were answered' },
} as const satisfies Record<string, { readonly of: string | null; readonly help: string }>
export type CounterName = keyof typeof counters

/** What is measured, in milliseconds. */
export const distributions = {
  lateness: { help: 'From when a run was due, its jitter included, to when its prompt was put' },
  wait: { help: 'From when a message was put to when a worker claimed it' },
} as const satisfies Record<string, { readonly help: string }>
export type DistributionName = keyof typeof distributions

/** Takes what happens as numbers, for whoever watches over an installation. Keeps it in memory; costs next to nothing; never throws. */
export interface Meter {
  /** @param of  which kind, for a counter that has kinds */
  count(name: CounterName, n: number, of?: string): void
  observe(name: DistributionName, ms: number): void
}

/** For what nobody watches: a herd that only warms the engine up. */
export const noMeter: Meter = { count() {}, observe() {} }
