import { describe, expect, it } from 'vitest'
import { dueAtOf } from '../../shared/domain/due.ts'
import { compile } from '../../shared/time/index.ts'
import { advanced, cursorOf, decide, definitionOf, hour, minute, t } from './make.ts'

const hourly = definitionOf({ every: '1h' })
const first = t('2026-03-01T01:00:00Z')

describe('a look at a schedule', () => {
  it('before the time waits and asks to be armed again', () => {
    expect(decide(hourly, first - 1)).toEqual({ kind: 'wait', armAt: first })
  })

  it('S0-6 at its time writes a row and puts its message', () => {
    const { rows, put, cursor } = advanced(hourly, first)
    expect(rows).toEqual([put])
    expect(put).toMatchObject({ trigger: 'slot', outcome: 'fired', nominalAt: first, missed: 0, missedFrom: null })
    expect(cursor.open).toHaveLength(1)
    expect(cursor.nextAt).toBe(first + hour)
  })

  it('again at the same instant finds nothing due', () => {
    const { cursor } = advanced(hourly, first)
    expect(decide(hourly, first, { cursor })).toEqual({ kind: 'wait', armAt: first + hour })
  })

  it('exactly 60 s late is on time and missed nothing', () => {
    expect(advanced(hourly, first + minute).put).toMatchObject({ outcome: 'fired', missed: 0, missedFrom: null })
  })

  it('catchup-outage-at-slot: exactly 60 s late is made up, though it counts as missed only later', () => {
    expect(advanced(hourly, first + minute).put?.trigger).toBe('catch_up')
    expect(advanced(hourly, first + minute - 1).put?.trigger).toBe('slot')
  })

  it('more than 60 s late is a catch-up of one', () => {
    expect(advanced(hourly, first + minute + 1).put).toMatchObject({
      trigger: 'catch_up',
      outcome: 'fired',
      nominalAt: first,
      missedFrom: first,
      missed: 1,
    })
  })

  it('S0-16 a time missed while Rouse was down is made up once', () => {
    const { rows, put, cursor } = advanced(definitionOf({ at: '2026-03-01T01:00' }), first + 5 * hour)
    expect(rows).toEqual([put])
    expect(put).toMatchObject({ trigger: 'catch_up', outcome: 'fired', missed: 1 })
    expect(cursor).toMatchObject({ status: 'done', nextAt: null, dueAt: null })
  })

  it('S0-17 many missed intervals give one prompt', () => {
    const { rows, put } = advanced(hourly, first + 100 * hour + 5 * minute)
    expect(rows).toEqual([put])
    expect(put).toMatchObject({ nominalAt: first + 100 * hour, missedFrom: first, missed: 101 })
  })

  it('S0-18 after the make-up the grid does not shift', () => {
    expect(advanced(hourly, first + 7 * hour + 31 * minute).cursor.nextAt).toBe(first + 8 * hour)
  })

  it('S2-41 the row of a daily schedule off for a week counts 7', () => {
    const daily = definitionOf({ cron: '0 8 * * *', tz: 'Europe/Amsterdam' })
    const { put } = advanced(daily, t('2026-03-07T12:00:00Z'))
    expect(put).toMatchObject({
      missed: 7,
      missedFrom: t('2026-03-01T07:00:00Z'),
      nominalAt: t('2026-03-07T07:00:00Z'),
    })
  })

  it('that is paused, done or ended does nothing', () => {
    for (const status of ['paused', 'done', 'ended'] as const) {
      const cursor = cursorOf(hourly, { status })
      expect(decide(hourly, first + hour, { cursor })).toEqual({ kind: 'wait', armAt: null })
    }
  })

  it('names the same row, run and message whenever it decides the same slot', () => {
    const once = advanced(hourly, first).put!
    const again = advanced(hourly, first + 30_000).put!
    expect([again.id, again.row, again.message]).toEqual([once.id, once.row, once.message])
  })
})

describe('misfire', () => {
  it('skip closes the stretch as missed and puts nothing', () => {
    const definition = definitionOf({ every: '1h' }, { misfire: 'skip' })
    const { rows, put, cursor } = advanced(definition, first + 3 * hour + 2 * minute)
    expect(put).toBeNull()
    expect(rows).toMatchObject([{ outcome: 'missed', reason: 'misfire', missed: 4, missedFrom: first, message: null }])
    expect(cursor).toMatchObject({ nextAt: first + 4 * hour, counts: { missed: 1, fired: 0 }, open: [] })
  })

  it('skip fires the latest time when that one is on time, and closes what lies before it', () => {
    const definition = definitionOf({ every: '1h' }, { misfire: 'skip' })
    const { rows, put } = advanced(definition, first + 3 * hour + minute)
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({ outcome: 'missed', missedFrom: first, missed: 3, nominalAt: first + 2 * hour })
    expect(rows[1]).toBe(put)
    expect(put).toMatchObject({ outcome: 'fired', nominalAt: first + 3 * hour, missed: 0, missedFrom: null })
  })

  it('within makes up inside its window, its end included', () => {
    const definition = definitionOf({ every: '1h' }, { misfire: { within: '10m' }, misfireWithinMs: 10 * minute })
    expect(advanced(definition, first + 10 * minute).put).toMatchObject({ trigger: 'catch_up', outcome: 'fired' })
    expect(advanced(definition, first + 10 * minute + 1)).toMatchObject({ put: null, rows: [{ outcome: 'missed' }] })
  })
})

describe('the end of a schedule', () => {
  it('until is inclusive', () => {
    const definition = definitionOf({ every: '1h' }, { until: first + hour })
    const one = advanced(definition, first)
    expect(one.cursor).toMatchObject({ status: 'active', nextAt: first + hour })
    const two = advanced(definition, first + hour, { cursor: { ...one.cursor, open: [] } })
    expect(two.put).toMatchObject({ nominalAt: first + hour, outcome: 'fired' })
    expect(two.cursor).toMatchObject({ status: 'done', nextAt: null })
  })

  it('until bounds what a catch-up stands for', () => {
    const definition = definitionOf({ every: '1h' }, { until: first + 2 * hour + 1 })
    expect(advanced(definition, first + 9 * hour).put).toMatchObject({ nominalAt: first + 2 * hour, missed: 3 })
  })

  it('maxRuns counts a catch-up of many as one fire', () => {
    const definition = definitionOf({ every: '1h' }, { maxRuns: 2 })
    const one = advanced(definition, first + 5 * hour + 2 * minute)
    expect(one.cursor).toMatchObject({ status: 'active', fires: 1 })
    const two = advanced(definition, one.cursor.nextAt!, { cursor: { ...one.cursor, open: [] } })
    expect(two.cursor).toMatchObject({ status: 'done', fires: 2, nextAt: null })
  })

  it('maxRuns does not count what was skipped, missed or blocked', () => {
    const definition = definitionOf({ every: '1h' }, { maxRuns: 1 })
    expect(advanced(definition, first, { seat: { left: true } }).cursor).toMatchObject({ status: 'active', fires: 0 })
  })

  it('S0-51 a time alone fires once and is done', () => {
    expect(advanced(definitionOf({ at: '2026-03-01T01:00' }), first).cursor).toMatchObject({ status: 'done' })
  })

  it('S0-15 a time with an interval goes on from that time', () => {
    const definition = definitionOf({ at: '2026-03-01T01:00', every: '30m' })
    expect(advanced(definition, first).cursor.nextAt).toBe(first + 30 * minute)
  })

  it('missed runs in a row pause it as failures do', () => {
    const definition = definitionOf({ every: '1h' }, { pauseAfterFailures: 2, conv: null })
    const seat = { disconnected: true }
    const one = advanced(definition, first, { seat })
    const two = advanced(definition, first + hour, { seat, cursor: one.cursor })
    expect(one.cursor.status).toBe('active')
    expect(two.cursor).toMatchObject({ status: 'paused', reason: 'failures', nextAt: null, failures: 2 })
  })
})

describe('jitter', () => {
  const definition = definitionOf({ every: '1h' }, { jitter: '50m', jitterMs: 50 * minute })
  const recurrence = compile(definition.spec)
  const due = (slot: number): number => dueAtOf(definition, recurrence, slot)

  it('only delays, and never to the next nominal time', () => {
    const capped = definitionOf({ every: '1h' }, { jitterMs: 24 * hour })
    for (let slot = first; slot < first + 500 * hour; slot += hour) {
      const at = dueAtOf(capped, compile(capped.spec), slot)
      expect(at >= slot && at < slot + hour).toBe(true)
    }
  })

  it('not yet passed waits, although the nominal time has come', () => {
    expect(due(first)).toBeGreaterThan(first)
    expect(decide(definition, due(first) - 1)).toEqual({ kind: 'wait', armAt: due(first) })
  })

  it('passed fires on time, with the nominal time in its row', () => {
    expect(advanced(definition, due(first)).put).toMatchObject({ trigger: 'slot', nominalAt: first, missed: 0 })
  })

  it('lateness counts from the nominal time and its jitter', () => {
    expect(advanced(definition, due(first) + minute).put).toMatchObject({ missed: 0 })
    expect(advanced(definition, due(first) + minute + 1).put).toMatchObject({ missed: 1, trigger: 'catch_up' })
  })

  it('of the latest missed slot not yet passed: the ones before are made up, and the latest waits', () => {
    const latest = first + 3 * hour
    expect(due(latest)).toBeGreaterThan(latest)
    const { put, cursor } = advanced(definition, latest + 1)
    expect(put).toMatchObject({ nominalAt: first + 2 * hour, missedFrom: first, missed: 3 })
    expect(cursor).toMatchObject({ nextAt: latest, dueAt: due(latest) })
  })

  it('the next time is without it, and the time to look is with it', () => {
    expect(cursorOf(definition)).toMatchObject({ nextAt: first, dueAt: due(first) })
  })
})
