/** `--quick` proves that a row runs; only a full run's figures are worth comparing, and only they reach docs/benchmarks.md. */
export const quick = process.argv.includes('--quick')

export const drainSizes = quick
  ? { due: 2_000, sessions: 100, othersArmed: 18_000, rounds: 1 }
  : { due: 10_000, sessions: 500, othersArmed: 90_000, rounds: 3 }

export const createSizes = quick
  ? { creates: 2_000, warmUp: 320, callers: 64, rounds: 1 }
  : { creates: 10_000, warmUp: 640, callers: 64, rounds: 3 }

/**
 * A minute is watched, not half of one: a sweep once a minute is then always inside the window, never missed by luck.
 * Both sides wait and are watched at the same time.
 */
export const idleSizes = quick
  ? { armed: 10_000, settleMs: 5_000, watchMs: 10_000 }
  : { armed: 100_000, settleMs: 15_000, watchMs: 60_000 }

export const changeSizes = quick
  ? { armed: 10_000, few: 100, changes: 300, onOnePath: 2_000, rounds: 1 }
  : { armed: 100_000, few: 100, changes: 1_000, onOnePath: 10_000, rounds: 3 }

export const flowSizes = quick
  ? { traces: 1_000, alike: 4, looks: 40, steps: 200, fewSteps: 50 }
  : { traces: 10_000, alike: 4, looks: 200, steps: 500, fewSteps: 50 }

export const sweepSizes = quick
  ? { armed: 50_000, few: 1_000, due: 10, sweeps: 30, rounds: 1 }
  : { armed: 1_000_000, few: 1_000, due: 10, sweeps: 60, rounds: 3 }

export const coldRounds = quick ? 3 : 9
