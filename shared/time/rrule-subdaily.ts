import { bitsOf } from './bits.ts'
import { dayMs, gcd, modulo } from './calendar.ts'
import { type Days, noDay } from './days.ts'
import { searchStepsMax } from './limits.ts'
import type { RruleParts } from './rrule-text.ts'
import { Grid, pick, type Times } from './times.ts'
import type { Rrule, WallMs } from './types.ts'

/**
 * HOURLY, MINUTELY and SECONDLY: every INTERVAL-th hour, minute or second of the wall clock, counted from the start's,
 * on days and at times of day that match. All in wall seconds. Days that do not match are jumped over, and within a day
 * the search leaps from the next aligned period to the next allowed time and back until they meet.
 */
export class SubDaily implements Rrule {
  steps = 0
  private readonly days: Days
  /** The length of a period, and how far apart they begin. */
  private readonly unit: number
  private readonly stride: number
  private readonly base: number
  /** When in a day a period may begin. */
  private readonly allowed: Grid
  /** What is in within a period. */
  private readonly inner: Times
  private readonly isNever: boolean
  /** Periods in a whole day, by how far its midnight is from an aligned one. */
  private readonly perDay = new Map<number, number>()

  constructor(p: RruleParts, o: { start: WallMs; days: Days }) {
    const second = Math.floor(o.start / 1000)
    const minute = Math.floor(second / 60)
    const hours = p.hours === null ? 0xffffff : bitsOf(p.hours)[0]
    const minutes = p.minutes === null ? every60 : bitsOf(p.minutes)
    const seconds = p.seconds === null ? every60 : bitsOf(p.seconds)
    const innerSeconds = p.seconds === null ? bitsOf([modulo(second, 60)]) : seconds
    const innerMinutes = p.minutes === null ? bitsOf([modulo(minute, 60)]) : minutes
    this.unit = p.freq === 'HOURLY' ? 3600 : p.freq === 'MINUTELY' ? 60 : 1
    this.stride = this.unit * p.interval
    this.base = Math.floor(second / this.unit) * this.unit
    this.days = o.days
    this.allowed = new Grid(hours, p.freq === 'HOURLY' ? zero : minutes, p.freq === 'SECONDLY' ? seconds : zero)
    const inner = new Grid(1, p.freq === 'HOURLY' ? innerMinutes : zero, p.freq === 'SECONDLY' ? zero : innerSeconds)
    // A period's set is the same in every period, so positions in it are picked once.
    this.inner = p.positions === null ? inner : pick(inner, p.positions)
    this.isNever = this.inner.size === 0 || !this.canMeet()
  }

  next(from: WallMs, until: WallMs): WallMs {
    if (this.isNever) return Infinity
    const second = Math.ceil(from / 1000)
    const lastDay = Math.floor(until / dayMs)
    const period = Math.floor(second / this.unit) * this.unit
    let found = this.nextPeriod(period, lastDay)
    if (found === period) {
      const inside = this.inner.next(second - period)
      if (inside !== -1) return (period + inside) * 1000
      found = this.nextPeriod(period + this.unit, lastDay)
    }
    return found === Infinity ? Infinity : (found + this.inner.nth(0)) * 1000
  }

  count(from: WallMs, to: WallMs): number {
    if (this.isNever || to < from) return 0
    const first = Math.ceil(from / 1000)
    const end = Math.floor(to / 1000) + 1
    return this.countBelow(end, first) - this.countBelow(first, first)
  }

  /** How many are in from the day of `from` on and before `end`. */
  private countBelow(end: number, from: number): number {
    const firstDay = Math.floor(from / 86_400)
    const endDay = Math.floor(end / 86_400)
    let periods = 0
    for (let day = this.days.next(firstDay, endDay - 1); day !== noDay; day = this.days.next(day + 1, endDay - 1)) {
      this.steps++
      periods += this.periodsOn(day)
    }
    const period = Math.floor(end / this.unit) * this.unit
    if (this.days.has(endDay)) periods += this.periodsBetween(endDay * 86_400, period)
    const isIn = period !== end && this.nextPeriod(period, endDay) === period
    return periods * this.inner.size + (isIn ? this.inner.rank(end - period) : 0)
  }

  private periodsOn(day: number): number {
    const midnight = day * 86_400
    if (this.stride === this.unit) return this.allowed.size
    const key = modulo(midnight - this.base, this.stride)
    let n = this.perDay.get(key)
    if (n === undefined) {
      n = this.periodsBetween(midnight, midnight + 86_400)
      // Residues are as many as the stride at worst; a stride of a day and more has a cheap count anyway.
      if (this.perDay.size < 10_000) this.perDay.set(key, n)
    }
    return n
  }

  /** Periods that begin in [from, end), within one day that matches. */
  private periodsBetween(from: number, end: number): number {
    const midnight = Math.floor(from / 86_400) * 86_400
    if (this.stride === this.unit) return this.allowed.rank(end - midnight) - this.allowed.rank(from - midnight)
    if (this.allowed.size * this.unit === 86_400) return Math.max(0, Math.ceil((end - this.align(from)) / this.stride))
    let n = 0
    for (let at = this.meet(this.align(from), midnight); at < end; at = this.meet(at + this.stride, midnight)) n++
    return n
  }

  /** The first period >= `from`, a multiple of the unit; Infinity when it would begin after `lastDay`. */
  private nextPeriod(from: number, lastDay: number): number {
    const enough = this.steps + searchStepsMax
    let at = this.align(from)
    while (this.steps < enough) {
      this.steps++
      const day = Math.floor(at / 86_400)
      const found = this.days.next(day, lastDay)
      if (found === noDay) return Infinity
      if (found > day) {
        at = this.align(found * 86_400)
        if (at >= (found + 1) * 86_400) continue
      }
      const met = this.meet(at, found * 86_400)
      if (met !== Infinity) return met
      at = this.align((found + 1) * 86_400)
    }
    return Infinity
  }

  /** The first aligned and allowed second of a day from `at` on, which is aligned; Infinity for none. */
  private meet(at: number, midnight: number): number {
    while (at < midnight + 86_400) {
      this.steps++
      const allowed = this.allowed.next(at - midnight)
      if (allowed === -1) return Infinity
      if (midnight + allowed === at) return at
      at = this.align(midnight + allowed)
    }
    return Infinity
  }

  private align(from: number): number {
    return this.base + Math.ceil((from - this.base) / this.stride) * this.stride
  }

  /** Aligned seconds of a day share a remainder by gcd(stride, day): without an allowed one of that remainder they never meet. */
  private canMeet(): boolean {
    const common = gcd(this.stride, 86_400)
    for (let at = modulo(this.base, common); at < 86_400; ) {
      const allowed = this.allowed.next(at)
      if (allowed === -1) return false
      const over = modulo(allowed - this.base, common)
      if (over === 0) return true
      at = allowed + common - over
    }
    return false
  }
}

const every60: [number, number] = [-1, 0x0fffffff]
const zero: [number, number] = [1, 0]
