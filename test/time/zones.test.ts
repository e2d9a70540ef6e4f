import fc from 'fast-check'
import { DateTime } from 'luxon'
import { describe, expect, test } from 'vitest'
import {
  dayOf,
  formatInstant,
  formatLocal,
  isZone,
  parseInstant,
  SpecInvalid,
  wallOf,
  wallToInstant,
  zoneName,
} from '../../shared/time/index.ts'

const names = Intl.supportedValuesOf('timeZone')
const at = (text: string) => parseInstant(text)!

describe('offsets', () => {
  test('of every zone are those of Intl, from 1970 to 2070', () => {
    let seed = 7
    const wrong: string[] = []
    for (const tz of names) {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle: 'medium' })
      for (let i = 0; i < 12; i++) {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
        const instant = Math.floor((seed / 0x1_0000_0000) * 100 * 366 * 86_400) * 1000
        const ours = formatLocal(instant, tz).slice(0, 19).replace('T', ' ')
        if (ours !== format.format(instant)) wrong.push(`${tz} at ${formatInstant(instant)}: ${ours}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('far away are those of Intl too', () => {
    for (const tz of ['Europe/Amsterdam', 'America/New_York', 'Australia/Lord_Howe'])
      for (const text of ['2150-07-01T12:00:00Z', '2999-12-31T23:59:59Z', '9999-06-15T00:00:00Z']) {
        const local = DateTime.fromISO(text, { zone: tz })
        expect(formatLocal(at(text), tz)).toBe(`${local.toISO({ suppressMilliseconds: true })}[${tz}]`)
      }
  })

  test('many buckets are forgotten and found again', () => {
    const years = Array.from({ length: 700 }, (_, i) => Date.UTC(2000 + i, 6, 1, 12))
    for (const instant of [...years, ...years.slice(0, 3)]) expect(wallOf(instant, 'Europe/Amsterdam').hour).toBe(14)
  })
})

describe('wall time to instant', () => {
  test('agrees with luxon wherever the time exists once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.date({ min: new Date('1971-01-01'), max: new Date('2060-01-01'), noInvalidDate: true }),
        (tz, date) => {
          const wall = {
            year: date.getUTCFullYear(),
            month: date.getUTCMonth() + 1,
            day: date.getUTCDate(),
            hour: date.getUTCHours(),
            minute: date.getUTCMinutes(),
          }
          const found = wallToInstant(wall, tz)
          fc.pre(found.adjusted === null)
          const peer = DateTime.fromObject(wall, { zone: tz })
          fc.pre(peer.getPossibleOffsets().length === 1)
          expect(found.at).toBe(peer.toMillis())
          expect(wallOf(found.at, tz)).toEqual({ ...wall, second: 0, ms: 0 })
        },
      ),
      { numRuns: 500 },
    )
  })

  test.each([
    [
      'Amsterdam, 2026-03-29: 02:30 falls in the gap and runs at 03:00',
      'Europe/Amsterdam',
      '2026-03-29T02:30',
      '2026-03-29T01:00:00.000Z',
      'gap',
    ],
    [
      'Amsterdam, 2026-10-25: 02:30 comes twice, the first counts',
      'Europe/Amsterdam',
      '2026-10-25T02:30',
      '2026-10-25T00:30:00.000Z',
      'fold',
    ],
    [
      'Amsterdam, 2026-10-25: 03:00 comes once, after the second pass',
      'Europe/Amsterdam',
      '2026-10-25T03:00',
      '2026-10-25T02:00:00.000Z',
      null,
    ],
    [
      'Troll, 2026-03-29: a gap of two hours',
      'Antarctica/Troll',
      '2026-03-29T01:01',
      '2026-03-29T01:00:00.000Z',
      'gap',
    ],
    [
      'Lord Howe, 2026-10-04: a gap of half an hour',
      'Australia/Lord_Howe',
      '2026-10-04T02:15',
      '2026-10-03T15:30:00.000Z',
      'gap',
    ],
    [
      'Lord Howe, 2026-04-05: half an hour comes twice',
      'Australia/Lord_Howe',
      '2026-04-05T01:45',
      '2026-04-04T14:45:00.000Z',
      'fold',
    ],
    [
      'Apia, 2011-12-30: a whole day is left out',
      'Pacific/Apia',
      '2011-12-30T09:00',
      '2011-12-30T10:00:00.000Z',
      'gap',
    ],
    [
      'São Paulo, 2018-11-04: midnight is left out',
      'America/Sao_Paulo',
      '2018-11-04T00:00',
      '2018-11-04T03:00:00.000Z',
      'gap',
    ],
    [
      'Casablanca, 2026-02-15: the hour before Ramadan comes twice',
      'Africa/Casablanca',
      '2026-02-15T02:30',
      '2026-02-15T01:30:00.000Z',
      'fold',
    ],
    [
      'Pyongyang, 2015-08-15: the offset changed for good',
      'Asia/Pyongyang',
      '2015-08-14T23:45',
      '2015-08-14T14:45:00.000Z',
      'fold',
    ],
  ])('%s', (_, tz, wall, expected, adjusted) => {
    const [year, month, day, hour, minute] = wall.split(/[-T:]/).map(Number) as [number, number, number, number, number]
    const found = wallToInstant({ year, month, day, hour, minute }, tz)
    expect([formatInstant(found.at), found.adjusted]).toEqual([expected, adjusted])
  })

  test('a day or time that does not exist is refused', () => {
    for (const wall of [
      { year: 2026, month: 2, day: 30, hour: 0, minute: 0 },
      { year: 2026, month: 13, day: 1, hour: 0, minute: 0 },
      { year: 2026, month: 1, day: 1, hour: 24, minute: 0 },
      { year: 2026, month: 1, day: 1.5, hour: 0, minute: 0 },
      { year: Number.NaN, month: 1, day: 1, hour: 0, minute: 0 },
    ])
      expect(() => wallToInstant(wall, 'UTC')).toThrow(SpecInvalid)
  })
})

describe('local days', () => {
  test.each([
    [
      'Berlin, 2023-10-29: 25 hours',
      'Europe/Berlin',
      '2023-10-29T12:00:00Z',
      '2023-10-28T22:00:00.000Z',
      '2023-10-29T23:00:00.000Z',
      '2023-10-29',
    ],
    [
      'Berlin, 2024-03-31: 23 hours',
      'Europe/Berlin',
      '2024-03-31T12:00:00Z',
      '2024-03-30T23:00:00.000Z',
      '2024-03-31T22:00:00.000Z',
      '2024-03-31',
    ],
    [
      'São Paulo, 2018-11-04: begins at 01:00',
      'America/Sao_Paulo',
      '2018-11-04T12:00:00Z',
      '2018-11-04T03:00:00.000Z',
      '2018-11-05T02:00:00.000Z',
      '2018-11-04',
    ],
    [
      'Apia, 2011-12-29: the next day is the 31st',
      'Pacific/Apia',
      '2011-12-29T12:00:00Z',
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-29',
    ],
    [
      'UTC: midnight to midnight',
      'UTC',
      '2026-11-30T23:59:59.999Z',
      '2026-11-30T00:00:00.000Z',
      '2026-12-01T00:00:00.000Z',
      '2026-11-30',
    ],
  ])('%s', (_, tz, instant, from, to, day) => {
    const found = dayOf(at(instant), tz)
    expect([formatInstant(found.from), formatInstant(found.to), found.day]).toEqual([from, to, day])
  })

  test('hold the instant, and lie end to end', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.integer({ min: 0, max: 3e12 }), (tz, instant) => {
        const { from, to } = dayOf(instant, tz)
        expect(from).toBeLessThanOrEqual(instant)
        expect(to).toBeGreaterThan(instant)
        expect(dayOf(to, tz).from).toBe(to)
        expect(dayOf(from - 1, tz).to).toBe(from)
      }),
      { numRuns: 400 },
    )
  })

  test('of St. John’s, where the clock went back over midnight, do not overlap', () => {
    const before = dayOf(at('2006-10-29T02:00:00Z'), 'America/St_Johns')
    const after = dayOf(at('2006-10-29T03:00:00Z'), 'America/St_Johns')
    expect(before.to).toBe(after.from)
    expect(after.day).toBe('2006-10-29')
  })
})

describe('names', () => {
  test.each([
    'Europe/Kiev',
    'Europe/Kyiv',
    'US/Eastern',
    'Asia/Calcutta',
    'GB',
    'EST5EDT',
    'UTC',
    'Etc/GMT+5',
    'America/Argentina/ComodRivadavia',
  ])('%s is one', (name) => {
    expect(zoneName(name)).toBe(name)
    expect(formatLocal(0, name)).toMatch(/\[/)
  })

  test.each([
    '',
    'CDT',
    'PST',
    'IST',
    '+02:00',
    '-05:00',
    'UTC+2',
    'GMT+5',
    'Mars/Olympus',
    'Europe',
    'Europe/',
    'Europe/Amsterdam ',
    '__proto__',
    'constructor',
    'Factory',
    'localtime',
    'x'.repeat(60_000),
  ])('%s is none', (name) => {
    expect(isZone(name)).toBe(false)
    expect(() => wallOf(0, name)).toThrow(SpecInvalid)
  })

  test('are found in any case, and spelt as IANA does', () => {
    expect(zoneName('europe/AMSTERDAM')).toBe('Europe/Amsterdam')
    expect(zoneName('us/eastern')).toBe('US/Eastern')
    expect(zoneName('america/port-au-prince')).toBe('America/Port-au-Prince')
    expect(zoneName('utc')).toBe('UTC')
  })

  test('every zone that Intl lists is one', () => {
    expect(names.filter((name) => zoneName(name) !== name)).toEqual([])
  })
})
