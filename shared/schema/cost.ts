import { SchemaInvalid } from './invalid.ts'
import { compilePattern } from './pattern.ts'

type Node = { readonly [keyword: string]: unknown }

/** Where a keyword's value holds further schemas. Everything else under a keyword is data. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'])
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const singles = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** They give a schema another base or another name, so that a reference says something else than it shows, or answer with a promise. */
const unreadable = new Set([
  '$async',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveRef',
  '$recursiveAnchor',
])

const depthMax = 32
/** Of all that one value is checked against, with every reference written out. */
const costMax = 2_000
/** Compares each with each: once is enough. */
const uniqueItemsCost = 1_200
/** A step of a pattern takes longer than a comparison, and making it takes time too. */
const patternStepCost = 4
const patternCost = 20

/**
 * Assures that checking against a schema takes a bounded time: checks at one place of the data are as many as the schema has
 * nodes when its references are written out, which 30 definitions that each refer twice to the next make a thousand million.
 *
 * @throws SchemaInvalid for a reference that leads back to itself or out of the schema, for a pattern that is none, and for too much of it
 */
export function assertBounded(root: Node): void {
  const known = new Map<unknown, number>()
  const open = new Set<unknown>()
  const costOf = (schema: unknown, path: string, depth: number): number => {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 1
    const before = known.get(schema)
    if (before !== undefined) return before
    if (open.has(schema)) throw new SchemaInvalid(path, 'a $ref leads back to itself, which is not taken here')
    if (depth > depthMax) throw new SchemaInvalid(path, `expected at most ${depthMax} schemas inside each other`)
    open.add(schema)
    let cost = 1
    for (const [keyword, value] of Object.entries(schema)) {
      const at = path === '' ? keyword : `${path}.${keyword}`
      cost += costOfKeyword(keyword, value, at, depth)
      if (cost > costMax) throw tooMuch(path)
    }
    open.delete(schema)
    known.set(schema, cost)
    return cost
  }
  /** What has been looked at so far is part of the cost, so that the looking itself is bounded. */
  let looked = 0
  const look = (cost: number, path: string): number => {
    looked += cost
    if (looked > costMax) throw tooMuch(path)
    return cost
  }
  const costOfPattern = (pattern: unknown, path: string): number =>
    typeof pattern === 'string'
      ? look(patternCost + compilePattern(pattern, path).programSize() * patternStepCost, path)
      : 1
  const sum = (entries: readonly (readonly [string | number, unknown])[], path: string, depth: number): number =>
    entries.reduce((total, [name, inner]) => total + costOf(inner, `${path}.${name}`, depth + 1), 0)

  const costOfKeyword = (keyword: string, value: unknown, path: string, depth: number): number => {
    if (unreadable.has(keyword))
      throw new SchemaInvalid(path, `${keyword} is not taken here; a $ref refers to #/$defs/…`)
    if (keyword === '$ref') return costOf(target(root, value, path), placeOf(value as string), depth + 1)
    if (keyword === 'pattern') return costOfPattern(value, path)
    if (keyword === 'uniqueItems') return uniqueItemsCost
    if (maps.has(keyword) && typeof value === 'object' && value !== null) {
      const inner = sum(Object.entries(value), path, depth)
      if (keyword === '$defs' || keyword === 'definitions') return 0
      const names = keyword === 'patternProperties' ? Object.keys(value) : []
      return inner + names.reduce((total, name) => total + costOfPattern(name, `${path}.${name}`), 0)
    }
    if (lists.has(keyword) && Array.isArray(value)) return sum([...value.entries()], path, depth)
    if (singles.has(keyword)) return costOf(value, path, depth + 1)
    return sizeOf(value, path, 0)
  }
  costOf(root, '', 0)
}

const tooMuch = (path: string): SchemaInvalid =>
  new SchemaInvalid(path, `asks for too much: expected at most ${costMax} checks with all references written out`)

/** The place that a reference names, in the words of a path. */
const placeOf = (ref: string): string => ref.slice(2, 100).replaceAll('/', '.')

/** What a `$ref` names. */
function target(root: Node, ref: unknown, path: string): unknown {
  if (typeof ref !== 'string' || !/^#\/(\$defs|definitions)\//.test(ref))
    throw new SchemaInvalid(path, 'expected a $ref to #/$defs/… of the same schema')
  let at: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const name = unescaped(part)
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Node)[name] : undefined
  }
  if (at === undefined) throw new SchemaInvalid(path, `there is no ${ref.slice(0, 100)} in this schema`)
  return at
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

/** `enum` and `const` compare with each of their values. */
function sizeOf(value: unknown, path: string, depth: number): number {
  if (typeof value !== 'object' || value === null) return 1
  if (depth > depthMax) throw new SchemaInvalid(path, `expected at most ${depthMax} values inside each other`)
  return Object.values(value).reduce((total: number, inner) => total + sizeOf(inner, path, depth + 1), 1)
}
