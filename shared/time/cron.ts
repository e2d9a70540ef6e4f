import { lowest, nextOf } from './bits.ts'
import { dayMs } from './calendar.ts'
import { Days, isLeapDay, noDay, weekdaysInMonth } from './days.ts'
import { cronCharsMax } from './limits.ts'
import { countTimes, Grid } from './times.ts'
import type { WallMs, WallRule } from './types.ts'

/**
 * A cron of five fields, as Vixie reads it (decision 2). Minutes are two words of bits, everything else one.
 * Source: cron 4.1 entry.c. Differs: `@daily` and its like are refused, and so are steps on a single value (`1/2`), which Vixie ignores.
 */
export class CronRule implements WallRule {
  readonly fields: CronFields
  readonly days: CronDays
  private readonly firstMinute: number

  constructor(fields: CronFields) {
    this.fields = fields
    this.days = new CronDays(fields)
    this.firstMinute = lowest(fields.hours) * 60 + nextOf(fields.minutesLow, fields.minutesHigh, 0)
  }

  next(from: WallMs, until: WallMs): WallMs {
    const day = Math.floor(from / dayMs) | 0
    const lastDay = Math.floor(until / dayMs) | 0
    const minute = ((from - day * dayMs + 59_999) / 60_000) | 0
    let found = this.days.next(day, lastDay)
    if (found === day) {
      const inDay = this.nextInDay(minute)
      if (inDay !== -1) return day * dayMs + inDay * 60_000
      found = this.days.next(day + 1, lastDay)
    }
    return found === noDay ? Infinity : found * dayMs + this.firstMinute * 60_000
  }

  count(from: WallMs, to: WallMs): number {
    return countTimes(this.days, this.times(), { from, to })
  }

  times(): Grid {
    const { hours, minutesLow, minutesHigh } = this.fields
    return new Grid(hours, [minutesLow, minutesHigh], [1, 0])
  }

  private nextInDay(minute: number): number {
    const { hours, minutesLow, minutesHigh } = this.fields
    const hour = (minute / 60) | 0
    if (((hours >>> hour) & 1) === 1) {
      const inHour = nextOf(minutesLow, minutesHigh, minute - hour * 60)
      if (inHour !== -1) return hour * 60 + inHour
    }
    const later = hours & (-2 << hour)
    return later === 0 ? -1 : lowest(later) * 60 + (this.firstMinute % 60)
  }
}

class CronDays extends Days {
  private readonly fields: CronFields

  constructor(fields: CronFields) {
    super(fields.months, !fields.either && isLeapDay(fields.months, fields.monthDays))
    this.fields = fields
  }

  protected override bitsIn(_year: number, _month: number, firstWeekday: number): number {
    const { monthDays, weekdays, either } = this.fields
    const byWeekday = weekdaysInMonth(weekdays, firstWeekday)
    return either ? monthDays | byWeekday : monthDays & byWeekday
  }
}

export interface CronFields {
  minutesLow: number
  minutesHigh: number
  hours: number
  monthDays: number
  months: number
  weekdays: number
  /** Both day fields are restricted: a day is in when either matches; else when both do. */
  either: boolean
}

/**
 * Reads five fields without splitting the text: 0.1 us, since a new schedule costs one of these.
 *
 * @returns null when it is none; `cronInvalid` says why
 */
export function readCron(text: string): CronRule | null {
  const fields = readFields(text)
  return fields === null ? null : new CronRule(fields)
}

/** The same cron with one blank between its fields and its names in capitals. Call for a valid one. */
export function normalisedCron(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 9 || c > 96 || (c === 32 && (i === 0 || i === text.length - 1 || text.charCodeAt(i + 1) === 32)))
      return text
        .trim()
        .split(/[ \t]+/)
        .join(' ')
        .toUpperCase()
  }
  return text
}

/** The set that `readField` has read last: two words, since it returns where it stands. */
let low = 0
let high = 0

function readFields(text: string): CronFields | null {
  if (text.length > cronCharsMax) return null
  let at = readField(text, afterBlanks(text, 0), 0, 59, null)
  const minutesLow = low
  const minutesHigh = high
  at = readField(text, at, 0, 23, null)
  const hours = low
  const isAnyDay = text.charCodeAt(at) === 42
  at = readField(text, at, 1, 31, null)
  // Bit 0 is the first of the month, or January.
  const monthDays = low >>> 1
  at = readField(text, at, 1, 12, monthNames)
  const months = low >>> 1
  const isAnyWeekday = text.charCodeAt(at) === 42
  at = readField(text, at, 0, 7, weekdayNames)
  if (at !== text.length) return null
  const weekdays = (low | (low >>> 7)) & 127
  return { minutesLow, minutesHigh, hours, monthDays, months, weekdays, either: !isAnyDay && !isAnyWeekday }
}

/** Reads one field and the blanks after it. Returns where it then stands; past the end, and so does every field after, when it is none. */
function readField(text: string, at: number, min: number, max: number, names: readonly string[] | null): number {
  const end = text.length
  low = 0
  high = 0
  while (at < end) {
    let first = min
    let last = max
    let step = 1
    let mayStep = true
    if (text.charCodeAt(at) === 42) at++
    else {
      first = readValue(text, at, names)
      at += taken
      last = first
      if (at < end && text.charCodeAt(at) === 45) {
        last = readValue(text, at + 1, names)
        at += taken + 1
      } else mayStep = false
      if (first < min || last < first || last > max) return end + 1
    }
    if (mayStep && at < end && text.charCodeAt(at) === 47) {
      step = readNumber(text, at + 1)
      at += taken + 1
      if (step < 1) return end + 1
    }
    add(first, last, step)
    if (at >= end) return at
    const c = text.charCodeAt(at)
    if (c === 32 || c === 9) return afterBlanks(text, at)
    if (c !== 44) return end + 1
    at++
  }
  return end + 1
}

function add(first: number, last: number, step: number): void {
  if (step === 1 && last < 32) {
    low |= (0xffffffff >>> (31 - last)) & (-1 << first)
    return
  }
  for (let n = first; n <= last; n += step) {
    if (n < 32) low |= 1 << n
    else high |= 1 << (n - 32)
  }
}

/** How many characters the last value had. */
let taken = 0

function readValue(text: string, at: number, names: readonly string[] | null): number {
  const c = at < text.length ? text.charCodeAt(at) : 0
  if (names === null || (c >= 48 && c <= 57)) return readNumber(text, at)
  taken = 3
  const found = names.indexOf(
    text
      .slice(at, at + 3)
      .replace(notAscii, '?')
      .toUpperCase(),
  )
  return names === monthNames && found !== -1 ? found + 1 : found
}

/** -1 when no digit stands here, or more than four do. */
function readNumber(text: string, at: number): number {
  let n = 0
  let i = at
  for (const end = Math.min(text.length, at + 5); i < end; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) break
    n = n * 10 + digit
  }
  taken = i - at
  return taken === 0 || taken > 4 ? -1 : n
}

function afterBlanks(text: string, at: number): number {
  while (at < text.length && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9)) at++
  return at
}

/** Some letters beyond ASCII have capitals within it. */
const notAscii = /[^\x20-\x7e]/g

export const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
export const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
