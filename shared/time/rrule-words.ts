import { dayMs } from './calendar.ts'
import { readWall, wallText } from './clock-text.ts'
import { withDefaults } from './rrule-days.ts'
import { type DayPart, type Frequency, parseRrule, type RruleParts } from './rrule-text.ts'
import type { Instant, Spec } from './types.ts'
import { zoneOf } from './zone.ts'

/**
 * An RRULE in English: 'every 2 weeks on Monday and Wednesday at 09:00, 10 times, from 2026-01-01 09:00'.
 * Ours, and not rrule's `toText`, which leaves out minutes, BYSETPOS, BYYEARDAY and BYWEEKNO without a word.
 */
export function rruleWords(spec: Spec & { kind: 'rrule' }): string {
  const p = parseRrule(spec.rrule)
  const start = readWall(spec.dtstart) ?? 0
  const days = daysWords(withDefaults(p, Math.floor(start / dayMs)))
  const said = [everyWords(p), days, timesWords(p, start), positionsWords(p)].filter((words) => words !== '').join(' ')
  const ends: string[] = [`from ${wallText(start).replace('T', ' ')}`]
  if (p.count !== null) ends.push(p.count === 1 ? 'once' : `${p.count} times`)
  if (p.until !== null) ends.push(`until ${untilWords(p.until, spec.tz)}`)
  return `${said}, ${ends.join(', ')}`
}

function untilWords(until: Instant, tz: string): string {
  return wallText(zoneOf(tz).wallAt(until)).replace('T', ' ')
}

const units: Record<Frequency, string> = {
  YEARLY: 'year',
  MONTHLY: 'month',
  WEEKLY: 'week',
  DAILY: 'day',
  HOURLY: 'hour',
  MINUTELY: 'minute',
  SECONDLY: 'second',
}

function everyWords(p: RruleParts): string {
  return p.interval === 1 ? `every ${units[p.freq]}` : `every ${p.interval} ${units[p.freq]}s`
}

function daysWords(p: RruleParts): string {
  const said: string[] = []
  if (p.days !== null) said.push(`on ${joined(p.days.map(dayWords))}`)
  if (p.monthDays !== null) said.push(`on ${joined(p.monthDays.map((n) => `the ${position(n, 'day')}`))} of the month`)
  if (p.yearDays !== null) said.push(`on ${joined(p.yearDays.map((n) => `the ${position(n, 'day')}`))} of the year`)
  if (p.weeks !== null)
    said.push(`in ${joined(p.weeks.map((n) => (n > 0 ? `week ${n}` : `the ${position(n, 'week')}`)))}`)
  if (p.months !== null) said.push(`in ${joined(p.months.map((month) => monthNames[month - 1]!))}`)
  return said.join(' ')
}

/** Times given by the start are said by the start; a list of hours and minutes as clock times while that stays short. */
function timesWords(p: RruleParts, start: number): string {
  const isCoarse = p.freq !== 'HOURLY' && p.freq !== 'MINUTELY' && p.freq !== 'SECONDLY'
  const second = Math.floor(start / 1000) % 86_400
  const hours = p.hours ?? (isCoarse ? [Math.floor(second / 3600)] : null)
  const minutes = p.minutes ?? (isCoarse ? [Math.floor(second / 60) % 60] : null)
  const seconds = p.seconds ?? (isCoarse ? [second % 60] : null)
  if (hours !== null && minutes !== null && seconds !== null && hours.length * minutes.length * seconds.length <= 6) {
    const clocks = hours.flatMap((h) =>
      minutes.flatMap((m) => seconds.map((s) => `${two(h)}:${two(m)}${s === 0 ? '' : `:${two(s)}`}`)),
    )
    return `at ${joined(clocks)}`
  }
  const said: string[] = []
  if (hours !== null) said.push(`in the ${plural(hours, 'hour')}`)
  if (minutes !== null) said.push(`at ${plural(minutes, 'minute')}`)
  if (seconds !== null && (seconds.length > 1 || seconds[0] !== 0)) said.push(`at ${plural(seconds, 'second')}`)
  return said.join(' ')
}

function positionsWords(p: RruleParts): string {
  if (p.positions === null) return ''
  const named = joined(p.positions.map((n) => position(n, '').trim()))
  return `(only the ${named} of each ${units[p.freq]})`
}

function dayWords(day: DayPart): string {
  const name = weekdayNames[day.weekday]!
  return day.nth === 0 ? name : `the ${position(day.nth, name)}`
}

/** '2nd Monday', 'last Friday', '3rd to last day'. */
function position(n: number, of: string): string {
  const end = of === '' ? '' : ` ${of}`
  if (n > 0) return `${ordinal(n)}${end}`
  return n === -1 ? `last${end}` : `${ordinal(-n)} to last${end}`
}

function ordinal(n: number): string {
  const isTeen = n % 100 > 10 && n % 100 < 14
  return `${n}${isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`
}

function plural(numbers: number[], unit: string): string {
  return `${unit}${numbers.length === 1 ? '' : 's'} ${joined(numbers.map(String))}`
}

function joined(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`
}

function two(n: number): string {
  return String(n).padStart(2, '0')
}

const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const monthNames = 'January February March April May June July August September October November December'.split(' ')
