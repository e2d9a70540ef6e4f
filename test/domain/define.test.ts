import { describe, expect, it } from 'vitest'
import {
  durationMs,
  frequencyFault,
  futureFault,
  instantOf,
  mergeTime,
  misfireWithinMs,
  pastStartFault,
  specOf,
  type TimeFields,
  timeFields,
  timeFieldsOf,
} from '../../shared/domain/define.ts'
import { Refused } from '../../shared/domain/refused.ts'
import { compile, parseSpec, type SpecInput } from '../../shared/time/index.ts'
import { created, definitionOf, t } from './make.ts'

const tz = 'Europe/Amsterdam'
const at = '2026-11-02T09:00'
const cron = '0 8 * * *'
const rrule = 'FREQ=DAILY'
const dated = 'DTSTART:20260301T080000\nRRULE:FREQ=WEEKLY'
const dtstart = '2026-01-01T09:00'
const old = {
  at: timeFields({ at, tz }),
  every: timeFields({ every: '30m', tz }),
  both: timeFields({ at, every: '30m', tz }),
  cron: timeFields({ cron, tz }),
  rrule: timeFields({ rrule, dtstart, tz }),
}
type Kind = keyof typeof old

const codeOf = (fn: () => unknown): string | null => {
  try {
    fn()
    return null
  } catch (error) {
    return error instanceof Refused ? error.code : 'not a refusal'
  }
}

describe('a patch of the time', () => {
  const later = '2027-01-01T10:00'
  const cells: readonly [Kind, Partial<TimeFields>, Partial<TimeFields>][] = [
    // nothing, or the zone alone: the rest stays
    ...(['at', 'every', 'both', 'cron', 'rrule'] as const).flatMap((kind): [Kind, object, Partial<TimeFields>][] => [
      [kind, {}, old[kind]],
      [kind, { tz: 'UTC' }, { ...old[kind], tz: 'UTC' }],
      [kind, { tz: null }, { ...old[kind], tz: null }],
    ]),
    // `at` and `every` merge
    ['at', { at: later }, { at: later, tz }],
    ['at', { every: '1h' }, { at, every: '1h', tz }],
    ['at', { at: null, every: '1h' }, { every: '1h', tz }],
    ['every', { every: '1h' }, { every: '1h', tz }],
    ['every', { at: later }, { at: later, every: '30m', tz }],
    ['every', { at: later, every: null }, { at: later, tz }],
    ['both', { at: later }, { at: later, every: '30m', tz }],
    ['both', { every: '1h' }, { at, every: '1h', tz }],
    ['both', { at: null }, { every: '30m', tz }],
    ['both', { every: null }, { at, tz }],
    // another kind replaces the old
    ...(['at', 'every', 'both', 'rrule'] as const).map((kind): [Kind, object, Partial<TimeFields>] => [
      kind,
      { cron: '5 9 * * *' },
      { cron: '5 9 * * *', tz },
    ]),
    ...(['at', 'every', 'both', 'cron'] as const).flatMap((kind): [Kind, object, Partial<TimeFields>][] => [
      [kind, { rrule }, { rrule, tz }],
      [kind, { rrule, dtstart }, { rrule, dtstart, tz }],
    ]),
    ['cron', { at: later }, { at: later, tz }],
    ['cron', { every: '1h' }, { every: '1h', tz }],
    ['cron', { at: later, every: '1h' }, { at: later, every: '1h', tz }],
    ['rrule', { at: later }, { at: later, tz }],
    ['rrule', { every: 90 }, { every: 90, tz }],
    ['every', { cron, every: null }, { cron, tz }],
    ['cron', { cron: null, at: later }, { at: later, tz }],
    // the same kind anew
    ['cron', { cron: '5 9 * * *' }, { cron: '5 9 * * *', tz }],
    ['rrule', { dtstart: '2026-02-01T10:00' }, { rrule, dtstart: '2026-02-01T10:00', tz }],
    ['rrule', { rrule: 'FREQ=WEEKLY', dtstart: at }, { rrule: 'FREQ=WEEKLY', dtstart: at, tz }],
    ['rrule', { rrule: 'FREQ=WEEKLY' }, { rrule: 'FREQ=WEEKLY', dtstart, tz }],
    ['rrule', { rrule: 'FREQ=WEEKLY', dtstart: null }, { rrule: 'FREQ=WEEKLY', tz }],
    ['rrule', { rrule: dated }, { rrule: dated, tz }],
    // two kinds at once are for the parser to refuse
    ['at', { cron, rrule }, { cron, rrule, tz }],
    ['cron', { cron, every: '1h' }, { cron, every: '1h', tz }],
    // nothing left
    ['cron', { cron: null }, { tz }],
    ['at', { at: null }, { tz }],
  ]
  it.each(cells)('of %s with %j', (kind, patch, expected) => {
    expect(mergeTime(old[kind], patch)).toEqual(timeFields(expected))
  })

  it('a definition reads back as it was written', () => {
    for (const input of [{ at }, { every: '30m' }, { at, every: 45 }, { cron }, { rrule, dtstart }] as SpecInput[])
      expect(timeFieldsOf(definitionOf({ ...input, tz }))).toEqual(timeFields({ ...input, tz }))
  })
})

describe('how often a schedule may run', () => {
  const fault = (input: SpecInput, kind: 'prompt' | 'flow' = 'prompt') =>
    frequencyFault(parseSpec(input, created), kind)?.code ?? null

  it.each([
    ['5m', null],
    [5, null],
    ['4m59s', 'schedule_interval_invalid'],
  ] as const)('S0-12 an interval of %s: %s', (every, code) => {
    expect(fault({ every })).toBe(code)
  })
  it.each([
    ['7d', null],
    ['169h', 'schedule_interval_invalid'],
  ] as const)('S0-13 an interval of %s: %s', (every, code) => {
    expect(fault({ every })).toBe(code)
  })
  it.each([
    ['*/30 * * * *', null],
    ['0,30 8 * * *', null],
    ['0,29 8 * * *', 'schedule_too_frequent'],
    ['*/5 * * * *', 'schedule_too_frequent'],
    ['59 23 * * *', null],
    ['0,59 * * * *', 'schedule_too_frequent'],
  ])('S2-11 the cron %s: %s', (text, code) => {
    expect(fault({ cron: text })).toBe(code)
  })
  it.each([
    ['FREQ=MINUTELY;INTERVAL=30', null],
    ['FREQ=MINUTELY;INTERVAL=29', 'schedule_too_frequent'],
    ['FREQ=DAILY;BYHOUR=8;BYMINUTE=0,10', 'schedule_too_frequent'],
  ])('S2-10 the RRULE %s: %s', (text, code) => {
    expect(fault({ rrule: text, dtstart })).toBe(code)
  })
  it('S2-12 the refusal of a too frequent rule points to triggers', () => {
    expect(frequencyFault(parseSpec({ cron: '* * * * *' }, created), 'prompt')?.detail).toContain('trigger')
  })
  it('flows may run every minute', () => {
    expect(fault({ cron: '* * * * *' }, 'flow')).toBeNull()
    expect(fault({ every: '1m' }, 'flow')).toBeNull()
    expect(fault({ every: '59s' }, 'flow')).toBe('schedule_interval_invalid')
  })
  it('a single time is never too frequent', () => {
    expect(fault({ at })).toBeNull()
  })
})

describe('times to come', () => {
  const now = t('2026-11-02T08:00:00Z')
  const fault = (input: SpecInput, until: number | null = null) =>
    futureFault(compile(parseSpec(input, created)), now, until)?.code ?? null

  it('a past time is refused, now included', () => {
    expect(fault({ at: '2026-11-02T08:00' })).toBe('schedule_invalid')
    expect(fault({ at: '2026-11-02T08:00:01' })).toBeNull()
  })
  it('a rule that is over is refused', () => {
    expect(fault({ rrule: 'FREQ=DAILY;COUNT=3', dtstart })).toBe('schedule_invalid')
  })
  it('an until before the first time is refused, at it is not', () => {
    expect(fault({ cron: '0 9 * * *' }, t('2026-11-02T08:59:59Z'))).toBe('schedule_invalid')
    expect(fault({ cron: '0 9 * * *' }, t('2026-11-02T09:00:00Z'))).toBeNull()
  })
  it('a past start is refused although its interval goes on', () => {
    const spec = parseSpec({ at: '2026-11-02T07:00', every: '1h' }, created)
    expect(futureFault(compile(spec), now, null)).toBeNull()
    expect(pastStartFault(spec, now)?.code).toBe('schedule_invalid')
    expect(pastStartFault(parseSpec({ every: '1h' }, created), now)).toBeNull()
  })
})

describe('what is refused while it is read', () => {
  const now = created
  it.each([
    ['S2-8 a zone that is none', { cron, tz: 'Mars/Base' }],
    ['S2-57 no time at all', {}],
    ['S2-57 two times', { cron, every: '1h' }],
    ['S2-3 six fields', { cron: '0 0 8 * * *' }],
    ['a date that never comes', { cron: '0 0 30 2 *' }],
  ] as const)('%s: schedule_invalid', (_title, given) => {
    expect(codeOf(() => specOf(timeFields(given), now))).toBe('schedule_invalid')
  })
  it('a negative interval is outside its bounds', () => {
    expect(codeOf(() => specOf(timeFields({ every: -5 }), now))).toBe('schedule_interval_invalid')
  })
  it('durations and instants name the field that is wrong', () => {
    expect(durationMs('PT30M', 'jitter', 3_600_000)).toBe(1_800_000)
    expect(durationMs(30, 'jitter', 3_600_000)).toBe(1_800_000)
    expect(codeOf(() => durationMs('soon', 'jitter', 1))).toBe('body_invalid')
    expect(codeOf(() => durationMs('2h', 'jitter', 3_600_000))).toBe('body_invalid')
    expect(instantOf('2026-11-02T09:00:00Z', 'until')).toBe(t('2026-11-02T09:00:00Z'))
    expect(codeOf(() => instantOf('2026-11-02T09:00', 'until'))).toBe('body_invalid')
  })
  it('a misfire window is a duration, and the words have none', () => {
    expect([misfireWithinMs('once'), misfireWithinMs('skip'), misfireWithinMs({ within: '1h' })]).toEqual([
      null,
      null,
      3_600_000,
    ])
  })
})
