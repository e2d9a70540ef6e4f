import { dayMs, dayNumber, monthLength, packedDate } from './calendar.ts'
import type { Adjusted, Instant, Occurrence, WallMs } from './types.ts'
import { zoneOf } from './zone.ts'

/** An instant from ISO 8601 with Z or an offset; null for everything else, days that do not exist included. */
export function parseInstant(text: string): Instant | null {
  const read = readAt(text)
  return read === null || read.offset === null ? null : read.wall - read.offset
}

/** '2026-03-29T01:00:00.000Z' */
export function formatInstant(at: Instant): string {
  if (!(at >= -62_167_219_200_000 && at < 253_402_300_800_000)) return new Date(at).toISOString()
  const day = Math.floor(at / dayMs)
  const inDay = Math.floor(at - day * dayMs)
  const seconds = (inDay / 1000) | 0
  return `${dateText(day)}T${clockText(seconds)}.${three(inDay - seconds * 1000)}Z`
}

/** '2026-03-29T03:00:00+02:00[Europe/Amsterdam]'. */
export function formatLocal(at: Instant, tz: string): string {
  const zone = zoneOf(tz)
  const offset = zone.offsetAt(at)
  const wall = Math.floor((at + offset) / 1000)
  const day = Math.floor(wall / 86_400)
  return `${dateText(day)}T${clockText(wall - day * 86_400)}${offsetText(offset)}[${zone.name}]`
}

/** An occurrence as answers show it. */
export function shown(o: Occurrence, tz: string): { at: string; local: string; adjusted: Adjusted } {
  return { at: formatInstant(o.at), local: formatLocal(o.at, tz), adjusted: o.adjusted }
}

export interface ReadTime {
  wall: WallMs
  /** ms east of UTC, null when the text has none and so is a local time. */
  offset: number | null
}

/** Reads 'YYYY-MM-DDTHH:mm[:ss[.SSS]]' with or without 'Z' or an offset; null when it is not that, or no such day. */
export function readAt(text: string): ReadTime | null {
  if (text.length > 40) return null
  const found = timePattern.exec(text)
  if (found === null) return null
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone] = found
  const y = Number(year)
  const mo = Number(month)
  const d = Number(day)
  if (mo < 1 || mo > 12 || d < 1 || d > monthLength(y, mo)) return null
  const h = Number(hour)
  const mi = Number(minute)
  const s = Number(second)
  if (h > 23 || mi > 59 || s > 59) return null
  const ms = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
  const offset = zone === undefined ? null : offsetOf(zone)
  if (Number.isNaN(offset)) return null
  return { wall: dayNumber(y, mo, d) * dayMs + h * 3_600_000 + mi * 60_000 + s * 1000 + ms, offset }
}

/** A wall time from the same text without offset, or from iCalendar's 20260101T090000; null for what is neither. */
export function readWall(text: string): WallMs | null {
  const basic = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/i.exec(text)
  const iso = basic === null ? text : `${basic[1]}-${basic[2]}-${basic[3]}T${basic[4]}:${basic[5]}:${basic[6]}`
  const read = readAt(iso)
  return read === null || read.offset !== null ? null : read.wall
}

/** '2026-11-02T09:00', with seconds and milliseconds only where there are some. */
export function wallText(wall: WallMs): string {
  const day = Math.floor(wall / dayMs)
  const inDay = wall - day * dayMs
  const clock = clockText((inDay / 1000) | 0)
  const ms = inDay % 1000
  if (ms !== 0) return `${dateText(day)}T${clock}.${three(ms)}`
  return `${dateText(day)}T${clock.endsWith(':00') ? clock.slice(0, 5) : clock}`
}

/** 'YYYY-MM-DD' */
export function dateText(day: number): string {
  const date = packedDate(day)
  const year = date >> 9
  return `${year > 999 ? year : String(year).padStart(4, '0')}-${two((date >> 5) & 15)}-${two(date & 31)}`
}

/** '+02:00'; seconds, which no zone has had since 1972, only where there are some. */
export function offsetText(offset: number): string {
  const seconds = Math.abs(offset) / 1000
  const rest = seconds % 60 === 0 ? '' : `:${two(seconds % 60)}`
  return `${offset < 0 ? '-' : '+'}${two((seconds / 3600) | 0)}:${two(((seconds / 60) | 0) % 60)}${rest}`
}

function clockText(secondsInDay: number): string {
  const minutes = (secondsInDay / 60) | 0
  return `${two((minutes / 60) | 0)}:${two(minutes % 60)}:${two(secondsInDay % 60)}`
}

const timePattern = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d\d(?::?\d\d)?)?$/

/** NaN when it is none: hours to 23, minutes to 59. */
function offsetOf(text: string): number {
  if (text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = text.length > 3 ? Number(text.slice(-2)) : 0
  if (hours > 23 || minutes > 59) return Number.NaN
  return (hours * 60 + minutes) * (text.charCodeAt(0) === 45 ? -60_000 : 60_000)
}

const twos = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'))

function two(n: number): string {
  return twos[n]!
}

function three(n: number): string {
  return n > 99 ? String(n) : `0${two(n)}`
}
