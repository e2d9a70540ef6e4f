import type { WallMs, WallRule } from './types.ts'

/**
 * The greatest wall time of a rule in [from, to], -Infinity for none. Looks back from `to` in growing steps, then halves:
 * some 40 calls of `next`, however long the stretch is, and no rule has to know how to search backwards.
 */
export function lastOf(rule: WallRule, from: WallMs, to: WallMs): WallMs {
  let begin = to
  let found = rule.next(to, to)
  for (let step = 60_000; found > to; step *= 8) {
    if (begin === from) return -Infinity
    begin = Math.max(from, to - step)
    found = rule.next(begin, to)
  }
  let high = to
  while (found < high) {
    const middle = found + Math.ceil((high - found) / 2)
    const later = rule.next(middle, high)
    if (later <= high) found = later
    else high = middle - 1
  }
  return found
}
