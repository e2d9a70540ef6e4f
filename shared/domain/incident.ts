import { checkingReason } from './due.ts'
import type { Run } from './schedule.ts'

/** S2-66: a run that could not happen, and why, as its person reads it; by the reason in its row. */
export const incidents: Readonly<Record<string, string>> = {
  agent_not_connected: 'Its agent was not connected: no worker was attached.',
  no_check_worker: 'Its check could not look: no worker of its agent runs checks now (rouse attach does).',
  agent_deleted: 'Its agent was deleted. The schedule has ended.',
  agent_left: 'Its agent has left the conversation.',
  session_archived: 'Its conversation was archived while the run was under way.',
  session_deleted: 'Its conversation was deleted while the run was under way.',
}

/** Whether somebody is told of a row when it is written. */
export const isTold = (row: Run): boolean => row.outcome === 'held' || isIncident(row)

/** A held row that waits for a person's word. */
export const asksWord = (row: Run): boolean => row.outcome === 'held' && row.reason !== checkingReason

export const isIncident = (row: Run): boolean =>
  row.outcome !== 'fired' && row.reason !== null && Object.hasOwn(incidents, row.reason)
