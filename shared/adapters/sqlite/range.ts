import { Defect, type IndexName, type IndexRange, indexes, type Range, tableBounds } from '../../ports/table.ts'
import { afterPrefix, compareText } from '../order.ts'

/** Where a row stands in its order: `[sk]` in a partition, `[sort value, pk, sk]` in an index. */
export type Position = readonly (string | number)[]

/** A range in one form for both readers: SQL, and the rows in memory. */
export interface Bounds {
  readonly edges: readonly Edge[]
  readonly descending: boolean
  readonly limit: number
}

/** Compares as many places of a position as `at` has. */
interface Edge {
  readonly past: '<' | '<=' | '>=' | '>'
  readonly at: Position
}

export function listBounds(range: Range): Bounds {
  const edges: Edge[] = []
  if (range.from !== undefined) edges.push({ past: '>=', at: [range.from] })
  if (range.to !== undefined) edges.push({ past: '<=', at: [range.to] })
  if (range.prefix !== undefined) {
    edges.push({ past: '>=', at: [range.prefix] })
    const end = afterPrefix(range.prefix)
    if (end !== null) edges.push({ past: '<', at: [end] })
  }
  if (range.after !== undefined) {
    const at = positionOf(range.after)
    if (at.length !== 1 || typeof at[0] !== 'string') throw notACursor(range.after)
    edges.push({ past: range.descending ? '<' : '>', at })
  }
  return { edges, descending: range.descending ?? false, limit: limitOf(range) }
}

export function findBounds(index: IndexName, range: IndexRange): Bounds {
  const type = indexes[index].sort
  const edges: Edge[] = []
  for (const [past, value] of [
    ['>=', range.from],
    ['<=', range.to],
  ] as const) {
    if (value === undefined) continue
    if (typeof value !== type) throw new Defect(`index ${index} is bounded by a ${type}, not by '${value}'`)
    edges.push({ past, at: [value] })
  }
  if (range.after !== undefined) {
    const at = positionOf(range.after)
    const [value, pk, sk] = at
    const fits = typeof value === type && typeof pk === 'string' && typeof sk === 'string'
    if (at.length !== 3 || !fits) throw notACursor(range.after)
    edges.push({ past: range.descending ? '<' : '>', at })
  }
  return { edges, descending: range.descending ?? false, limit: limitOf(range) }
}

/** The range as SQL to follow `WHERE partition = ?`, over the columns that make up a position. */
export function sqlOf(bounds: Bounds, columns: readonly string[]): { sql: string; values: (string | number)[] } {
  const values: (string | number)[] = []
  const conditions = bounds.edges.map(({ past, at }) => {
    if (at.length === 1) {
      values.push(at[0]!)
      return ` AND ${columns[0]} ${past} ?`
    }
    // The first condition follows from the second, and is the one that SQLite seeks by.
    values.push(at[0]!, ...at)
    return ` AND ${columns[0]} ${past}= ? AND (${columns.join()}) ${past} (${at.map(() => '?').join()})`
  })
  const order = columns.map((column) => `${column} ${bounds.descending ? 'DESC' : 'ASC'}`)
  return { sql: `${conditions.join('')} ORDER BY ${order.join()} LIMIT ? OFFSET ?`, values }
}

export function isWithin(bounds: Bounds, position: Position): boolean {
  return bounds.edges.every(({ past, at }) => {
    const order = comparePositions(position, at)
    if (order === 0) return past === '<=' || past === '>='
    return order < 0 ? past === '<' || past === '<=' : past === '>' || past === '>='
  })
}

/**
 * False when a position that begins so cannot be within, whatever follows: spares building it. NaN cannot, where there
 * are edges.
 */
export function canBeWithin(bounds: Bounds, first: string | number): boolean {
  for (const { past, at } of bounds.edges) {
    const order = compareFirst(first, at[0]!)
    if (past === '<' || past === '<=' ? !(order <= 0) : !(order >= 0)) return false
  }
  return true
}

/** Sorts by position, in the direction of the range. */
export function inOrder<T>(bounds: Bounds, rows: T[], positionOf: (row: T) => Position): T[] {
  const sign = bounds.descending ? -1 : 1
  return rows.sort((a, b) => sign * comparePositions(positionOf(a), positionOf(b)))
}

/** Two runs, each in the order of the range, as one. */
export function* merged<T>(bounds: Bounds, one: Iterable<T>, other: readonly T[], positionOf: (row: T) => Position) {
  const sign = bounds.descending ? -1 : 1
  let next = 0
  for (const row of one) {
    while (next < other.length && sign * comparePositions(positionOf(other[next]!), positionOf(row)) < 0) {
      yield other[next++]!
    }
    yield row
  }
  while (next < other.length) yield other[next++]!
}

/** The position itself, so that rows added or gone meanwhile move nobody. */
export const cursorAt = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url')

function positionOf(cursor: string): Position {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(position)) return position
  } catch {
    // Not ours either way: refused below.
  }
  throw notACursor(cursor)
}

const notACursor = (cursor: string) => new Defect(`'${cursor.slice(0, 80)}' is not the next of a page of this range`)

function limitOf(range: { readonly limit?: number }): number {
  const limit = range.limit ?? 100
  if (!Number.isInteger(limit) || limit < 1 || limit > tableBounds.pageItemsMax) {
    throw new Defect(`a page has 1 to ${tableBounds.pageItemsMax} items, not ${limit}`)
  }
  return limit
}

function comparePositions(a: Position, b: Position): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a[i]!
    const y = b[i]!
    if (x !== y) return compareFirst(x, y)
  }
  return 0
}

const compareFirst = (x: string | number, y: string | number) =>
  typeof x === 'number' ? x - (y as number) : compareText(x, y as string)
