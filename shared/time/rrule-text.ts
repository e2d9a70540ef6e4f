import { readAt } from './clock-text.ts'
import { countMax, rruleCharsMax } from './limits.ts'
import type { Instant } from './types.ts'
import { quoted, SpecInvalid } from './types.ts'

export type Frequency = 'YEARLY' | 'MONTHLY' | 'WEEKLY' | 'DAILY' | 'HOURLY' | 'MINUTELY' | 'SECONDLY'

export interface DayPart {
  /** 0 is Sunday. */
  weekday: number
  /** The nth of its month or year, from the end when negative; 0 every one. */
  nth: number
}

/** A rule's parts; null where the rule has none such. Lists are sorted, each value once. */
export interface RruleParts {
  freq: Frequency
  interval: number
  count: number | null
  /** Inclusive. */
  until: Instant | null
  /** 0 is Sunday. */
  weekStart: number
  months: number[] | null
  weeks: number[] | null
  yearDays: number[] | null
  monthDays: number[] | null
  days: DayPart[] | null
  hours: number[] | null
  minutes: number[] | null
  seconds: number[] | null
  positions: number[] | null
}

export const dayCodes = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/**
 * Reads the value of an RRULE (RFC 5545 3.3.10), in any case.
 *
 * @throws SpecInvalid  at 'rrule', with what to write instead
 */
export function parseRrule(text: string): RruleParts {
  const raw = splitParts(text)
  const freq = raw.get('FREQ')
  if (freq === undefined)
    refuse(`FREQ is missing in ${quoted(text)}. Write e.g. "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0".`)
  if (!isFrequency(freq)) refuse(`FREQ is one of ${frequencies.join(', ')}, got ${quoted(freq)}.`)
  const parts: RruleParts = {
    freq,
    interval: wholeNumber(raw, 'INTERVAL', 999_999_999) ?? 1,
    count: wholeNumber(raw, 'COUNT', countMax),
    until: readUntil(raw.get('UNTIL')),
    weekStart: readWeekStart(raw.get('WKST')),
    months: numbers(raw, 'BYMONTH', 1, 12),
    weeks: numbers(raw, 'BYWEEKNO', -53, 53),
    yearDays: numbers(raw, 'BYYEARDAY', -366, 366),
    monthDays: numbers(raw, 'BYMONTHDAY', -31, 31),
    days: readDays(raw.get('BYDAY')),
    hours: numbers(raw, 'BYHOUR', 0, 23),
    minutes: numbers(raw, 'BYMINUTE', 0, 59),
    seconds: numbers(raw, 'BYSECOND', 0, 60),
    positions: numbers(raw, 'BYSETPOS', -366, 366),
  }
  refuseCombinations(parts)
  return parts
}

/** The same rule in capitals, without what carries no meaning. Call for a valid one. */
export function normalisedRrule(text: string): string {
  return [...splitParts(text)].map(([key, value]) => `${key}=${value.split(',').map(plain).join(',')}`).join(';')
}

const frequencies: readonly Frequency[] = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY']

const keys = new Set(
  `FREQ INTERVAL COUNT UNTIL WKST BYMONTH BYWEEKNO BYYEARDAY BYMONTHDAY BYDAY BYHOUR BYMINUTE BYSECOND BYSETPOS`.split(
    ' ',
  ),
)

function isFrequency(text: string): text is Frequency {
  return (frequencies as readonly string[]).includes(text)
}

function refuse(detail: string): never {
  throw new SpecInvalid('rrule', detail)
}

function splitParts(text: string): Map<string, string> {
  if (text.length > rruleCharsMax)
    refuse(
      `Expected an RRULE of at most ${rruleCharsMax} characters, got ${text.length}. Write fewer values, or a larger FREQ.`,
    )
  if (/[^\x21-\x7e]/.test(text))
    refuse(`An RRULE has no blanks and no letters beyond ASCII, got ${quoted(text)}. Write e.g. "FREQ=DAILY;BYHOUR=9".`)
  const raw = new Map<string, string>()
  // Many writers leave a semicolon at the end; it says nothing.
  for (const part of text.toUpperCase().replace(/;$/, '').split(';')) {
    const at = part.indexOf('=')
    const key = at === -1 ? part : part.slice(0, at)
    const value = at === -1 ? '' : part.slice(at + 1)
    if (!keys.has(key)) refuse(`${quoted(key)} is no part of an RRULE. ${insteadOf(key)}`)
    if (value === '')
      refuse(`${key} has no value. Write e.g. "${key}=${key === 'FREQ' ? 'DAILY' : '1'}", or leave it out.`)
    if (raw.has(key)) refuse(`${key} stands twice. Write its values in one list, e.g. "BYHOUR=9,17".`)
    raw.set(key, value)
  }
  return raw
}

function insteadOf(key: string): string {
  if (key === 'BYEASTER') return 'It is an extension of some libraries: list the dates as schedules of their own.'
  if (key === 'RSCALE' || key === 'SKIP')
    return 'RFC 7529 is not supported: write e.g. "BYMONTHDAY=-1" for the last day of a month.'
  if (key === 'TZID' || key === 'DTSTART')
    return 'Write it on a line of its own before the rule, or use "dtstart" and "tz".'
  if (/^(?:EXDATE|RDATE|EXRULE)/.test(key))
    return 'Exceptions are not supported: write a rule that leaves those dates out.'
  return `Write parts such as "FREQ=WEEKLY;BYDAY=MO", from: ${[...keys].join(', ')}.`
}

function plain(value: string): string {
  return /^[+-]?\d+$/.test(value)
    ? String(Number(value))
    : value.replace(/^([+-]?)0*(\d+)([A-Z]{2})$/, (_, sign, n, day) => `${sign === '-' ? '-' : ''}${n}${day}`)
}

function wholeNumber(raw: Map<string, string>, key: string, max: number): number | null {
  const text = raw.get(key)
  if (text === undefined) return null
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text)
  const instead = key === 'COUNT' && /^\d+$/.test(text) && Number(text) > max ? ' Write UNTIL for longer.' : ''
  refuse(`${key} is a whole number from 1 to ${max}, got ${quoted(text)}.${instead}`)
}

/** Zero stands only where the range begins with it. */
function numbers(raw: Map<string, string>, key: string, min: number, max: number): number[] | null {
  const text = raw.get(key)
  if (text === undefined) return null
  const found = new Set<number>()
  for (const item of text.split(',')) {
    const n = Number(item)
    const isNumber = (min < 0 ? /^[+-]?\d{1,3}$/ : /^\d{1,2}$/).test(item)
    if (!isNumber || n < min || n > max || (n === 0 && min !== 0)) {
      const range = min < 0 ? `1 to ${max}, or -1 to ${min} from the end` : `${min} to ${max}`
      refuse(`${key} takes numbers from ${range}, got ${quoted(item)}. Write e.g. "${key}=${Math.max(min, 1)}".`)
    }
    found.add(n)
  }
  return [...found].sort((a, b) => a - b)
}

function readDays(text: string | undefined): DayPart[] | null {
  if (text === undefined) return null
  const found = new Map<string, DayPart>()
  for (const item of text.split(',')) {
    const [, nth, code] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(item) ?? []
    const weekday = code === undefined ? -1 : dayCodes.indexOf(code)
    const n = nth === undefined ? 0 : Number(nth)
    if (weekday === -1 || Math.abs(n) > 53 || (n === 0 && nth !== undefined))
      refuse(`BYDAY takes SU, MO, TU, WE, TH, FR, SA, with a number for the nth (1MO, -1FR), got ${quoted(item)}.`)
    found.set(`${n} ${weekday}`, { weekday, nth: n })
  }
  return [...found.values()]
}

function readWeekStart(text: string | undefined): number {
  if (text === undefined) return 1
  const weekday = dayCodes.indexOf(text)
  if (weekday === -1)
    refuse(`WKST is the weekday that weeks begin with, SU to SA, got ${quoted(text)}. Write e.g. "WKST=MO".`)
  return weekday
}

function readUntil(text: string | undefined): Instant | null {
  if (text === undefined) return null
  const at = untilPattern.exec(text)
  if (at === null || at[7] === undefined)
    refuse(
      `UNTIL is a time in UTC, since the start has a zone, got ${quoted(text)}. Write e.g. "UNTIL=20261231T230000Z", with the Z.`,
    )
  const read = readAt(`${at[1]}-${at[2]}-${at[3]}T${at[4]}:${at[5]}:${at[6]}Z`)
  if (read === null)
    refuse(`UNTIL names a time that does not exist, got ${quoted(text)}. Write e.g. "UNTIL=20261231T230000Z".`)
  return read.wall
}

const untilPattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z)$/

/** The table and notes of RFC 5545 3.3.10. */
function refuseCombinations(p: RruleParts): void {
  const isSet = (list: unknown) => list !== null
  if (p.count !== null && p.until !== null) refuse('COUNT and UNTIL do not stand together. Leave one of them out.')
  if (isSet(p.weeks) && p.freq !== 'YEARLY')
    refuse(`BYWEEKNO stands with FREQ=YEARLY only, got FREQ=${p.freq}. Write "FREQ=YEARLY", or BYDAY with WEEKLY.`)
  if (isSet(p.yearDays) && (p.freq === 'DAILY' || p.freq === 'WEEKLY' || p.freq === 'MONTHLY'))
    refuse(`BYYEARDAY does not stand with FREQ=${p.freq}. Write "FREQ=YEARLY".`)
  if (isSet(p.monthDays) && p.freq === 'WEEKLY')
    refuse('BYMONTHDAY does not stand with FREQ=WEEKLY. Write "FREQ=MONTHLY".')
  if (p.days?.some((day) => day.nth !== 0)) {
    if (p.freq !== 'MONTHLY' && p.freq !== 'YEARLY')
      refuse(
        `A number before a weekday counts within months or years, got FREQ=${p.freq}. Write "FREQ=MONTHLY", or BYDAY without the number.`,
      )
    if (isSet(p.weeks))
      refuse('A number before a weekday does not stand with BYWEEKNO. Write BYDAY without the number.')
  }
  const others = [p.months, p.weeks, p.yearDays, p.monthDays, p.days, p.hours, p.minutes, p.seconds]
  if (isSet(p.positions) && !others.some(isSet))
    refuse('BYSETPOS picks from what another BY part lists. Write one, e.g. "BYDAY=MO,TU,WE,TH,FR".')
}
