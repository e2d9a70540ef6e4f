import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatInstant, formatLocal, jitterOf, parseDuration, parseInstant, shown } from '../../shared/time/index.ts'

describe('instants', () => {
  test.each([
    ['2026-03-29T01:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T03:00:00+02:00', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T03:00+0200', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29t01:00:00z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T01:00:00.5Z', '2026-03-29T01:00:00.500Z'],
    ['2026-03-29T01:00:00.123456Z', '2026-03-29T01:00:00.123Z'],
    ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-01-01T00:30:00-00:30', '2026-01-01T01:00:00.000Z'],
  ])('%s is %s', (text, expected) => {
    expect(formatInstant(parseInstant(text)!)).toBe(expected)
  })

  test.each([
    '',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-1-1T00:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '+002026-01-01T00:00:00Z',
    'now',
    '2026-01-01T00:00:00Z[UTC]',
    `${'9'.repeat(60_000)}`,
  ])('%s is none', (text) => {
    expect(parseInstant(text)).toBeNull()
  })

  test('are written as Date writes them, and read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (at) => {
        expect(formatInstant(at)).toBe(new Date(at).toISOString())
        expect(parseInstant(formatInstant(at))).toBe(at)
      }),
    )
  })

  test('stand beside their local time, with offset and zone', () => {
    const at = parseInstant('2026-03-29T01:00:00Z')!
    expect(shown({ at, adjusted: 'gap' }, 'Europe/Amsterdam')).toEqual({
      at: '2026-03-29T01:00:00.000Z',
      local: '2026-03-29T03:00:00+02:00[Europe/Amsterdam]',
      adjusted: 'gap',
    })
    expect(formatLocal(at, 'UTC')).toBe('2026-03-29T01:00:00+00:00[UTC]')
    expect(formatLocal(at, 'America/St_Johns')).toBe('2026-03-28T22:30:00-02:30[America/St_Johns]')
    expect(formatLocal(at, 'europe/amsterdam')).toBe('2026-03-29T03:00:00+02:00[Europe/Amsterdam]')
  })
})

describe('durations', () => {
  test.each([
    ['30m', 1_800_000],
    ['90s', 90_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['500ms', 500],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1.1h', 3_960_000],
    ['PT30M', 1_800_000],
    ['P1D', 86_400_000],
    ['PT1H30M', 5_400_000],
    ['P1DT12H', 129_600_000],
    ['P2W', 1_209_600_000],
    ['pt30m', 1_800_000],
    ['0m', 0],
    [5, 300_000],
    [0.5, 30_000],
    [0, 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each([
    '',
    '30',
    'm',
    '-5m',
    '30 minutes',
    'P1M',
    'P1Y',
    'P',
    'PT',
    'P1DT',
    'T30M',
    '30m1h',
    '1e3m',
    '0x10m',
    'Infinity',
    '٣m',
    '9'.repeat(50),
    `${'1h'.repeat(30_000)}`,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e300,
    0.0000001,
  ])('%s is none', (input) => {
    expect(parseDuration(input)).toBeNull()
  })
})

describe('jitter', () => {
  const o = { seed: 'sch_1', nominal: 1_780_000_000_000, jitterMs: 60_000, next: null }

  test('is the same at every look, and another for another schedule or time', () => {
    expect(jitterOf(o)).toBe(jitterOf({ ...o }))
    const many = new Set(Array.from({ length: 200 }, (_, i) => jitterOf({ ...o, seed: `sch_${i}` })))
    expect(many.size).toBeGreaterThan(190)
    expect(jitterOf({ ...o, nominal: o.nominal + 60_000 })).not.toBe(jitterOf(o))
  })

  test('only delays, and never up to the next nominal time', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.integer({ min: 0, max: 1e7 }),
        fc.integer({ min: 1, max: 1e7 }),
        (seed, jitterMs, gap) => {
          const delay = jitterOf({ seed, nominal: o.nominal, jitterMs, next: o.nominal + gap })
          expect(Number.isInteger(delay)).toBe(true)
          expect(delay).toBeGreaterThanOrEqual(0)
          expect(delay).toBeLessThanOrEqual(jitterMs)
          expect(delay).toBeLessThan(gap)
        },
      ),
    )
  })

  test('spreads evenly over its length', () => {
    const delays = Array.from({ length: 4000 }, (_, i) => jitterOf({ ...o, seed: `sch_${i}`, jitterMs: 999 }))
    for (let tenth = 0; tenth < 10; tenth++) {
      const n = delays.filter((delay) => Math.floor(delay / 100) === tenth).length
      expect(n).toBeGreaterThan(300)
      expect(n).toBeLessThan(500)
    }
  })
})
