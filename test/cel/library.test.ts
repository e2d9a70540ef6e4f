import { Environment } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bounds } from '../../shared/cel/bounds.ts'
import { Compiled } from '../../shared/cel/program.ts'
import { Steps } from '../../shared/cel/steps.ts'
import { closed } from './generators.ts'

const doc = { list: [1, 2.5, 'a', 3], text: 'a ab', n: 2, deep: [[1]], objects: [{ n: 1 }, { n: 2, list: 3 }] }
const data = { doc, before: null, now: new Date('2026-11-30T09:00:00Z') }
const names = Object.keys(data)

describe('the library, whose parser and types are used here, evaluates on its own as well', () => {
  it('both give the same value wherever both give one', () => {
    const options = {
      homogeneousAggregateLiterals: false,
      enableOptionalTypes: true,
      limits: { maxAstNodes: bounds.nodesMax },
    }
    const library = names.reduce((env, name) => env.registerVariable(name, 'dyn'), new Environment(options))
    const compared = { both: 0 }
    fc.assert(
      fc.property(closed, (text) => {
        const ours = attempt(() => new Compiled(text, names).run(data, new Steps()))
        const theirs = attempt(() => asJson(library.evaluate(text, data)))
        if (ours === undefined || theirs === undefined) return
        compared.both++
        expect(ours).toEqual(theirs)
      }),
      { numRuns: 1_500, seed: 20261130 },
    )
    expect(compared.both).toBeGreaterThan(50)
  })
})

function attempt(evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch {
    return undefined
  }
}

/** The library's values in our JSON. */
function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(asJson)
  const kind = value.constructor?.name
  if (kind === 'Type') return (value as { name: string }).name
  if (kind === 'Duration') return String(value)
  if (kind === 'Optional') return asJson((value as { orValue(value: null): unknown }).orValue(null))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item)]))
}
