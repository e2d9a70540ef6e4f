import { describe, expect, it } from 'vitest'
import { decideAsked, isRetryRow, markOf } from '../../shared/domain/asked.ts'
import { slotKey } from '../../shared/domain/due.ts'
import { decideEnded } from '../../shared/domain/ended.ts'
import type { Cursor, Definition, Result } from '../../shared/domain/schedule.ts'
import { compile } from '../../shared/time/index.ts'
import { cursorOf, definitionOf, openSeat, runningRun, session, t, waitingRun } from './make.ts'

const now = t('2026-03-01T00:30:00Z')
const hourly = definitionOf({ every: '1h' })
const ulid = '01JULID000ABCDEFGHJKMNPQRS'

const ask = (o: {
  cursor?: Cursor
  definition?: Definition
  trigger?: 'manual' | 'backfill' | 'retry'
  nominal?: number
  left?: boolean
}) => {
  const definition = o.definition ?? hourly
  const trigger = o.trigger ?? 'manual'
  return decideAsked({
    cursor: o.cursor ?? cursorOf(definition),
    definition,
    seat: { ...openSeat, left: o.left ?? false },
    session,
    now,
    trigger,
    nominal: o.nominal ?? now,
    mark: markOf(trigger, ulid),
  })
}

describe('a run that was asked for', () => {
  it('S2-65 does not move the next fire', () => {
    const before = cursorOf(hourly)
    const { cursor, row, put } = ask({ cursor: before })
    expect(put).toBe(true)
    expect(row).toMatchObject({ trigger: 'manual', outcome: 'fired', nominalAt: now, missed: 0, session })
    expect(cursor).toMatchObject({ nextAt: before.nextAt, dueAt: before.dueAt, fires: 0, status: 'active' })
    expect(cursor.open).toMatchObject([{ row: row.row, turn: null, session }])
  })

  it.each(['paused', 'done'] as const)('runs although the schedule is %s, and leaves it so', (status) => {
    const { cursor, put } = ask({ cursor: cursorOf(hourly, { status, nextAt: null, dueAt: null }) })
    expect(put).toBe(true)
    expect(cursor).toMatchObject({ status, nextAt: null })
  })

  it('is skipped while the previous prompt waits', () => {
    const { cursor, row, put } = ask({ cursor: cursorOf(hourly, { open: [waitingRun()] }) })
    expect(put).toBe(false)
    expect(row).toMatchObject({ outcome: 'skipped', reason: 'previous_waiting', message: null, session: null })
    expect(cursor.open).toEqual([waitingRun()])
  })

  it('goes out as the next turn while one runs, whatever the policy', () => {
    const definition = definitionOf({ every: '1h' }, { overlap: 'skip' })
    expect(ask({ definition, cursor: cursorOf(definition, { open: [runningRun()] }) }).put).toBe(true)
  })

  it('meets the same gates as a slot', () => {
    expect(ask({ left: true })).toMatchObject({ put: false, row: { outcome: 'skipped', reason: 'agent_left' } })
  })

  it('a backfill stands for its slot and leaves maxRuns alone', () => {
    const nominal = t('2026-02-28T23:00:00Z')
    const { cursor, row } = ask({ trigger: 'backfill', nominal })
    expect(row).toMatchObject({ trigger: 'backfill', nominalAt: nominal, outcome: 'fired' })
    expect(cursor.fires).toBe(0)
  })

  it('has a row of its own beside the slot of the same instant, and sorts right after it', () => {
    const rows = (['manual', 'backfill', 'retry'] as const).map((trigger) => ask({ trigger }).row.row)
    expect(new Set([...rows, slotKey(now)]).size).toBe(4)
    for (const row of rows) expect(row > slotKey(now) && row < slotKey(now + 1)).toBe(true)
  })

  it('a retry is told by its row, so that it is tried once only', () => {
    expect(isRetryRow(ask({ trigger: 'retry' }).row.row)).toBe(true)
    expect(isRetryRow(ask({ trigger: 'manual' }).row.row)).toBe(false)
    expect(isRetryRow(ask({ trigger: 'backfill' }).row.row)).toBe(false)
    expect(isRetryRow(slotKey(now))).toBe(false)
  })
})

describe('the end of a turn', () => {
  const open = [runningRun('R#A'), runningRun('R#B')]
  const end = (result: Result, o: { failures?: number; definition?: Definition; isRetry?: boolean } = {}) =>
    decideEnded({
      cursor: cursorOf(o.definition ?? hourly, { open, failures: o.failures ?? 0 }),
      definition: o.definition ?? hourly,
      recurrence: compile((o.definition ?? hourly).spec),
      now,
      row: 'R#A',
      result,
      isRetry: o.isRetry ?? false,
    })

  it.each([
    ['ok', 0, 1, 0],
    ['nothing_to_do', 0, 1, 0],
    ['blocked', 3, 0, 0],
    ['failed', 4, 0, 1],
    ['unknown', 4, 0, 1],
  ] as const)('with %s takes its run out and counts it', (result, failures, ok, failed) => {
    const { cursor, run, retry } = end(result, { failures: 3 })
    expect(run?.row).toBe('R#A')
    expect(cursor.open.map((r) => r.row)).toEqual(['R#B'])
    expect(cursor).toMatchObject({ failures, counts: { ok, failed } })
    expect(retry).toBe(false)
  })

  it('of a run that the schedule knows no more changes nothing', () => {
    const cursor = cursorOf(hourly)
    expect(
      decideEnded({
        cursor,
        definition: hourly,
        recurrence: compile(hourly.spec),
        now,
        row: 'R#A',
        result: 'failed',
        isRetry: false,
      }),
    ).toEqual({
      cursor,
      run: null,
      retry: false,
      rows: [],
    })
  })

  it.each([
    ['unknown', 'retry', false, true],
    ['unknown', 'retry', true, false],
    ['unknown', 'leave', false, false],
    ['failed', 'retry', false, false],
    ['ok', 'retry', false, false],
  ] as const)('%s with onUnknown %s (second try: %s) is put once more: %s', (result, onUnknown, isRetry, retry) => {
    expect(end(result, { definition: definitionOf({ every: '1h' }, { onUnknown }), isRetry }).retry).toBe(retry)
  })

  it('pauses the schedule after so many failures in a row', () => {
    const definition = definitionOf({ every: '1h' }, { pauseAfterFailures: 3 })
    expect(end('failed', { definition, failures: 1 }).cursor).toMatchObject({ status: 'active', failures: 2 })
    expect(end('unknown', { definition, failures: 2 }).cursor).toMatchObject({
      status: 'paused',
      reason: 'failures',
      nextAt: null,
      dueAt: null,
    })
  })

  it('leaves a finished schedule finished', () => {
    const definition = definitionOf({ every: '1h' }, { pauseAfterFailures: 1 })
    const cursor = cursorOf(definition, { open, status: 'done', nextAt: null, dueAt: null })
    expect(
      decideEnded({
        cursor,
        definition,
        recurrence: compile(definition.spec),
        now,
        row: 'R#A',
        result: 'failed',
        isRetry: false,
      }).cursor.status,
    ).toBe('done')
  })
})
