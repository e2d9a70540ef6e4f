/** The middle of `values`; of an even number the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) throw new Error('expected at least one value, got none')
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The smallest value that at least `share` (0..1) of all values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  if (sorted.length === 0) throw new Error('expected at least one value, got none')
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/** How one moment's work drained: one lag per prompt, each from the due time to its delivery. */
export interface Drained {
  /** count / (the last delivery − the due time) */
  perSecond: number
  p50: number
  p99: number
  firstMs: number
}

export function drained(lagsMs: readonly number[]): Drained {
  return {
    perSecond: lagsMs.length / (quantile(lagsMs, 1) / 1000),
    p50: quantile(lagsMs, 0.5),
    p99: quantile(lagsMs, 0.99),
    firstMs: quantile(lagsMs, 0),
  }
}

/** Wall clock in ms with a fraction; `Date.now` alone would round every lag to a whole millisecond. */
export const nowMs = (): number => performance.timeOrigin + performance.now()

export function medians<K extends string>(rounds: readonly Record<K, number>[], keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, median(rounds.map((round) => round[key]))])) as Record<K, number>
}

/** Three digits that matter: 14,732 and 0.0042 alike. */
export function shown(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  if (size >= 100) return value.toFixed(0)
  return Number(value.toPrecision(size >= 10 ? 3 : 2)).toString()
}
