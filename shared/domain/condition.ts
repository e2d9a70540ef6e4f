import { CelFault, compileCel, type Json, type Program } from '../cel/index.ts'
import type { Verdict } from './monitor.ts'

/** The names that a condition may use, by what is watched. */
export const conditionNames = {
  document: ['doc', 'before', 'now'],
  tool: ['output', 'before', 'now'],
} as const

/** @throws CelInvalid */
export const compileCondition = (text: string, kind: keyof typeof conditionNames): Program =>
  compileCel(text, conditionNames[kind])

/**
 * What a condition says of what is there now. Never throws.
 *
 * What is asked of nothing is false and no fault: a key that a document does not have (decision 30), a document that is not there, and
 * `before` at the first look.
 *
 * @param program  null: there is no condition
 * @param value    of the document, null when there is none; or the tool's output
 */
export function judge(
  program: Program | null,
  o: { readonly kind: keyof typeof conditionNames; readonly value: Json; readonly before: Json; readonly now: number },
): Verdict {
  if (program === null) return { is: 'none' }
  const named = o.kind === 'document' ? { doc: o.value } : { output: o.value }
  try {
    const result = program.evaluate({ ...named, before: o.before, now: new Date(o.now) })
    if (typeof result === 'boolean') return { is: result ? 'true' : 'false' }
    return { is: 'fault', error: `the condition is ${typeName(result)}, and has to be true or false` }
  } catch (error) {
    if (!(error instanceof CelFault)) throw error
    const ofNothing =
      (o.kind === 'document' && o.value === null) || (o.before === null && program.names.includes('before'))
    const isMissing = error.reason === 'missing' && o.kind === 'document'
    if (isMissing || (ofNothing && (error.reason === 'missing' || error.reason === 'type'))) return { is: 'false' }
    return { is: 'fault', error: error.detail }
  }
}

function typeName(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`
}
