import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bounds } from '../../shared/cel/bounds.ts'
import { CelFault, CelInvalid, compileTemplate } from '../../shared/cel/index.ts'
import { Compiled } from '../../shared/cel/program.ts'
import { Steps } from '../../shared/cel/steps.ts'
import { closed, data, expression, garbage, heavy, largeData } from './generators.ts'

const names = ['doc', 'before', 'now']
const now = new Date('2026-11-30T09:00:00Z')

/** Ends in JSON of bounded size, in CelInvalid or in CelFault, and within the budget; anything else fails the property. */
function ends(text: string, doc: unknown): 'value' | 'invalid' | 'fault' {
  const steps = new Steps()
  try {
    const result = new Compiled(text, names).run({ doc, before: null, now }, steps)
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
    return 'value'
  } catch (error) {
    if (error instanceof CelInvalid) return 'invalid'
    if (error instanceof CelFault) return 'fault'
    throw error
  } finally {
    expect(steps.taken).toBeLessThanOrEqual(bounds.stepsMax)
  }
}

/** Runs a property, and tells how often each end was reached: a fuzz of which nothing compiles would prove little. */
function tally(numRuns: number, text: fc.Arbitrary<string>, data: fc.Arbitrary<unknown>) {
  const reached = { value: 0, invalid: 0, fault: 0 }
  fc.assert(
    fc.property(text, data, (expression, doc) => {
      reached[ends(expression, doc)]++
    }),
    { numRuns, seed: 20261130 },
  )
  return reached
}

describe('whatever the expression and the data are, it ends in a value, a refusal or a fault, within its budget', () => {
  it('expressions by the grammar, over JSON of any shape', () => {
    const reached = tally(1_200, closed, data)
    expect(Math.min(reached.value, reached.invalid, reached.fault)).toBeGreaterThan(30)
  })

  it('loops in loops over large data, long texts and patterns made to be slow', () => {
    const reached = tally(60, heavy, largeData)
    expect(reached.value).toBeGreaterThan(0)
    expect(reached.fault).toBeGreaterThan(10)
  }, 30_000)

  it('text that is no expression', () => {
    expect(tally(800, garbage, data).invalid).toBeGreaterThan(500)
  })

  it('templates around expressions and around garbage', () => {
    const piece = fc.oneof(
      expression.map((text) => `\${${text}}`),
      garbage,
      fc.constantFrom('${', '$${', '}', '$', "'"),
    )
    const template = fc.oneof(
      fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
      fc.dictionary(fc.string({ maxLength: 5 }), piece, { maxKeys: 3 }),
    )
    fc.assert(
      fc.property(template, data, (value, doc) => {
        try {
          compileTemplate(value, names).fill({ doc, before: null, now })
        } catch (error) {
          if (!(error instanceof CelInvalid || error instanceof CelFault)) throw error
        }
      }),
      { numRuns: 200, seed: 20261130 },
    )
  })
})
