/** Epoch milliseconds. */
export type Instant = number

/** Wall-clock milliseconds: what the local clock shows, written as if it were UTC. Never mixed with an `Instant`. */
export type WallMs = number

/** Why an occurrence does not run at the wall time that its rule names, or runs once although that time comes twice. */
export type Adjusted = 'gap' | 'fold' | null

export interface Occurrence {
  at: Instant
  adjusted: Adjusted
}

/**
 * What is stored of a rule: plain JSON, exactly one kind.
 * Written by `parseSpec`, read by `compile`, deleted with the schedule that holds it.
 */
export type Spec =
  /** `at`: 'YYYY-MM-DDTHH:mm[:ss[.SSS]]', wall time in `tz`, or the same with `Z` or an offset, which then wins. */
  | { kind: 'at'; at: string; tz: string }
  /** Slots `anchor + N * everyMs`; `at` null: the anchor is the creation, and is no slot itself. */
  | { kind: 'every'; everyMs: number; anchor: Instant; at: string | null; tz: string }
  | { kind: 'cron'; cron: string; tz: string }
  /** `rrule` without `RRULE:`; `dtstart` a wall time in `tz`; `lastAt` is what COUNT came to, null without COUNT. */
  | { kind: 'rrule'; rrule: string; dtstart: string; tz: string; lastAt: Instant | null }
  /** No time of its own: something that happens brings it. `parseSpec` makes none. */
  | { kind: 'event'; tz: string }

export interface SpecInput {
  at?: string | null
  every?: string | number | null
  cron?: string | null
  rrule?: string | null
  dtstart?: string | null
  tz?: string | null
}

export interface Recurrence {
  readonly spec: Spec
  /**
   * Finds the first occurrence.
   *
   * @param after  exclusive
   * @returns      null when none comes within 40 years of `after` or of the rule's start, whichever is later
   * @throws       never
   */
  next(after: Instant): Occurrence | null
  /** Counts the occurrences in (after, upTo]; the cost follows the days of the stretch at worst. Throws never. */
  count(after: Instant, upTo: Instant): number
  /** Finds the latest occurrence in (after, upTo], null for none; the cost does not follow the stretch. Throws never. */
  last(after: Instant, upTo: Instant): Occurrence | null
  /** The smallest gap between two wall times that the rule can name, ms; Infinity when it names a single one. */
  smallestGapMs(): number
}

/**
 * A set of wall times, whole seconds, without zone. Cron and RRULE differ only in this.
 * `next` returns `Infinity` for none: it compares as "after everything".
 */
export interface WallRule {
  /** The least wall time >= `from`; may give up, with `Infinity`, once past `until`, which is finite. */
  next(from: WallMs, until: WallMs): WallMs
  /** How many wall times in [from, to]. */
  count(from: WallMs, to: WallMs): number
}

/** `steps`: how much searching it has done so far, so that a walk through it can be bounded. */
export interface Rrule extends WallRule {
  readonly steps: number
}

/** Refused: a rule, zone or time that is not valid. Mend the request: `detail` says what was expected, got, and what to write. */
export class SpecInvalid extends Error {
  readonly detail: string
  /** The field that is wrong: 'cron', 'rrule', 'dtstart', 'at', 'every', 'tz', or '' for their combination. */
  readonly path: string

  constructor(path: string, detail: string) {
    super(detail)
    this.name = 'SpecInvalid'
    this.path = path
    this.detail = detail
  }
}

/** Quotes what somebody wrote, clipped and on one line, for a detail. */
export function quoted(text: string): string {
  const clipped = text.length > 60 ? `${text.slice(0, 57)}...` : text
  return JSON.stringify(clipped)
}
