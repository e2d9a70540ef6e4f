import type { ASTNode } from '@marcbachmann/cel-js'
import { CelFault, CelInvalid } from './errors.ts'
import { place } from './parse.ts'
import type { Steps } from './steps.ts'
import { type Kind, said, type Value } from './values.ts'

/** One evaluation under way. */
export interface Run {
  readonly data: Readonly<Record<string, unknown>>
  readonly steps: Steps
  /** Values of the names that loops and `cel.bind` bind, outermost first. */
  readonly bound: Value[]
}

export type Eval = (run: Run) => Value

/** A part of an expression, ready to be evaluated, and what is known of its value before. */
export interface Part {
  readonly run: Eval
  readonly kind: Kind | null
  /** It depends on no data: its value is known. */
  readonly constant: boolean
}

/** What surrounds a node while it is built. */
export interface Scope {
  readonly text: string
  readonly variables: ReadonlySet<string>
  /** Names bound so far, innermost last. */
  readonly names: readonly string[]
  /** How many loops it stands in. */
  readonly loops: number
  /** Gathers the variables used. */
  readonly used: Set<string>
  /** What building may cost: patterns compiled, constants evaluated. */
  readonly steps: Steps
}

/** A part made of others. */
export function madeOf(parts: readonly Part[], kind: Kind | null, run: Eval): Part {
  return { run, kind, constant: parts.every(({ constant }) => constant) }
}

export function refused(what: string, node: ASTNode, { text }: Scope): CelInvalid {
  return new CelInvalid(`${what}${place(text, node.start)}`)
}

/** What fails while building fails for all data. */
export function whileBuilding<T>(node: ASTNode, scope: Scope, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof CelFault) throw refused(error.detail, node, scope)
    throw error
  }
}

/** The node's own text, for faults. */
export function source(node: ASTNode, { text }: Scope): string {
  const part = text.slice(node.start, node.end)
  return part.length > 60 ? `${part.slice(0, 60)}…` : part
}

export function bool(value: Value, where: string): boolean {
  if (typeof value === 'boolean') return value
  throw new CelFault('type', `${where} takes true or false, got ${said(value)}`)
}

/** @throws CelInvalid when a part is known to be of none of these kinds */
export function expectKind(part: Part, kinds: readonly Kind[], o: { what: string; node: ASTNode; scope: Scope }): void {
  if (part.kind !== null && !kinds.includes(part.kind)) throw refused(`${o.what}, got ${part.kind}`, o.node, o.scope)
}
