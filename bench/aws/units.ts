import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** AWS's rules of what a request counts as. Sources: the developer guides and pricing pages of the services; test/bench/units.test.ts has their examples. */

export type Attributes = Record<string, AttributeValue>

const kb = 1024

/** What an item weighs: names and values, in UTF-8. */
export const itemBytes = (item: Attributes): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + utf8(name) + valueBytes(value), 0)

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return utf8(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.B !== undefined) return value.B.byteLength
  if (value.SS !== undefined) return sum(value.SS, utf8)
  if (value.NS !== undefined) return sum(value.NS, numberBytes)
  if (value.BS !== undefined) return sum(value.BS, (bytes) => bytes.byteLength)
  // Three bytes for a list or a map, and one for each place in it.
  if (value.L !== undefined) return 3 + sum(value.L, (one) => 1 + valueBytes(one))
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M)
  return 1
}

/** A byte for two significant digits, and one; a sign takes another. Zeros before and behind are none. */
function numberBytes(text: string): number {
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '')
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

const utf8 = (text: string): number => Buffer.byteLength(text)
const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0)

/** Each 4 KB that was begun is a unit; an eventually consistent read takes half of it. What is not there takes as much as the smallest item. */
export const readUnits = (bytes: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(bytes / (4 * kb))) * (consistent ? 1 : 0.5)

/**
 * Each KB that was begun is a unit, of the larger one of before and after; in a transaction all counts twice. A write whose condition did
 * not hold counts what is there.
 *
 * @param before, after  null: there is nothing
 */
export const writeUnits = (before: number | null, after: number | null, transactional: boolean): number =>
  Math.max(1, Math.ceil(Math.max(before ?? 0, after ?? 0) / kb)) * (transactional ? 2 : 1)

/**
 * What a write costs besides in an index that holds keys only: nothing when the item's place stays, one write when it comes or goes, two
 * when it moves. Indexes are written after the transaction, so that it doubles nothing here.
 */
export function indexUnits(before: Attributes | null, after: Attributes | null, at: readonly string[]): number {
  const [was, is] = [placeIn(before, at), placeIn(after, at)]
  if (was !== null && is !== null && JSON.stringify(was) === JSON.stringify(is)) return 0
  return sum([was, is], (place) => (place === null ? 0 : writeUnits(null, itemBytes(place), false)))
}

/** @param at  the attributes that are projected: the index's key and the table's */
function placeIn(item: Attributes | null, at: readonly string[]): Attributes | null {
  if (item === null || at.some((name) => item[name] === undefined)) return null
  return Object.fromEntries(at.map((name) => [name, item[name]!]))
}

/** Each 64 KB that was begun is a request. */
export const sqsRequests = (bytes: number): number => Math.max(1, Math.ceil(bytes / (64 * kb)))

/** Each 512 KB of a call of an HTTP API that was begun is one. */
export const apiCalls = (bytes: number): number => Math.max(1, Math.ceil(bytes / (512 * kb)))

/** By the millisecond that was begun. */
export const gbSeconds = (ms: number, memoryMb: number): number => (Math.ceil(ms) / 1000) * (memoryMb / kb)
