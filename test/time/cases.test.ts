import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  compile,
  formatInstant,
  parseInstant,
  parseSpec,
  type SpecInput,
  SpecInvalid,
} from '../../shared/time/index.ts'

/** Faults that users of other schedulers reported, each with what is right under our rules. */
interface Case {
  id: string
  symptom: string
  input: SpecInput & { after: string; count: number }
  expected: string[] | { error: string }
}

const cases: Case[] = JSON.parse(readFileSync(new URL('./recurrence.json', import.meta.url), 'utf8'))

describe('faults of other schedulers', () => {
  for (const { id, symptom, input, expected } of cases) {
    test(`${symptom} (${id})`, () => {
      const { after, count, ...rule } = input
      const from = parseInstant(after)!
      if (!Array.isArray(expected)) {
        expect(() => parseSpec(rule, from)).toThrow(SpecInvalid)
        return
      }
      const recurrence = compile(parseSpec(rule, from))
      const found: string[] = []
      for (let o = recurrence.next(from); o !== null && found.length < count; o = recurrence.next(o.at))
        found.push(formatInstant(o.at).replace('.000', ''))
      expect(found).toEqual(expected)
    })
  }
})
