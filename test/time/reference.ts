import { DateTime } from 'luxon'

/**
 * The rules of decision 1 as slowly and plainly as they can be said: walk every minute of a stretch of UTC, look at the
 * clock on the wall (luxon's, not ours), and ask of every wall minute whether the rule names it.
 */
export interface Walked {
  at: number
  adjusted: 'gap' | 'fold' | null
}

/** A stretch of UTC minutes and what the clock shows at each, as minutes since 1970 on the wall. */
export interface Stretch {
  zone: string
  from: number
  walls: number[]
}

/** Four days around a change of the clock. */
export function stretchAround(zone: string, day: string): Stretch {
  const from = Date.parse(`${day}T00:00:00Z`) - 2 * 86_400_000
  const walls: number[] = []
  for (let minute = 0; minute < 4 * 1440; minute++) {
    const local = DateTime.fromMillis(from + minute * 60_000, { zone })
    walls.push(Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute) / 60_000)
  }
  return { zone, from, walls }
}

export const stretches = (): Stretch[] =>
  [
    ['Europe/Amsterdam', '2026-03-29'],
    ['Europe/Amsterdam', '2026-10-25'],
    ['America/New_York', '2026-03-08'],
    ['America/New_York', '2026-11-01'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Australia/Lord_Howe', '2026-10-04'],
    ['Antarctica/Troll', '2026-03-29'],
    ['Antarctica/Troll', '2026-10-25'],
    ['Africa/Casablanca', '2026-02-15'],
    ['Africa/Casablanca', '2026-03-22'],
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Apia', '2012-04-01'],
    ['Asia/Tehran', '2022-03-22'],
    ['Asia/Tehran', '2022-09-22'],
    ['America/Sao_Paulo', '2018-11-04'],
    ['America/Sao_Paulo', '2019-02-17'],
    ['Africa/Cairo', '2025-04-25'],
    ['Pacific/Kwajalein', '1993-08-21'],
    ['America/St_Johns', '2006-10-29'],
    // Offsets that changed for good, without daylight saving.
    ['Asia/Pyongyang', '2015-08-15'],
    ['America/Caracas', '2016-05-01'],
  ].map(([zone, day]) => stretchAround(zone!, day!))

/** What a rule gives in a stretch, all minutes of it but the first, whose past is not known. */
export function walk(stretch: Stretch, isNamed: (wallMinute: number) => boolean): Walked[] {
  const { walls, from } = stretch
  const comesLast = new Map(walls.map((wall, i) => [wall, i]))
  const shown = new Set<number>([walls[0]!])
  let latest = walls[0]!
  const found: Walked[] = []
  for (let i = 1; i < walls.length; i++) {
    const wall = walls[i]!
    if (shown.has(wall) || wall < latest) continue
    const at = from + i * 60_000
    let skipped = false
    for (let missing = latest + 1; missing < wall; missing++) if (isNamed(missing)) skipped = true
    if (isNamed(wall)) found.push({ at, adjusted: comesLast.get(wall)! > i ? 'fold' : null })
    else if (skipped) found.push({ at, adjusted: 'gap' })
    shown.add(wall)
    latest = wall
  }
  return found
}

/** Whether a cron names a wall minute: Vixie's rules, one regular expression per item. */
export function cronNames(cron: string): (wallMinute: number) => boolean {
  const fields = cron.split(' ')
  const [minutes, hours, monthDays, months, weekdays] = fields.map((field, i) => cronSet(field, cronRanges[i]!))
  const isAnd = fields[2]!.startsWith('*') || fields[4]!.startsWith('*')
  return (wallMinute) => {
    const date = new Date(wallMinute * 60_000)
    const byMonthDay = monthDays!.has(date.getUTCDate())
    const byWeekday = weekdays!.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays!.has(7))
    return (
      minutes!.has(date.getUTCMinutes()) &&
      hours!.has(date.getUTCHours()) &&
      months!.has(date.getUTCMonth() + 1) &&
      (isAnd ? byMonthDay && byWeekday : byMonthDay || byWeekday)
    )
  }
}

const cronRanges: [number, number][] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
]

function cronSet(field: string, [min, max]: [number, number]): Set<number> {
  const all = new Set<number>()
  for (const item of field.split(',')) {
    const [, first, last, step] = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item)!
    const from = first === undefined ? min : Number(first)
    const to = last !== undefined ? Number(last) : first === undefined ? max : from
    for (let n = from; n <= to; n += Number(step ?? 1)) all.add(n)
  }
  return all
}

/** An RRULE's parts as tests make them: whole minutes, so that minutes are all there is to walk. */
export interface Rule {
  freq: 'YEARLY' | 'MONTHLY' | 'WEEKLY' | 'DAILY' | 'HOURLY' | 'MINUTELY'
  interval: number
  wkst?: string
  bymonth?: number[]
  byweekno?: number[]
  byyearday?: number[]
  bymonthday?: number[]
  byday?: string[]
  byhour?: number[]
  byminute?: number[]
  bysetpos?: number[]
}

export function ruleText(rule: Rule): string {
  const parts = Object.entries(rule).filter(([, value]) => value !== undefined)
  return parts.map(([key, value]) => `${key.toUpperCase()}=${Array.isArray(value) ? value.join(',') : value}`).join(';')
}

const codes = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const dayMs = 86_400_000

/** Whether an RRULE names a wall minute, read off RFC 5545's table. `start` is a wall minute. */
export function ruleNames(rule: Rule, start: number): (wallMinute: number) => boolean {
  const named = (minute: number) => inAlignedPeriod(rule, start, minute) && fits(rule, start, minute)
  const { bysetpos } = rule
  if (bysetpos === undefined) return (minute) => minute >= start && named(minute)
  const periods = new Map<number, Set<number>>()
  return (minute) => {
    if (minute < start || !named(minute)) return false
    const [first, end] = periodAround(rule, minute)
    let picked = periods.get(first)
    if (picked === undefined) {
      const all: number[] = []
      for (let m = first; m < end; m++) if (fits(rule, start, m)) all.push(m)
      picked = new Set(bysetpos.flatMap((n) => all.at(n > 0 ? n - 1 : n) ?? []))
      periods.set(first, picked)
    }
    return picked.has(minute)
  }
}

function periodAround(rule: Rule, minute: number): [number, number] {
  const date = new Date(minute * 60_000)
  const [y, m] = [date.getUTCFullYear(), date.getUTCMonth()]
  const day = Math.floor((minute * 60_000) / dayMs)
  switch (rule.freq) {
    case 'YEARLY':
      return [Date.UTC(y, 0, 1) / 60_000, Date.UTC(y + 1, 0, 1) / 60_000]
    case 'MONTHLY':
      return [Date.UTC(y, m, 1) / 60_000, Date.UTC(y, m + 1, 1) / 60_000]
    case 'WEEKLY': {
      const first = day - ((date.getUTCDay() - codes.indexOf(rule.wkst ?? 'MO') + 7) % 7)
      return [first * 1440, (first + 7) * 1440]
    }
    case 'DAILY':
      return [day * 1440, (day + 1) * 1440]
    case 'HOURLY':
      return [Math.floor(minute / 60) * 60, Math.floor(minute / 60) * 60 + 60]
    case 'MINUTELY':
      return [minute, minute + 1]
  }
}

function inAlignedPeriod(rule: Rule, start: number, minute: number): boolean {
  const [now, origin] = [new Date(minute * 60_000), new Date(start * 60_000)]
  const years = now.getUTCFullYear() - origin.getUTCFullYear()
  if (rule.freq === 'YEARLY') return years % rule.interval === 0
  if (rule.freq === 'MONTHLY') return (years * 12 + now.getUTCMonth() - origin.getUTCMonth()) % rule.interval === 0
  const length = { WEEKLY: 7 * 1440, DAILY: 1440, HOURLY: 60, MINUTELY: 1 }[rule.freq]
  return ((periodAround(rule, minute)[0] - periodAround(rule, start)[0]) / length) % rule.interval === 0
}

function fits(rule: Rule, start: number, minute: number): boolean {
  const date = new Date(minute * 60_000)
  const origin = new Date(start * 60_000)
  const y = date.getUTCFullYear()
  const month = date.getUTCMonth() + 1
  const monthDay = date.getUTCDate()
  const monthDays = new Date(Date.UTC(y, month, 0)).getUTCDate()
  const yearDay = Math.round((Date.UTC(y, month - 1, monthDay) - Date.UTC(y, 0, 1)) / dayMs) + 1
  const yearDays = Math.round((Date.UTC(y + 1, 0, 1) - Date.UTC(y, 0, 1)) / dayMs)
  const has = (list: number[] | undefined, n: number, all: number) =>
    list === undefined || list.includes(n) || list.includes(n - all - 1)
  const isSubDaily = rule.freq === 'HOURLY' || rule.freq === 'MINUTELY'
  const hours = rule.byhour ?? (isSubDaily ? undefined : [origin.getUTCHours()])
  const minutes = rule.byminute ?? (rule.freq === 'MINUTELY' ? undefined : [origin.getUTCMinutes()])
  const namesDay = rule.byday ?? rule.bymonthday ?? rule.byyearday
  const byMonth =
    rule.bymonth ?? (rule.freq === 'YEARLY' && !namesDay && !rule.byweekno ? [origin.getUTCMonth() + 1] : undefined)
  const fromStart = rule.freq === 'MONTHLY' || (rule.freq === 'YEARLY' && !rule.byweekno)
  const byMonthDay = rule.bymonthday ?? (!namesDay && fromStart ? [origin.getUTCDate()] : undefined)
  const weekdayFromStart = rule.freq === 'WEEKLY' || rule.byweekno !== undefined
  const byDay = rule.byday ?? (!namesDay && weekdayFromStart ? [codes[origin.getUTCDay()]!] : undefined)
  return (
    (minutes?.includes(date.getUTCMinutes()) ?? true) &&
    (hours?.includes(date.getUTCHours()) ?? true) &&
    (byMonth?.includes(month) ?? true) &&
    has(byMonthDay, monthDay, monthDays) &&
    has(rule.byyearday, yearDay, yearDays) &&
    (rule.byweekno === undefined || inWeek(rule, date)) &&
    (byDay === undefined ||
      byDay.some((item) => {
        const [, nth, code] = /^(-?\d+)?(..)$/.exec(item)!
        if (codes[date.getUTCDay()] !== code) return false
        if (nth === undefined) return true
        const inYear = rule.freq === 'YEARLY' && rule.bymonth === undefined
        const [day, days] = inYear ? [yearDay, yearDays] : [monthDay, monthDays]
        return Number(nth) > 0 ? Math.ceil(day / 7) === Number(nth) : Math.ceil((days - day + 1) / 7) === -Number(nth)
      }))
  )
}

/** Weeks counted by walking: week 1 is the first with four days in the year. */
function inWeek(rule: Rule, date: Date): boolean {
  const begin = codes.indexOf(rule.wkst ?? 'MO')
  const day = Math.floor(date.getTime() / dayMs)
  const firstWeek = (year: number) => {
    const newYear = Date.UTC(year, 0, 1) / dayMs
    const into = (new Date(newYear * dayMs).getUTCDay() - begin + 7) % 7
    return 7 - into >= 4 ? newYear - into : newYear - into + 7
  }
  let year = date.getUTCFullYear() + 1
  while (firstWeek(year) > day) year--
  const week = Math.floor((day - firstWeek(year)) / 7) + 1
  const weeks = Math.round((firstWeek(year + 1) - firstWeek(year)) / 7)
  return rule.byweekno!.includes(week) || rule.byweekno!.includes(week - weeks - 1)
}
