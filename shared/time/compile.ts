import { readWall } from './clock-text.ts'
import { type CronRule, parseCron } from './cron.ts'
import { cronGapMs, walkedGapMs } from './frequency.ts'
import { compiledMax, latestInstant } from './limits.ts'
import { Remembered } from './remembered.ts'
import { lastByCount, rruleRule } from './rrule.ts'
import { parseRrule } from './rrule-text.ts'
import { Every, Never, Once } from './simple.ts'
import type { Instant, Recurrence, Rrule, Spec, WallMs } from './types.ts'
import { SpecInvalid } from './types.ts'
import { WallRecurrence } from './wall-recurrence.ts'
import { type Zone, zoneOf } from './zone.ts'

const compiled = new Remembered<Recurrence>(compiledMax)

/**
 * Makes a stored rule answer questions. Compiled rules are kept by content, so asking again costs a look-up.
 *
 * @throws SpecInvalid  for a spec that `parseSpec` did not make
 */
export function compile(spec: Spec): Recurrence {
  const same = bySpec.get(spec)
  if (same !== undefined) return same
  const made = byContent(spec)
  bySpec.set(spec, made)
  return made
}

/** A spec that is read again and again is often the very same object. */
const bySpec = new WeakMap<Spec, Recurrence>()

function byContent(spec: Spec): Recurrence {
  const key = keyOf(spec)
  const known = compiled.get(key)
  if (known !== undefined) return known
  const made = make(spec)
  compiled.set(key, made)
  return made
}

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

class RruleRecurrence extends WallRecurrence<Rrule> {
  private readonly most: number | null

  constructor(o: { spec: Spec; rule: Rrule; zone: Zone; start: WallMs; lastAt: Instant; most: number | null }) {
    super(o)
    this.most = o.most
  }

  protected override findSmallestGap(): number {
    return walkedGapMs(this.rule, { start: this.start, count: this.most, lastAt: this.lastAt, zone: this.zone })
  }
}

function make(spec: Spec): Recurrence {
  switch (spec.kind) {
    case 'at':
      return new Once(spec)
    case 'every':
      return new Every(spec)
    case 'cron':
      return new CronRecurrence(spec, parseCron(spec.cron), zoneOf(spec.tz))
    case 'rrule':
      return rruleRecurrence(spec)
    case 'event':
      return new Never(spec)
    default:
      return assertNever(spec)
  }
}

function rruleRecurrence(spec: Spec & { kind: 'rrule' }): Recurrence {
  const zone = zoneOf(spec.tz)
  const start = readWall(spec.dtstart)
  if (start === null) throw new SpecInvalid('dtstart', `Expected a local time, got ${JSON.stringify(spec.dtstart)}.`)
  const parts = parseRrule(spec.rrule)
  const rule = rruleRule(parts, start)
  const byCount = spec.lastAt ?? (parts.count === null ? null : lastByCount(rule, { start, count: parts.count, zone }))
  const lastAt = Math.min(byCount ?? latestInstant, parts.until ?? latestInstant)
  return new RruleRecurrence({ spec, rule, zone, start, lastAt, most: parts.count })
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
