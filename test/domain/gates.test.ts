import { describe, expect, it } from 'vitest'
import { admit, type Seat } from '../../shared/domain/admit.ts'
import { advanced, agent, definitionOf, hour, openSeat, t } from './make.ts'

const first = t('2026-03-01T01:00:00Z')
const every = { every: '1h' }

const gates: readonly [
  title: string,
  shut: Partial<Seat>,
  outcome: string,
  reason: string,
  then: 'ended' | 'active',
  made?: 'by an agent',
][] = [
  ['S2-21 a deleted agent: skipped, and it stops', { agentDeleted: true }, 'skipped', 'agent_deleted', 'ended'],
  ['S0-54 its session archived: it ends', { conversation: 'archived' }, 'skipped', 'session_archived', 'ended'],
  ['S0-55 its session deleted: it ends', { conversation: 'deleted' }, 'skipped', 'session_deleted', 'ended'],
  ['S0-56 its creator archived: it ends', { makerConversation: 'archived' }, 'skipped', 'creator_archived', 'ended'],
  ['S0-57 its creator deleted: it ends', { makerConversation: 'deleted' }, 'skipped', 'creator_deleted', 'ended'],
  [
    'S0-7 the setting off: blocked, and it goes on',
    { agentSessions: false },
    'blocked',
    'agent_sessions_off',
    'active',
    'by an agent',
  ],
  ['S2-20 the agent left: skipped, and it goes on', { left: true }, 'skipped', 'agent_left', 'active'],
  ['a worker that said it is away: missed', { disconnected: true }, 'missed', 'agent_not_connected', 'active'],
  [
    'S2-28 no worker that runs its check: missed, and it goes on',
    { uncheckable: true },
    'missed',
    'no_check_worker',
    'active',
  ],
]

describe('the gates of a wake', () => {
  it.each(gates)('%s', (_title, shut, outcome, reason, then, made) => {
    const definition = definitionOf(every, { makerAgent: made === undefined ? null : agent })
    const { rows, put, cursor } = advanced(definition, first, { seat: shut })
    expect(put).toBeNull()
    expect(rows).toMatchObject([{ outcome, reason, message: null, session: null, nominalAt: first, missed: 0 }])
    expect(cursor).toMatchObject({ status: then, nextAt: then === 'active' ? first + hour : null, open: [], fires: 0 })
    expect(cursor.reason).toBe(then === 'ended' ? reason : null)
  })

  it.each(gates.map(([, ...gate]) => gate))(
    'a shut gate covers a missed stretch in one row: %j',
    (shut, outcome, reason, _then, made) => {
      const definition = definitionOf(every, { makerAgent: made === undefined ? null : agent })
      const { rows } = advanced(definition, first + 4 * hour + 120_000, { seat: shut })
      expect(rows).toMatchObject([{ outcome, reason, missed: 5, missedFrom: first, nominalAt: first + 4 * hour }])
    },
  )

  it('the setting does not concern what a person made', () => {
    expect(admit({ ...openSeat, agentSessions: false }, { makerAgent: null })).toBeNull()
  })

  it('the first closed gate decides', () => {
    const all: Seat = {
      agentDeleted: true,
      conversation: 'deleted',
      makerConversation: 'archived',
      left: true,
      disconnected: true,
      uncheckable: true,
      agentSessions: false,
      promptsSpent: true,
      short: 'agent_wakes_per_day',
    }
    expect(admit(all, { makerAgent: agent })?.reason).toBe('agent_deleted')
    expect(admit({ ...all, agentDeleted: false }, { makerAgent: agent })?.reason).toBe('session_deleted')
  })

  it('with every gate open the wake goes out', () => {
    expect(admit(openSeat, { makerAgent: agent })).toBeNull()
  })
})
