import { dayMs, dayNumber, monthLength, packedDate } from './calendar.ts'
import { dateText } from './clock-text.ts'
import type { Instant, Occurrence, WallMs } from './types.ts'
import { SpecInvalid } from './types.ts'
import { zoneOf } from './zone.ts'

export interface Wall {
  year: number
  /** 1..12 */
  month: number
  day: number
  hour: number
  minute: number
  second?: number
  ms?: number
}

/**
 * When the clock of a zone shows a wall time: in a gap the first instant after it, in a fold the first of the two.
 *
 * @throws SpecInvalid  at 'at' for a day or time that does not exist in the calendar, at 'tz' for a zone that is none
 */
export function wallToInstant(wall: Wall, tz: string): Occurrence {
  return zoneOf(tz).occurrence(wallMsOf(wall))
}

export function wallOf(at: Instant, tz: string): Required<Wall> {
  const wall = zoneOf(tz).wallAt(at)
  const day = Math.floor(wall / dayMs)
  const inDay = wall - day * dayMs
  const date = packedDate(day)
  return {
    year: date >> 9,
    month: (date >> 5) & 15,
    day: date & 31,
    hour: (inDay / 3_600_000) | 0,
    minute: ((inDay / 60_000) | 0) % 60,
    second: ((inDay / 1000) | 0) % 60,
    ms: inDay % 1000,
  }
}

/**
 * The local day that holds an instant, from its first instant to the first of the next day: 23, 24 or 25 hours, or what the zone makes of it.
 * Days never overlap: where a clock goes back over midnight (St. John's, until 2011), what it shows again still belongs to the day that had begun.
 */
export function dayOf(at: Instant, tz: string): { from: Instant; to: Instant; day: string } {
  const zone = zoneOf(tz)
  const day = Math.floor(zone.latestWall(at) / dayMs)
  return { from: zone.instantOf(day * dayMs), to: zone.instantOf((day + 1) * dayMs), day: dateText(day) }
}

function wallMsOf(w: Wall): WallMs {
  const second = w.second ?? 0
  const ms = w.ms ?? 0
  const isDate =
    within(w.year, 1, 9999) &&
    within(w.month, 1, 12) &&
    within(w.day, 1, w.day < 29 ? 28 : monthLength(w.year, w.month))
  const isTime = within(w.hour, 0, 23) && within(w.minute, 0, 59) && within(second, 0, 59) && within(ms, 0, 999)
  if (!isDate || !isTime)
    throw new SpecInvalid(
      'at',
      `Expected a date and time that exist, got ${JSON.stringify(w)}. Write a day of that month, hours 0 to 23, minutes 0 to 59.`,
    )
  return dayNumber(w.year, w.month, w.day) * dayMs + w.hour * 3_600_000 + w.minute * 60_000 + second * 1000 + ms
}

function within(n: number, min: number, max: number): boolean {
  return n >= min && n <= max && (n | 0) === n
}
