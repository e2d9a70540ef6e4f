import type { Instant } from '../time/index.ts'
import type { Seat } from './admit.ts'
import { decideAsked, markOf } from './asked.ts'
import { derivedUlid } from './ids.ts'
import type { Cursor, Definition, Run, TriggerOn } from './schedule.ts'

/** Debouncing ends after so many times the settling time, however often something happens. */
const settlesMost = 10

/** Something happened, and fires when nothing more has for a while. @returns the cursor that waits; null: it fires at once */
export function settling(cursor: Cursor, on: TriggerOn, path: string | null, now: Instant): Cursor | null {
  if (on.settleMs === 0) return null
  const since = cursor.event?.since ?? now
  const lookAt = Math.min(now + on.settleMs, since + settlesMost * on.settleMs)
  return { ...cursor, event: { since, lookAt, path }, dueAt: Math.min(cursor.dueAt ?? lookAt, lookAt) }
}

/**
 * The run of something that happened and counts (its condition holds). While a prompt of it waits, it coalesces into that; past
 * `maxPerDay` it is blocked.
 *
 * @param named  tells this event from every other: the same one told twice is the same row
 * @param day    today, in the trigger's zone
 */
export function decideEvent(o: {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly seat: Seat
  readonly session: string | undefined
  readonly at: Instant
  readonly named: string
  readonly day: string
  readonly now: Instant
}): { readonly cursor: Cursor; readonly row: Run; readonly put: boolean } {
  const most = o.definition.on!.maxPerDay
  const fired = o.cursor.today?.day === o.day ? o.cursor.today.fired : 0
  const mark = markOf('event', derivedUlid(o.at, o.named))
  const asked = decideAsked({ ...o, trigger: 'event', nominal: o.at, mark })
  const settled: Cursor = { ...asked.cursor, event: null }
  if (!asked.put) return { ...asked, cursor: settled }
  if (most !== null && fired >= most) {
    const row: Run = { ...asked.row, message: null, session: null, outcome: 'blocked', reason: 'daily_limit' }
    const counts = { ...o.cursor.counts, skipped: o.cursor.counts.skipped + 1 }
    return { cursor: { ...o.cursor, counts, event: null }, row, put: false }
  }
  return { ...asked, cursor: most === null ? settled : { ...settled, today: { day: o.day, fired: fired + 1 } } }
}

/** What a trigger follows, in words. */
export function triggerInWords({ source, when, settle }: TriggerOn): string {
  const what =
    'webhook' in source
      ? 'when its webhook is called'
      : 'path' in source.document
        ? `when document ${source.document.path} changes`
        : `when a document below ${source.document.prefix} changes`
  return `${what}${when === null ? '' : ` and ${when}`}${settle === null ? '' : `, once nothing has happened for ${settle}`}`
}
