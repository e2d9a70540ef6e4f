import { ours, quotas } from './quotas.ts'

/** Of one wake of a schedule: what the simulation counts, and a test compares. */
export const perWake = { tableWrites: 4, dueIndexWrites: 2, creates: 1, invocations: 1 } as const

/** What the alarm function gets through a second: the herd of the simulation says no less. */
export const alarmsPerSecond = 800

/** A wake a day each, and a tenth of all at one moment: 08:00. */
export const sizes = [1_000, 100_000, 10_000_000] as const
export const herdOf = (schedules: number): number => schedules / 10

/**
 * How long each quota would take for a herd, alone, in seconds.
 *
 * @param herd  schedules of one moment
 */
export const secondsFor = (herd: number): Readonly<Record<string, number>> => ({
  'Scheduler, entries sent': (herd * perWake.invocations) / quotas.scheduler.invocations,
  'Scheduler, new entries': (herd * perWake.creates) / quotas.scheduler.creates,
  'the schedules table, just made': (herd * perWake.tableWrites) / quotas.dynamo.newTableWriteUnits,
  'the schedules table, grown': (herd * perWake.tableWrites) / quotas.dynamo.tableWriteUnits,
  'the due index, in 8 shards': (herd * perWake.dueIndexWrites) / (ours.shards * quotas.dynamo.partitionWriteUnits),
  'the alarm function, 20 batches at once': herd / alarmsPerSecond,
})

/** As the document has it: `0.1 s`, `12 s`, `1,250 s`. */
export const inSeconds = (seconds: number): string =>
  `${(seconds < 10 ? Math.ceil(seconds * 10) / 10 : Math.ceil(seconds)).toLocaleString('en-US')} s`
