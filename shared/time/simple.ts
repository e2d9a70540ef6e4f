import { readAt } from './clock-text.ts'
import type { Instant, Occurrence, Recurrence, Spec } from './types.ts'
import { quoted, SpecInvalid } from './types.ts'
import { zoneOf } from './zone.ts'

/** One time. */
export class Once implements Recurrence {
  readonly spec: Spec
  private readonly only: Occurrence

  constructor(spec: Spec & { kind: 'at' }) {
    this.spec = spec
    this.only = atOccurrence(spec.at, spec.tz)
  }

  next(after: Instant): Occurrence | null {
    return this.only.at > after ? { ...this.only } : null
  }

  count(after: Instant, upTo: Instant): number {
    return this.only.at > after && this.only.at <= upTo ? 1 : 0
  }

  last(after: Instant, upTo: Instant): Occurrence | null {
    return this.count(after, upTo) === 1 ? { ...this.only } : null
  }

  smallestGapMs(): number {
    return Infinity
  }
}

/** No time at all. */
export class Never implements Recurrence {
  readonly spec: Spec

  constructor(spec: Spec & { kind: 'event' }) {
    this.spec = spec
  }

  next(): null {
    return null
  }

  count(): number {
    return 0
  }

  last(): null {
    return null
  }

  smallestGapMs(): number {
    return Infinity
  }
}

/** Elapsed time: anchor, anchor + N, anchor + 2N, …; the anchor itself only when it was given as `at`. The grid never moves. */
export class Every implements Recurrence {
  readonly spec: Spec
  private readonly everyMs: number
  private readonly anchor: Instant
  private readonly first: Instant
  private readonly firstAdjusted: Occurrence['adjusted']

  constructor(spec: Spec & { kind: 'every' }) {
    if (!(Number.isSafeInteger(spec.everyMs) && spec.everyMs > 0 && Number.isSafeInteger(spec.anchor)))
      throw new SpecInvalid('every', `Expected a whole number of ms above 0, got ${spec.everyMs} from ${spec.anchor}.`)
    this.spec = spec
    this.everyMs = spec.everyMs
    this.anchor = spec.anchor
    this.first = spec.at === null ? spec.anchor + spec.everyMs : spec.anchor
    // The anchor is what counts; a zone whose rules have changed since moves nothing.
    const given = spec.at === null ? null : atOccurrence(spec.at, spec.tz)
    this.firstAdjusted = given?.at === spec.anchor ? given.adjusted : null
  }

  next(after: Instant): Occurrence | null {
    if (Number.isNaN(after)) return null
    const at = after < this.first ? this.first : this.slotUpTo(after) + this.everyMs
    return at <= Number.MAX_SAFE_INTEGER ? this.occurrence(at) : null
  }

  count(after: Instant, upTo: Instant): number {
    const last = this.slotUpTo(upTo)
    const before = Math.max(this.slotUpTo(after), this.first - this.everyMs)
    return last > before ? Math.round((last - before) / this.everyMs) : 0
  }

  last(after: Instant, upTo: Instant): Occurrence | null {
    const at = this.slotUpTo(upTo)
    return at > after && at >= this.first ? this.occurrence(at) : null
  }

  smallestGapMs(): number {
    return this.everyMs
  }

  private slotUpTo(at: Instant): Instant {
    return this.anchor + Math.floor((at - this.anchor) / this.everyMs) * this.everyMs
  }

  private occurrence(at: Instant): Occurrence {
    return { at, adjusted: at === this.anchor ? this.firstAdjusted : null }
  }
}

/** @throws SpecInvalid  at 'at' or 'tz' */
export function atOccurrence(at: string, tz: string): Occurrence {
  const zone = zoneOf(tz)
  const read = readAt(at)
  if (read === null)
    throw new SpecInvalid(
      'at',
      `Expected a time such as "2026-11-02T09:00" (local in ${tz}) or "2026-11-02T09:00:00+01:00", got ${quoted(at)}. Write the date, T, hours and minutes, of a day that exists.`,
    )
  return read.offset === null ? zone.occurrence(read.wall) : { at: read.wall - read.offset, adjusted: null }
}
