import { nextOf, nthOf, rankOf, size } from './bits.ts'

/** A set of seconds within a day (or an hour, a minute), never listed out when it is hours x minutes x seconds. */
export interface Times {
  readonly size: number
  /** The least member >= `from`, -1 for none. */
  next(from: number): number
  /** How many members < `below`. */
  rank(below: number): number
  /** The member with `rank` members before it. */
  nth(rank: number): number
}

/** Hours x minutes x seconds. A set of seconds in an hour has the hour 0 only, in a minute also the minute 0 only. */
export class Grid implements Times {
  readonly size: number
  readonly hours: number
  readonly minutesLow: number
  readonly minutesHigh: number
  readonly secondsLow: number
  readonly secondsHigh: number
  private readonly perHour: number
  private readonly perMinute: number

  constructor(hours: number, minutes: readonly [number, number], seconds: readonly [number, number]) {
    this.hours = hours
    this.minutesLow = minutes[0]
    this.minutesHigh = minutes[1]
    this.secondsLow = seconds[0]
    this.secondsHigh = seconds[1]
    this.perMinute = size(seconds[0]) + size(seconds[1])
    this.perHour = (size(minutes[0]) + size(minutes[1])) * this.perMinute
    this.size = size(hours) * this.perHour
  }

  next(from: number): number {
    if (this.size === 0) return -1
    const hour = (from / 3600) | 0
    const inHour = from - hour * 3600
    const minute = (inHour / 60) | 0
    if (hour < 24 && ((this.hours >>> hour) & 1) === 1) {
      let m = nextOf(this.minutesLow, this.minutesHigh, minute)
      if (m === minute) {
        const s = nextOf(this.secondsLow, this.secondsHigh, inHour - minute * 60)
        if (s !== -1) return hour * 3600 + m * 60 + s
        m = nextOf(this.minutesLow, this.minutesHigh, minute + 1)
      }
      if (m !== -1) return hour * 3600 + m * 60 + nextOf(this.secondsLow, this.secondsHigh, 0)
    }
    const h = nextOf(this.hours, 0, hour + 1)
    if (h === -1) return -1
    const m = nextOf(this.minutesLow, this.minutesHigh, 0)
    return h * 3600 + m * 60 + nextOf(this.secondsLow, this.secondsHigh, 0)
  }

  rank(below: number): number {
    if (below <= 0) return 0
    const hour = Math.floor(below / 3600)
    const inHour = below - hour * 3600
    const minute = (inHour / 60) | 0
    let n = rankOf(this.hours, 0, hour) * this.perHour
    if (hour < 24 && ((this.hours >>> hour) & 1) === 1) {
      n += rankOf(this.minutesLow, this.minutesHigh, minute) * this.perMinute
      if (nextOf(this.minutesLow, this.minutesHigh, minute) === minute)
        n += rankOf(this.secondsLow, this.secondsHigh, inHour - minute * 60)
    }
    return n
  }

  nth(rank: number): number {
    const hours = (rank / this.perHour) | 0
    const inHour = rank - hours * this.perHour
    const minutes = (inHour / this.perMinute) | 0
    return (
      nthOf(this.hours, 0, hours) * 3600 +
      nthOf(this.minutesLow, this.minutesHigh, minutes) * 60 +
      nthOf(this.secondsLow, this.secondsHigh, inHour - minutes * this.perMinute)
    )
  }
}

/** Seconds listed one by one: what BYSETPOS leaves of a grid. */
export class Listed implements Times {
  readonly size: number
  private readonly sorted: readonly number[]

  constructor(sorted: readonly number[]) {
    this.sorted = sorted
    this.size = sorted.length
  }

  next(from: number): number {
    return this.sorted[this.rank(from)] ?? -1
  }

  rank(below: number): number {
    let low = 0
    let high = this.sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.sorted[middle]! < below) low = middle + 1
      else high = middle
    }
    return low
  }

  nth(rank: number): number {
    return this.sorted[rank]!
  }
}

/** What BYSETPOS leaves of a set: 1 is the first, -1 the last; positions beyond the set name nothing. */
export function pick(set: { size: number; nth(rank: number): number }, positions: readonly number[]): Listed {
  const inside: number[] = []
  for (const n of positions) {
    const rank = n > 0 ? n - 1 : set.size + n
    if (rank >= 0 && rank < set.size) inside.push(rank)
  }
  const ranks = inside.sort((a, b) => a - b).filter((rank, i) => rank !== inside[i - 1])
  return new Listed(ranks.map((rank) => set.nth(rank)))
}

/** How many wall times lie in [from, to], ms, when each of the days has each of the times. */
export function countTimes(
  days: { has(day: number): boolean; count(from: number, to: number): number },
  times: Times,
  o: { from: number; to: number },
): number {
  if (o.to < o.from) return 0
  const first = Math.ceil(o.from / 1000)
  const last = Math.floor(o.to / 1000)
  const firstDay = Math.floor(first / 86_400)
  const lastDay = Math.floor(last / 86_400)
  let n = days.count(firstDay, lastDay) * times.size
  if (days.has(firstDay)) n -= times.rank(first - firstDay * 86_400)
  if (days.has(lastDay)) n -= times.size - times.rank(last - lastDay * 86_400 + 1)
  return n
}
