import type { Instant } from '../time/index.ts'
import { admit, type Seat } from './admit.ts'
import { checkedFirst, counted, heldRun, newRun, overlapOf, unsent } from './due.ts'
import { timePart } from './ids.ts'
import type { Cursor, Definition, Run, Trigger } from './schedule.ts'

/** A run that no slot brought: somebody asked for it (run now, backfill) or a lost turn is tried again. */
export interface Asked {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly seat: Seat
  /** The conversation's session; undefined: a fresh one. */
  readonly session: string | undefined
  readonly now: Instant
  readonly trigger: Extract<Trigger, 'manual' | 'backfill' | 'retry' | 'event'>
  /** Manual: now. Backfill and retry: the slot it stands for. */
  readonly nominal: Instant
  /** Makes two rows of one instant differ. */
  readonly mark: string
}

/**
 * Decides a run that was asked for. It moves neither the next time nor maxRuns (S2-65, decision 21), and a paused or finished
 * schedule runs too: whoever asks, knows.
 */
export function decideAsked(o: Asked): { readonly cursor: Cursor; readonly row: Run; readonly put: boolean } {
  const row = newRun(o, {
    trigger: o.trigger,
    nominal: o.nominal,
    row: `R#${timePart(o.nominal)}#${o.mark}`,
    outcome: 'fired',
  })
  // Whoever asks, knows: a person's word needs no other, and a second try of a run that went out is no new prompt.
  // What happens by itself is nobody's word.
  const isEvent = o.trigger === 'event'
  const seat = isEvent ? o.seat : { ...o.seat, promptsSpent: false }
  const closed = admit(seat, { makerAgent: o.definition.makerAgent })
  const joins = isEvent && o.cursor.held !== null && (closed === null || closed.outcome === 'held')
  const skip = closed === null || joins ? overlapOf(o.cursor, o.definition, o.trigger).skip : null
  const kept: Run =
    closed !== null && !joins
      ? { ...row, ...unsent, outcome: closed.outcome, reason: closed.reason }
      : skip !== null
        ? { ...row, ...unsent, outcome: isEvent ? 'coalesced' : 'skipped', reason: skip }
        : // S2-34: run now tests the script too. A second try of a run has its look behind it.
          o.definition.check != null && o.trigger === 'manual'
          ? checkedFirst(row)
          : row
  if (kept.outcome !== 'held')
    return { cursor: counted(o.cursor, kept, isEvent), row: kept, put: kept.outcome === 'fired' }
  const waits = heldRun(kept, o.definition, o.now)
  const held = isEvent ? { ...waits, check: 'done' as const } : waits
  // Looked at also while the schedule is paused or over: whoever asks, wants to know.
  const dueAt = Math.min(o.cursor.dueAt ?? held.lookAt, held.lookAt)
  return { cursor: { ...o.cursor, held, dueAt }, row: kept, put: false }
}

const marks = { manual: 'm', backfill: 'b', retry: 'r', event: 'e' } as const

/** Row marks begin with their trigger's letter; the rest keeps two rows of one instant apart. */
export const markOf = (trigger: keyof typeof marks, ulid: string): string => `${marks[trigger]}${ulid.slice(16)}`

/** A run that no slot brought. */
export const isAskedRow = (row: string): boolean => row.length > 12

/** `R#<time>#m…`: somebody asked for it, and is counted where he asked. */
export const isManualRow = (row: string): boolean => row[13] === marks.manual

/** `R#<time>#r…` */
export const isRetryRow = (row: string): boolean => row[13] === marks.retry
