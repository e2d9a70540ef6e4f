import type { Instant } from '../time/index.ts'
import type { Seat } from './admit.ts'
import { decideAsked, markOf } from './asked.ts'
import { derivedUlid, timePart } from './ids.ts'
import type { Cursor, Definition, Run, SettlingEvent, TriggerOn } from './schedule.ts'

/** Debouncing ends after so many times the settling time, however often something happens. */
const settlesMost = 10

/** Documents that are remembered while a trigger settles. */
const changedMost = 20

/** Something happened, and fires when nothing more has for a while. @returns the event that waits; null: it fires at once */
export function settling(
  before: SettlingEvent | null,
  on: TriggerOn,
  change: { readonly path: string; readonly mark: number } | null,
  now: Instant,
): SettlingEvent | null {
  if (on.settleMs === 0) return null
  const since = before?.since ?? now
  const lookAt = Math.min(now + on.settleMs, since + settlesMost * on.settleMs)
  if (change === null) return { since, lookAt, changed: null }
  const others = (before?.changed ?? []).filter(([path]) => path !== change.path)
  return { since, lookAt, changed: [...others, [change.path, change.mark] as const].slice(-changedMost) }
}

/** Told again of what it waits for already. */
export const isSettling = (event: SettlingEvent | null | undefined, path: string, mark: number): boolean =>
  event?.changed?.some(([known, of]) => known === path && of === mark) ?? false

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
  const nth = (o.cursor.events ?? 0) + 1
  // Rows of one instant stand in the order in which things happened.
  const mark = `${markOf('event', '')}${timePart(nth).slice(-5)}${derivedUlid(o.at, o.named).slice(-5)}`
  const asked = decideAsked({ ...o, trigger: 'event', nominal: o.at, mark })
  const settled: Cursor = { ...asked.cursor, event: null, events: nth }
  if (!asked.put) return { ...asked, cursor: settled }
  if (most !== null && fired >= most) {
    const row: Run = { ...asked.row, message: null, session: null, outcome: 'blocked', reason: 'daily_limit' }
    const counts = { ...o.cursor.counts, skipped: o.cursor.counts.skipped + 1 }
    return { cursor: { ...o.cursor, counts, event: null, events: nth }, row, put: false }
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

/** What a trigger's condition may name. */
export const triggerVariables = ['doc', 'before', 'now'] as const
