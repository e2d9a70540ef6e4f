import type { Outcome } from './schedule.ts'

/** What a wake would meet, read before it is decided. */
export interface Seat {
  readonly agentDeleted: boolean
  /** The conversation it fires in, or the agent for fresh sessions. */
  readonly conversation: 'open' | 'archived' | 'deleted'
  readonly makerConversation: 'open' | 'archived' | 'deleted'
  readonly left: boolean
  /** Only for an agent target: its worker said that it disconnected. */
  readonly disconnected: boolean
  /** Its check is a script, and no worker of the agent runs any. */
  readonly uncheckable: boolean
  /** The setting `agentSessions`. */
  readonly agentSessions: boolean
  /** It goes to another session, and the conversation that made it has sent its 30 since the person's last word. */
  readonly promptsSpent: boolean
  /** The budget that is used up, by its name; null: none is. */
  readonly short: string | null
}

export interface Wake {
  /** The agent that made the schedule; null: a person did. */
  readonly makerAgent: string | null
}

export interface Closed {
  readonly outcome: Outcome
  readonly reason: string
  /** The schedule ends with this reason: the gate never opens again. */
  readonly ends: boolean
}

interface Gate extends Closed {
  /** True, or the reason where the gate has several. */
  readonly closed: (seat: Seat, wake: Wake) => boolean | string | null
}

/** In this order; the first closed gate decides. A later kind of gate (budget, hold) is one more row. */
const gates: readonly Gate[] = [
  { reason: 'agent_deleted', outcome: 'skipped', ends: true, closed: (s) => s.agentDeleted },
  { reason: 'session_archived', outcome: 'skipped', ends: true, closed: (s) => s.conversation === 'archived' },
  { reason: 'session_deleted', outcome: 'skipped', ends: true, closed: (s) => s.conversation === 'deleted' },
  { reason: 'creator_archived', outcome: 'skipped', ends: true, closed: (s) => s.makerConversation === 'archived' },
  { reason: 'creator_deleted', outcome: 'skipped', ends: true, closed: (s) => s.makerConversation === 'deleted' },
  {
    // S0-7: the setting is the person's word on whether agents may wake anybody.
    reason: 'agent_sessions_off',
    outcome: 'blocked',
    ends: false,
    closed: (s, w) => w.makerAgent !== null && !s.agentSessions,
  },
  { reason: 'agent_left', outcome: 'skipped', ends: false, closed: (s) => s.left },
  // Decision 24: only a worker that said so is away; one that never attached queues.
  { reason: 'agent_not_connected', outcome: 'missed', ends: false, closed: (s) => s.disconnected },
  // S2-28: a script looks on the agent's own machine or not at all.
  { reason: 'no_check_worker', outcome: 'missed', ends: false, closed: (s) => s.uncheckable },
  // The ledger names the budget that was used up.
  { reason: 'budget', outcome: 'blocked', ends: false, closed: (s) => s.short },
  // S0-26: not a no; it waits for the person's word.
  { reason: 'prompts_spent', outcome: 'held', ends: false, closed: (s) => s.promptsSpent },
]

/** The first closed gate, or null: the wake may go out. */
export function admit(seat: Seat, wake: Wake): Closed | null {
  for (const gate of gates) {
    const closed = gate.closed(seat, wake)
    if (typeof closed === 'string') return { ...gate, reason: closed }
    if (closed === true) return gate
  }
  return null
}
