import type { Instant, Recurrence } from '../time/index.ts'
import { admit, type Seat } from './admit.ts'
import { armed, disarmed } from './due.ts'
import { timeOf } from './ids.ts'
import type { Cursor, Definition, OpenRun } from './schedule.ts'

/** What becomes of a held run: it goes out, or it never will. */
export interface HeldDecision {
  readonly cursor: Cursor
  readonly row: string
  /** The open run that its message waits as; null: it does not go out. */
  readonly put: OpenRun | null
  /** Why it does not. */
  readonly reason: string | null
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
  const { cursor, definition, recurrence } = o
  const { held } = cursor
  if (held === null || cursor.status !== 'active') return null
  const closed = admit(o.seat, { makerAgent: definition.makerAgent })
  if (closed !== null) return closed.ends ? refused(cursor, closed.reason, 'ended') : null
  const open: OpenRun = {
    row: held.row,
    // Edited meanwhile, it goes out as it reads now.
    gen: definition.gen,
    at: timeOf(held.row.slice(2, 12)),
    session: o.session,
    turn: null,
  }
  const fires = cursor.fires + 1
  const spent = definition.maxRuns !== null && fires >= definition.maxRuns
  const after: Cursor = {
    ...cursor,
    held: null,
    fires,
    counts: { ...cursor.counts, fired: cursor.counts.fired + 1 },
    open: [...cursor.open, open],
  }
  const next = spent || cursor.nextAt === null ? null : cursor.nextAt
  return { cursor: armed(after, definition, recurrence, next), row: held.row, put: open, reason: null }
}

/** Decision 20: a person said no to this one; the schedule goes on. */
export function denied(cursor: Cursor, definition: Definition, recurrence: Recurrence): Cursor {
  const after = { ...cursor, held: null, counts: { ...cursor.counts, skipped: cursor.counts.skipped + 1 } }
  return cursor.status === 'active' ? armed(after, definition, recurrence, cursor.nextAt) : after
}

function refused(cursor: Cursor, reason: string, status: 'ended'): HeldDecision {
  const after = { ...cursor, held: null, counts: { ...cursor.counts, skipped: cursor.counts.skipped + 1 } }
  // With times to come the next look ends it, and writes the row of the slot that it stops.
  const done = cursor.nextAt === null ? disarmed(after, status, reason) : after
  return { cursor: done, row: cursor.held!.row, put: null, reason }
}
