import { readWall } from './clock-text.ts'
import { compilePlain, kept } from './compile-plain.ts'
import { walkedGapMs } from './frequency.ts'
import { latestInstant } from './limits.ts'
import { lastByCount, rruleRule } from './rrule.ts'
import { parseRrule } from './rrule-text.ts'
import type { Instant, Recurrence, Rrule, Spec, WallMs } from './types.ts'
import { SpecInvalid } from './types.ts'
import { WallRecurrence } from './wall-recurrence.ts'
import { type Zone, zoneOf } from './zone.ts'

/**
 * Makes a stored rule answer questions. Compiled rules are kept by content, so asking again costs a look-up.
 *
 * @throws SpecInvalid  for a spec that `parseSpec` did not make
 */
export const compile = (spec: Spec): Recurrence =>
  spec.kind === 'rrule' ? kept(spec, rruleRecurrence) : compilePlain(spec)

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
