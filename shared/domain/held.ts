import type { Instant, Recurrence } from '../time/index.ts'
import { admit, type Seat } from './admit.ts'
import { isAskedRow } from './asked.ts'
import { armed, checkingReason, disarmed, heldRun, stopped } from './due.ts'
import { timeOf } from './ids.ts'
import { type Cursor, type Definition, isChecking, type OpenRun, type Run } from './schedule.ts'

/** What becomes of a held run: it goes out, or it never will. */
export interface HeldDecision {
  readonly cursor: Cursor
  readonly row: string
  /** The open run that its message waits as; null: it does not go out. */
  readonly put: OpenRun | null
  /** The word has been said, and now its check is to look. */
  readonly check: boolean
  /** Why it does not. */
  readonly reason: string | null
  /** Times that had passed when it was the last of its schedule. */
  readonly rows: readonly Run[]
}

/**
 * Looks at a held run again. It goes out when the count has begun anew, in the place of its slot (decision 15); a gate that never opens
 * again ends it; any other keeps it waiting.
 *
 * @param session  the conversation's; null: one of its own, as its row says
 * @returns        null: it goes on waiting
 */
export function decideHeld(o: {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly seat: Seat
  readonly session: string
  readonly now: Instant
}): HeldDecision | null {
  const { cursor, definition } = o
  const { held } = cursor
  if (held === null || cursor.status === 'ended' || isChecking(held)) return null
  // A run that was asked for goes out though its schedule is paused or over.
  if (cursor.status !== 'active' && held.check !== 'done') return null
  const closed = admit(o.seat, { makerAgent: definition.makerAgent })
  if (closed !== null) return closed.ends ? refused(cursor, closed.reason, 'ended') : null
  if (definition.check != null && held.check === null)
    return { cursor: checkBegun(cursor, o), row: held.row, put: null, check: true, reason: null, rows: [] }
  const out = released({ ...o, at: timeOf(held.row.slice(2, 12)), data: held.check === 'done' })
  return { cursor: out.cursor, row: held.row, put: out.open, check: false, reason: null, rows: out.rows }
}

function checkBegun(cursor: Cursor, o: { definition: Definition; recurrence: Recurrence; now: Instant }): Cursor {
  const row = { row: cursor.held!.row, gen: o.definition.gen, reason: checkingReason }
  const begun = { ...cursor, held: heldRun(row, o.definition, o.now) }
  return armed(begun, o.definition, o.recurrence, cursor.nextAt)
}

/**
 * A held run goes out.
 *
 * @param at    its place in the inbox
 * @param data  something stands beside its row that its message carries
 */
export function released(o: {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly session: string
  readonly at: Instant
  readonly data: boolean
  readonly now: Instant
}): { readonly cursor: Cursor; readonly open: OpenRun; readonly rows: readonly Run[] } {
  const { cursor, definition, recurrence } = o
  const open: OpenRun = {
    row: cursor.held!.row,
    // Edited meanwhile, it goes out as it reads now.
    gen: definition.gen,
    at: o.at,
    session: o.session,
    turn: null,
    data: o.data,
  }
  const counts = { ...cursor.counts, fired: cursor.counts.fired + 1 }
  const after: Cursor = { ...cursor, held: null, counts, open: [...cursor.open, open] }
  // A run that was asked for counts for nothing, and wakes no schedule that is paused or over.
  if (isAskedRow(open.row)) {
    if (cursor.status !== 'active') return { cursor: { ...after, dueAt: null }, open, rows: [] }
    return { cursor: armed(after, definition, recurrence, cursor.nextAt), open, rows: [] }
  }
  const fires = cursor.fires + 1
  const spent = definition.maxRuns !== null && fires >= definition.maxRuns
  if (cursor.status !== 'active') return { cursor: { ...after, fires, dueAt: null }, open, rows: [] }
  if (spent) return { ...stopped({ ...o, cursor: { ...after, fires } }, 'done', null), open }
  return { cursor: armed({ ...after, fires }, definition, recurrence, cursor.nextAt), open, rows: [] }
}

/** What was held never goes out: its row is one that was skipped. */
export const leftOut = (cursor: Cursor): Cursor => ({
  ...cursor,
  held: null,
  counts: { ...cursor.counts, skipped: cursor.counts.skipped + 1 },
})

/** Decision 20: a person said no to this one; the schedule goes on. */
export function denied(cursor: Cursor, definition: Definition, recurrence: Recurrence): Cursor {
  const after = leftOut(cursor)
  // Nothing else is due of one that is paused or over.
  return cursor.status === 'active' ? armed(after, definition, recurrence, cursor.nextAt) : { ...after, dueAt: null }
}

function refused(cursor: Cursor, reason: string, status: 'ended'): HeldDecision {
  const after = leftOut(cursor)
  // With times to come the next look ends it, and writes the row of the slot that it stops.
  const done = cursor.nextAt === null ? disarmed(after, status, reason) : after
  return { cursor: done, row: cursor.held!.row, put: null, check: false, reason, rows: [] }
}
