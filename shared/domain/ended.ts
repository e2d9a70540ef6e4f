import type { Instant, Recurrence } from '../time/index.ts'
import { isWornOut, stopped } from './due.ts'
import type { Cursor, Definition, OpenRun, Result, Run } from './schedule.ts'

/** What the end of a turn does to the schedule whose message it worked on. */
export interface EndedRun {
  readonly cursor: Cursor
  /** The open run that ended; null when the schedule did not know it any more. */
  readonly run: OpenRun | null
  /** `onUnknown: retry`: the message is put once more. */
  readonly retry: boolean
  /** Times that had passed when it was paused. */
  readonly rows: readonly Run[]
}

/** Takes the run out of what is open, counts its result, and pauses a schedule that failed too often in a row (decision 22). */
export function decideEnded(o: {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly now: Instant
  readonly row: string
  readonly result: Result
  /** True when the row was itself the second try. */
  readonly isRetry: boolean
}): EndedRun {
  const run = o.cursor.open.find((r) => r.row === o.row) ?? null
  if (run === null) return { cursor: o.cursor, run: null, retry: false, rows: [] }
  const failed = o.result === 'failed' || o.result === 'unknown'
  const good = o.result === 'ok' || o.result === 'nothing_to_do'
  const retry = o.result === 'unknown' && o.definition.onUnknown === 'retry' && !o.isRetry
  const failures = failed ? o.cursor.failures + 1 : good ? 0 : o.cursor.failures
  const cursor: Cursor = {
    ...o.cursor,
    open: o.cursor.open.filter((r) => r !== run),
    failures,
    counts: {
      ...o.cursor.counts,
      ok: o.cursor.counts.ok + (good ? 1 : 0),
      failed: o.cursor.counts.failed + (failed ? 1 : 0),
    },
  }
  if (cursor.status !== 'active' || !isWornOut(o.definition, failures)) return { cursor, run, retry, rows: [] }
  return { ...stopped({ ...o, cursor }, 'paused', 'failures'), run, retry }
}
