import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import { bounds } from './bounds.ts'
import { CelInvalid, quoted } from './errors.ts'

/**
 * The syntax tree of an expression, by the library's parser: the only part of it that is used.
 *
 * Its evaluation cannot be counted: `+` on texts and lists, `contains` and `map` are closed to the outside. Its type-checker names
 * types by what they hold, and a type that is used twice doubles its name: twenty times `.map(x, {x: x})` took a gigabyte. Both it and
 * the parser remember each new name for good, in what all environments share.
 *
 * @throws CelInvalid
 */
export function parsed(text: string): ASTNode {
  if (text.trim() === '') throw new CelInvalid('the expression is empty; one is doc.count > 3')
  if (text.length > bounds.textCharsMax)
    throw new CelInvalid(`the expression has ${text.length} characters; at most ${bounds.textCharsMax} are read`)
  try {
    return forgetful().parse(text).ast
  } catch (error) {
    throw invalid(error, text)
  }
}

/** An environment with a function of its own has its own list of the names that were asked for, which goes when it goes. */
function forgetful(): Environment {
  return new Environment({
    enableOptionalTypes: true,
    limits: {
      maxAstNodes: bounds.nodesMax,
      maxDepth: bounds.nestingMax,
      maxListElements: bounds.nodesMax,
      maxMapEntries: bounds.nodesMax,
    },
  }).registerFunction('matches(string, string): bool', () => {
    throw new Error('expected shared/cel to evaluate, not the library')
  })
}

/** ` at character 3`, and with the line when there are several. */
export function place(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n')
  const column = lines.at(-1)!.length + 1
  return ` at ${text.includes('\n') ? `line ${lines.length}, ` : ''}character ${column}`
}

function invalid(error: unknown, text: string): CelInvalid {
  // A run of thousands of `!` is the one thing that the parser's own limits come too late for.
  if (error instanceof RangeError) return new CelInvalid('the expression is nested too deeply')
  if (!(error instanceof ParseError))
    return new CelInvalid(`the expression is not understood: ${error instanceof Error ? error.message : String(error)}`)
  const { code, range, summary } = error
  const at = range === undefined ? '' : place(text, range.start)
  const source = range === undefined ? '' : text.slice(range.start, range.end)
  switch (code) {
    case 'invalid_macro_argument':
      return new CelInvalid(`a name for the element is expected${at}, as in doc.items.exists(item, item.done)`)
    case 'limit_exceeded':
      return new CelInvalid(
        `the expression is too large${at}: at most ${bounds.nodesMax} parts, nested ${bounds.nestingMax} deep`,
      )
    case 'expected_token':
    case 'unexpected_token':
    case 'unexpected_character': {
      const got = source === '' ? 'the expression ends' : `got ${quoted(source)}`
      const wanted = /^Expected (\w+)/.exec(summary)?.[1]
      const hint = source in DOUBLED ? `; write ${source}${source}` : ''
      return new CelInvalid(
        `expected ${(wanted && TOKENS[wanted]) ?? 'an expression or an operator'}${at}, but ${got}${hint}`,
      )
    }
  }
  return new CelInvalid(`${summary.charAt(0).toLowerCase()}${summary.slice(1)}${at}`)
}

/** Operators that other languages write once. */
const DOUBLED = { '=': true, '&': true, '|': true }

/** The parser's names for what it expects. */
const TOKENS: Readonly<Record<string, string>> = {
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
  IDENTIFIER: 'a name',
}
