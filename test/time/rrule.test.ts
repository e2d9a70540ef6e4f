import { describe, expect, test } from 'vitest'
import { compile, parseInstant, parseSpec, type SpecInput } from '../../shared/time/index.ts'
import { nextOf, refusalOf } from './asked.ts'

const newYork = (rrule: string, dtstart = '1997-09-02T09:00') => ({ rrule, dtstart, tz: 'America/New_York' })
const localDays = (input: SpecInput, n: number, after = '1997-01-01T00:00:00Z') =>
  nextOf(input, after, n).map((at) => at.slice(0, 10))

/** The examples of RFC 5545 3.8.5.3, as far as their dates are not shown by the cases already. */
describe('RFC 5545 3.8.5.3', () => {
  test.each([
    ['every other day', 'FREQ=DAILY;INTERVAL=2', '1997-09-02 1997-09-04 1997-09-06'],
    [
      'every 10 days, 5 occurrences',
      'FREQ=DAILY;INTERVAL=10;COUNT=5',
      '1997-09-02 1997-09-12 1997-09-22 1997-10-02 1997-10-12',
    ],
    ['every other week', 'FREQ=WEEKLY;INTERVAL=2;WKST=SU', '1997-09-02 1997-09-16 1997-09-30 1997-10-14'],
    [
      'weekly on Tuesday and Thursday, ten times',
      'FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH',
      '1997-09-02 1997-09-04 1997-09-09 1997-09-11 1997-09-16 1997-09-18 1997-09-23 1997-09-25 1997-09-30 1997-10-02',
    ],
    [
      'every other week on Tuesday and Thursday',
      'FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH',
      '1997-09-02 1997-09-04 1997-09-16 1997-09-18 1997-09-30 1997-10-02 1997-10-14 1997-10-16',
    ],
    [
      'every other month on the first and last Sunday',
      'FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU',
      '1997-09-07 1997-09-28 1997-11-02 1997-11-30 1998-01-04 1998-01-25 1998-03-01 1998-03-29 1998-05-03 1998-05-31',
    ],
    [
      'the second to last Monday',
      'FREQ=MONTHLY;COUNT=6;BYDAY=-2MO',
      '1997-09-22 1997-10-20 1997-11-17 1997-12-22 1998-01-19 1998-02-16',
    ],
    [
      'the third to the last day',
      'FREQ=MONTHLY;BYMONTHDAY=-3',
      '1997-09-28 1997-10-29 1997-11-28 1997-12-29 1998-01-29 1998-02-26',
    ],
    [
      'the first and last day',
      'FREQ=MONTHLY;COUNT=5;BYMONTHDAY=1,-1',
      '1997-09-30 1997-10-01 1997-10-31 1997-11-01 1997-11-30',
    ],
    [
      'the 10th to 15th every 18 months',
      'FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15',
      '1997-09-10 1997-09-11 1997-09-12 1997-09-13 1997-09-14 1997-09-15 1999-03-10 1999-03-11 1999-03-12 1999-03-13',
    ],
    ['in June and July', 'FREQ=YEARLY;COUNT=4;BYMONTH=6,7', '1998-06-02 1998-07-02 1999-06-02 1999-07-02'],
    [
      'every third year on the 1st, 100th, and 200th day',
      'FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200',
      '2000-01-01 2000-04-09 2000-07-18 2003-01-01 2003-04-10 2003-07-19 2006-01-01',
    ],
    ['every 20th Monday of the year', 'FREQ=YEARLY;BYDAY=20MO', '1998-05-18 1999-05-17 2000-05-15'],
    ['Monday of week 20', 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', '1998-05-11 1999-05-17 2000-05-15'],
    ['Thursdays in March', 'FREQ=YEARLY;BYMONTH=3;BYDAY=TH', '1998-03-05 1998-03-12 1998-03-19 1998-03-26 1999-03-04'],
    [
      'Friday the 13th',
      'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
      '1998-02-13 1998-03-13 1998-11-13 1999-08-13 2000-10-13',
    ],
    [
      'the first Saturday after the first Sunday',
      'FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13',
      '1997-09-13 1997-10-11 1997-11-08',
    ],
    [
      'election day',
      'FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8',
      '2000-11-07 2004-11-02 2008-11-04',
    ],
    ['the second to last weekday', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2', '1997-09-29 1997-10-30 1997-11-27'],
    [
      '15 and 30, no February 30',
      'FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5',
      '1997-09-15 1997-09-30 1997-10-15 1997-10-30 1997-11-15',
    ],
  ])('%s', (_, rrule, days) => {
    const expected = days.split(' ')
    // Seen a second before New York's midnight the date in UTC is the same: 09:00 is 13:00 or 14:00.
    const start = rrule.startsWith('FREQ=YEARLY;INTERVAL=3')
      ? '1997-01-01T09:00'
      : rrule.includes('INTERVAL=4')
        ? '1996-11-05T09:00'
        : undefined
    const input = newYork(rrule, start)
    const after = start === undefined ? '1997-01-01T00:00:00Z' : '1999-12-31T00:00:00Z'
    expect(
      localDays(input, rrule.includes('COUNT') && start === undefined ? 99 : expected.length, after).slice(
        0,
        expected.length,
      ),
    ).toEqual(expected)
  })

  test('every 3 hours from 9 to 17 on one day', () => {
    const input = newYork('FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z')
    expect(nextOf(input, '1997-01-01T00:00:00Z', 9)).toEqual([
      '1997-09-02T13:00:00Z',
      '1997-09-02T16:00:00Z',
      '1997-09-02T19:00:00Z',
    ])
  })

  test('every 90 minutes, and every 20 minutes from 9 to 16:40 said in two ways', () => {
    expect(nextOf(newYork('FREQ=MINUTELY;INTERVAL=90;COUNT=4'), '1997-01-01T00:00:00Z', 9)).toEqual([
      '1997-09-02T13:00:00Z',
      '1997-09-02T14:30:00Z',
      '1997-09-02T16:00:00Z',
      '1997-09-02T17:30:00Z',
    ])
    const daily = nextOf(
      newYork('FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40'),
      '1997-01-01T00:00:00Z',
      60,
    )
    const minutely = nextOf(
      newYork('FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16'),
      '1997-01-01T00:00:00Z',
      60,
    )
    expect(minutely).toEqual(daily)
  })

  test('the week start changes what every other week is', () => {
    const days = (wkst: string) =>
      localDays(newYork(`FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=${wkst}`, '1997-08-05T09:00'), 9)
    expect(days('MO')).toEqual(['1997-08-05', '1997-08-10', '1997-08-19', '1997-08-24'])
    expect(days('SU')).toEqual(['1997-08-05', '1997-08-17', '1997-08-19', '1997-08-31'])
  })
})

describe('the start', () => {
  test('is no occurrence of its own when the rule does not name it', () => {
    expect(nextOf({ rrule: 'FREQ=WEEKLY;BYDAY=MO', dtstart: '2026-01-01T09:00' }, '2025-12-01T00:00:00Z', 1)).toEqual([
      '2026-01-05T09:00:00Z',
    ])
  })

  test('is the creation, down to the minute, in the zone', () => {
    const now = parseInstant('2026-01-05T08:30:42.123Z')!
    expect(parseSpec({ rrule: 'FREQ=DAILY', tz: 'Asia/Kolkata' }, now)).toMatchObject({ dtstart: '2026-01-05T14:00' })
  })

  test('may stand in the text, folded or not, before or after the rule', () => {
    const spec = {
      kind: 'rrule',
      rrule: 'FREQ=DAILY;INTERVAL=2',
      dtstart: '2026-01-01T09:00',
      tz: 'Europe/Amsterdam',
      lastAt: null,
    }
    for (const rrule of [
      'DTSTART;TZID=Europe/Amsterdam:20260101T090000\nRRULE:FREQ=DAILY;INTERVAL=2',
      'RRULE:FREQ=DAILY;INTERVAL=2\r\nDTSTART;TZID=europe/amsterdam:20260101T090000\r\n',
      'dtstart;tzid="Europe/Amsterdam":20260101t090000\nrrule:freq=daily;interval=02;',
      'DTSTART;TZID=Europe/Amsterdam:20260101T090000\nRRULE:FREQ=DAILY;INTE\r\n RVAL=2',
    ])
      expect(parseSpec({ rrule }, 0)).toEqual(spec)
  })

  test('in the text wins over the zone beside it, as an offset does', () => {
    const rrule = 'DTSTART;TZID=Europe/Amsterdam:20260101T090000\nRRULE:FREQ=DAILY'
    expect(parseSpec({ rrule, tz: 'UTC' }, 0)).toMatchObject({ tz: 'Europe/Amsterdam' })
    expect(parseSpec({ rrule: 'DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY' }, 0)).toMatchObject({
      tz: 'UTC',
      dtstart: '2026-01-01T09:00',
    })
    expect(parseSpec({ rrule: 'DTSTART:20260101T090000\nRRULE:FREQ=DAILY', tz: 'Asia/Tokyo' }, 0)).toMatchObject({
      tz: 'Asia/Tokyo',
    })
  })

  test('with an offset is that moment, in the zone', () => {
    expect(parseSpec({ rrule: 'FREQ=DAILY', dtstart: '2026-01-01T09:00:00Z', tz: 'Asia/Tokyo' }, 0)).toMatchObject({
      dtstart: '2026-01-01T18:00',
    })
  })

  test('may lie far back or ahead without changing what comes', () => {
    const weekly = (dtstart: string) =>
      nextOf({ rrule: 'FREQ=WEEKLY;INTERVAL=3;BYDAY=MO', dtstart }, '2026-01-01T00:00:00Z', 2)
    expect(weekly('1971-01-04T09:00')).toEqual(['2026-01-12T09:00:00Z', '2026-02-02T09:00:00Z'])
    expect(weekly('2090-01-02T09:00')).toEqual(['2090-01-02T09:00:00Z', '2090-01-23T09:00:00Z'])
  })
})

describe('what is not an RRULE says what to write instead', () => {
  const utc = { dtstart: '2026-01-01T09:00' }
  test.each([
    ['', 'FREQ=DAILY'],
    ['RRULE:', 'FREQ'],
    ['BYDAY=MO', 'FREQ is missing'],
    ['FREQ=FORTNIGHTLY', 'WEEKLY'],
    ['FREQ=DAILY;INTERVAL=0', '1 to'],
    ['FREQ=DAILY;INTERVAL=.007', '1 to'],
    ['FREQ=DAILY;INTERVAL=0x1', '1 to'],
    ['FREQ=DAILY;INTERVAL=1e3', '1 to'],
    ['FREQ=DAILY;INTERVAL=-1', '1 to'],
    ['FREQ=DAILY;INTERVAL=9999999999', '1 to'],
    ['FREQ=DAILY;COUNT=0', '1 to'],
    ['FREQ=DAILY;COUNT=100001', 'UNTIL'],
    ['FREQ=DAILY;COUNT=3;UNTIL=20270101T000000Z', 'together'],
    ['FREQ=DAILY;UNTIL=20270101', 'with the Z'],
    ['FREQ=DAILY;UNTIL=20270101T000000', 'with the Z'],
    ['FREQ=DAILY;UNTIL=20270230T000000Z', 'does not exist'],
    ['FREQ=DAILY;UNTIL=20250101T000000Z', 'before the start'],
    ['FREQ=DAILY;FREQ=DAILY', 'twice'],
    ['FREQ=DAILY;BYHOUR=9;BYHOUR=10', 'one list'],
    ['FREQ=DAILY;BYEASTER=1', 'list the dates'],
    ['FREQ=DAILY;X-FOO=1', 'no part'],
    ['FREQ=DAILY;RSCALE=CHINESE', 'BYMONTHDAY=-1'],
    ['FREQ=DAILY;;BYHOUR=9', 'no part'],
    ['FREQ=DAILY;BYHOUR=', 'no value'],
    ['FREQ=DAILY;BYHOUR', 'no value'],
    ['FREQ=DAILY; BYHOUR=9', 'no blanks'],
    ['FREQ=DAILY;BYHOUR=24', '0 to 23'],
    ['FREQ=DAILY;BYHOUR=9,', '0 to 23'],
    ['FREQ=DAILY;BYHOUR=-1', '0 to 23'],
    ['FREQ=DAILY;BYMINUTE=60', '0 to 59'],
    ['FREQ=DAILY;BYSECOND=61', '0 to 60'],
    ['FREQ=DAILY;BYSECOND=60', 'never comes'],
    ['FREQ=MONTHLY;BYMONTHDAY=0', '1 to 31'],
    ['FREQ=MONTHLY;BYMONTHDAY=32', '1 to 31'],
    ['FREQ=YEARLY;BYMONTH=13', '1 to 12'],
    ['FREQ=YEARLY;BYMONTH=0', '1 to 12'],
    ['FREQ=YEARLY;BYYEARDAY=367', '1 to 366'],
    ['FREQ=YEARLY;BYWEEKNO=54', '1 to 53'],
    ['FREQ=MONTHLY;BYSETPOS=0;BYDAY=MO', '1 to 366'],
    ['FREQ=MONTHLY;BYSETPOS=1', 'BYSETPOS picks'],
    ['FREQ=WEEKLY;BYDAY=1FR', 'FREQ=MONTHLY'],
    ['FREQ=DAILY;BYDAY=-1FR', 'FREQ=MONTHLY'],
    ['FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO', 'without the number'],
    ['FREQ=MONTHLY;BYDAY=0MO', '1MO'],
    ['FREQ=MONTHLY;BYDAY=54MO', '1MO'],
    ['FREQ=MONTHLY;BYDAY=MON', '1MO'],
    ['FREQ=MONTHLY;BYWEEKNO=1', 'FREQ=YEARLY'],
    ['FREQ=MONTHLY;BYYEARDAY=1', 'FREQ=YEARLY'],
    ['FREQ=DAILY;BYYEARDAY=1', 'FREQ=YEARLY'],
    ['FREQ=WEEKLY;BYMONTHDAY=1', 'FREQ=MONTHLY'],
    ['FREQ=DAILY;WKST=1', 'SU to SA'],
    ['FREQ=DA\u0131LY', 'ASCII'],
    ['RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY', 'several'],
    ['RRULE:FREQ=DAILY\nEXDATE:20260102T090000Z', 'not supported'],
    ['RRULE:FREQ=DAILY\nRDATE:20260102T090000Z', 'not supported'],
    ['EXRULE:FREQ=DAILY', 'not supported'],
    ['SUMMARY:hello', 'no place'],
    ['DTSTART:20260101\nRRULE:FREQ=DAILY', 'DTSTART'],
    ['DTSTART;TZID=CDT:20260102T090000\nRRULE:FREQ=DAILY', 'abbreviation'],
    ['DTSTART;TZID=Europe/Paris:20260102T090000Z\nRRULE:FREQ=DAILY', 'TZID'],
    ['DTSTART;TZID=Europe/Paris:20260102T090000\nDTSTART:20260101T000000\nRRULE:FREQ=DAILY', 'twice'],
    ['DTSTART:20260102T090000\nRRULE:FREQ=DAILY', 'twice'],
    ['DTSTART:20260230T090000\nRRULE:FREQ=DAILY', 'exists'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'never comes'],
    ['FREQ=MONTHLY;BYDAY=6MO', 'never comes'],
    ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6', 'never comes'],
    ['FREQ=YEARLY;BYYEARDAY=1;BYMONTH=2', 'never comes'],
    ['FREQ=YEARLY;BYWEEKNO=30;BYMONTH=1', 'never comes'],
    ['FREQ=DAILY;INTERVAL=7;BYDAY=MO', 'never comes'],
    ['FREQ=HOURLY;INTERVAL=2;BYHOUR=10', 'never comes'],
    ['FREQ=SECONDLY;INTERVAL=2;BYSECOND=1,3,5,7,9,11,13,15', 'never comes'],
    ['FREQ=SECONDLY;INTERVAL=86399;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=7;BYSECOND=1;BYSETPOS=2', 'never comes'],
    ['FREQ=MINUTELY;INTERVAL=1440;BYHOUR=3', 'never comes'],
    ['FREQ=SECONDLY;BYSETPOS=2;BYHOUR=9', 'never comes'],
    ['FREQ=MONTHLY;INTERVAL=999999999;BYMONTHDAY=2', '40 years'],
  ])('%s', (rrule, instead) => {
    const { detail } = refusalOf({ rrule, ...utc })
    expect(detail).toContain(instead)
  })

  test.each([
    'undefined',
    '',
    '2026-01-01',
    '2026-02-30T09:00',
    '2026-01-01T09:00:00.500',
    '1960-01-01T09:00',
    '20260101',
    'x'.repeat(60_000),
  ])('a start %s', (dtstart) => {
    expect(refusalOf({ rrule: 'FREQ=DAILY', dtstart }).path).toBe('dtstart')
  })

  test('a start beside another kind of rule', () => {
    expect(refusalOf({ cron: '0 8 * * *', dtstart: '2026-01-01T09:00' }).path).toBe('dtstart')
    expect(refusalOf({ every: '30m', dtstart: '2026-01-01T09:00' }).path).toBe('dtstart')
  })

  test('an interval that comes once and then not for forty years', () => {
    expect(refusalOf({ rrule: 'FREQ=YEARLY;INTERVAL=1000', dtstart: '2025-01-01T09:00' }).detail).toContain('40 years')
  })

  test('64 KB of anything', () => {
    expect(refusalOf({ rrule: `FREQ=DAILY;BYHOUR=${'1,'.repeat(32_000)}1` }).detail).toContain('characters')
  })
})

describe('ends', () => {
  test('COUNT is turned into the last instant, and kept for its words', () => {
    const spec = parseSpec(
      { rrule: 'FREQ=DAILY;COUNT=3', dtstart: '2024-03-09T02:30', tz: 'America/New_York' },
      parseInstant('2024-03-01T00:00:00Z')!,
    )
    expect(spec).toMatchObject({ rrule: 'FREQ=DAILY;COUNT=3', lastAt: parseInstant('2024-03-11T06:30:00Z') })
    const recurrence = compile(spec)
    expect(recurrence.next(parseInstant('2024-03-11T06:30:00Z')!)).toBeNull()
    expect(recurrence.count(0, 4e12)).toBe(3)
    expect(recurrence.smallestGapMs()).toBe(86_400_000)
  })

  test('what a gap collapses counts each', () => {
    const input = { rrule: 'FREQ=MINUTELY;INTERVAL=30;COUNT=4', dtstart: '2026-03-29T01:30', tz: 'Europe/Amsterdam' }
    // 01:30, 02:00, 02:30 and 03:00, of which the last three are one run.
    expect(nextOf(input, '2026-03-28T00:00:00Z', 9)).toEqual(['2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z'])
  })

  test('a rule that is over is the caller’s to judge', () => {
    const spec = parseSpec(
      { rrule: 'FREQ=DAILY;COUNT=3', dtstart: '2024-01-01T09:00' },
      parseInstant('2026-01-01T00:00:00Z')!,
    )
    expect(compile(spec).next(parseInstant('2026-01-01T00:00:00Z')!)).toBeNull()
  })

  test('a hundred thousand, and a single one', () => {
    const many = parseSpec({ rrule: 'FREQ=SECONDLY;COUNT=100000', dtstart: '2026-01-01T00:00' }, 0)
    expect(many).toMatchObject({ lastAt: parseInstant('2026-01-01T00:00:00Z')! + 99_999_000 })
    const once = compile(parseSpec({ rrule: 'FREQ=DAILY;COUNT=1', dtstart: '2026-01-01T00:00' }, 0))
    expect(once.smallestGapMs()).toBe(Number.POSITIVE_INFINITY)
    expect(once.last(0, 4e12)!.at).toBe(parseInstant('2026-01-01T00:00:00Z'))
  })

  test('the end of the year 9999', () => {
    const yearly = compile(parseSpec({ rrule: 'FREQ=YEARLY;COUNT=100000', dtstart: '9990-01-01T00:00' }, 0))
    expect(yearly.count(0, 3e14)).toBe(10)
  })
})
