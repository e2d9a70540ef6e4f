import {
  compile,
  formatInstant,
  parseDuration,
  parseInstant,
  parseSpec,
  type Recurrence,
  type Spec,
  SpecInvalid,
} from '../time/index.ts'
import { limits } from './limits.ts'
import { Refused } from './refused.ts'
import type { Definition, Misfire } from './schedule.ts'

/** The time of a schedule as a caller writes it. Null: not given. */
export interface TimeFields {
  readonly at: string | null
  readonly every: string | number | null
  readonly cron: string | null
  readonly rrule: string | null
  readonly dtstart: string | null
  readonly tz: string | null
}

export const timeFieldNames = ['at', 'every', 'cron', 'rrule', 'dtstart', 'tz'] as const
type TimePatch = { readonly [name in (typeof timeFieldNames)[number]]?: TimeFields[name] | undefined }

export const timeFields = (given: TimePatch): TimeFields => ({
  at: given.at ?? null,
  every: given.every ?? null,
  cron: given.cron ?? null,
  rrule: given.rrule ?? null,
  dtstart: given.dtstart ?? null,
  tz: given.tz ?? null,
})

export function timeFieldsOf(definition: Definition): TimeFields {
  const { spec } = definition
  const none = timeFields({ tz: spec.tz })
  switch (spec.kind) {
    case 'at':
      return { ...none, at: spec.at }
    case 'every':
      return { ...none, at: spec.at, every: definition.every }
    case 'cron':
      return { ...none, cron: spec.cron }
    case 'rrule':
      return { ...none, rrule: spec.rrule, dtstart: spec.dtstart }
    case 'event':
      return none
  }
}

/** PATCH: of `cron | rrule | at/every` a new one replaces the old, `at` and `every` merge, the zone stays, null clears. */
export function mergeTime(old: TimeFields, patch: TimePatch): TimeFields {
  const given = (name: keyof TimeFields): boolean => patch[name] !== undefined
  const replaces = (name: 'cron' | 'rrule' | 'at' | 'every'): boolean => given(name) && patch[name] !== null
  const taken = { ...old, ...Object.fromEntries(timeFieldNames.filter(given).map((n) => [n, patch[n]])) } as TimeFields
  const kept = timeFields({ tz: taken.tz })
  const fresh = timeFieldNames.filter(
    (n): n is 'cron' | 'rrule' | 'at' | 'every' => n !== 'tz' && n !== 'dtstart' && replaces(n),
  )
  if (fresh.length === 0) return taken
  const dtstart = given('dtstart') ? taken.dtstart : null
  const interval = fresh.includes('at') || fresh.includes('every')
  const wasInterval = old.cron === null && old.rrule === null
  return {
    ...kept,
    cron: fresh.includes('cron') ? taken.cron : null,
    rrule: fresh.includes('rrule') ? taken.rrule : null,
    at: interval && (wasInterval || given('at')) ? taken.at : null,
    every: interval && (wasInterval || given('every')) ? taken.every : null,
    dtstart:
      fresh.includes('rrule') && !given('dtstart') && !/dtstart/i.test(taken.rrule ?? '') ? old.dtstart : dtstart,
  }
}

/** Parses and checks a time. @throws Refused `schedule_invalid`; `schedule_interval_invalid` for a negative interval */
export function specOf(fields: TimeFields, now: number): Spec {
  const { every } = fields
  // Nothing, and less than nothing, is a length too, only none that may be.
  if (typeof every === 'number' && every <= 0) throw intervalFault('prompt', every * limits.minuteMs)
  if (typeof every === 'string' && parseDuration(every) === 0) throw intervalFault('prompt', 0)
  try {
    return parseSpec(fields, now)
  } catch (error) {
    if (error instanceof SpecInvalid)
      throw new Refused('schedule_invalid', error.detail, [{ path: error.path, message: error.detail }])
    throw error
  }
}

/** Why a valid rule may not be used, or null: too frequent, or an interval outside its bounds. */
export function frequencyFault(
  spec: Spec,
  kind: Definition['kind'],
  recurrence: Recurrence = compile(spec),
): Refused | null {
  if (spec.kind === 'every') {
    const within = spec.everyMs >= leastInterval(kind) && spec.everyMs <= limits.everyMsMax
    return within ? null : intervalFault(kind, spec.everyMs)
  }
  if (spec.kind === 'at') return null
  const least = kind === 'flow' ? limits.flowGapMsMin : limits.ruleGapMsMin
  const gap = recurrence.smallestGapMs()
  if (gap >= least) return null
  return new Refused(
    'schedule_too_frequent',
    `this rule names times only ${minutesText(gap)} apart; the smallest gap allowed is ${least / limits.minuteMs} minutes. For work that must follow an event use a trigger (POST /v1/triggers): it fires on change`,
  )
}

const leastInterval = (kind: Definition['kind']): number => (kind === 'flow' ? limits.flowGapMsMin : limits.everyMsMin)

const intervalFault = (kind: Definition['kind'], ms: number): Refused =>
  new Refused(
    'schedule_interval_invalid',
    `expected an interval of ${leastInterval(kind) / limits.minuteMs} minutes to 7 days, got ${minutesText(ms)}. ${
      ms < leastInterval(kind)
        ? 'To follow an event, arm a monitor or a trigger on it'
        : 'For longer ones use a cron or RRULE'
    }`,
    [{ path: 'every', message: 'is outside its bounds' }],
  )

/** Decision 4: what is past, or over before it begins, is not stored. */
export function futureFault(recurrence: Recurrence, now: number, until: number | null): Refused | null {
  const next = recurrence.next(now)
  if (next !== null && (until === null || next.at <= until)) return null
  const { spec } = recurrence
  if (next === null && spec.kind === 'at')
    return new Refused(
      'schedule_invalid',
      `expected a time to come, got ${spec.at} (${spec.tz}): it is past. Now is ${formatInstant(now)}`,
      [{ path: 'at', message: 'is past' }],
    )
  if (next === null)
    return new Refused(
      'schedule_invalid',
      `this rule names no time after ${formatInstant(now)}: it is over, or its dates never come`,
    )
  return new Refused(
    'schedule_invalid',
    `the first time would be ${formatInstant(next.at)}, after "until" ${formatInstant(until!)}: it would never run`,
    [{ path: 'until', message: 'is before the first time' }],
  )
}

/** A past `at` is refused although its interval would go on: its first time would never be (decision 4). */
export function pastStartFault(spec: Spec, now: number): Refused | null {
  if (spec.kind !== 'every' || spec.at === null || spec.anchor > now) return null
  return new Refused(
    'schedule_invalid',
    `expected "at" to come, got ${spec.at} (${spec.tz}): it is past. Now is ${formatInstant(now)}`,
    [{ path: 'at', message: 'is past' }],
  )
}

/** @throws Refused `body_invalid` naming `path` */
export function durationMs(text: string | number, path: string, most: number): number {
  const ms = parseDuration(text)
  const fault =
    ms === null
      ? 'expected a duration such as "30m", "PT30M" or a number of minutes'
      : ms > most
        ? `expected at most ${minutesText(most)}, got ${minutesText(ms)}`
        : null
  if (fault !== null) throw bodyFault(path, fault)
  return ms!
}

/** @throws Refused `body_invalid` naming `path` */
export function instantOf(text: string, path: string): number {
  const at = parseInstant(text)
  if (at === null)
    throw bodyFault(
      path,
      `expected an instant such as 2026-11-02T09:00:00Z, with its offset, got "${text.slice(0, 40)}"`,
    )
  return at
}

export const bodyFault = (path: string, message: string): Refused =>
  new Refused('body_invalid', `${path}: ${message}`, [{ path, message }])

export const misfireWithinMs = (misfire: Misfire): number | null =>
  typeof misfire === 'object' ? durationMs(misfire.within, 'misfire.within', limits.retentionMs) : null

function minutesText(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`
  return ms % 86_400_000 === 0 && ms > 86_400_000 ? `${ms / 86_400_000} days` : `${Math.round(ms / 600) / 100} minutes`
}
