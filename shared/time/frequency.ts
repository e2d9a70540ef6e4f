import { members } from './bits.ts'
import { dayNumber } from './calendar.ts'
import type { CronRule } from './cron.ts'
import { noDay } from './days.ts'
import { gapOccurrencesMax, horizonDays, walkStepsMax } from './limits.ts'
import type { Instant, Rrule, WallMs } from './types.ts'
import type { Zone } from './zone.ts'

/** Decision 7 for cron: the smallest gap between two wall times that it can name, exactly. Infinity for a single one. */
export function cronGapMs(rule: CronRule): number {
  const minutes = minutesOf(rule)
  let smallest = Infinity
  for (let i = 1; i < minutes.length; i++) smallest = Math.min(smallest, minutes[i]! - minutes[i - 1]!)
  const overnight = minutes[0]! + 1440 - minutes[minutes.length - 1]!
  // Days apart matter only where the night between two of them may be the smallest gap.
  if (overnight < smallest) smallest = Math.min(smallest, overnight + (smallestDayGap(rule) - 1) * 1440)
  return smallest * 60_000
}

/**
 * Decision 7 for RRULE: over the first occurrences, before any zone.
 * Steps are bounded, so what is written to be slow is judged over fewer.
 */
export function walkedGapMs(
  rule: Rrule,
  o: { start: WallMs; count: number | null; lastAt: Instant; zone: Zone },
): number {
  let smallest = Infinity
  const enough = rule.steps + walkStepsMax
  const most = Math.min(o.count ?? Infinity, gapOccurrencesMax)
  let before = -Infinity
  let wall = o.start
  for (let n = 0; n < most && rule.steps < enough; n++) {
    wall = rule.next(wall, wall + horizonDays * 86_400_000)
    if (wall === Infinity || o.zone.instantOf(wall) > o.lastAt) break
    smallest = Math.min(smallest, wall - before)
    before = wall
    wall += 1000
  }
  return smallest
}

function minutesOf(rule: CronRule): number[] {
  const { hours, minutesLow, minutesHigh } = rule.fields
  return members(hours).flatMap((h) => members(minutesLow, minutesHigh).map((m) => h * 60 + m))
}

/**
 * The fewest days between two days of a cron. The calendar repeats after 400 years, and a gap of up to a month after 28,
 * which hold every kind of year beside every kind that can follow it.
 */
function smallestDayGap(rule: CronRule): number {
  const start = dayNumber(2000, 1, 1)
  const repeats = start + 146_097 + 2 * horizonDays
  let smallest = Infinity
  let before = rule.days.next(start, repeats)
  while (smallest > 1) {
    const day = rule.days.next(before + 1, repeats)
    if (day === noDay) break
    smallest = Math.min(smallest, day - before)
    if (smallest <= 31 && day - start > 29 * 366) break
    before = day
  }
  return smallest
}
