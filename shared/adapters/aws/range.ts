import { Defect, type IndexName, type IndexRange, indexes, type Range, tableBounds } from '../../ports/table.ts'
import { afterPrefix, compareText } from '../order.ts'
import type { Terms } from './requests.ts'
import { attributesOf, keyAttributes } from './schema.ts'
import { type Attributes, attributeOf, fitsNumber } from './values.ts'

/** What a Query asks for beyond its partition; null where nothing can be in it. */
export interface Asked {
  /** Follows the condition on the partition; may be empty. */
  readonly condition: string
  readonly start: Attributes | undefined
  readonly descending: boolean
  readonly limit: number
  /** Names of the least key that is beyond the range, which a Query cannot leave out by itself. */
  readonly beyond: string | null
}

/** A Query bounds its sort key once: prefix, `from` and `to` become one condition. */
export function askedOfList(pk: string, range: Range, terms: Terms): Asked | null {
  const { prefix = '', from = '', descending = false } = range
  const limit = limitOf(range)
  const start = range.after === undefined ? undefined : listStart(pk, range.after)
  const asked = { start, descending, limit, beyond: null }
  if (range.to === '') return null
  const name = () => terms.name(keyAttributes.sk)
  const end = prefix === '' ? null : afterPrefix(prefix)
  const reachesEnd = range.to === undefined || (end !== null && compareText(range.to, end) >= 0)
  const low = compareText(from, prefix) > 0 ? from : prefix
  if (prefix !== '' && reachesEnd && low === prefix) {
    return { ...asked, condition: ` AND begins_with(${name()}, ${terms.value(attributeOf(prefix))})` }
  }
  const high = reachesEnd ? end : range.to!
  const condition = between(name, low === '' ? null : low, high, compareText, (text) => terms.value(attributeOf(text)))
  return condition === null ? null : { ...asked, condition, beyond: reachesEnd ? end : null }
}

/** @throws Defect when a bound is not of the index's type */
export function askedOfFind(index: IndexName, pk: string, range: IndexRange, terms: Terms): Asked | null {
  const { sort } = indexes[index]
  for (const bound of [range.from, range.to]) {
    if (bound === undefined) continue
    if (typeof bound !== sort || Number.isNaN(bound)) {
      throw new Defect(`index ${index} is bounded by a ${sort}, not by '${bound}'`)
    }
  }
  const limit = limitOf(range)
  const start = range.after === undefined ? undefined : findStart(index, pk, range.after)
  const name = () => terms.name(attributesOf(index).sk)
  const value = (bound: string | number) => terms.value(attributeOf(bound))
  const [from, to] = [edgeOf(range.from), edgeOf(range.to)]
  if (from === 'above' || to === 'below') return null
  const [low, high] = [from === 'below' ? null : from, to === 'above' ? null : to]
  const order = (a: string | number, b: string | number) =>
    typeof a === 'number' ? a - (b as number) : compareText(a, b as string)
  const condition = between(name, low, high, order, value)
  if (condition === null) return null
  return { condition, start, descending: range.descending ?? false, limit, beyond: null }
}

/** Beyond all that can be stored on either side, or a bound DynamoDB can compare with. */
function edgeOf(bound: string | number | undefined): string | number | 'below' | 'above' | null {
  if (bound === undefined) return null
  if (bound === '') return 'below'
  if (typeof bound === 'string' || fitsNumber(bound)) return bound
  if (Math.abs(bound) < 1) return 0
  return bound < 0 ? 'below' : 'above'
}

/** @returns null when nothing lies between */
function between<T>(
  name: () => string,
  low: T | null,
  high: T | null,
  order: (a: T, b: T) => number,
  value: (bound: T) => string,
): string | null {
  if (low !== null && high !== null) {
    return order(low, high) > 0 ? null : ` AND ${name()} BETWEEN ${value(low)} AND ${value(high)}`
  }
  if (low !== null) return ` AND ${name()} >= ${value(low)}`
  return high === null ? '' : ` AND ${name()} <= ${value(high)}`
}

function limitOf(range: { readonly limit?: number }): number {
  const limit = range.limit ?? 100
  if (!Number.isInteger(limit) || limit < 1 || limit > tableBounds.pageItemsMax) {
    throw new Defect(`a page has 1 to ${tableBounds.pageItemsMax} items, not ${limit}`)
  }
  return limit
}

/** Where the next page goes on: what the last item of this one is found by. */
export const cursorAt = (position: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url')

function listStart(pk: string, cursor: string): Attributes {
  const at = positionOf(cursor)
  const [sk] = at
  if (at.length !== 1 || typeof sk !== 'string') throw notACursor(cursor)
  return { [keyAttributes.pk]: { S: pk }, [keyAttributes.sk]: attributeOf(sk) }
}

function findStart(index: IndexName, partition: string, cursor: string): Attributes {
  const at = positionOf(cursor)
  const [value, pk, sk] = at
  const fits = typeof value === indexes[index].sort && typeof pk === 'string' && typeof sk === 'string'
  if (at.length !== 3 || !fits) throw notACursor(cursor)
  const names = attributesOf(index)
  return {
    [names.pk]: attributeOf(partition),
    [names.sk]: attributeOf(value as string | number),
    [keyAttributes.pk]: attributeOf(pk),
    [keyAttributes.sk]: attributeOf(sk),
  }
}

function positionOf(cursor: string): readonly unknown[] {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(position)) return position
  } catch {
    // Not ours either way: refused below.
  }
  throw notACursor(cursor)
}

const notACursor = (cursor: string) => new Defect(`'${cursor.slice(0, 80)}' is not the next of a page of this range`)
