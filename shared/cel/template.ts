import { bounds } from './bounds.ts'
import { CelFault, CelInvalid, quoted } from './errors.ts'
import { asText, measure, Room } from './json.ts'
import { type Compiled, compiled, type Data } from './program.ts'
import { Steps } from './steps.ts'
import type { Json } from './values.ts'

export interface Template {
  /** The variables that its expressions use. */
  readonly names: readonly string[]
  /** @throws CelFault */
  fill(data: Data): Json
}

/**
 * Compiles a JSON value whose texts may hold expressions: `${steps[0].output.rate}`. A text that is one expression and nothing else
 * becomes its value, whatever the type; elsewhere texts are put in as they are and other values as JSON. `$${` is a literal `${`.
 * Keys are no templates. All expressions of a template share one budget of steps.
 *
 * @throws CelInvalid
 */
export function compileTemplate(value: Json, variables: readonly string[]): Template {
  const programs: Compiled[] = []
  let chars = 0
  bounded(value)
  const fill = compiledJson(value, (text) => {
    chars += text.length
    if (programs.length === bounds.templateExpressionsMax || chars > bounds.templateExpressionCharsMax)
      throw new CelInvalid(
        `more than ${bounds.templateExpressionsMax} expressions or ${bounds.templateExpressionCharsMax} characters of them in one template`,
      )
    const program = compiledInside(text, variables)
    programs.push(program)
    return program
  })
  return {
    names: [...new Set(programs.flatMap(({ names }) => names))],
    fill: (data) => fill(data, { steps: new Steps(), room: new Room(bounds.templateCharsMax) }),
  }
}

type Fill = (data: Data, spent: { steps: Steps; room: Room }) => Json
type Compile = (expression: string) => Compiled

function bounded(value: Json): void {
  try {
    measure('the template', value, bounds.templateCharsMax)
  } catch (error) {
    if (error instanceof CelFault) throw new CelInvalid(error.detail)
    throw error
  }
}

function compiledInside(text: string, variables: readonly string[]): Compiled {
  try {
    return compiled(text, variables)
  } catch (error) {
    if (error instanceof CelInvalid) throw new CelInvalid(`in ${quoted(`\${${text}}`)}: ${error.detail}`)
    throw error
  }
}

function compiledJson(value: Json, compile: Compile): Fill {
  if (typeof value === 'string') return compiledText(value, compile)
  if (typeof value !== 'object' || value === null) {
    return (_data, { room }) => {
      room.take(asText(value).length)
      return value
    }
  }
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => compiledJson(item, compile))
    return (data, spent) => items.map((item) => item(data, spent))
  }
  const entries = Object.entries(value).map(([key, item]) => [key, compiledJson(item, compile)] as const)
  // Defines each key, `__proto__` too, and assigns none.
  return (data, spent) =>
    Object.fromEntries(
      entries.map(([key, item]) => {
        spent.room.take(key.length + 4)
        return [key, item(data, spent)]
      }),
    )
}

function compiledText(text: string, compile: Compile): Fill {
  const parts = partsOf(text).map((part) => (typeof part === 'string' ? part : compile(part.expression)))
  const [only] = parts
  if (parts.length === 1 && typeof only !== 'string') {
    return (data, { steps, room }) => {
      const value = only!.run(data, steps)
      room.take(asText(value).length)
      return value
    }
  }
  return (data, { steps, room }) => {
    let filled = ''
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : asText(part.run(data, steps))
      room.take(piece.length)
      filled += piece
    }
    return filled
  }
}

/** Literal text and expressions in turn; at least one part. */
function partsOf(text: string): (string | { expression: string })[] {
  const parts: (string | { expression: string })[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const next = text.indexOf('${', at)
    if (next === -1) break
    if (text[next - 1] === '$' && next > at) {
      literal += `${text.slice(at, next - 1)}\${`
      at = next + 2
      continue
    }
    literal += text.slice(at, next)
    if (literal !== '') parts.push(literal)
    literal = ''
    const end = endOf(text, next + 2)
    parts.push({ expression: text.slice(next + 2, end) })
    at = end + 1
  }
  literal += text.slice(at)
  if (literal !== '' || parts.length === 0) parts.push(literal)
  return parts
}

/** Texts and comments of CEL, in which a brace is none; and braces. */
const token =
  /'{3}(?:\\[\s\S]|[^\\])*?'{3}|"{3}(?:\\[\s\S]|[^\\])*?"{3}|'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|\/\/[^\n]*|[\s\S]/y

/** Where the `}` of an expression stands. */
function endOf(text: string, start: number): number {
  // A text of quotes that are never closed would be searched from each quote again.
  const near = text.slice(start, start + bounds.textCharsMax + 1)
  let open = 0
  for (let at = 0; at < near.length; at = token.lastIndex) {
    token.lastIndex = at
    const [part] = token.exec(near)!
    if (part === '{') open++
    else if (part === '}' && open-- === 0) return start + at
  }
  throw new CelInvalid(
    `expected "}" after the expression that starts with ${quoted(text.slice(start - 2), 30)}; a literal \${ is written $\${`,
  )
}
