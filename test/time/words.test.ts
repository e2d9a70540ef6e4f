import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compile,
  cronEquivalent,
  inWords,
  notesFor,
  parseInstant,
  parseSpec,
  type Recurrence,
  type SpecInput,
  SpecInvalid,
} from '../../shared/time/index.ts'
import { occurrencesOf } from './asked.ts'
import { anyRule } from './generators.ts'
import { ruleText } from './reference.ts'

const now = parseInstant('2026-01-05T08:30:00Z')!

test.each<[string, SpecInput]>([
  ['At 08:00, Monday through Friday', { cron: '0 8 * * 1-5' }],
  ['At 08:00, Monday through Friday (US/Eastern)', { cron: '0 8 * * mon-fri', tz: 'us/eastern' }],
  ['Every 30 minutes', { cron: '*/30 * * * *' }],
  ['once at 2026-11-02 09:00 (Europe/Amsterdam)', { at: '2026-11-02T09:00', tz: 'Europe/Amsterdam' }],
  ['once at 2026-05-06 17:00 (Europe/Oslo)', { at: '2026-05-06T10:00:00-05:00', tz: 'Europe/Oslo' }],
  ['every 30 minutes from 2026-01-05 08:30', { every: '30m' }],
  [
    'every hour from 2026-11-02 09:00 (Europe/Amsterdam)',
    { at: '2026-11-02T09:00', every: 60, tz: 'Europe/Amsterdam' },
  ],
  ['every 1 hour 30 minutes from 2026-01-05 08:30', { every: 'PT90M' }],
  ['At 09:00, only on Monday and Wednesday', { rrule: 'FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0' }],
  [
    'every 2 weeks on Monday and Wednesday at 09:05, from 2026-01-05 08:30, 10 times',
    { rrule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=5;COUNT=10' },
  ],
  ['every month on the last Friday at 08:30, from 2026-01-05 08:30', { rrule: 'FREQ=MONTHLY;BYDAY=-1FR' }],
  ['every month on the last day of the month at 08:30, from 2026-01-05 08:30', { rrule: 'FREQ=MONTHLY;BYMONTHDAY=-1' }],
  [
    'every month on Monday, Tuesday, Wednesday, Thursday and Friday at 08:30 (only the last of each month), from 2026-01-05 08:30',
    { rrule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' },
  ],
  [
    'every day at 08:30, from 2026-01-05 08:30, until 2026-12-31 00:30 (Europe/Amsterdam)',
    { rrule: 'FREQ=DAILY;UNTIL=20261230T233000Z', dtstart: '2026-01-05T08:30', tz: 'Europe/Amsterdam' },
  ],
  ['every 7 seconds, from 2026-01-05 08:30', { rrule: 'FREQ=SECONDLY;INTERVAL=7' }],
])('%s', (words, input) => {
  expect(inWords(parseSpec(input, now))).toBe(words)
})

describe('the cron that equals an RRULE', () => {
  test.each([
    ['FREQ=DAILY', '30 8 * * *'],
    ['FREQ=WEEKLY', '30 8 * * 1'],
    ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0', '0 9 * * 1-5'],
    ['FREQ=MONTHLY', '30 8 5 * *'],
    ['FREQ=MONTHLY;INTERVAL=3', '30 8 5 1,4,7,10 *'],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '30 8 31 * *'],
    ['FREQ=YEARLY', '30 8 5 1 *'],
    ['FREQ=YEARLY;BYMONTH=3,4,5;BYDAY=TH', '30 8 * 3-5 4'],
    ['FREQ=HOURLY', '30 * * * *'],
    ['FREQ=HOURLY;INTERVAL=6', '30 2,8,14,20 * * *'],
    ['FREQ=MINUTELY;INTERVAL=15', '*/15 * * * *'],
    ['FREQ=MINUTELY;INTERVAL=120', '30 */2 * * *'],
    ['FREQ=SECONDLY;INTERVAL=60', '* * * * *'],
    ['FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0;BYSETPOS=-1', '0 17 * * *'],
    ['FREQ=WEEKLY;INTERVAL=2', null],
    ['FREQ=DAILY;COUNT=5', null],
    ['FREQ=DAILY;UNTIL=20270101T000000Z', null],
    ['FREQ=MONTHLY;BYDAY=1MO', null],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', null],
    ['FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR', null],
    ['FREQ=MONTHLY;INTERVAL=5', null],
    ['FREQ=HOURLY;INTERVAL=5', null],
    ['FREQ=MINUTELY;INTERVAL=90', null],
    ['FREQ=DAILY;BYSECOND=30', null],
    ['FREQ=YEARLY;BYWEEKNO=20', null],
  ])('%s is %s', (rrule, cron) => {
    expect(cronEquivalent(parseSpec({ rrule }, now))).toBe(cron)
  })

  test('comes when the RRULE does, from the start on', () => {
    const first = (recurrence: Recurrence, after: number) => {
      const found: number[] = []
      for (let o = recurrence.next(after); o !== null && found.length < 20; o = recurrence.next(o.at)) found.push(o.at)
      return found
    }
    fc.assert(
      fc.property(anyRule(), fc.constantFrom('UTC', 'Europe/Amsterdam'), (rule, tz) => {
        let cron: string | null = null
        const input = { rrule: ruleText({ ...rule, interval: 1 }), dtstart: '2026-03-28T02:30', tz }
        try {
          cron = cronEquivalent(parseSpec(input, now))
        } catch (error) {
          expect(error).toBeInstanceOf(SpecInvalid)
        }
        fc.pre(cron !== null)
        const start = parseInstant('2026-03-28T00:00:00Z')!
        expect(first(compile(parseSpec({ cron, tz }, now)), start + 9_000_000)).toEqual(
          first(compile(parseSpec(input, now)), start + 9_000_000),
        )
      }),
      { numRuns: 60 },
    )
  })
})

describe('notes', () => {
  const notes = (input: SpecInput, from: string, n = 3) =>
    notesFor(parseSpec(input, parseInstant(from)!), parseInstant(from)!, occurrencesOf(input, from, n))
  const tz = 'Europe/Amsterdam'

  test('tell of a time that does not exist, and when it runs', () => {
    expect(notes({ cron: '30 2 * * *', tz }, '2026-03-28T12:00:00Z')).toEqual([
      '02:30 on 2026-03-29 does not exist in Europe/Amsterdam, where the clock goes forward from 02:00 to 03:00: it runs at 03:00 (+02:00).',
    ])
    expect(notes({ at: '2026-03-29T02:30', tz }, '2026-01-01T00:00:00Z')).toHaveLength(1)
  })

  test('tell of several that become one, also with the first real one', () => {
    const [gap, pause] = notes({ cron: '*/30 * * * *', tz }, '2026-03-29T00:00:00Z')
    expect(gap).toContain('02:00 and 02:30 on 2026-03-29 do not exist')
    expect(pause).toContain('the rule pauses from 02:30 (+02:00) to 03:00 (+01:00), 1 hour 30 minutes')
  })

  test('tell of a time that comes twice', () => {
    expect(notes({ cron: '30 2 * * *', tz }, '2026-10-24T12:00:00Z')).toEqual([
      '02:30 on 2026-10-25 comes twice in Europe/Amsterdam, where the clock goes back from 03:00 to 02:00: it runs once, at the first (+02:00).',
    ])
  })

  test('tell of a pause within a year even where it is not shown', () => {
    expect(notes({ cron: '0 * * * *', tz }, '2026-01-01T00:00:00Z')).toEqual([
      expect.stringContaining('the rule pauses from 02:00 (+02:00) to 03:00 (+01:00), 2 hours'),
    ])
  })

  test('tell of a day that was left out', () => {
    expect(notes({ cron: '0 9 * * *', tz: 'Pacific/Apia' }, '2011-12-28T00:00:00Z', 5)).toEqual([
      '09:00 on 2011-12-30 does not exist in Pacific/Apia, where the clock goes forward from 2011-12-30 00:00 to 2011-12-31 00:00: it runs at 00:00 (+14:00).',
    ])
  })

  test('say nothing where nothing changes', () => {
    expect(notes({ cron: '*/30 * * * *' }, '2026-03-29T00:00:00Z')).toEqual([])
    expect(notes({ cron: '0 9 * * *', tz }, '2026-03-28T12:00:00Z')).toEqual([])
    expect(notes({ every: '30m', tz }, '2026-03-28T12:00:00Z')).toEqual([])
  })
})
