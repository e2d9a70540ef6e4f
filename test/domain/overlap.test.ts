import { describe, expect, it } from 'vitest'
import { overlapOf } from '../../shared/domain/due.ts'
import { limits } from '../../shared/domain/limits.ts'
import type { Overlap } from '../../shared/domain/schedule.ts'
import { advanced, cursorOf, definitionOf, hour, runningRun, t, waitingRun } from './make.ts'

const first = t('2026-03-01T01:00:00Z')
const policies: readonly Overlap[] = ['skip', 'buffer', 'allow', 'cancel']
const onRunning: Record<Overlap, { reason: string | null; cancels: boolean }> = {
  skip: { reason: 'previous_running', cancels: false },
  buffer: { reason: null, cancels: false },
  allow: { reason: null, cancels: false },
  cancel: { reason: null, cancels: true },
}

describe('overlap', () => {
  it.each(policies)('S0-19 while the previous prompt waits a repeat is skipped: %s', (overlap) => {
    const definition = definitionOf({ every: '1h' }, { overlap })
    const { rows, put, cursor } = advanced(definition, first, {
      cursor: cursorOf(definition, { open: [waitingRun()] }),
    })
    expect(put).toBeNull()
    expect(rows).toMatchObject([{ outcome: 'skipped', reason: 'previous_waiting', message: null, session: null }])
    expect(cursor).toMatchObject({ nextAt: first + hour, open: [waitingRun()], fires: 0, counts: { skipped: 1 } })
  })

  it.each(policies)('while its turn runs the policy decides: %s', (overlap) => {
    const definition = definitionOf({ every: '1h' }, { overlap })
    const open = [runningRun()]
    const { rows, put, cancel } = advanced(definition, first, { cursor: cursorOf(definition, { open }) })
    const { reason, cancels } = onRunning[overlap]
    expect(rows).toMatchObject([{ outcome: reason === null ? 'fired' : 'skipped', reason }])
    expect(put === null).toBe(reason !== null)
    expect(cancel).toEqual(cancels ? open : [])
  })

  it.each(policies)('S0-20 with one running and one waiting no third joins them: %s', (overlap) => {
    const definition = definitionOf({ every: '1h' }, { overlap })
    const open = [runningRun(), waitingRun()]
    const { put, cursor, cancel } = advanced(definition, first, { cursor: cursorOf(definition, { open }) })
    expect(put).toBeNull()
    expect(cancel).toEqual([])
    expect(cursor.open).toEqual(open)
  })

  it('what was missed is made up by nothing while the previous prompt waits', () => {
    const definition = definitionOf({ every: '1h' })
    const cursor = cursorOf(definition, { open: [waitingRun()] })
    const { rows } = advanced(definition, first + 3 * hour + 120_000, { cursor })
    expect(rows).toMatchObject([{ trigger: 'catch_up', outcome: 'skipped', missed: 4, missedFrom: first }])
  })

  it('run now and retries obey what waits, not what runs', () => {
    const definition = definitionOf({ every: '1h' }, { overlap: 'skip' })
    for (const trigger of ['manual', 'retry'] as const) {
      expect(overlapOf(cursorOf(definition, { open: [runningRun()] }), definition, trigger).skip).toBeNull()
      expect(overlapOf(cursorOf(definition, { open: [waitingRun()] }), definition, trigger).skip).toBe(
        'previous_waiting',
      )
    }
  })

  it('allow does not pile up sessions without end', () => {
    const definition = definitionOf({ every: '1h' }, { overlap: 'allow', conv: null })
    const open = Array.from({ length: limits.openRunsMax }, (_, i) => runningRun(`R#${i}`))
    expect(overlapOf(cursorOf(definition, { open }), definition, 'slot').skip).toBe('too_many_running')
  })
})
