import { CelFault, quoted } from './errors.ts'
import { moment } from './operators.ts'
import { Duration } from './values.ts'

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/

/** @throws CelFault for a text that is no RFC 3339 timestamp, or a day that does not exist. Kept to the millisecond. */
export function timestampOf(text: string): Date {
  const parts = RFC3339.exec(text)
  if (parts !== null) {
    const [, year, month, day, hour, minute, second, fraction = '', zone] = parts as unknown as string[]
    const ms = fraction.padEnd(3, '0').slice(0, 3)
    const wall = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
    // A day that the month has not flows over into the next month.
    if (!Number.isNaN(wall) && new Date(wall).getUTCDate() === Number(day)) return moment(wall - offsetMs(zone!))
  }
  throw new CelFault('other', `timestamp() takes RFC 3339 text such as 2026-11-30T09:00:00Z, got ${quoted(text)}`)
}

function offsetMs(zone: string): number {
  if (zone.length === 1) return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))
  return (zone[0] === '-' ? -minutes : minutes) * 60_000
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
}
const PART = /(\d{1,15})?(?:\.(\d{0,12}))?(ns|us|µs|ms|s|m|h)/y
const durationChars = 60

/** Hours, minutes and seconds with their units, as Go has it: `90m`, `1h30m`, `-1.5s`. A day is `24h`. */
export function durationOf(text: string): Duration {
  const invalid = () =>
    new CelFault('other', `duration() takes text such as 90s, 15m or 1h30m (a day is 24h), got ${quoted(text)}`)
  const start = /^[+-]/.test(text) ? 1 : 0
  if (text.length > durationChars || text.length === start) throw invalid()
  let nanos = 0n
  for (let at = start; at < text.length; at = PART.lastIndex) {
    PART.lastIndex = at
    const part = PART.exec(text)
    if (part === null || (part[1] === undefined && !part[2])) throw invalid()
    const unit = UNIT_NANOS[part[3]!]!
    nanos += BigInt(part[1] ?? '0') * unit
    if (part[2]) nanos += (BigInt(part[2]) * unit) / 10n ** BigInt(part[2].length)
  }
  return new Duration(text[0] === '-' ? -nanos : nanos)
}

type Clock = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'ms', number>

/** The fields that CEL reads from a timestamp; months, days of a month and of a year count from 0 there, `getDate` from 1. */
export const fields: Readonly<Record<string, (at: Clock) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month - 1,
  getDate: ({ day }) => day,
  getDayOfMonth: ({ day }) => day - 1,
  getDayOfWeek: (at) => new Date(dayMs(at)).getUTCDay(),
  getDayOfYear: (at) => Math.round((dayMs(at) - dayMs({ ...at, month: 1, day: 1 })) / 86_400_000),
  getHours: ({ hour }) => hour,
  getMinutes: ({ minute }) => minute,
  getSeconds: ({ second }) => second,
  getMilliseconds: ({ ms }) => ms,
}

function dayMs({ year, month, day }: Clock): number {
  // Date.UTC takes the years 0 to 99 for the twentieth century.
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

/** @throws CelFault for a zone that the machine does not know */
export function clockOf(at: Date, zone: string | null): Clock {
  const seen = zone === null ? at : new Date(at.getTime() + zoneOffsetMs(at, zone))
  return {
    year: seen.getUTCFullYear(),
    month: seen.getUTCMonth() + 1,
    day: seen.getUTCDate(),
    hour: seen.getUTCHours(),
    minute: seen.getUTCMinutes(),
    second: seen.getUTCSeconds(),
    ms: seen.getUTCMilliseconds(),
  }
}

function zoneOffsetMs(at: Date, zone: string): number {
  const parts = new Map(
    formatter(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return wall - Math.floor(at.getTime() / 1000) * 1000
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  const n = 'numeric'
  const wall = { year: n, month: n, day: n, hour: n, minute: n, second: n, hourCycle: 'h23' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, ...wall })
  } catch {
    throw new CelFault('other', `no time zone ${quoted(timeZone)}; one is Europe/Amsterdam`)
  }
}
