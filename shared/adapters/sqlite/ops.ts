import { Defect, type Guard, type Item, type Json, type Key, type Op, tableBounds } from '../../ports/table.ts'
import { compareText } from '../order.ts'
import { type Layout, type Places, placesOf, type Row } from './layout.ts'

/** What one operation makes of its item. */
export const lookedAt = Symbol('only looked at')
export type Outcome = Row | typeof lookedAt

/** Decides one operation against the row as it stands; null when its expectation or a guard does not hold. */
export function outcomeOf(op: Op, row: Row, layout: Layout): Outcome | null {
  if ('put' in op) {
    if (!isExpected(op.expect, row.version)) return null
    const put = written(op.put, op.item, row.version + 1, op.ttl ?? null, placesOf(layout, op.index))
    // Frozen, it was given away: nobody changes it any more, and reading it again costs no parsing.
    if (Object.isFrozen(op.item)) put.item = op.item
    return put
  }
  if ('patch' in op) return patched(op, row, layout)
  if ('delete' in op) return isExpected(op.expect, row.version) ? absent(layout) : null
  return isExpected(op.expect, row.version) ? lookedAt : null
}

export function keyOf(op: Op): Key {
  if ('put' in op) return op.put
  if ('patch' in op) return op.patch
  return 'delete' in op ? op.delete : op.check
}

export const absent = (layout: Layout): Row => ({ version: 0, body: '', item: null, ttl: null, places: layout.nowhere })

export function itemOf(row: Row): Item {
  row.item ??= JSON.parse(row.body) as Item
  return row.item
}

function isExpected(expect: number | 'absent' | 'present' | 'any', version: number): boolean {
  if (expect === 'any') return true
  if (expect === 'absent') return version === 0
  // No item has version 0, so expecting it is never met, as in DynamoDB.
  return expect === 'present' ? version > 0 : version === expect && version > 0
}

function written(key: Key, item: Item, version: number, ttl: number | null, places: Places): Row {
  const body = JSON.stringify(item)
  // UTF-8 takes at most three bytes for one UTF-16 unit: most items need no count of bytes.
  if (body.length * 3 > tableBounds.itemBytesMax) {
    const bytes = Buffer.byteLength(body)
    if (bytes > tableBounds.itemBytesMax) {
      throw new Defect(
        `item ${key[0]} / ${key[1]} has ${bytes} bytes; at most ${tableBounds.itemBytesMax} can be stored`,
      )
    }
  }
  return { version, body, item: null, ttl, places }
}

function patched(op: Extract<Op, { patch: Key }>, row: Row, layout: Layout): Row | null {
  const item: Record<string, Json | undefined> = row.version === 0 ? {} : { ...itemOf(row) }
  for (const guard of op.guards) if (!holds(guard, item[guard.attr])) return null
  const touched = new Set<string>()
  const touch = (attr: string) => {
    if (touched.has(attr)) throw new Defect(`patch of ${op.patch[0]} / ${op.patch[1]} changes ${attr} twice`)
    touched.add(attr)
  }
  if (op.set !== undefined) {
    for (const attr of Object.keys(op.set)) {
      const value = op.set[attr]
      if (value === undefined) continue
      touch(attr)
      item[attr] = value
    }
  }
  if (op.unset !== undefined) {
    for (const attr of op.unset) {
      touch(attr)
      delete item[attr]
    }
  }
  if (op.add !== undefined) {
    for (const attr of Object.keys(op.add)) {
      touch(attr)
      const before = item[attr] ?? 0
      if (typeof before !== 'number' || item[attr] === null) {
        throw new Defect(`patch of ${op.patch[0]} / ${op.patch[1]} adds to ${attr}, which is not a number`)
      }
      item[attr] = before + op.add[attr]!
    }
  }
  const places = op.index === undefined ? row.places : placesOf(layout, op.index)
  return written(op.patch, item, row.version + 1, op.ttl ?? row.ttl, places)
}

/**
 * As DynamoDB compares: values of different types are neither equal nor ordered, and an attribute that is null is
 * present.
 */
function holds(guard: Guard, value: Json | undefined): boolean {
  if (!('value' in guard)) return (value === undefined) === (guard.is === 'absent')
  if (typeof value !== typeof guard.value) return false
  const order =
    typeof value === 'string' ? compareText(value, guard.value as string) : (value as number) - (guard.value as number)
  switch (guard.is) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '=':
      return order === 0
    case '>=':
      return order >= 0
    case '>':
      return order > 0
  }
}
