import { type CounterName, counters, type DistributionName, distributions, type Meter } from '../ports/meter.ts'

/** Upper bounds in ms, at and around what is promised: milliseconds on one machine, two seconds in the cloud, a minute by the sweep. */
const bounds = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000] as const

interface Distribution {
  /** How many stand under each bound and above the one before; last: above all of them. */
  readonly buckets: number[]
  sum: number
  count: number
}

/** The numbers of one process since its start, in memory. */
export class Counts implements Meter {
  /** By name, then by kind; '' where there is one kind. */
  readonly #counters = new Map<CounterName, Map<string, number>>()
  readonly #distributions = new Map<DistributionName, Distribution>()

  count(name: CounterName, n: number, of = ''): void {
    const kinds = this.#counters.get(name) ?? new Map<string, number>()
    if (kinds.size === 0) this.#counters.set(name, kinds)
    kinds.set(of, (kinds.get(of) ?? 0) + n)
  }

  observe(name: DistributionName, ms: number): void {
    const found = this.#distributions.get(name) ?? empty()
    if (found.count === 0) this.#distributions.set(name, found)
    let place = 0
    while (place < bounds.length && ms > bounds[place]!) place += 1
    found.buckets[place]! += 1
    found.sum += ms
    found.count += 1
  }

  /** In the text format of Prometheus (0.0.4): what is not there yet is 0, so that rates have a start. Times are in seconds. */
  text(): string {
    const lines: string[] = []
    for (const [name, { of, help }] of Object.entries(counters)) {
      const kinds = this.#counters.get(name as CounterName) ?? new Map<string, number>()
      lines.push(`# HELP rouse_${name}_total ${help}`, `# TYPE rouse_${name}_total counter`)
      if (of === null) lines.push(`rouse_${name}_total ${kinds.get('') ?? 0}`)
      for (const [kind, n] of kinds)
        if (of !== null) lines.push(`rouse_${name}_total{${of}="${kind.replaceAll(/[\\"\n]/g, '_')}"} ${n}`)
    }
    for (const [name, { help }] of Object.entries(distributions)) {
      const { buckets, sum, count } = this.#distributions.get(name as DistributionName) ?? empty()
      const metric = `rouse_${name}_seconds`
      lines.push(`# HELP ${metric} ${help}`, `# TYPE ${metric} histogram`)
      let under = 0
      for (const [i, bound] of bounds.entries()) {
        under += buckets[i]!
        lines.push(`${metric}_bucket{le="${bound / 1000}"} ${under}`)
      }
      lines.push(`${metric}_bucket{le="+Inf"} ${count}`, `${metric}_sum ${sum / 1000}`, `${metric}_count ${count}`)
    }
    return `${lines.join('\n')}\n`
  }
}

const empty = (): Distribution => ({ buckets: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0, count: 0 })
