import { type CronRule, readCron } from './cron.ts'
import { cronGapMs } from './frequency.ts'
import { compiledMax, latestInstant } from './limits.ts'
import { Remembered } from './remembered.ts'
import { Every, Never, Once } from './simple.ts'
import type { Recurrence, Spec } from './types.ts'
import { quoted, SpecInvalid } from './types.ts'
import { WallRecurrence } from './wall-recurrence.ts'
import { type Zone, zoneOf } from './zone.ts'

const compiled = new Remembered<Recurrence>(compiledMax)

/** Rules that take no more code than this: RRULEs are a third of all that there is about time, and few schedules have one. */
export type PlainSpec = Exclude<Spec, { kind: 'rrule' }>

/** `compile` for these. @throws SpecInvalid for a spec that `parseSpec` did not make */
export const compilePlain = (spec: PlainSpec): Recurrence => kept(spec, make)

/** What was made of a spec, which is kept by content: asking again costs a look-up. */
export function kept<S extends Spec>(spec: S, make: (spec: S) => Recurrence): Recurrence {
  const same = bySpec.get(spec)
  if (same !== undefined) return same
  const key = keyOf(spec)
  const made = compiled.get(key) ?? make(spec)
  compiled.set(key, made)
  bySpec.set(spec, made)
  return made
}

/** A spec that is read again and again is often the very same object. */
const bySpec = new WeakMap<Spec, Recurrence>()

/** Compiles a cron that is read already, and keeps it: a new schedule costs one reading. */
export function compileCron(spec: Spec & { kind: 'cron' }, rule: CronRule): Recurrence {
  const key = keyOf(spec)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const made = new CronRecurrence(spec, rule, zoneOf(spec.tz))
  compiled.set(key, made)
  return made
}

export class CronRecurrence extends WallRecurrence<CronRule> {
  constructor(spec: Spec, rule: CronRule, zone: Zone) {
    super({ spec, rule, zone, start: -Infinity, lastAt: latestInstant })
  }

  protected override findSmallestGap(): number {
    return cronGapMs(this.rule)
  }
}

function make(spec: PlainSpec): Recurrence {
  switch (spec.kind) {
    case 'at':
      return new Once(spec)
    case 'every':
      return new Every(spec)
    case 'cron':
      return new CronRecurrence(spec, ruleOf(spec.cron), zoneOf(spec.tz))
    case 'event':
      return new Never(spec)
    default:
      return assertNever(spec)
  }
}

function ruleOf(cron: string): CronRule {
  const rule = readCron(cron)
  if (rule === null) throw new SpecInvalid('cron', `Expected a cron of five fields, got ${quoted(cron)}.`)
  return rule
}

function keyOf(spec: Spec): string {
  switch (spec.kind) {
    case 'cron':
      return `c${spec.cron}|${spec.tz}`
    case 'at':
      return `a${spec.at}|${spec.tz}`
    case 'every':
      return `e${spec.everyMs}|${spec.anchor}|${spec.at}|${spec.tz}`
    case 'rrule':
      return `r${spec.rrule}|${spec.dtstart}|${spec.lastAt}|${spec.tz}`
    case 'event':
      return `v${spec.tz}`
    default:
      return assertNever(spec)
  }
}

function assertNever(spec: never): never {
  throw new SpecInvalid('', `Expected a spec of kind at, every, cron, rrule or event, got ${JSON.stringify(spec)}.`)
}
