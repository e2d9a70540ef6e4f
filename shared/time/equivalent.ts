import { dayMs, modulo, packedDate } from './calendar.ts'
import { readWall } from './clock-text.ts'
import { rruleRule } from './rrule.ts'
import { withDefaults } from './rrule-days.ts'
import { type Frequency, parseRrule, type RruleParts } from './rrule-text.ts'
import type { Spec } from './types.ts'

/**
 * The cron that says the same, from the start on; the cron itself for a cron; null when none does.
 * A cron knows no interval that does not divide its period, no end, no nth weekday, and no day counted from the end.
 *
 * @throws SpecInvalid  for a spec that `parseSpec` did not make
 */
export function cronEquivalent(spec: Spec): string | null {
  if (spec.kind === 'cron') return spec.cron
  if (spec.kind !== 'rrule') return null
  const parts = parseRrule(spec.rrule)
  const start = readWall(spec.dtstart)
  if (start === null || parts.count !== null || parts.until !== null) return null
  const clock = clockOf(parts, start)
  const days = daysOf(parts, start)
  if (clock === null || days === null) return null
  const { minutes, hours } = clock
  const { monthDays, months, weekdays } = days
  return [
    listed(minutes, 0, 59),
    listed(hours, 0, 23),
    listed(monthDays, 1, 31),
    listed(months, 1, 12),
    listed(weekdays, 0, 6),
  ].join(' ')
}

/** The times of a day, when all days have the same ones, at full minutes, and every hour has the same minutes. */
function clockOf(parts: RruleParts, start: number): { minutes: number[]; hours: number[] } | null {
  const unit = unitSeconds[parts.freq]
  if (unit !== null && 86_400 % (unit * parts.interval) !== 0) return null
  if (parts.positions !== null && unit === null && parts.freq !== 'DAILY') return null
  const rule = rruleRule(
    { ...parts, ...everyDay, freq: unit === null ? 'DAILY' : parts.freq, interval: unit === null ? 1 : parts.interval },
    start,
  )
  const midnight = (Math.floor(start / dayMs) + 1) * dayMs
  const byHour = new Map<number, number[]>()
  for (
    let wall = rule.next(midnight, midnight + dayMs);
    wall < midnight + dayMs;
    wall = rule.next(wall + 1, midnight + dayMs)
  ) {
    if (wall % 60_000 !== 0) return null
    const minute = (wall - midnight) / 60_000
    const hour = Math.floor(minute / 60)
    const minutes = byHour.get(hour)
    if (minutes === undefined) byHour.set(hour, [minute % 60])
    else minutes.push(minute % 60)
  }
  const [minutes, ...others] = byHour.values()
  if (minutes === undefined || others.some((other) => other.join() !== minutes.join())) return null
  return { minutes, hours: [...byHour.keys()] }
}

/** The length of what INTERVAL counts, where that is less than a day. */
const unitSeconds: Record<Frequency, number | null> = {
  YEARLY: null,
  MONTHLY: null,
  WEEKLY: null,
  DAILY: null,
  HOURLY: 3600,
  MINUTELY: 60,
  SECONDLY: 1,
}

const everyDay = { months: null, weeks: null, yearDays: null, monthDays: null, days: null }

/** The days, when a cron can name them: by day of the month or by weekday, not by both, which a cron would read as either. */
function daysOf(
  parts: RruleParts,
  start: number,
): { monthDays: number[]; months: number[]; weekdays: number[] } | null {
  const startDay = Math.floor(start / dayMs)
  const p = withDefaults(parts, startDay)
  if (p.weeks !== null || p.yearDays !== null || p.days?.some((day) => day.nth !== 0)) return null
  let months = p.months ?? range(1, 12)
  if (p.freq === 'MONTHLY') {
    if (12 % p.interval !== 0) return null
    const first = (packedDate(startDay) >> 5) & 15
    months = months.filter((month) => modulo(month - first, p.interval) === 0)
  } else if (unitSeconds[p.freq] === null && p.interval !== 1) return null
  const monthDays = p.monthDays ?? range(1, 31)
  const weekdays = [...new Set(p.days?.map((day) => day.weekday) ?? range(0, 6))].sort()
  if (months.length === 0 || monthDays.some((day) => day < 0)) return null
  if (monthDays.length < 31 && weekdays.length < 7) return null
  return { monthDays, months, weekdays }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

/** Sorted numbers as a cron's field: `*`, a step over the whole range, or a list with its runs as ranges. */
function listed(numbers: number[], min: number, max: number): string {
  if (numbers.length === max - min + 1) return '*'
  const step = numbers.length > 2 ? numbers[1]! - numbers[0]! : 0
  const isStep = step > 1 && min === 0 && numbers[0] === 0 && numbers.length === Math.floor(max / step) + 1
  if (isStep && max > 6 && numbers.every((n, i) => n === i * step)) return `*/${step}`
  const items: string[] = []
  for (let i = 0; i < numbers.length; ) {
    let j = i
    while (j + 1 < numbers.length && numbers[j + 1] === numbers[j]! + 1) j++
    if (j - i > 1) items.push(`${numbers[i]}-${numbers[j]}`)
    else for (let k = i; k <= j; k++) items.push(String(numbers[k]))
    i = j + 1
  }
  return items.join(',')
}
