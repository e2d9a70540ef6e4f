import { bitsOf } from './bits.ts'
import { dayMs, dayNumber, modulo, packedDate } from './calendar.ts'
import { type Days, noDay } from './days.ts'
import { latestInstant, walkStepsMax } from './limits.ts'
import { RruleDays, weekBegin } from './rrule-days.ts'
import { SubDaily } from './rrule-subdaily.ts'
import type { RruleParts } from './rrule-text.ts'
import { lastOf } from './search.ts'
import { countTimes, Grid, Listed, pick, type Times } from './times.ts'
import type { Instant, Rrule, WallMs } from './types.ts'
import { SpecInvalid } from './types.ts'
import type { Zone } from './zone.ts'

/**
 * Makes a rule's wall times searchable. Nothing is walked from the start: periods are reckoned, so an old rule is as fast as a new one.
 *
 * @param start  the first wall time that may be in; whether it is, the rule says
 */
export function rruleRule(parts: RruleParts, start: WallMs): Rrule {
  const startDay = Math.floor(start / dayMs)
  const days = new RruleDays(parts, startDay)
  if (parts.freq === 'HOURLY' || parts.freq === 'MINUTELY' || parts.freq === 'SECONDLY')
    return new SubDaily(parts, { start, days })
  const times = timesOf(parts, start - startDay * dayMs)
  const periods = new Periods(parts, startDay)
  if (parts.positions === null) return new Whole(periods, days, times)
  // A day's set is the same every day, so positions in it are picked once.
  if (parts.freq === 'DAILY') return new Whole(periods, days, pick(times, parts.positions))
  return new Picked({ periods, days, times, positions: parts.positions })
}

/**
 * Turns COUNT into the instant of the last occurrence. Occurrences that a gap collapses count each (decision 3).
 * Counts stretches, each twice as long while they hold too few, then halves: no occurrence is walked to.
 *
 * @returns  the end of time for a COUNT that is not reached in it
 * @throws SpecInvalid  when the rule hits so rarely that counting would take too long
 */
export function lastByCount(rule: Rrule, o: { start: WallMs; count: number; zone: Zone }): Instant {
  const enough = rule.steps + walkStepsMax
  let missing = o.count
  let from = o.start
  let isShort = true
  for (let span = dayMs; from <= latestInstant; ) {
    const to = Math.min(from + span - 1000, latestInstant)
    const held = rule.count(from, to)
    if (held === missing) return o.zone.instantOf(lastOf(rule, from, to))
    if (held < missing) {
      missing -= held
      from += span
      // 22 years at most, so that the budget is looked at before a stretch has cost much more than it.
      if (isShort) span = Math.min(span * 2, 8192 * dayMs)
    } else {
      isShort = false
      span = Math.max(1000, Math.floor(span / 2000) * 1000)
    }
    if (rule.steps > enough)
      throw new SpecInvalid(
        'rrule',
        `COUNT=${o.count} reaches too far for a rule that matches this rarely. Write UNTIL instead.`,
      )
  }
  return latestInstant
}

function timesOf(p: RruleParts, inDay: number): Grid {
  const second = Math.floor(inDay / 1000)
  return new Grid(
    bitsOf(p.hours ?? [Math.floor(second / 3600)])[0],
    bitsOf(p.minutes ?? [Math.floor(second / 60) % 60]),
    bitsOf(p.seconds ?? [second % 60]),
  )
}

/** Every INTERVAL-th day, week, month or year, counted from the start's. */
class Periods {
  private readonly freq: RruleParts['freq']
  private readonly interval: number
  private readonly base: number

  constructor(p: RruleParts, startDay: number) {
    this.freq = p.freq
    this.interval = p.interval
    const date = packedDate(startDay)
    if (p.freq === 'WEEKLY') this.base = weekBegin(startDay, p.weekStart)
    else if (p.freq === 'MONTHLY') this.base = (date >> 9) * 12 + ((date >> 5) & 15) - 1
    else if (p.freq === 'YEARLY') this.base = date >> 9
    else this.base = startDay
  }

  /** How many days a period may have. */
  get daysMax(): number {
    return this.freq === 'WEEKLY' ? 7 : this.freq === 'MONTHLY' ? 31 : 366
  }

  get isEvery(): boolean {
    return this.interval === 1
  }

  /** The day itself when its period is one, else the first day of the next that is. */
  align(day: number): number {
    if (this.interval === 1) return day
    const index = this.indexOf(day)
    const over = modulo(index, this.interval)
    return over === 0 ? day : this.firstDay(index + this.interval - over)
  }

  /** The first and last day of a day's period. */
  around(day: number): [number, number] {
    const index = this.indexOf(day)
    return [this.firstDay(index), this.firstDay(index + 1) - 1]
  }

  private indexOf(day: number): number {
    switch (this.freq) {
      case 'YEARLY':
        return (packedDate(day) >> 9) - this.base
      case 'MONTHLY': {
        const date = packedDate(day)
        return (date >> 9) * 12 + ((date >> 5) & 15) - 1 - this.base
      }
      case 'WEEKLY':
        return Math.floor((day - this.base) / 7)
      default:
        return day - this.base
    }
  }

  private firstDay(index: number): number {
    switch (this.freq) {
      case 'YEARLY':
        return dayNumber(this.base + index, 1, 1)
      case 'MONTHLY': {
        const month = this.base + index
        return dayNumber(Math.floor(month / 12), modulo(month, 12) + 1, 1)
      }
      case 'WEEKLY':
        return this.base + index * 7
      default:
        return this.base + index
    }
  }
}

/** All times of all days that match. */
class Whole implements Rrule {
  steps = 0
  private readonly periods: Periods
  private readonly days: Days
  private readonly times: Times
  private readonly firstTime: number

  constructor(periods: Periods, days: Days, times: Times) {
    this.periods = periods
    this.days = days
    this.times = times
    this.firstTime = times.next(0)
  }

  next(from: WallMs, until: WallMs): WallMs {
    if (this.firstTime === -1) return Infinity
    const second = Math.ceil(from / 1000)
    const day = Math.floor(second / 86_400)
    const lastDay = Math.floor(until / dayMs)
    let found = this.nextDay(day, lastDay)
    if (found === day) {
      const inDay = this.times.next(second - day * 86_400)
      if (inDay !== -1) return (day * 86_400 + inDay) * 1000
      found = this.nextDay(day + 1, lastDay)
    }
    return found === noDay ? Infinity : (found * 86_400 + this.firstTime) * 1000
  }

  count(from: WallMs, to: WallMs): number {
    return countTimes(
      { has: (day) => this.nextDay(day, day) === day, count: (a, b) => this.countDays(a, b) },
      this.times,
      { from, to },
    )
  }

  private countDays(from: number, to: number): number {
    if (this.periods.isEvery) return this.days.count(from, to)
    let n = 0
    for (let day = this.nextDay(from, to); day !== noDay; day = this.nextDay(day + 1, to)) n++
    return n
  }

  private nextDay(day: number, until: number): number {
    for (;;) {
      this.steps++
      const found = this.days.next(day, until)
      if (found === noDay) return noDay
      const aligned = this.periods.align(found)
      if (aligned === found) return found
      if (aligned > until) return noDay
      day = aligned
    }
  }
}

/**
 * BYSETPOS over weeks, months and years: positions in the whole period, also where it began before the start.
 * Differs from dateutil, which counts the first period from the start on (dateutil#1398).
 */
class Picked implements Rrule {
  steps = 0
  private readonly periods: Periods
  private readonly days: Days
  private readonly times: Times
  private readonly positions: readonly number[]
  /** The period at hand and the seconds picked in it. */
  private first = 0
  private last = -1
  private picked = new Listed([])
  private readonly sizes: (number | undefined)[] = []

  constructor(o: { periods: Periods; days: Days; times: Times; positions: readonly number[] }) {
    this.periods = o.periods
    this.days = o.days
    this.times = o.times
    // Positions that no period reaches would be looked at in every one of them.
    const most = o.periods.daysMax * o.times.size
    this.positions = o.positions.filter((n) => Math.abs(n) <= most)
  }

  next(from: WallMs, until: WallMs): WallMs {
    if (this.times.size === 0 || this.positions.length === 0) return Infinity
    const second = Math.ceil(from / 1000)
    const lastDay = Math.floor(until / dayMs)
    let day = this.periods.align(Math.floor(second / 86_400))
    while (day <= lastDay) {
      this.load(day)
      const found = this.picked.next(second)
      if (found !== -1) return Math.floor(found / 86_400) <= lastDay ? found * 1000 : Infinity
      const next = this.days.next(this.last + 1, lastDay)
      if (next === noDay) break
      day = this.periods.align(next)
    }
    return Infinity
  }

  count(from: WallMs, to: WallMs): number {
    let n = 0
    const first = Math.ceil(from / 1000)
    const end = Math.floor(to / 1000) + 1
    let day = this.periods.align(Math.floor(first / 86_400))
    while (day * 86_400 < end) {
      const [begin, last] = this.periods.around(day)
      if (begin * 86_400 >= first && (last + 1) * 86_400 <= end) n += this.sizeOf(begin, last)
      else {
        this.load(day)
        n += Math.max(0, this.picked.rank(end) - this.picked.rank(first))
      }
      day = this.periods.align(last + 1)
    }
    return n
  }

  /** How many are picked in a whole period, which its number of days tells. */
  private sizeOf(begin: number, last: number): number {
    this.steps++
    const days = this.days.count(begin, last)
    this.sizes[days] ??= pick({ size: days * this.times.size, nth: (rank) => rank }, this.positions).size
    return this.sizes[days]
  }

  private load(day: number): void {
    if (day >= this.first && day <= this.last) return
    // Listing a period costs some ten steps of a search.
    this.steps += 10
    ;[this.first, this.last] = this.periods.around(day)
    const days: number[] = []
    for (let d = this.days.next(this.first, this.last); d !== noDay; d = this.days.next(d + 1, this.last)) days.push(d)
    const perDay = this.times.size
    const all = {
      size: days.length * perDay,
      nth: (i: number) => days[Math.floor(i / perDay)]! * 86_400 + this.times.nth(i % perDay),
    }
    this.picked = pick(all, this.positions)
  }
}
