import { describe, expect, it } from 'vitest'
import type { Seat } from '../../shared/domain/admit.ts'
import { type Checked, checkLater, decideChecked, type Verdict, verdictOf } from '../../shared/domain/check.ts'
import type { Cursor, Definition } from '../../shared/domain/schedule.ts'
import { compile } from '../../shared/time/index.ts'
import {
  advanced,
  agent,
  cursorOf,
  definitionOf,
  hour,
  minute,
  openSeat,
  runningRun,
  session,
  t,
  waitingRun,
} from './make.ts'

const first = t('2026-03-01T01:00:00Z')
const script = { script: 'checks/new-calls.sh' }
const found: Verdict = { kind: 'found', text: 'two new calls' }
const nothing: Verdict = { kind: 'nothing' }
const failed: Verdict = { kind: 'failed', reason: 'check_failed' }
const missed: Verdict = { kind: 'missed', reason: 'check_not_taken' }

const checked = (over: Partial<Definition> = {}): Definition =>
  definitionOf({ every: '1h' }, { check: script, ...over })

/** The schedule as its first slot left it: its check is under way. */
function underWay(definition: Definition, over: Partial<Cursor> = {}): Cursor {
  return advanced(definition, first, { cursor: cursorOf(definition, over) }).cursor
}

function decide(
  verdict: Verdict,
  o: { definition?: Definition; cursor?: Cursor; seat?: Partial<Seat>; now?: number } = {},
): Checked {
  const definition = o.definition ?? checked()
  return decideChecked({
    cursor: o.cursor ?? underWay(definition),
    definition,
    recurrence: compile(definition.spec),
    seat: { ...openSeat, ...o.seat },
    session,
    now: o.now ?? first + minute,
    verdict,
  })
}

describe('a check that ends late', () => {
  const late = first + 3 * hour + minute

  it('pauses a schedule that failed too often, and what has passed by then has its row', () => {
    const definition = checked({ pauseAfterFailures: 1 })
    const { cursor, rows } = decide(failed, { definition, now: late })
    expect(cursor).toMatchObject({ status: 'paused', reason: 'failures', nextAt: null, covered: first + 3 * hour })
    expect(rows).toMatchObject([
      { outcome: 'skipped', reason: 'failures', missedFrom: first + hour, nominalAt: first + 3 * hour, missed: 3 },
    ])
    expect(cursor.counts.skipped).toBe(1)
  })

  it('lets the last of its runs go, and what has passed by then has its row', () => {
    const definition = checked({ maxRuns: 1 })
    const { cursor, rows, put } = decide(found, { definition, now: late })
    expect(put).not.toBeNull()
    expect(cursor).toMatchObject({ status: 'done', nextAt: null })
    expect(rows).toMatchObject([{ outcome: 'skipped', reason: 'max_runs', missedFrom: first + hour, missed: 3 }])
  })

  it('leaves no row where the schedule goes on', () => {
    expect(decide(failed, { now: late }).rows).toEqual([])
  })
})

describe('a slot of a schedule with a check', () => {
  it('S2-23 is held until its check has looked, and puts nothing', () => {
    const definition = checked()
    const { rows, put, cursor } = advanced(definition, first)
    expect(put).toBeNull()
    expect(rows).toMatchObject([{ outcome: 'held', reason: 'checking', message: null, session: null }])
    expect(cursor).toMatchObject({
      status: 'active',
      nextAt: first + hour,
      open: [],
      fires: 0,
      held: { check: 'script' },
    })
  })

  it('a further slot is skipped while it does', () => {
    const definition = checked()
    const { rows, put, cursor } = advanced(definition, first + hour, { cursor: underWay(definition) })
    expect(put).toBeNull()
    expect(rows).toMatchObject([{ outcome: 'skipped', reason: 'previous_checking' }])
    expect(cursor.held).toEqual(underWay(definition).held)
  })

  it.each([
    ['waits', waitingRun(), 'previous_waiting'],
    ['runs, and overlap is skip', runningRun(), 'previous_running'],
  ])('no check is begun while the prompt before it %s', (_how, open, reason) => {
    const definition = checked({ overlap: 'skip' })
    const { rows, cursor } = advanced(definition, first, { cursor: cursorOf(definition, { open: [open] }) })
    expect(rows).toMatchObject([{ outcome: 'skipped', reason }])
    expect(cursor.held).toBeNull()
  })

  it('a shut gate decides before the check', () => {
    const definition = checked()
    const { rows, cursor } = advanced(definition, first, { seat: { left: true } })
    expect(rows).toMatchObject([{ outcome: 'skipped', reason: 'agent_left' }])
    expect(cursor.held).toBeNull()
  })
})

describe('the end of a check', () => {
  it.each([
    ['S2-29 output wakes', found, null, true, { fired: 1 }, 1, 0, 0],
    ['S2-35 nothing found wakes nobody', nothing, { outcome: 'nothing', reason: null }, false, {}, 0, 0, 0],
    ['a failure wakes nobody', failed, { outcome: 'failed', reason: 'check_failed' }, false, { failed: 1 }, 0, 2, 2],
    [
      'one that was not made wakes nobody',
      missed,
      { outcome: 'missed', reason: 'check_not_taken' },
      false,
      { missed: 1 },
      0,
      2,
      2,
    ],
  ] as const)('%s', (_title, verdict, closed, put, counts, fires, checkFailures, failures) => {
    const cursor = underWay(checked(), { checkFailures: 1, failures: verdict.kind === 'found' ? 0 : 1 })
    const decided = decide(verdict, { cursor })
    expect(decided.closed).toEqual(closed)
    expect(decided.put !== null).toBe(put)
    expect(decided.row).toBe(cursor.held!.row)
    expect(decided.cursor).toMatchObject({
      status: 'active',
      held: null,
      nextAt: first + hour,
      fires,
      checkFailures,
      counts,
    })
    expect(decided.cursor.failures).toBe(failures)
    expect(decided.cursor.dueAt).toBe(first + hour)
  })

  it('its message stands behind its row, with data beside it', () => {
    const cursor = underWay(checked())
    const { put, cursor: after } = decide(found, { cursor })
    expect(put).toMatchObject({ row: cursor.held!.row, at: first + minute, session, turn: null, data: true })
    expect(after.open).toEqual([put])
  })

  it.each([
    ['S2-20 the agent left', { left: true }, 'skipped', 'agent_left', 'active'],
    ['S2-21 the agent was deleted', { agentDeleted: true }, 'skipped', 'agent_deleted', 'ended'],
    ['S0-54 the session was archived', { conversation: 'archived' }, 'skipped', 'session_archived', 'ended'],
    ['S0-7 the setting was turned off', { agentSessions: false }, 'blocked', 'agent_sessions_off', 'active'],
    ['the worker went away', { disconnected: true }, 'missed', 'agent_not_connected', 'active'],
    ['the budget was used up', { short: 'agent_wakes_per_day' }, 'blocked', 'agent_wakes_per_day', 'active'],
  ] as const)('%s while it looked: its output wakes nobody', (_title, seat, outcome, reason, status) => {
    const definition = checked({ makerAgent: agent })
    const { put, closed, cursor } = decide(found, { definition, seat: seat as Partial<Seat> })
    expect(put).toBeNull()
    expect(closed).toEqual({ outcome, reason })
    expect(cursor).toMatchObject({ status, held: null, open: [], fires: 0 })
  })

  it('a gate that closed is counted as its row is', () => {
    for (const [seat, count] of [
      [{ left: true }, 'skipped'],
      [{ short: 'agent_wakes_per_day' }, 'skipped'],
      [{ disconnected: true }, 'missed'],
    ] as const) {
      const { counts } = decide(found, { seat }).cursor
      expect({ skipped: counts.skipped, missed: counts.missed }).toEqual({ skipped: 0, missed: 0, [count]: 1 })
    }
  })

  it('S0-26 the prompts spent while it looked: what it found is kept and held, and looked at every minute', () => {
    const definition = checked({ makerAgent: agent })
    const { put, closed, cursor } = decide(found, { definition, seat: { promptsSpent: true } })
    expect(put).toBeNull()
    expect(closed).toEqual({ outcome: 'held', reason: 'prompts_spent' })
    expect(cursor.held).toMatchObject({ check: 'done', lookAt: first + 2 * minute })
    expect(cursor).toMatchObject({ dueAt: first + 2 * minute, nextAt: first + hour, fires: 0 })
  })

  it('nothing found resets what counts toward the card and toward the pause', () => {
    const definition = checked({ pauseAfterFailures: 3 })
    const cursor = underWay(definition, { checkFailures: 2, failures: 2 })
    expect(decide(nothing, { definition, cursor }).cursor).toMatchObject({
      status: 'active',
      checkFailures: 0,
      failures: 0,
    })
  })

  it.each([failed, missed])('pauseAfterFailures is reached: %j', (verdict) => {
    const definition = checked({ pauseAfterFailures: 3 })
    const cursor = underWay(definition, { failures: 2 })
    expect(decide(verdict, { definition, cursor }).cursor).toMatchObject({
      status: 'paused',
      nextAt: null,
      dueAt: null,
      held: null,
    })
  })

  it('maxRuns counts what went out, and nothing else', () => {
    const definition = checked({ maxRuns: 1 })
    expect(decide(found, { definition }).cursor).toMatchObject({ status: 'done', nextAt: null, dueAt: null, fires: 1 })
    for (const verdict of [nothing, failed, missed])
      expect(decide(verdict, { definition }).cursor).toMatchObject({ status: 'active', nextAt: first + hour, fires: 0 })
  })

  it.each([found, nothing, failed, missed])('the only time of a schedule is over with its check: %j', (verdict) => {
    const definition = definitionOf({ at: '2026-03-01T01:00:00Z' }, { check: script })
    const cursor = underWay(definition)
    expect(cursor).toMatchObject({ nextAt: null, held: { check: 'script' } })
    expect(cursor.dueAt).not.toBeNull()
    expect(decide(verdict, { definition, cursor }).cursor).toMatchObject({
      status: 'done',
      nextAt: null,
      dueAt: null,
      held: null,
    })
  })

  it.each(['paused', 'done'] as const)('a %s schedule whose run was asked for stays what it is', (status) => {
    const definition = checked()
    const held = { ...underWay(definition).held!, row: `R#0000000001#m${'0'.repeat(10)}` }
    const cursor = cursorOf(definition, { status, nextAt: null, dueAt: held.lookAt, held })
    for (const verdict of [found, nothing, failed, missed])
      expect(decide(verdict, { definition, cursor }).cursor).toMatchObject({
        status,
        nextAt: null,
        dueAt: null,
        held: null,
      })
  })

  it('looked at later it stays the same run, and the next slot still comes in time', () => {
    const definition = checked()
    const rule = { definition, recurrence: compile(definition.spec) }
    const cursor = underWay(definition)
    expect(checkLater(rule, cursor, first + 2 * minute)).toMatchObject({
      dueAt: first + 2 * minute,
      held: { row: cursor.held!.row, check: 'script', lookAt: first + 2 * minute },
    })
    expect(checkLater(rule, cursor, first + 3 * hour).dueAt).toBe(first + hour)
  })
})

describe('what an exit says', () => {
  it.each([
    [0, '', { kind: 'nothing' }],
    [0, ' \n\t ', { kind: 'nothing' }],
    [0, 'x', { kind: 'found', text: 'x' }],
    [0, ' x\n', { kind: 'found', text: ' x\n' }],
    [1, '', { kind: 'failed', reason: 'check_failed' }],
    [1, 'x', { kind: 'failed', reason: 'check_failed' }],
    [124, 'x', { kind: 'failed', reason: 'check_timeout' }],
    [126, '', { kind: 'failed', reason: 'check_failed' }],
    [255, '', { kind: 'failed', reason: 'check_failed' }],
  ] as const)('S2-29 exit %i with %j', (exit, output, verdict) => {
    expect(verdictOf(exit, output)).toEqual(verdict)
  })
})
