import { lowest, nextOf, size } from './bits.ts'
import { dayNumber, isLeap, monthLength, packedDate, weekday } from './calendar.ts'

/** After every day; a small integer, since days are and the hot path stays in whole numbers. */
export const noDay = 0x3fffffff

/**
 * A set of days, known month by month as 31 bits, the month asked about last kept.
 * A month that cannot match costs nothing, one that can about 10 ns: 40 years without a match take some microseconds.
 */
export abstract class Days {
  private readonly months: number
  private readonly isLeapOnly: boolean
  /** The month at hand, as day numbers; none at first. */
  private first = 0
  private last = -1
  private bits = 0
  private year = 0
  private month = 0

  /**
   * @param months      bit 0 is January; a day outside of these is never in
   * @param isLeapOnly  29 February alone can be in: common years need no look
   */
  constructor(months: number, isLeapOnly: boolean) {
    this.months = months
    this.isLeapOnly = isLeapOnly
  }

  /** Which days of a month are in; bit 0 is the 1st, bits past its end do not matter. */
  protected abstract bitsIn(year: number, month: number, firstWeekday: number, length: number): number

  /** The least day >= `day` that is in; `noDay` when it would be past `until`. Its month is then the one at hand. */
  next(day: number, until: number): number {
    if (day < this.first || day > this.last) {
      const date = packedDate(day)
      this.load(date >> 9, (date >> 5) & 15, day - (date & 31) + 1)
    }
    const rest = this.bits >>> (day - this.first)
    if (rest !== 0) {
      const found = day + lowest(rest)
      return found <= until ? found : noDay
    }
    const months = this.months
    if (months === 0) return noDay
    for (;;) {
      let month = nextOf(months, 0, this.month) + 1
      let year = this.year
      let first = this.last + 1
      if (month === 0) {
        month = lowest(months) + 1
        year = this.isLeapOnly ? nextLeap(year) : year + 1
        first = dayNumber(year, month, 1)
      } else if (month !== this.month + 1) first = dayNumber(year, month, 1)
      if (first > until) return noDay
      this.load(year, month, first)
      if (this.bits !== 0) {
        const found = first + lowest(this.bits)
        return found <= until ? found : noDay
      }
    }
  }

  has(day: number): boolean {
    return this.next(day, day) === day
  }

  /** How many days in [from, to]. */
  count(from: number, to: number): number {
    let n = 0
    for (let day = this.next(from, to); day <= to; day = this.next(this.last + 1, to)) {
      let rest = this.bits >>> (day - this.first)
      if (this.last > to) rest &= (2 << (to - day)) - 1
      n += size(rest)
    }
    return n
  }

  private load(year: number, month: number, first: number): void {
    const length = monthLength(year, month)
    this.year = year
    this.month = month
    this.first = first
    this.last = first + length - 1
    this.bits =
      ((this.months >>> (month - 1)) & 1) === 0
        ? 0
        : this.bitsIn(year, month, weekday(first), length) & (0x7fffffff >>> (31 - length))
  }
}

/** Whether 29 February is the only day that these months and days of the month have in common. */
export function isLeapDay(months: number, monthDays: number): boolean {
  return months === 2 && (monthDays & 0x1fffffff) === 1 << 28
}

function nextLeap(year: number): number {
  const next = year + 4 - (year & 3)
  return isLeap(next) ? next : next + 4
}

/** The days of a month whose weekday is in `weekdays` (bit 0 is Sunday). */
export function weekdaysInMonth(weekdays: number, firstWeekday: number): number {
  const turned = (weekdays >>> firstWeekday) | (weekdays << (7 - firstWeekday))
  const week = turned & 127
  return week | (week << 7) | (week << 14) | (week << 21) | (week << 28)
}
