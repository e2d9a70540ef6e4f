import { readAt, readWall, wallText } from './clock-text.ts'
import { compile } from './compile.ts'
import { compileCron } from './compile-plain.ts'
import { normalisedCron, readCron } from './cron.ts'
import { cronInvalid } from './cron-refusal.ts'
import { parseDuration } from './duration.ts'
import { lastByCount, rruleRule } from './rrule.ts'
import { readCalendarText } from './rrule-lines.ts'
import { normalisedRrule, parseRrule } from './rrule-text.ts'
import { atOccurrence } from './simple.ts'
import type { Instant, Spec, SpecInput, WallMs } from './types.ts'
import { quoted, SpecInvalid } from './types.ts'
import { zoneOf } from './zone.ts'
import { requireZoneName } from './zone-names.ts'

/**
 * Makes what is stored of what somebody wrote, checked and normalised.
 *
 * @param input  one of at/every, cron, rrule; `at` and `every` combine; null is as good as left out
 * @param now    the creation: the anchor of `every` alone, the start of an RRULE without one
 * @returns      a spec that has occurrences; whether they are past is the caller's question (`next(now) === null`)
 * @throws SpecInvalid
 */
export function parseSpec(input: SpecInput, now: Instant): Spec {
  const { at, every, cron, rrule, dtstart } = input
  const isSimple = at != null || every != null
  const kinds = (isSimple ? 1 : 0) + (cron != null ? 1 : 0) + (rrule != null ? 1 : 0)
  if (kinds !== 1) throw notOneKind(input)
  if (dtstart != null && rrule == null) throw startWithoutEffect(cron != null)
  const tz = requireZoneName(text(input.tz ?? 'UTC', 'tz'))
  if (cron != null) return cronSpec(text(cron, 'cron'), tz, now)
  if (rrule != null) {
    const start = dtstart == null ? null : text(dtstart, 'dtstart')
    return rruleSpec({ rrule: text(rrule, 'rrule'), dtstart: start, tz }, now)
  }
  return simpleSpec({ at: at == null ? null : text(at, 'at'), every: every ?? null, tz }, now)
}

function notOneKind(input: SpecInput): SpecInvalid {
  const kinds: string[] = []
  if (input.at != null || input.every != null) kinds.push('at/every')
  if (input.cron != null) kinds.push('cron')
  if (input.rrule != null) kinds.push('rrule')
  if (kinds.length === 0)
    return new SpecInvalid('', 'Expected a time, got none. Write one of "at" and/or "every", "cron", "rrule".')
  const got = kinds.join(' and ')
  return new SpecInvalid(
    '',
    `Expected one of at/every, cron, rrule, got ${got}. Leave all but one out, or make several schedules.`,
  )
}

function startWithoutEffect(isCron: boolean): SpecInvalid {
  const instead = isCron ? 'Leave it out, or write an rrule.' : 'Use "at" for the first time.'
  return new SpecInvalid('dtstart', `"dtstart" has no effect with ${isCron ? 'cron' : 'at/every'}. ${instead}`)
}

/** Input comes from JSON: what should be a text may be anything. */
function text(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw new SpecInvalid(path, `Expected "${path}" to be a text, got ${typeof value}. Write it in quotes.`)
}

function cronSpec(cron: string, tz: string, now: Instant): Spec {
  const rule = readCron(cron)
  if (rule === null) throw cronInvalid(cron)
  const spec = { kind: 'cron', cron: normalisedCron(cron), tz } as const
  if (compileCron(spec, rule).next(now) === null)
    throw new SpecInvalid(
      'cron',
      `The cron ${quoted(cron)} never comes: no month it names has such a day in the next 40 years. Write a day that exists, e.g. "0 0 28 2 *".`,
    )
  return spec
}

function simpleSpec(input: { at: string | null; every: string | number | null; tz: string }, now: Instant): Spec {
  const { tz } = input
  const at = input.at === null ? null : atOccurrence(input.at, tz)
  const read = input.at === null ? null : readAt(input.at)!
  if (read !== null && (read.wall < 0 || at!.at < 0))
    throw new SpecInvalid('at', `Expected a time after 1970, got ${quoted(input.at!)}. Write a time to come.`)
  const atText = read === null ? null : wallText(read.wall) + offsetSuffix(read.offset)
  if (input.every === null) return { kind: 'at', at: atText!, tz }
  const everyMs = typeof input.every === 'string' || typeof input.every === 'number' ? parseDuration(input.every) : null
  if (everyMs === null || everyMs === 0)
    throw new SpecInvalid(
      'every',
      `Expected a length of time, got ${quoted(String(input.every))}. Write e.g. "30m", "PT30M", "2h", "1d", or a number of minutes.`,
    )
  return { kind: 'every', everyMs, anchor: at?.at ?? now, at: atText, tz }
}

function offsetSuffix(offset: number | null): string {
  if (offset === null) return ''
  if (offset === 0) return 'Z'
  const minutes = Math.abs(offset) / 60_000
  const two = (n: number) => String(n).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function rruleSpec(input: { rrule: string; dtstart: string | null; tz: string }, now: Instant): Spec {
  const lines = readCalendarText(input.rrule)
  // What is written with the start belongs to it, and wins over the zone beside it, as the offset of an `at` does.
  const tz = lines.tz === null ? input.tz : requireZoneName(lines.tz)
  const zone = zoneOf(tz)
  const parts = parseRrule(lines.rule)
  const inText = lines.dtstart === null ? null : startOf(lines.dtstart, tz, 'rrule')
  const beside = input.dtstart === null ? null : startOf(input.dtstart, tz, 'dtstart')
  if (inText !== null && beside !== null && inText !== beside)
    throw new SpecInvalid(
      'dtstart',
      `The start stands twice: ${quoted(lines.dtstart!)} in the rule and ${quoted(input.dtstart!)} in dtstart. Leave one out.`,
    )
  const start = inText ?? beside ?? Math.floor(zone.wallAt(now) / 60_000) * 60_000
  const rule = rruleRule(parts, start)
  const lastAt = parts.count === null ? null : lastByCount(rule, { start, count: parts.count, zone })
  const spec: Spec = { kind: 'rrule', rrule: normalisedRrule(lines.rule), dtstart: wallText(start), tz, lastAt }
  const recurrence = compile(spec)
  const first = recurrence.next(zone.instantOf(start) - 1)
  if (first === null) {
    if (parts.until !== null && parts.until < zone.instantOf(start))
      throw new SpecInvalid(
        'rrule',
        `UNTIL lies before the start ${wallText(start)} in ${tz}. Write a later UNTIL, or an earlier dtstart.`,
      )
    throw new SpecInvalid(
      'rrule',
      `The rule ${quoted(lines.rule)} never comes within 40 years of ${wallText(start)}. Write days and times that meet, e.g. "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28".`,
    )
  }
  const hasEnd = lastAt !== null || parts.until !== null
  if (!hasEnd && recurrence.next(now) === null)
    throw new SpecInvalid(
      'rrule',
      `The rule ${quoted(lines.rule)} does not come within the next 40 years. Write a smaller INTERVAL, or a later dtstart.`,
    )
  return spec
}

/** A start as wall time in the zone; with Z or an offset it is an instant, whose wall time counts. */
function startOf(written: string, tz: string, path: string): WallMs {
  const read = readAt(written)
  const wall = read?.offset != null ? zoneOf(tz).wallAt(read.wall - read.offset) : readWall(written)
  if (wall === null)
    throw new SpecInvalid(
      path,
      `Expected the start as a local time, got ${quoted(written)}. Write e.g. "2026-01-01T09:00", of a day that exists.`,
    )
  if (wall < 0 || wall % 1000 !== 0)
    throw new SpecInvalid(
      path,
      `Expected a start after 1970 in whole seconds, got ${quoted(written)}. Write e.g. "2026-01-01T09:00".`,
    )
  return wall
}
