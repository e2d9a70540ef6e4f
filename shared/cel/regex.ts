import { RE2JS } from 're2js'
import { bounds } from './bounds.ts'
import { CelFault, quoted } from './errors.ts'
import type { Steps } from './steps.ts'

/**
 * Whether a pattern of RE2 is found anywhere in a text. RE2 has no look-around and no references back, and takes time in proportion to
 * pattern and text. A pattern is paid for at its first use in an evaluation.
 *
 * @throws CelFault `other` for a pattern that RE2 refuses or that is too large
 */
export function matches(text: string, pattern: string, steps: Steps): boolean {
  let compiled = steps.patterns.get(pattern)
  if (compiled === undefined) {
    compiled = remembered(pattern, steps)
    steps.patterns.set(pattern, compiled)
  }
  steps.spend(1 + Math.ceil((text.length * compiled.programSize()) / bounds.visitsPerStep))
  return compiled.test(text)
}

const kept = new Map<string, RE2JS>()

function remembered(pattern: string, steps: Steps): RE2JS {
  if (pattern.length > bounds.patternCharsMax)
    throw new CelFault(
      'other',
      `a regular expression of ${pattern.length} characters: at most ${bounds.patternCharsMax} are taken`,
    )
  steps.spend(bounds.patternSteps + pattern.length * bounds.patternCharSteps)
  const found = kept.get(pattern)
  if (found) {
    kept.delete(pattern)
    kept.set(pattern, found)
    return found
  }
  const made = compiled(pattern)
  kept.set(pattern, made)
  if (kept.size > bounds.patternsKept) kept.delete(kept.keys().next().value!)
  return made
}

function compiled(pattern: string): RE2JS {
  // To fold the case of a range, RE2 looks at each of its characters: 5 ms for the whole of Unicode, at every mention.
  if (/\(\?[a-zA-Z]*i/.test(pattern) && foldedTo(pattern) > bounds.foldedCodeMax)
    throw new CelFault('other', `the regular expression ${quoted(pattern)} has too wide a range for (?i)`)
  const made = parsed(pattern)
  if (made.programSize() > bounds.patternSizeMax)
    throw new CelFault('other', `the regular expression ${quoted(pattern)} repeats too much: ask for fewer repetitions`)
  const { dfa } = made.re2()
  // Its own bound is 8 MB a pattern, and a pattern made to fill it is slow until it is full.
  dfa.stateBudget = bounds.patternBytesMax
  dfa.memBudget = bounds.patternBytesMax
  return made
}

function parsed(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    throw new CelFault('other', `RE2 does not take the regular expression ${quoted(pattern)}: ${why}`)
  }
}

/** The highest character that a range ends in. */
function foldedTo(pattern: string): number {
  let highest = 0
  for (const [, hex, literal] of pattern.matchAll(/-(?:\\x\{([0-9a-fA-F]+)\}|([^\\]))/gu))
    highest = Math.max(highest, hex === undefined ? literal!.codePointAt(0)! : Number.parseInt(hex, 16))
  return highest
}
