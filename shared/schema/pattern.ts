import { RE2JS } from 're2js'
import { SchemaInvalid } from './invalid.ts'

const charsMax = 250
/** Instructions of what RE2 makes of it: a short pattern may repeat itself a thousand times. */
const sizeMax = 400
/** Of what it remembers of a text; RE2's own bound is 8 MB a pattern, and one that is made to fill it is slow until it is full. */
const bytesMax = 64 * 1024

/**
 * A pattern that runs in a time which its size and the text's length bound.
 *
 * @throws SchemaInvalid
 */
export function compilePattern(pattern: string, path: string): RE2JS {
  if (pattern.length > charsMax)
    throw new SchemaInvalid(path, `expected a pattern of at most ${charsMax} characters, got ${pattern.length}`)
  // To fold the case of a range, RE2 looks at each of its characters. ECMA-262, which JSON Schema means, has no such flags.
  if (/\(\?[a-zA-Z-]+[:)]/.test(pattern)) throw new SchemaInvalid(path, 'expected a pattern without flags such as (?i)')
  const made = parsed(pattern, path)
  if (made.programSize() > sizeMax)
    throw new SchemaInvalid(path, 'the pattern repeats too much: ask for fewer repetitions, or for maxLength')
  const { dfa } = made.re2() as unknown as { dfa: { stateBudget: number; memBudget: number } }
  dfa.stateBudget = bytesMax
  dfa.memBudget = bytesMax
  return made
}

function parsed(pattern: string, path: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch {
    throw new SchemaInvalid(
      path,
      'expected a regular expression in the syntax of RE2: no lookaround, no backreferences, repeats up to 1000',
    )
  }
}
