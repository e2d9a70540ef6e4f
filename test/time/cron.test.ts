import { describe, expect, test } from 'vitest'
import { compile, parseSpec } from '../../shared/time/index.ts'
import { nextOf, refusalOf } from './asked.ts'

describe('what is not a cron says what to write instead', () => {
  test.each([
    ['0 8 * * SAT-SUN', '"6-7"'],
    ['0 8 * * FRI-SUN', '"5-7"'],
    ['0 22-2 * * *', '"22-23,0-2"'],
    ['0 8 * * 5-1', '"5-6,0-1"'],
    ['1/2 * * * *', '"1-59/2"'],
    ['0 8 * * 1/2', '"1-6/2"'],
    ['0 0 12 ? * FRI', '"0 12 * * FRI"'],
    ['0 0 8 * * *', '"0 8 * * *"'],
    ['0 0 8 * * * 2026', '"0 8 * * *"'],
    ['0 8 * *', 'five fields'],
    ['', 'five fields'],
    ['   ', 'five fields'],
    ['0 8 ? * 1', '"*"'],
    ['0 8 L * *', 'BYMONTHDAY=-1'],
    ['0 8 L-3 * *', 'BYMONTHDAY=-1'],
    ['0 8 15W * *', 'BYSETPOS=-1'],
    ['0 8 LW * *', 'BYSETPOS=-1'],
    ['0 8 * * 5L', 'BYDAY=-1FR'],
    ['0 8 * * L', 'Saturday'],
    ['0 8 * * 1#2', 'BYDAY=2MO'],
    ['0 8 * * MON#1', 'BYDAY=1MO'],
    ['@daily', '"0 0 * * *"'],
    ['@hourly', '"0 * * * *"'],
    ['@WEEKLY', '"0 0 * * 0"'],
    ['@every 5m', 'every'],
    ['@reboot', 'names no time'],
    ['60 * * * *', '0 to 59'],
    ['* 24 * * *', 'midnight'],
    ['* * 0 * *', '1 to 31'],
    ['* * 32 * *', '1 to 31'],
    ['* * * 13 *', '1 to 12'],
    ['* * * 0 *', '1 to 12'],
    ['* * * * 8', '0 to 7'],
    ['MON * * * *', 'Write a number'],
    ['0 8 MON * *', 'Write a number'],
    ['0 8 * MON *', 'JAN to DEC'],
    ['0 8 * * JAN', 'SUN to SAT'],
    ['0 8 * * MONDAY', 'MON'],
    ['0 8 * JANUARY *', 'JAN'],
    ['*/0 * * * *', 'at least 1'],
    ['0-30/0 * * * *', 'at least 1'],
    ['*/ * * * *', 'step'],
    ['*/x * * * *', 'step'],
    ['*/5/5 * * * *', 'one step'],
    ['*/99999 * * * *', 'step'],
    ['1,,2 * * * *', 'comma'],
    [',1 * * * *', 'comma'],
    ['1, * * * *', 'comma'],
    ['1-2-3 * * * *', 'two ends'],
    ['-5 * * * *', 'missing'],
    ['5- * * * *', 'missing'],
    ['*-5 * * * *', 'Write'],
    ['*5 * * * *', 'Write'],
    ['1.5 * * * *', 'Write a number'],
    ['+5 * * * *', 'Write a number'],
    ['0x5 * * * *', 'Write a number'],
    ['٣ * * * *', 'Write a number'],
    ['H * * * *', 'jitter'],
    ['0 8 * * \u017fUN', 'SUN to SAT'],
    ['0 8 * * *\n', 'five fields'],
    ['0 8 * * 1 5', 'five fields'],
    ['1,'.repeat(5000), 'characters'],
    [' '.repeat(60_000), 'characters'],
  ])('%j', (cron, instead) => {
    const { path, detail } = refusalOf({ cron })
    expect(path).toBe('cron')
    expect(detail).toContain(instead)
  })

  test.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 31 4 *'])('%s never comes', (cron) => {
    expect(refusalOf({ cron }).detail).toContain('never comes')
  })
})

describe('what is one', () => {
  const stored = (cron: string) => {
    const spec = parseSpec({ cron }, Date.UTC(2026, 0, 1))
    return spec.kind === 'cron' ? spec.cron : null
  }

  test('is kept with single blanks and names in capitals', () => {
    expect(stored('  0\t8   * *\tmon-fri ')).toBe('0 8 * * MON-FRI')
    expect(stored('0 8 * * 1-5')).toBe('0 8 * * 1-5')
    expect(stored('00 08 01 jan *')).toBe('00 08 01 JAN *')
  })

  test('a star in a list, a step over its range, names in ranges and lists', () => {
    expect(nextOf({ cron: '*,5 8 * * *' }, '2026-01-01T08:00:00Z', 2)).toEqual([
      '2026-01-01T08:01:00Z',
      '2026-01-01T08:02:00Z',
    ])
    expect(nextOf({ cron: '*/45 8 * * *' }, '2026-01-01T08:00:00Z', 2)).toEqual([
      '2026-01-01T08:45:00Z',
      '2026-01-02T08:00:00Z',
    ])
    expect(nextOf({ cron: '0 8 * feb-mar/2,DEC Mon,wed' }, '2026-01-01T00:00:00Z', 1)).toEqual(['2026-02-02T08:00:00Z'])
  })

  test('Vixie reads a field that begins with a star as unrestricted, and then both days must match', () => {
    expect(nextOf({ cron: '0 0 *,10 * 1' }, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-05T00:00:00Z',
      '2026-01-12T00:00:00Z',
    ])
    expect(nextOf({ cron: '0 0 10,* * 1' }, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-02T00:00:00Z',
      '2026-01-03T00:00:00Z',
    ])
    expect(nextOf({ cron: '0 0 13 * */5' }, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-02-13T00:00:00Z',
      '2026-03-13T00:00:00Z',
    ])
  })

  test('29 February is found over the century that has none, on its weekday within 40 years', () => {
    expect(nextOf({ cron: '0 0 29 2 *' }, '2096-02-29T00:00:00Z', 2)).toEqual([
      '2104-02-29T00:00:00Z',
      '2108-02-29T00:00:00Z',
    ])
    const recurrence = compile({ kind: 'cron', cron: '0 0 29 2 *', tz: 'UTC' })
    expect(recurrence.next(Date.UTC(9996, 1, 29))).toBeNull()
    const monday = { rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO', dtstart: '2026-01-01T00:00' }
    expect(nextOf(monday, '2072-02-28T12:00:00Z', 2)).toEqual(['2072-02-29T00:00:00Z', '2112-02-29T00:00:00Z'])
  })

  test('instants before 1970, endless ones and none at all are answered', () => {
    const recurrence = compile(parseSpec({ cron: '0 8 * * *' }, 0))
    expect(recurrence.next(Number.NEGATIVE_INFINITY)!.at).toBeLessThan(86_400_000)
    expect(recurrence.next(Number.POSITIVE_INFINITY)).toBeNull()
    expect(recurrence.next(Number.NaN)).toBeNull()
    expect(recurrence.next(1e18)).toBeNull()
    expect(recurrence.count(5, 5)).toBe(0)
    expect(recurrence.count(9, 5)).toBe(0)
    expect(recurrence.count(Number.NaN, 5)).toBe(0)
    expect(recurrence.last(9, 5)).toBeNull()
  })

  test('the smallest gap is exact over days too', () => {
    const days = (cron: string) => compile({ kind: 'cron', cron, tz: 'UTC' }).smallestGapMs() / 86_400_000
    expect(days('0 8 * * 1')).toBe(7)
    expect(days('0 8 * * 1,5')).toBe(3)
    expect(days('0 8 1 * *')).toBe(28)
    expect(days('0 8 31 * *')).toBe(31)
    expect(days('0 8 1,31 * *')).toBe(1)
    expect(days('0 8 1 1 *')).toBe(365)
    expect(days('0 8 29 2 *')).toBe(4 * 365 + 1)
    expect(days('0 8 1 3 *')).toBe(365)
    expect(days('0 8 13 * 5')).toBe(1)
    expect(days('0 8 */30 * 1')).toBe(28)
  })
})
