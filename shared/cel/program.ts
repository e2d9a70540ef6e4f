import { bounds } from './bounds.ts'
import { built } from './build.ts'
import { CelFault, CelInvalid } from './errors.ts'
import { Room, toJson } from './json.ts'
import { parsed } from './parse.ts'
import type { Eval } from './scope.ts'
import { Steps } from './steps.ts'
import { type Json, said, type Value } from './values.ts'

/** JSON values by the name of the variable, a Date for a timestamp. A name that is absent or undefined is missing. */
export type Data = Readonly<Record<string, unknown>>

export interface Program {
  readonly text: string
  /** The variables that it uses, in the order of their first use. */
  readonly names: readonly string[]
  /** @throws CelFault when these data give no value */
  evaluate(data: Data): Json
}

/** A program whose work can be counted together with that of others. */
export class Compiled implements Program {
  readonly text: string
  readonly names: readonly string[]
  readonly #root: Eval

  constructor(text: string, variables: readonly string[]) {
    const used = new Set<string>()
    const scope = { text, variables: new Set(variables), names: [], loops: 0, used, steps: new Steps() }
    this.text = text
    try {
      this.#root = built(parsed(text), scope).run
    } catch (error) {
      if (error instanceof RangeError) throw new CelInvalid('not enough stack left to compile')
      throw error
    }
    this.names = [...used]
  }

  evaluate(data: Data): Json {
    return this.run(data, new Steps())
  }

  /** @throws CelFault */
  run(data: Data, steps: Steps): Json {
    try {
      return toJson(this.#root({ data, steps, bound: [] }), new Room(bounds.resultCharsMax))
    } catch (error) {
      // The nesting bounds leave room for this only when the caller's own stack was nearly full.
      if (error instanceof RangeError) throw new CelFault('budget', 'not enough stack left to evaluate')
      throw error
    }
  }
}

const kept = new Map<string, Compiled>()

/**
 * Compiles an expression in the Common Expression Language. Programs are remembered, a bounded number of them.
 *
 * Numbers: JSON numbers are doubles as in CEL, and mix freely with the whole numbers of the expression (see `arithmetic` in
 * operators.ts); they serve as positions and keys when they are whole. Conditions see `doc.x` of a missing key as a fault with reason
 * `missing`; `has(doc.x)` asks, `doc.?x.orValue(0)` gives a default. Regular expressions are RE2's. No unsigned integers.
 *
 * @param variables  the names that data may have; all are dynamically typed
 * @throws CelInvalid for what cannot work whatever the data are, and for what is too large
 */
export function compileCel(text: string, variables: readonly string[]): Program {
  return compiled(text, variables)
}

export function compiled(text: string, variables: readonly string[]): Compiled {
  if (text.length > bounds.textCharsMax) return new Compiled(text, variables)
  const key = JSON.stringify([variables, text])
  const found = kept.get(key)
  if (found) {
    kept.delete(key)
    kept.set(key, found)
    return found
  }
  const made = new Compiled(text, variables)
  kept.set(key, made)
  if (kept.size > bounds.programsKept) kept.delete(kept.keys().next().value!)
  return made
}

/**
 * Whether a condition holds.
 *
 * @throws CelFault, also when the result is neither true nor false
 */
export function holds(program: Program, data: Data): boolean {
  const result = program.evaluate(data)
  if (typeof result === 'boolean') return result
  throw new CelFault('type', `a condition gives true or false; this one gave ${said(result as Value)}`)
}
