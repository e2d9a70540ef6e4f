import fc from 'fast-check'
import type { Rule } from './reference.ts'

/** Numbers in order, each once. */
const some = (min: number, max: number, most = 4) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: most }).map((list) => list.sort((a, b) => a - b))

const signed = (max: number, most = 4) =>
  fc.uniqueArray(
    fc.integer({ min: -max, max }).filter((n) => n !== 0),
    { minLength: 1, maxLength: most },
  )

function cronField(min: number, max: number, favoured: number[]): fc.Arbitrary<string> {
  const value = fc.oneof(fc.constantFrom(...favoured), fc.integer({ min, max }))
  const range = fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.integer({ min: 1, max: Math.min(max, 30) })
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([r, n]) => `${r}/${n}`),
  )
  return fc.oneof(
    fc.constant('*'),
    step.map((n) => `*/${n}`),
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
  )
}

/** Crons of the night hours, in which clocks change, on any days. */
export const nightCron = fc
  .tuple(
    cronField(0, 59, [0, 1, 15, 30, 45, 59]),
    cronField(0, 23, [0, 1, 2, 3, 23]),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, cronField(1, 31, [1, 28, 29, 30, 31])),
    fc.constant('*'),
    fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, cronField(0, 7, [0, 7])),
  )
  .map((fields) => fields.join(' '))

export const anyCron = fc
  .tuple(
    cronField(0, 59, [0, 30]),
    cronField(0, 23, [0, 8]),
    cronField(1, 31, [1, 29, 30, 31]),
    cronField(1, 12, [2]),
    cronField(0, 7, [0, 7]),
  )
  .map((fields) => fields.join(' '))

const days = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const plainDays = fc.uniqueArray(fc.constantFrom(...days), { minLength: 1, maxLength: 4 })
const countedDays = (most: number) =>
  fc.uniqueArray(
    fc
      .tuple(fc.integer({ min: -most, max: most }), fc.constantFrom(...days))
      .map(([n, day]) => `${n === 0 ? '' : n}${day}`),
    { minLength: 1, maxLength: 3 },
  )

type Parts = { [K in keyof Rule]?: fc.Arbitrary<NonNullable<Rule[K]>> }

function ruleOf(freq: Rule['freq'], intervalMax: number, parts: Parts): fc.Arbitrary<Rule> {
  const always = {
    freq: fc.constant(freq),
    interval: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: intervalMax })),
  }
  return fc.record({ ...always, ...parts } as { [K in keyof Rule]: fc.Arbitrary<Rule[K]> }, {
    requiredKeys: ['freq', 'interval'],
  }) as fc.Arbitrary<Rule>
}

/** In order: the rrule package gives the hours of a day in the order of the list. */
const times = (hours: number[]): Parts => ({
  byhour: fc
    .uniqueArray(fc.oneof(fc.constantFrom(...hours), fc.integer({ min: 0, max: 23 })), { minLength: 1, maxLength: 3 })
    .map((list) => list.sort((a, b) => a - b)),
  byminute: some(0, 59, 3),
})

/** Every part where RFC 5545 allows it; BYSETPOS aside. */
export function anyRule(hours: number[] = [0, 1, 2, 3, 23]): fc.Arbitrary<Rule> {
  const wkst = fc.constantFrom(...days)
  const bymonth = some(1, 12)
  const inDay: Parts = { ...times(hours), bymonth, bymonthday: signed(31), byday: plainDays }
  return fc.oneof(
    ruleOf('YEARLY', 3, {
      ...times(hours),
      wkst,
      bymonth,
      bymonthday: signed(31),
      byday: plainDays,
      byyearday: signed(366),
    }),
    ruleOf('YEARLY', 3, { ...times(hours), wkst, byweekno: signed(53), byday: plainDays, bymonth }),
    ruleOf('YEARLY', 3, { ...times(hours), bymonth, byday: countedDays(5) }),
    ruleOf('YEARLY', 2, { ...times(hours), byday: countedDays(53) }),
    ruleOf('MONTHLY', 5, { ...times(hours), bymonth, bymonthday: signed(31), byday: countedDays(5) }),
    ruleOf('WEEKLY', 5, { ...times(hours), wkst, bymonth, byday: plainDays }),
    ruleOf('DAILY', 9, inDay),
    ruleOf('HOURLY', 30, inDay),
    ruleOf('HOURLY', 30, { ...inDay, byyearday: signed(366) }),
    ruleOf('MINUTELY', 3000, inDay),
  )
}

const hasPart = (rule: Rule) => Object.keys(rule).some((key) => key.startsWith('by') && key !== 'bysetpos')

/** Rules with BYSETPOS, over periods short enough to be listed minute by minute. */
export function pickingRule(): fc.Arbitrary<Rule> {
  return fc
    .tuple(anyRule(), fc.uniqueArray(fc.constantFrom(1, 2, 3, -1, -2), { minLength: 1, maxLength: 2 }))
    .filter(([rule]) => hasPart(rule) && rule.freq !== 'YEARLY')
    .map(([rule, bysetpos]) => ({ ...rule, bysetpos }))
}
