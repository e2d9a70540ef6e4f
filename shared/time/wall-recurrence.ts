import { dayMs } from './calendar.ts'
import { earliestInstant, horizonDays, latestInstant } from './limits.ts'
import { lastOf } from './search.ts'
import type { Instant, Occurrence, Recurrence, Spec, WallMs, WallRule } from './types.ts'
import type { Zone } from './zone.ts'

/**
 * A set of wall times in a zone, under decision 1.
 *
 * A wall time in a gap runs at the first instant after it. Several of them, and the time that the clock shows then, are
 * one occurrence; `adjusted` is 'gap' unless the rule names that shown time itself, for then nothing was moved for it.
 * A wall time that comes twice runs at the first, 'fold', so nothing runs while the clock repeats itself.
 * Differs from RFC 5545 3.3.10: it would leave out what falls in a gap.
 */
export abstract class WallRecurrence<R extends WallRule> implements Recurrence {
  readonly spec: Spec
  protected readonly rule: R
  protected readonly zone: Zone
  /** Nothing before it. */
  protected readonly start: WallMs
  /** Inclusive. */
  protected readonly lastAt: Instant
  private gapMs = -1

  constructor(o: { spec: Spec; rule: R; zone: Zone; start: WallMs; lastAt: Instant }) {
    this.spec = o.spec
    this.rule = o.rule
    this.zone = o.zone
    this.start = o.start
    this.lastAt = o.lastAt
  }

  next(after: Instant): Occurrence | null {
    if (!(after < this.lastAt)) return null
    let wall = this.zone.latestWall(after > earliestInstant ? after : earliestInstant) + 1
    if (wall < this.start) wall = this.start
    const found = this.rule.next(wall, wall + horizonDays * dayMs)
    if (found === Infinity) return null
    const occurrence = this.zone.occurrence(found)
    if (occurrence.at > this.lastAt) return null
    if (occurrence.adjusted === 'gap') this.unlessNamed(occurrence)
    return occurrence
  }

  count(after: Instant, upTo: Instant): number {
    const [from, to] = this.walls(after, upTo)
    if (!(from <= to)) return 0
    let n = this.rule.count(from, to)
    if (n < 2) return n
    for (const gap of this.zone.gaps(Math.max(after, this.zone.instantOf(from) - 1), Math.min(upTo, this.lastAt))) {
      const collapsed = this.rule.count(Math.max(from, gap.wallFrom), gap.wallTo)
      if (collapsed > 1) n -= collapsed - 1
    }
    return n
  }

  last(after: Instant, upTo: Instant): Occurrence | null {
    const [from, to] = this.walls(after, upTo)
    const found = from <= to ? lastOf(this.rule, from, to) : -Infinity
    if (found === -Infinity) return null
    const occurrence = this.zone.occurrence(found)
    if (occurrence.adjusted === 'gap') this.unlessNamed(occurrence)
    return occurrence
  }

  smallestGapMs(): number {
    if (this.gapMs === -1) this.gapMs = this.findSmallestGap()
    return this.gapMs
  }

  /** The wall times in [from, to) that the rule names, the first `most` of them. */
  named(from: WallMs, to: WallMs, most: number): WallMs[] {
    const walls: WallMs[] = []
    for (let wall = Math.max(from, this.start); walls.length < most; wall++) {
      wall = this.rule.next(wall, to)
      if (!(wall < to)) break
      walls.push(wall)
    }
    return walls
  }

  protected abstract findSmallestGap(): number

  /** The wall times, first and last, whose instants lie in (after, upTo]. */
  private walls(after: Instant, upTo: Instant): [WallMs, WallMs] {
    const end = Math.min(upTo, this.lastAt, latestInstant)
    const begin = Math.max(after, earliestInstant)
    if (!(begin < end)) return [0, -1]
    return [Math.max(this.zone.latestWall(begin) + 1, this.start), this.zone.latestWall(end)]
  }

  private unlessNamed(occurrence: Occurrence): void {
    const shown = this.zone.wallAt(occurrence.at)
    if (this.rule.next(shown, shown) === shown) occurrence.adjusted = null
  }
}
