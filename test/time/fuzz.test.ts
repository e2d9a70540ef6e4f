import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compile,
  cronEquivalent,
  inWords,
  isZone,
  notesFor,
  type Occurrence,
  parseDuration,
  parseInstant,
  parseSpec,
  type SpecInput,
  SpecInvalid,
  zoneName,
} from '../../shared/time/index.ts'
import { anyCron, anyRule, pickingRule } from './generators.ts'
import { ruleText } from './reference.ts'

const now = parseInstant('2026-03-28T22:15:30.500Z')!
const zone = fc.constantFrom('UTC', 'Europe/Amsterdam', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca')

/** Everything that can be asked of an input; whatever is thrown but SpecInvalid fails. */
function askAll(input: SpecInput): boolean {
  try {
    const spec = parseSpec(input, now)
    const recurrence = compile(JSON.parse(JSON.stringify(spec)))
    const shown: Occurrence[] = []
    for (let o = recurrence.next(now); o !== null && shown.length < 5; o = recurrence.next(o.at)) shown.push(o)
    for (let i = 1; i < shown.length; i++) expect(shown[i]!.at).toBeGreaterThan(shown[i - 1]!.at)
    expect(recurrence.count(now, shown.at(-1)?.at ?? now)).toBe(shown.length)
    expect(recurrence.last(now, shown.at(-1)?.at ?? now)).toEqual(shown.at(-1) ?? null)
    expect(recurrence.smallestGapMs()).toBeGreaterThan(0)
    expect(inWords(spec).length).toBeGreaterThan(4)
    cronEquivalent(spec)
    notesFor(spec, now, shown)
    // What was normalised is valid, and stays as it is.
    const { kind, ...fields } = spec
    if (kind === 'cron' || kind === 'at') expect(parseSpec(fields, now)).toEqual(spec)
    if (kind === 'rrule') {
      const { lastAt, ...again } = fields as SpecInput & { lastAt: number | null }
      expect(parseSpec(again, now)).toEqual(spec)
    }
    return true
  } catch (error) {
    if (error instanceof SpecInvalid) return false
    throw error
  }
}

/** Pieces of valid texts in any order, with some noise between them. */
const pieces = (all: string[]) =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...all) }, fc.string({ maxLength: 3 })), { maxLength: 14 })
    .map((list) => list.join(''))

const cronPieces = '* * / - , 0 1 5 12 23 59 60 7 31 MON SUN JAN ? L W # @daily \t 99999999999 -1'
  .split(' ')
  .concat([' ', ' ', ' ', ' '])
const rrulePieces =
  'FREQ= DAILY WEEKLY MONTHLY YEARLY HOURLY SECONDLY ; ; ; = , BYDAY= MO 1FR -1SU BYHOUR= 9 BYSETPOS= -1 COUNT= 3 UNTIL= 20270101T000000Z INTERVAL= 2 RRULE: DTSTART:20260101T000000 DTSTART;TZID= WKST= 999999999 0x1 .5'
    .split(' ')
    .concat(['\n', 'FREQ=DAILY;', 'FREQ=YEARLY;', 'FREQ=MONTHLY;BYDAY=MO;'])

describe('whatever is written', () => {
  test('as a cron is a cron or refused', () => {
    fc.assert(
      fc.property(fc.oneof(pieces(cronPieces), fc.string()), zone, (cron, tz) => void askAll({ cron, tz })),
      { numRuns: 1500 },
    )
  })

  test('as an RRULE is one or refused', () => {
    fc.assert(
      fc.property(fc.oneof(pieces(rrulePieces), fc.string()), zone, (rrule, tz) => void askAll({ rrule, tz })),
      { numRuns: 1500 },
    )
  })

  test('as a valid cron or RRULE answers everything', () => {
    const made = fc.oneof(
      anyCron.map((cron): SpecInput => ({ cron })),
      anyRule().map((rule): SpecInput => ({ rrule: ruleText(rule) })),
      pickingRule().map((rule): SpecInput => ({ rrule: ruleText(rule) })),
    )
    const answered: boolean[] = []
    fc.assert(
      fc.property(made, zone, (input, tz) => void answered.push(askAll({ ...input, tz }))),
      { numRuns: 500 },
    )
    expect(answered.filter(Boolean).length).toBeGreaterThan(250)
  })

  test('in any field, of any type', () => {
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.object(),
      fc.constantFrom(null, undefined, [], 'UTC', '30m', '2026-11-02T09:00', '0 8 * * *', 'FREQ=DAILY'),
    )
    const anything = fc.record(
      { at: value, every: value, cron: value, rrule: value, dtstart: value, tz: value },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(anything, (input) => void askAll(input as SpecInput)),
      { numRuns: 1000 },
    )
  })

  test('as a duration, an instant or a zone', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          pieces('1 30 m h P T PT D 2026-11-02 T09:00 Z + - : . Europe / Amsterdam'.split(' ')),
        ),
        (text) => {
          parseDuration(text)
          parseInstant(text)
          expect(isZone(text)).toBe(zoneName(text) !== null)
        },
      ),
      { numRuns: 500 },
    )
  })
})

/** Written to keep us busy: each is answered or refused within a bounded number of steps; a hang would meet the test's time limit. */
describe('rules that are hard to search', () => {
  const second = 'BYHOUR=3;BYMINUTE=7;BYSECOND=1'
  const all60 = Array.from({ length: 60 }, (_, i) => i).join(',')
  test.each([
    `FREQ=SECONDLY;INTERVAL=86399;BYMONTH=2;BYMONTHDAY=29`,
    `FREQ=SECONDLY;INTERVAL=86399;BYMONTH=2;BYMONTHDAY=29;${second};BYSETPOS=1`,
    `FREQ=SECONDLY;INTERVAL=14593;${second}`,
    `FREQ=SECONDLY;INTERVAL=14593;${second};COUNT=100000`,
    `FREQ=SECONDLY;INTERVAL=863;${second};COUNT=100000`,
    `FREQ=SECONDLY;INTERVAL=999999937`,
    `FREQ=SECONDLY;INTERVAL=7;BYDAY=TU;BYHOUR=0,7,14,21;BYMINUTE=0,7,14,21,28,35,42,49,56;BYSECOND=0,7,14,21,28,35,42,49,56`,
    `FREQ=SECONDLY;INTERVAL=2;BYMINUTE=${all60};BYSECOND=${all60}`,
    `FREQ=MINUTELY;INTERVAL=1439;BYMONTHDAY=31;BYMONTH=12;BYDAY=SU;BYHOUR=23;BYMINUTE=59`,
    `FREQ=MINUTELY;INTERVAL=10007;BYYEARDAY=366;BYHOUR=12`,
    `FREQ=HOURLY;INTERVAL=8761;BYMONTH=2;BYMONTHDAY=29`,
    `FREQ=DAILY;INTERVAL=9973;BYMONTH=2;BYMONTHDAY=29`,
    `FREQ=DAILY;INTERVAL=7;BYDAY=SU,MO,TU,WE,TH,FR`,
    `FREQ=WEEKLY;INTERVAL=53;BYMONTH=2;BYDAY=MO`,
    `FREQ=WEEKLY;BYDAY=MO;BYHOUR=${all60.slice(0, 57)};BYMINUTE=${all60};BYSECOND=${all60};BYSETPOS=${Array.from({ length: 366 }, (_, i) => i + 1).join(',')}`,
    `FREQ=YEARLY;INTERVAL=40;BYMONTH=2;BYMONTHDAY=29;COUNT=100000`,
    `FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO;BYMONTH=1;BYYEARDAY=${Array.from({ length: 366 }, (_, i) => i + 1).join(',')}`,
    `FREQ=MONTHLY;BYDAY=5MO,-5MO;BYMONTHDAY=1;BYSETPOS=-366`,
  ])('%s', (rrule) => {
    askAll({ rrule, dtstart: '2026-01-01T00:00:00', tz: 'UTC' })
  })

  test('a hundred thousand characters in any field', () => {
    for (const text of [
      '*'.repeat(1e5),
      '1,'.repeat(5e4),
      'FREQ=DAILY;'.repeat(1e4),
      '\n'.repeat(1e5),
      `DTSTART:${'9'.repeat(1e5)}`,
      '\u{1F600}'.repeat(5e4),
    ])
      for (const field of ['at', 'every', 'cron', 'rrule', 'tz'] as const) expect(askAll({ [field]: text })).toBe(false)
  })
})
