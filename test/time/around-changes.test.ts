import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile, type Occurrence, type Recurrence, type Spec, SpecInvalid } from '../../shared/time/index.ts'
import { anyRule, nightCron, pickingRule } from './generators.ts'
import { cronNames, type Rule, ruleNames, ruleText, type Stretch, stretches, type Walked, walk } from './reference.ts'

const all = stretches()
const stretch = fc.constantFrom(...all)
const minutes = all[0]!.walls.length

/** Everything in a stretch but its first minute, asked one by one. */
function listed(recurrence: Recurrence, { from }: Stretch): Occurrence[] {
  const found: Occurrence[] = []
  const end = from + (minutes - 1) * 60_000
  for (let o = recurrence.next(from); o !== null && o.at <= end; o = recurrence.next(o.at)) found.push(o)
  return found
}

function agrees(recurrence: Recurrence, s: Stretch, expected: Walked[], moments: [number, number]): void {
  expect(listed(recurrence, s)).toEqual(expected)
  const [a, b] = moments.map((m) => s.from + m).sort((x, y) => x - y) as [number, number]
  const between = expected.filter((o) => o.at > a && o.at <= b)
  const first = recurrence.next(a)
  if (between.length > 0) expect(first).toEqual(between[0])
  expect(recurrence.count(a, b)).toBe(between.length)
  expect(recurrence.last(a, b)).toEqual(between.at(-1) ?? null)
}

/** Two moments after the first minute, to the millisecond. */
const moments = fc.tuple(
  fc.integer({ min: 60_000, max: (minutes - 1) * 60_000 }),
  fc.integer({ min: 60_000, max: (minutes - 1) * 60_000 }),
)

function ruleSpec(rule: Rule, zone: string, startMinute: number): Spec {
  const dtstart = new Date(startMinute * 60_000).toISOString().slice(0, 16)
  return { kind: 'rrule', rrule: ruleText(rule), dtstart, tz: zone, lastAt: null }
}

describe('around changes of the clock, as walking every minute has it', () => {
  test('any cron', () => {
    fc.assert(
      fc.property(stretch, nightCron, moments, (s, cron, at) => {
        agrees(compile({ kind: 'cron', cron, tz: s.zone }), s, walk(s, cronNames(cron)), at)
      }),
      { numRuns: 300 },
    )
  })

  for (const [what, rules, numRuns] of [
    ['any RRULE', anyRule(), 350],
    ['any RRULE with BYSETPOS', pickingRule(), 120],
  ] as const)
    test(what, () => {
      // Starts from five years before to inside the stretch, so that intervals meet it at every phase.
      const before = fc.oneof(fc.integer({ min: 0, max: minutes }), fc.integer({ min: 0, max: 5 * 366 * 1440 }))
      fc.assert(
        fc.property(stretch, rules, before, moments, (s, rule, ago, at) => {
          const start = s.walls[minutes - 1]! - ago
          agrees(compile(ruleSpec(rule, s.zone, start)), s, walk(s, ruleNames(rule, start)), at)
        }),
        { numRuns },
      )
    })

  test('the answer does not depend on where it is asked from', () => {
    fc.assert(
      fc.property(stretch, nightCron, fc.integer({ min: 0, max: minutes * 60_000 }), (s, cron, ms) => {
        const recurrence = compile({ kind: 'cron', cron, tz: s.zone })
        const found = recurrence.next(s.from + ms)
        fc.pre(found !== null)
        expect(recurrence.next(found!.at - 1)).toEqual(found)
      }),
      { numRuns: 300 },
    )
  })

  test('only SpecInvalid refuses', () => {
    expect(() => compile(ruleSpec({ freq: 'WEEKLY', interval: 1, byday: ['1FR'] }, 'UTC', 0))).toThrow(SpecInvalid)
  })
})
