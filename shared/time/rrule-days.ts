import { dayNumber, isLeap, modulo, packedDate, weekday } from './calendar.ts'
import { Days, isLeapDay, weekdaysInMonth } from './days.ts'
import type { RruleParts } from './rrule-text.ts'

/**
 * The days that a rule names, its period and interval aside: BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY and BYDAY narrow
 * each other, and what none of them says comes from the start. A day that does not exist (30 February) is never in.
 */
export class RruleDays extends Days {
  private readonly tests: MonthTest[]

  constructor(parts: RruleParts, startDay: number) {
    const p = withDefaults(parts, startDay)
    const months = p.months === null ? 0xfff : p.months.reduce((bits, month) => bits | (1 << (month - 1)), 0)
    super(months, p.monthDays?.length === 1 && p.monthDays[0] === 29 && isLeapDay(months, 1 << 28))
    this.tests = []
    if (p.monthDays !== null) this.tests.push(byMonthDay(p.monthDays))
    if (p.days !== null) this.tests.push(byDay(p, p.days))
    if (p.yearDays !== null) this.tests.push(byYearDay(p.yearDays))
    if (p.weeks !== null) this.tests.push(byWeek(p.weeks, p.weekStart))
  }

  protected override bitsIn(year: number, month: number, firstWeekday: number, length: number): number {
    let bits = 0x7fffffff
    for (const test of this.tests) bits &= test(year, month, firstWeekday, length)
    return bits
  }
}

type MonthTest = (year: number, month: number, firstWeekday: number, length: number) => number

/** The parts with what the start fills in. */
export function withDefaults(p: RruleParts, startDay: number): RruleParts {
  const date = packedDate(startDay)
  const start = { month: (date >> 5) & 15, day: date & 31, weekday: weekday(startDay) }
  if (p.yearDays !== null || p.monthDays !== null || p.days !== null) return p
  // Differs from dateutil, which takes all seven days of the week: RFC 5545 says that the start tells what is not given.
  if (p.weeks !== null || p.freq === 'WEEKLY') return { ...p, days: [{ weekday: start.weekday, nth: 0 }] }
  if (p.freq === 'MONTHLY') return { ...p, monthDays: [start.day] }
  if (p.freq === 'YEARLY') return { ...p, months: p.months ?? [start.month], monthDays: [start.day] }
  return p
}

function byMonthDay(monthDays: number[]) {
  const fromStart = monthDays.reduce((bits, n) => (n > 0 ? bits | (1 << (n - 1)) : bits), 0)
  const fromEnd = monthDays.filter((n) => n < 0)
  return (_year: number, _month: number, _firstWeekday: number, length: number) => {
    let bits = fromStart
    for (const n of fromEnd) if (length + n >= 0) bits |= 1 << (length + n)
    return bits
  }
}

function byDay(p: RruleParts, days: NonNullable<RruleParts['days']>) {
  const every = days.reduce((bits, day) => (day.nth === 0 ? bits | (1 << day.weekday) : bits), 0)
  const counted = days.filter((day) => day.nth !== 0)
  // Within the year only where no month is named (RFC 5545 3.3.10, note 2).
  const isInYear = p.freq === 'YEARLY' && p.months === null
  return (year: number, month: number, firstWeekday: number, length: number) => {
    let bits = weekdaysInMonth(every, firstWeekday)
    if (counted.length === 0) return bits
    const firstDay = isInYear ? dayNumber(year, month, 1) - dayNumber(year, 1, 1) : 0
    const from = modulo(firstWeekday - firstDay, 7)
    const all = isInYear ? 365 + (isLeap(year) ? 1 : 0) : length
    for (const { weekday, nth } of counted) {
      const first = (weekday - from + 7) % 7
      const last = all - 1 - modulo(from + all - 1 - weekday, 7)
      const day = (nth > 0 ? first + (nth - 1) * 7 : last + (nth + 1) * 7) - firstDay
      if (day >= 0 && day < length) bits |= 1 << day
    }
    return bits
  }
}

function byYearDay(yearDays: number[]) {
  return (year: number, month: number, _firstWeekday: number, length: number) => {
    const firstDay = dayNumber(year, month, 1) - dayNumber(year, 1, 1)
    const all = isLeap(year) ? 366 : 365
    let bits = 0
    for (const n of yearDays) {
      const inYear = n > 0 ? n - 1 : all + n
      const day = inYear - firstDay
      if (inYear >= 0 && day >= 0 && day < length) bits |= 1 << day
    }
    return bits
  }
}

/**
 * Days whose week has one of the numbers. A year's period is its calendar year, so the first days of January may lie in
 * the last week of the year before, and the last of December in week 1, as dateutil has it; it shows only with INTERVAL > 1.
 */
function byWeek(weeks: number[], weekStart: number) {
  const wanted = new Set(weeks)
  return (year: number, month: number, _firstWeekday: number, length: number) => {
    const first = dayNumber(year, month, 1)
    let bits = 0
    for (let day = 0; day < length; ) {
      const begin = weekBegin(first + day, weekStart)
      const days = begin + 7 - (first + day)
      const { week, weeks } = weekOf(begin)
      if (wanted.has(week) || wanted.has(week - weeks - 1)) bits |= ((1 << days) - 1) << day
      day += days
    }
    return bits
  }
}

export function weekBegin(day: number, weekStart: number): number {
  return day - modulo(weekday(day) - weekStart, 7)
}

/** A week belongs to the year that holds its fourth day, which is where most of it lies. */
function weekOf(begin: number): { week: number; weeks: number } {
  const year = packedDate(begin + 3) >> 9
  const newYear = dayNumber(year, 1, 1)
  const week = Math.floor((begin + 3 - newYear) / 7) + 1
  const daysLeft = dayNumber(year + 1, 1, 1) - 1 - (begin + 3)
  return { week, weeks: week + Math.floor(daysLeft / 7) }
}
