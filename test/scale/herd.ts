import { loadNow } from '../../shared/ports/later.ts'
import { fleet } from './fleet.ts'
import { Region } from './region.ts'
import { chance } from './virtual.ts'

export interface Waking {
  /** How late each prompt was rung for, ms, in order of size. */
  readonly lateMs: readonly number[]
  /** How many were due and not rung for. */
  readonly lost: number
  /** Slots that have other than one row. */
  readonly odd: number
  readonly invocations: number
  readonly busiest: number
  /** Requests that DynamoDB had no room for. */
  readonly refused: number
  /** The hottest second of any partition, as a part of what it may do. */
  readonly hottest: number
  /** Write units, by table and index. */
  readonly written: ReadonlyMap<string, number>
  readonly said: readonly string[]
}

/** Schedules that come daily, from before the Scheduler wakes until all is out. */
export async function woken(o: WakingOptions): Promise<Waking> {
  // Modules are loaded in time that is real: none may be waited for in the other.
  await loadNow()
  const first = o.due.reduce((a, b) => Math.min(a, b))
  const last = o.due.reduce((a, b) => Math.max(a, b))
  const region = new Region({ now: first - 3_600_000, ...o })
  await fleet({ aws: region.aws, now: first - 3_600_000, ...o })
  region.begin()
  region.sweepFrom(first - 90_000)
  await region.time.run(last + o.untilMs)
  const lateMs = region.lateMs().sort((a, b) => a - b)
  return {
    lateMs,
    lost: o.due.length - lateMs.length,
    odd: region.oddSlots(),
    invocations: region.invocations,
    busiest: region.busiest,
    refused: region.throttling.refused(),
    hottest: region.throttling.hottest(),
    written: region.throttling.written,
    said: region.said,
  }
}

export interface WakingOptions {
  readonly seed: number
  readonly due: readonly number[]
  readonly perSession: number
  readonly partitions: number
  readonly creates?: number
  readonly shards?: number
  /** After the last one is due. */
  readonly untilMs: number
}

/** Of values in order of size. @param part  0.99: one in a hundred is larger */
export const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN

const eight = Date.parse('2026-12-01T08:00:00Z')

/** So many that are due at 08:00. */
export const atOneMoment = (count: number): number[] => Array.from({ length: count }, () => eight)

/** So many a second from 08:00 on, at whatever millisecond. */
export function steadily(o: { readonly perSecond: number; readonly seconds: number }): number[] {
  const random = chance(7)
  return Array.from({ length: o.perSecond * o.seconds }, () => eight + Math.floor(random() * o.seconds * 1000))
}
