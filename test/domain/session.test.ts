import { describe, expect, it } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { Refused } from '../../shared/domain/refused.ts'
import { type Head, hasLapsed, isGone, leaseMsOf, runningTurn, stateOf } from '../../shared/domain/session.ts'
import { startTurn } from '../../shared/domain/turn.ts'
import { created, headOf, turnOf } from './make.ts'

describe('the state of a session', () => {
  const turn = turnOf()
  const cells: readonly [Partial<Head>, string][] = [
    [{}, 'idle'],
    [{ paused: true }, 'paused'],
    [{ turn }, 'running'],
    [{ turn, paused: true }, 'running'],
    [{ compacting: true }, 'compacting'],
    [{ compacting: true, turn, paused: true }, 'compacting'],
    [{ archivedAt: 1 }, 'archived'],
    [{ deletedAt: 1 }, 'archived'],
    [{ archivedAt: 1, turn, compacting: true, paused: true }, 'archived'],
  ]
  it.each(cells)('%j is %s', (over, state) => {
    expect(stateOf(headOf(over))).toBe(state)
  })

  it('is gone when it was archived or deleted', () => {
    expect([isGone(headOf()), isGone(headOf({ archivedAt: 1 })), isGone(headOf({ deletedAt: 1 }))]).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe('a lease', () => {
  it('runs out at its end, not before', () => {
    expect(hasLapsed(turnOf({ leaseUntil: 10 }), 9)).toBe(false)
    expect(hasLapsed(turnOf({ leaseUntil: 10 }), 10)).toBe(true)
  })

  it('is two minutes unless the claim says otherwise', () => {
    expect(leaseMsOf(undefined)).toBe(limits.leaseSecondsDefault * 1000)
    expect(leaseMsOf(30)).toBe(30_000)
  })

  it('starts with the turn, which knows its message and the run it works on', () => {
    const { origin } = turnOf()
    const run = { schedule: 'sch_1', row: 'R#1' }
    const o = { id: 'trn_1', run, leaseMs: 30_000, steerable: true, day: null, now: created } as const
    const head = startTurn(headOf(), { ...o, message: { id: 'msg_1', kind: 'schedule', origin } })
    expect(head.turn).toEqual({
      id: 'trn_1',
      message: 'msg_1',
      kind: 'schedule',
      origin,
      runs: [run],
      startedAt: created,
      leaseUntil: created + 30_000,
      leaseMs: 30_000,
      steerable: true,
      cancelled: null,
    })
    const user = startTurn(headOf(), { ...o, run: null, message: { id: 'msg_1', kind: 'user', origin } })
    expect(user.turn?.runs).toEqual([])
  })

  it('fences off a turn that ended, lapsed or never was', () => {
    const turn = turnOf({ leaseUntil: 10 })
    expect(runningTurn(headOf({ turn }), turn.id, 9)).toBe(turn)
    for (const [head, id, now] of [
      [headOf({ turn }), turn.id, 10],
      [headOf({ turn }), 'trn_other', 9],
      [headOf(), turn.id, 9],
      [null, turn.id, 9],
    ] as const)
      expect(() => runningTurn(head, id, now)).toThrow(Refused)
  })
})
