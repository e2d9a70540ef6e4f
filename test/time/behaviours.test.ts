import { expect, test } from 'vitest'
import { compile, cronEquivalent, formatInstant, parseInstant, parseSpec } from '../../shared/time/index.ts'
import { nextOf, occurrencesOf, refusalOf } from './asked.ts'

const now = parseInstant('2026-01-05T08:30:00Z')!

test('S0-11 a time with a time zone comes once, at that time', () => {
  expect(nextOf({ at: '2026-11-02T09:00', tz: 'Europe/Amsterdam' }, '2026-01-01T00:00:00Z', 5)).toEqual([
    '2026-11-02T08:00:00Z',
  ])
  expect(nextOf({ at: '2026-11-02T09:00:00-05:00', tz: 'Europe/Oslo' }, '2026-01-01T00:00:00Z', 5)).toEqual([
    '2026-11-02T14:00:00Z',
  ])
})

test('S0-14 an interval alone comes first one interval from now', () => {
  expect(nextOf({ every: '30m' }, '2026-01-05T08:30:10.500Z', 2)).toEqual([
    '2026-01-05T09:00:10.500Z',
    '2026-01-05T09:30:10.500Z',
  ])
})

test('S0-15 a time and an interval: first at the time, then every interval', () => {
  const input = { at: '2026-01-05T10:00', every: 30, tz: 'Europe/Amsterdam' }
  expect(nextOf(input, '2026-01-05T08:00:00Z', 3)).toEqual([
    '2026-01-05T09:00:00Z',
    '2026-01-05T09:30:00Z',
    '2026-01-05T10:00:00Z',
  ])
})

test('S0-18 a repeating schedule keeps its grid, whenever it is asked', () => {
  const recurrence = compile(parseSpec({ every: '7m' }, now))
  for (const late of [0, 1, 59_999, 12_345_678, 8_640_000_000]) {
    const next = recurrence.next(now + late)!.at
    expect((next - now) % (7 * 60_000)).toBe(0)
    expect(next - (now + late)).toBeLessThanOrEqual(7 * 60_000)
  }
})

test('S2-3 a cron has five fields: minute, hour, day of month, month, weekday', () => {
  expect(nextOf({ cron: '0 8 * * 1-5' }, '2026-01-02T08:00:00Z', 3)).toEqual([
    '2026-01-05T08:00:00Z',
    '2026-01-06T08:00:00Z',
    '2026-01-07T08:00:00Z',
  ])
  expect(nextOf({ cron: '5 4 3 2 *' }, '2026-01-01T00:00:00Z', 1)).toEqual(['2026-02-03T04:05:00Z'])
})

test('S2-4 an RRULE in calendar format', () => {
  const input = { rrule: 'FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0', tz: 'Europe/Amsterdam' }
  expect(nextOf(input, '2026-01-05T08:30:00Z', 3)).toEqual([
    '2026-01-07T08:00:00Z',
    '2026-01-12T08:00:00Z',
    '2026-01-14T08:00:00Z',
  ])
})

test('S2-5 an RRULE that equals a cron shows it; one that does not is kept', () => {
  const equivalent = (rrule: string) => cronEquivalent(parseSpec({ rrule }, now))
  expect(equivalent('FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0')).toBe('0 9 * * 1,3')
  expect(equivalent('FREQ=WEEKLY;INTERVAL=2;BYDAY=MO')).toBeNull()
  expect(nextOf({ rrule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' }, '2026-01-05T08:30:00Z', 1)).toEqual([
    '2026-01-19T08:30:00Z',
  ])
})

test('S2-6 once takes a local time in the zone', () => {
  expect(parseSpec({ at: '2026-11-02T09:00', tz: 'Europe/Amsterdam' }, now)).toEqual({
    kind: 'at',
    at: '2026-11-02T09:00',
    tz: 'Europe/Amsterdam',
  })
  expect(nextOf({ at: '2026-11-02T09:00' }, '2026-01-01T00:00:00Z', 1)).toEqual(['2026-11-02T09:00:00Z'])
})

test('S2-8 an invalid time or zone is refused, with a detail and the field', () => {
  expect(refusalOf({ at: '2026-02-30T09:00' }).path).toBe('at')
  expect(refusalOf({ cron: '0 8 * * 1-5', tz: 'CDT' }).path).toBe('tz')
  expect(refusalOf({ cron: '0 0 30 2 *' }).path).toBe('cron')
  expect(refusalOf({}).path).toBe('')
  expect(refusalOf({ cron: '0 8 * * *', every: '30m' }).path).toBe('')
})

test('S2-10 rules half an hour apart have a smallest gap of 30 minutes', () => {
  const gap = (input: Parameters<typeof parseSpec>[0]) => compile(parseSpec(input, now)).smallestGapMs() / 60_000
  expect(gap({ cron: '*/30 * * * *' })).toBe(30)
  expect(gap({ cron: '0 8 * * 1-5' })).toBe(1440)
  expect(gap({ rrule: 'FREQ=MINUTELY;INTERVAL=30' })).toBe(30)
  // Neither gap nor fold counts: 02:00, 02:30 and 03:00 are half an hour apart also in March.
  expect(gap({ cron: '0,30 2,3 * * *', tz: 'Europe/Amsterdam' })).toBe(30)
})

test('S2-11 the smallest gap counts, not the average', () => {
  const gap = (input: Parameters<typeof parseSpec>[0]) => compile(parseSpec(input, now)).smallestGapMs() / 60_000
  expect(gap({ cron: '*/5 * * * *' })).toBe(5)
  expect(gap({ cron: '0,59 8 * * *' })).toBe(59)
  expect(gap({ cron: '0,10 8 1 * *' })).toBe(10)
  // 23:50 and, a day later, 00:00.
  expect(gap({ cron: '0,50 0,23 * * *' })).toBe(10)
  expect(gap({ cron: '0,50 0,23 1 * *' })).toBe(50)
  expect(gap({ rrule: 'FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,55' })).toBe(5)
})

test('S2-37 times follow the zone, daylight saving included', () => {
  expect(nextOf({ cron: '0 8 * * *', tz: 'America/New_York' }, '2023-11-04T00:00:00Z', 2)).toEqual([
    '2023-11-04T12:00:00Z',
    '2023-11-05T13:00:00Z',
  ])
})

test('S2-38 a time in the gap runs once, right after it', () => {
  const [first, second] = occurrencesOf({ cron: '30 2 * * *', tz: 'Europe/Amsterdam' }, '2026-03-28T12:00:00Z', 2)
  expect([formatInstant(first!.at), first!.adjusted]).toEqual(['2026-03-29T01:00:00.000Z', 'gap'])
  expect([formatInstant(second!.at), second!.adjusted]).toEqual(['2026-03-30T00:30:00.000Z', null])
})

test('S2-38 several times in the gap and the first real one are one run, which nothing moved', () => {
  const found = occurrencesOf({ cron: '*/30 * * * *', tz: 'Europe/Warsaw' }, '2017-03-26T00:30:00Z', 2)
  expect(found.map((o) => [formatInstant(o.at), o.adjusted])).toEqual([
    ['2017-03-26T01:00:00.000Z', null],
    ['2017-03-26T01:30:00.000Z', null],
  ])
  const moved = occurrencesOf({ cron: '15,45 2 * * *', tz: 'Europe/Warsaw' }, '2017-03-26T00:30:00Z', 2)
  expect(moved.map((o) => [formatInstant(o.at), o.adjusted])).toEqual([
    ['2017-03-26T01:00:00.000Z', 'gap'],
    ['2017-03-27T00:15:00.000Z', null],
  ])
})

test('S2-39 a time that comes twice runs once, at the first', () => {
  const [first, second] = occurrencesOf({ cron: '30 1 * * *', tz: 'America/New_York' }, '2025-11-01T12:00:00Z', 2)
  expect([formatInstant(first!.at), first!.adjusted]).toEqual(['2025-11-02T05:30:00.000Z', 'fold'])
  expect([formatInstant(second!.at), second!.adjusted]).toEqual(['2025-11-03T06:30:00.000Z', null])
})

test('S2-39 asked during the second pass, nothing of it comes again', () => {
  expect(nextOf({ cron: '* * * * *', tz: 'Europe/Amsterdam' }, '2023-10-29T01:30:00Z', 1)).toEqual([
    '2023-10-29T02:00:00Z',
  ])
})
