import {
  compile,
  formatInstant,
  type Occurrence,
  parseInstant,
  parseSpec,
  type SpecInput,
  SpecInvalid,
} from '../../shared/time/index.ts'

/** The next `n` occurrences after a moment at which the rule is also made, without milliseconds. */
export function nextOf(input: SpecInput, after: string, n: number): string[] {
  return occurrencesOf(input, after, n).map((o) => formatInstant(o.at).replace('.000', ''))
}

export function occurrencesOf(input: SpecInput, after: string, n: number): Occurrence[] {
  const from = parseInstant(after)!
  const recurrence = compile(parseSpec(input, from))
  const found: Occurrence[] = []
  for (let o = recurrence.next(from); o !== null && found.length < n; o = recurrence.next(o.at)) found.push(o)
  return found
}

/** The refusal of a rule; fails when there is none, or it is not one that a person can act on. */
export function refusalOf(input: SpecInput, now = '2026-01-05T08:30:00Z'): SpecInvalid {
  try {
    parseSpec(input, parseInstant(now)!)
  } catch (error) {
    if (error instanceof SpecInvalid && error.detail.length > 20 && error.detail.length < 500) return error
    throw error
  }
  throw new Error(`expected ${JSON.stringify(input).slice(0, 100)} to be refused`)
}
