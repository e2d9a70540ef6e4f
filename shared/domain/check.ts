import type { Instant, Recurrence } from '../time/index.ts'
import { admit, type Seat } from './admit.ts'
import { isManualRow } from './asked.ts'
import { armed, isWornOut, stopped } from './due.ts'
import { released } from './held.ts'
import { limits } from './limits.ts'
import type { Cursor, Definition, OpenRun, Outcome, Run } from './schedule.ts'

/** What a check came to. */
export type Verdict =
  /** It said something: the agent is woken with it. */
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** It could not be made. */
  | { readonly kind: 'missed'; readonly reason: string }

/** What becomes of the run whose check has ended. */
export interface Checked {
  readonly cursor: Cursor
  readonly row: string
  /** What its row says now; null with `put`: it went out. */
  readonly closed: { readonly outcome: Outcome; readonly reason: string | null } | null
  /** The open run that its message waits as. */
  readonly put: OpenRun | null
  /** Times that had passed when it stopped with this. */
  readonly rows: readonly Run[]
}

/** S2-29: no output, no wake. Output wakes the agent, unless a gate has closed meanwhile. */
export function decideChecked(o: {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly seat: Seat
  /** The conversation's, or the one that its run makes. */
  readonly session: string
  readonly now: Instant
  readonly verdict: Verdict
}): Checked {
  const { cursor, definition, verdict, now } = o
  const held = cursor.held!
  const { row } = held
  const good = verdict.kind === 'found' || verdict.kind === 'nothing'
  const counted: Cursor = good
    ? { ...cursor, checkFailures: 0 }
    : { ...cursor, checkFailures: cursor.checkFailures + 1 }
  switch (verdict.kind) {
    case 'nothing':
      // Decision 22: a look that found nothing went well.
      return {
        cursor: freed(o, { ...counted, failures: 0 }),
        row,
        closed: { outcome: 'nothing', reason: null },
        put: null,
        rows: [],
      }
    case 'failed':
    case 'missed': {
      const { kind, reason } = verdict
      const counts = {
        ...counted.counts,
        failed: counted.counts.failed + (kind === 'failed' ? 1 : 0),
        missed: counted.counts.missed + (kind === 'missed' ? 1 : 0),
      }
      const failures = counted.failures + 1
      const free = freed(o, { ...counted, counts, failures })
      const worn = free.status === 'active' && isWornOut(definition, failures)
      const after = worn ? stopped({ ...o, cursor: free }, 'paused', 'failures') : { cursor: free, rows: [] }
      return { ...after, row, closed: { outcome: kind, reason }, put: null }
    }
    case 'found': {
      // Whoever asks, knows: a run now needs no other word.
      const seat = isManualRow(row) ? { ...o.seat, promptsSpent: false } : o.seat
      const gate = admit(seat, { makerAgent: definition.makerAgent })
      if (gate === null) {
        const out = released({ ...o, cursor: counted, at: now, data: true })
        return { cursor: out.cursor, row, closed: null, put: out.open, rows: out.rows }
      }
      const closed = { outcome: gate.outcome, reason: gate.reason }
      if (gate.outcome === 'held') {
        const waits: Cursor = { ...counted, held: { ...held, check: 'done', lookAt: now + limits.heldLookMs } }
        return { cursor: looked(o, waits), row, closed, put: null, rows: [] }
      }
      const isMissed = gate.outcome === 'missed'
      const counts = {
        ...counted.counts,
        missed: counted.counts.missed + (isMissed ? 1 : 0),
        skipped: counted.counts.skipped + (isMissed ? 0 : 1),
      }
      const free = freed(o, { ...counted, counts })
      const after = gate.ends ? stopped({ ...o, cursor: free }, 'ended', gate.reason) : { cursor: free, rows: [] }
      return { ...after, row, closed, put: null }
    }
  }
}

type Rule = { readonly definition: Definition; readonly recurrence: Recurrence }

/** Nothing of it is held any more. A paused or finished schedule whose run was asked for stays what it is. */
const freed = (rule: Rule, cursor: Cursor): Cursor => looked(rule, { ...cursor, held: null })

function looked({ definition, recurrence }: Rule, cursor: Cursor): Cursor {
  if (cursor.status === 'active') return armed(cursor, definition, recurrence, cursor.nextAt)
  return { ...cursor, dueAt: cursor.held?.lookAt ?? null }
}

/** The same run, to be looked at again at another time. */
export function checkLater(rule: Rule, cursor: Cursor, lookAt: Instant): Cursor {
  return looked(rule, { ...cursor, held: { ...cursor.held!, lookAt } })
}

/**
 * What a script's exit says (S2-29, S2-33): 0 with output wakes, 0 without does not, anything else failed.
 *
 * @param exit  124: it was stopped after its time
 */
export function verdictOf(exit: number, output: string): Verdict {
  if (exit === 124) return { kind: 'failed', reason: 'check_timeout' }
  if (exit !== 0) return { kind: 'failed', reason: 'check_failed' }
  return output.trim() === '' ? { kind: 'nothing' } : { kind: 'found', text: output }
}
