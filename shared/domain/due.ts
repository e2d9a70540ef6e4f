import { type Instant, jitterOf, type Recurrence } from '../time/index.ts'
import { admit, type Closed, type Seat } from './admit.ts'
import { derivedUlid, timePart } from './ids.ts'
import { limits } from './limits.ts'
import {
  type Counts,
  type Cursor,
  type Definition,
  type HeldRun,
  isChecking,
  type OpenRun,
  type Outcome,
  type Run,
  type Trigger,
} from './schedule.ts'

/** What a look at a schedule came to. */
export type DueDecision =
  /** Nothing to do: not active, or nothing due yet. `armAt`: look again then. */
  { readonly kind: 'wait'; readonly armAt: Instant | null } | Advance

/** The cursor moves, in the same commit that writes the rows (decision 9). */
export interface Advance {
  readonly kind: 'advance'
  readonly cursor: Cursor
  readonly rows: readonly Run[]
  /** The row among `rows` whose message is put, or null. */
  readonly put: Run | null
  /** Decision 12, `cancel`: the schedule's running turns are flagged. */
  readonly cancel: readonly OpenRun[]
}

export interface Look {
  readonly cursor: Cursor
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly seat: Seat
  readonly now: Instant
}

/**
 * Decides what becomes of every nominal time that is due.
 *
 * One path for an alarm that is early (wait), on time, late (the misfire rule) or delivered again (nothing due any more).
 * The whole missed stretch becomes one row, counted and not enumerated.
 */
export function decideDue(look: Look): DueDecision {
  const { cursor, definition, recurrence, now } = look
  if (cursor.status !== 'active') return { kind: 'wait', armAt: null }
  if (definition.on != null && cursor.held === null) return decideTriggerDue(look)
  if (cursor.nextAt === null) return cursor.held === null ? { kind: 'wait', armAt: null } : lookLater(cursor, null, now)
  const first = cursor.nextAt
  const dueAt = dueAtOf(definition, recurrence, first)
  if (dueAt > now) {
    if (cursor.held !== null) return lookLater(cursor, dueAt, now)
    // Zone data may have moved it since it was armed: left as it is, it would be found due again and again.
    if (dueAt !== cursor.dueAt)
      return { kind: 'advance', cursor: { ...cursor, dueAt }, rows: [], put: null, cancel: [] }
    return { kind: 'wait', armAt: dueAt }
  }

  // Jitter is capped before the next nominal time, so at most the latest one can still be waiting for its own.
  const upTo = Math.min(now, definition.until ?? now)
  let latest = recurrence.last(first - 1, upTo)?.at ?? first
  if (latest > first && dueAtOf(definition, recurrence, latest) > now)
    latest = recurrence.last(first - 1, latest - 1)?.at ?? first
  const due = latest === first ? 1 : recurrence.count(first - 1, latest)

  const lateMs = now - dueAtOf(definition, recurrence, latest)
  const late = lateMs > limits.lateMs
  const gate = admit(look.seat, { makerAgent: definition.makerAgent })
  // A held run is decided as one that goes out, up to the point where it would.
  const hold = gate?.outcome === 'held' ? gate : null
  const closed = hold === null ? gate : null
  const made = { ...nothingMade, covered: latest, next: nextFrom(definition, recurrence, latest) }

  if (closed === null && !madeUp(definition, late, lateMs)) {
    // `misfire: skip` or a window that is over: the stretch is closed as missed, and nothing is put.
    return settle(look, {
      ...made,
      rows: [stretchRow(look, { first, latest, due, outcome: 'missed', reason: 'misfire' })],
    })
  }
  if (closed === null && !late && due > 1 && definition.misfire !== 'once') {
    // The latest is on time and goes out as usual; only what lies before it was missed.
    const before = recurrence.last(first - 1, latest - 1)?.at ?? first
    const gap = stretchRow(look, { first, latest: before, due: due - 1, outcome: 'missed', reason: 'misfire' })
    return fire(look, { ...made, rows: [gap] }, slotRow(look, { first: latest, latest, due: 1, late: false }), hold)
  }
  const row = slotRow(look, { first, latest, due, late })
  if (closed !== null)
    return settle(look, { ...made, rows: [closedRow(row, closed)], ends: closed.ends ? closed.reason : null })
  return fire(look, made, row, hold)
}

/** What happens brings a trigger's runs; time only ends it. */
function decideTriggerDue({ cursor, definition, recurrence, now }: Look): DueDecision {
  const over = definition.until !== null && definition.until < now
  const next = over ? disarmed(cursor, 'done', null) : armed(cursor, definition, recurrence, null)
  if (!over && next.dueAt === cursor.dueAt) return { kind: 'wait', armAt: next.dueAt }
  return { kind: 'advance', cursor: next, rows: [], put: null, cancel: [] }
}

/** What is held is looked at again each minute, whatever else is due (S0-30). */
function lookLater(cursor: Cursor, slotAt: Instant | null, now: Instant): DueDecision {
  const held = cursor.held!
  const next = held.lookAt > now ? held : { ...held, lookAt: now + limits.heldLookMs }
  const dueAt = slotAt === null ? next.lookAt : Math.min(slotAt, next.lookAt)
  if (next === held && dueAt === cursor.dueAt) return { kind: 'wait', armAt: dueAt }
  return { kind: 'advance', cursor: { ...cursor, held: next, dueAt }, rows: [], put: null, cancel: [] }
}

/** Its job brings a check's end; should that be lost, it is given up after a while. */
export function heldRun(row: Pick<Run, 'row' | 'gen' | 'reason'>, definition: Definition, now: Instant): HeldRun {
  const { check = null } = definition
  const checking = row.reason === checkingReason && check !== null ? ('script' in check ? 'script' : 'tool') : null
  const inMs = checking === null ? limits.heldLookMs : limits.jobWaitMs
  return { row: row.row, gen: row.gen, lookAt: now + inMs, check: checking }
}

/** Why a row is held whose check is under way. */
export const checkingReason = 'checking'

/** When a slot is to be looked at: its nominal time and its jitter (decision 19). */
export function dueAtOf(definition: Definition, recurrence: Recurrence, nominal: Instant): Instant {
  if (definition.jitterMs === 0) return nominal
  const next = recurrence.next(nominal)?.at ?? null
  return nominal + jitterOf({ seed: definition.id, nominal, jitterMs: definition.jitterMs, next })
}

/** The first nominal time after `after` within `until` (inclusive), or null: the rule has ended. */
export function nextFrom(definition: Definition, recurrence: Recurrence, after: Instant): Instant | null {
  const next = recurrence.next(after)?.at ?? null
  return next !== null && definition.until !== null && next > definition.until ? null : next
}

/** The cursor with this next time: armed, or done when none is left. */
export function armed(cursor: Cursor, definition: Definition, recurrence: Recurrence, next: Instant | null): Cursor {
  if (next === null && definition.on != null) {
    // Inclusive: it is over the moment after.
    const overAt = definition.until === null ? null : definition.until + 1
    const looks = [cursor.held?.lookAt, cursor.event?.lookAt, overAt].filter((at) => at != null)
    const dueAt = looks.length === 0 ? null : Math.min(...looks)
    return { ...cursor, status: 'active', reason: null, nextAt: null, dueAt }
  }
  if (next === null)
    // Its last run may wait for a word or its check: it is over when that has gone out.
    return cursor.held === null
      ? { ...cursor, status: 'done', reason: null, nextAt: null, dueAt: null }
      : { ...cursor, status: 'active', reason: null, nextAt: null, dueAt: cursor.held.lookAt }
  const dueAt = dueAtOf(definition, recurrence, next)
  return {
    ...cursor,
    status: 'active',
    reason: null,
    nextAt: next,
    dueAt: cursor.held === null ? dueAt : Math.min(dueAt, cursor.held.lookAt),
  }
}

/** Neither paused, done nor ended schedules have a next time. */
export const disarmed = (cursor: Cursor, status: 'paused' | 'done' | 'ended', reason: string | null): Cursor => ({
  ...cursor,
  status,
  reason,
  nextAt: null,
  ...(cursor.event == null ? {} : { event: null }),
  // A check that is under way has to end, whoever pauses meanwhile.
  dueAt: isChecking(cursor.held) && status !== 'ended' ? cursor.held.lookAt : null,
})

interface Made {
  readonly rows: readonly Run[]
  readonly next: Instant | null
  /** The latest nominal time that the rows cover. */
  readonly covered: Instant | null
  /** The reason with which the schedule ends, or null. */
  readonly ends: string | null
}
const nothingMade: Made = { rows: [], next: null, covered: null, ends: null }

/** Puts the row's message, unless what is open of this schedule forbids it. */
function fire(look: Look, made: Made, row: Run, hold: Closed | null): Advance {
  const overlap = overlapOf(look.cursor, look.definition, row.trigger)
  if (overlap.skip !== null)
    return settle(look, {
      ...made,
      rows: [...made.rows, { ...row, outcome: 'skipped', reason: overlap.skip, ...unsent }],
    })
  if (hold !== null)
    return settle(look, { ...made, rows: [...made.rows, { ...row, outcome: 'held', reason: hold.reason, ...unsent }] })
  if (look.definition.check != null) return settle(look, { ...made, rows: [...made.rows, checkedFirst(row)] })
  return { ...settle(look, { ...made, rows: [...made.rows, row] }), put: row, cancel: overlap.cancel }
}

/** A row that nothing goes out for. */
export const unsent = { message: null, session: null, flowRun: null } as const

/** S2-23: a row that stands in the ledger while its check looks. */
export const checkedFirst = (row: Run): Run => ({ ...row, ...unsent, outcome: 'held', reason: checkingReason })

/**
 * Decision 12. While the previous prompt waits, another never joins it; while its turn runs, the policy decides.
 *
 * Run now and retries ask for one run at once: they obey what waits, not what runs.
 */
export function overlapOf(
  cursor: Cursor,
  definition: Definition,
  trigger: Trigger,
): { readonly skip: string | null; readonly cancel: readonly OpenRun[] } {
  const none = { skip: null, cancel: [] }
  if (isChecking(cursor.held)) return { skip: 'previous_checking', cancel: [] }
  if (cursor.held !== null) return { skip: 'previous_held', cancel: [] }
  if (cursor.open.some((run) => run.turn === null)) return { skip: 'previous_waiting', cancel: [] }
  const running = cursor.open
  if (running.length === 0 || trigger === 'manual' || trigger === 'retry' || trigger === 'event') return none
  if (running.length >= limits.openRunsMax) return { skip: 'too_many_running', cancel: [] }
  switch (definition.overlap) {
    case 'skip':
      return { skip: 'previous_running', cancel: [] }
    case 'cancel':
      return { skip: null, cancel: running }
    case 'allow':
      return none
    case 'buffer':
      return none
  }
}

/** Moves the cursor past what the rows cover. */
function settle(look: Look, made: Made): Advance {
  const { cursor, definition, recurrence } = look
  let after = cursor
  for (const row of made.rows) after = counted(after, row)
  const fired = made.rows.some((row) => row.outcome === 'fired')
  const held = made.rows.find((row) => row.outcome === 'held')
  const fires = cursor.fires + (fired ? 1 : 0)
  after = { ...after, fires, covered: made.covered }
  if (held !== undefined) after = { ...after, held: heldRun(held, definition, look.now) }
  const stop = stopOf(definition, made, after)
  if (stop === null)
    return {
      kind: 'advance',
      cursor: armed(after, definition, recurrence, made.next),
      rows: made.rows,
      put: null,
      cancel: [],
    }
  // The latest slot may still wait for its jitter when the schedule stops: it has passed, and has a row like any other.
  const over = stopped({ ...look, cursor: { ...after, nextAt: made.next } }, stop.status, stop.reason)
  return { kind: 'advance', cursor: over.cursor, rows: [...made.rows, ...over.rows], put: null, cancel: [] }
}

/** Why a schedule is not armed again; null: it is. */
function stopOf(
  definition: Definition,
  made: Made,
  after: Cursor,
): { readonly status: 'ended' | 'done' | 'paused'; readonly reason: string | null } | null {
  if (made.ends !== null) return { status: 'ended', reason: made.ends }
  if ((made.next === null && after.held === null) || (definition.maxRuns !== null && after.fires >= definition.maxRuns))
    return { status: 'done', reason: null }
  return isWornOut(definition, after.failures) ? { status: 'paused', reason: 'failures' } : null
}

/** A schedule that stops, and the row of what has passed by then. @param reason  null: it has had the last of its runs */
export function stopped(
  o: Pick<Look, 'cursor' | 'definition' | 'recurrence' | 'now'>,
  status: 'paused' | 'done' | 'ended',
  reason: string | null,
): { readonly cursor: Cursor; readonly rows: readonly Run[] } {
  const covered = cover(o, reason ?? 'max_runs')
  return { cursor: disarmed(covered.cursor, status, reason), rows: covered.rows }
}

/**
 * The row for nominal times that have passed while the schedule was active and have none: they wait for their jitter, or nobody
 * has looked yet. Whoever stops or changes a schedule covers them first; a whole stretch is one row, counted.
 *
 * @param ahead  also the next time that lies ahead: decision 25, so that the ledger says why it will not be
 */
export function cover(
  o: Pick<Look, 'cursor' | 'definition' | 'recurrence' | 'now'>,
  reason: string,
  ahead = false,
): { readonly cursor: Cursor; readonly rows: readonly Run[] } {
  const { cursor, definition, recurrence, now } = o
  const first = cursor.nextAt
  if (cursor.status !== 'active' || first === null || (first > now && !ahead)) return { cursor, rows: [] }
  const upTo = Math.min(now, definition.until ?? now)
  const latest = recurrence.last(first - 1, upTo)?.at ?? first
  const due = latest === first ? 1 : recurrence.count(first - 1, latest)
  const row = stretchRow(o, { first, latest, due, outcome: 'skipped', reason })
  const shown = due === 1 ? { ...row, missedFrom: null, missed: 0 } : row
  return { cursor: { ...counted(cursor, shown), covered: latest }, rows: [shown] }
}

/**
 * The cursor with a new row's outcome in its counts, and among the open runs when its message was put.
 *
 * @param data  something stands beside the row that its message carries
 */
export function counted(cursor: Cursor, row: Run, data = false): Cursor {
  const counts: Counts = {
    ...cursor.counts,
    fired: cursor.counts.fired + (row.outcome === 'fired' ? 1 : 0),
    skipped: cursor.counts.skipped + (row.outcome === 'skipped' || row.outcome === 'blocked' ? 1 : 0),
    missed: cursor.counts.missed + (row.outcome === 'missed' ? 1 : 0),
  }
  const failures = row.outcome === 'missed' ? cursor.failures + 1 : cursor.failures
  if (row.outcome !== 'fired') return { ...cursor, counts, failures }
  const flowRun = row.flowRun ?? null
  const open: OpenRun = {
    row: row.row,
    gen: row.gen,
    at: row.at,
    session: flowRun ?? row.session!,
    turn: mayBegin(cursor) ? flowRun : null,
    data,
  }
  return { ...cursor, counts, failures, open: [...cursor.open, open] }
}

/** Nobody claims a flow's run: it begins by itself, unless it has to wait for the one before it. */
const mayBegin = (cursor: Cursor): boolean => !cursor.serial || cursor.open.every((run) => run.turn === null)

/** The flow's run that may begin now that another has ended; null: none waits, or one runs. */
export function nextToBegin(cursor: Cursor, definition: Definition): OpenRun | null {
  if (definition.kind !== 'flow' || !mayBegin(cursor)) return null
  return cursor.open.find((run) => run.turn === null) ?? null
}

/** Decision 22. */
export const isWornOut = (definition: Definition, failures: number): boolean =>
  definition.pauseAfterFailures !== null && failures >= definition.pauseAfterFailures

function madeUp(definition: Definition, late: boolean, lateMs: number): boolean {
  if (!late || definition.misfire === 'once') return true
  return definition.misfireWithinMs !== null && lateMs <= definition.misfireWithinMs
}

interface Stretch {
  readonly first: Instant
  readonly latest: Instant
  readonly due: number
}

function slotRow(look: Look, s: Stretch & { readonly late: boolean }): Run {
  const missed = s.late || s.due > 1
  // A catch-up begins where a look on time ends: exactly 60 s late was an outage, and yet missed nothing (decision 11).
  const madeUpFor = missed || look.now - dueAtOf(look.definition, look.recurrence, s.latest) >= limits.lateMs
  return newRun(look, {
    trigger: madeUpFor ? 'catch_up' : 'slot',
    nominal: s.latest,
    row: slotKey(s.latest),
    outcome: 'fired',
    missedFrom: missed ? s.first : null,
    missed: missed ? s.due : 0,
  })
}

const stretchRow = (
  look: Pick<Look, 'cursor' | 'definition' | 'now'>,
  s: Stretch & { readonly outcome: Outcome; readonly reason: string },
): Run => ({
  ...newRun(look, {
    trigger: 'slot',
    nominal: s.latest,
    row: slotKey(s.latest),
    outcome: s.outcome,
    missedFrom: s.first,
    missed: s.due,
  }),
  ...unsent,
  reason: s.reason,
})

const closedRow = (row: Run, closed: Closed): Run => ({
  ...row,
  ...unsent,
  outcome: closed.outcome,
  reason: closed.reason,
})

/** Rows sort by the time they stand for, so that the ledger reads in order. */
export const slotKey = (nominal: Instant): string => `R#${timePart(nominal)}`

/** A new row of the ledger, its ids derived from the schedule and the row. */
export function newRun(
  look: {
    readonly definition: Definition
    readonly cursor: Cursor
    readonly now: Instant
    readonly session?: string | undefined
  },
  o: {
    readonly trigger: Trigger
    readonly nominal: Instant
    readonly row: string
    readonly outcome: Outcome
    readonly missedFrom?: Instant | null
    readonly missed?: number
  },
): Run {
  const { id, kind } = look.definition
  const ulid = derivedUlid(o.nominal, `${id}|${o.row}`)
  const isFlow = kind === 'flow'
  return {
    id: `run_${ulid}`,
    schedule: id,
    row: o.row,
    gen: look.definition.gen,
    trigger: o.trigger,
    nominalAt: o.nominal,
    missedFrom: o.missedFrom ?? null,
    missed: o.missed ?? 0,
    at: look.now,
    outcome: o.outcome,
    reason: null,
    result: null,
    message: isFlow ? null : `msg_${ulid}`,
    turn: null,
    ...(isFlow ? { flowRun: `flr_${ulid}` } : {}),
    // A fresh session's id follows from its run (decision 23); the engine puts the conversation's session otherwise.
    session: isFlow ? null : (look.session ?? `ses_${ulid}`),
    endedAt: null,
  }
}

/** Where the next time of a schedule is counted from: now, or the latest time that has a row where a clock is behind. */
export const countFrom = (cursor: Cursor, now: Instant): Instant => Math.max(now, cursor.covered ?? now)
