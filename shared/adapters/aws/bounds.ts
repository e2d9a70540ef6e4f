import {
  Defect,
  type IndexEntries,
  type IndexName,
  type Item,
  indexes,
  type Key,
  type Op,
  type TableName,
  tableBounds,
  tableOf,
} from '../../ports/table.ts'
import { fitsNumber } from './values.ts'

const pkBytesMax = 2048
const skBytesMax = 1024

export function keyOf(op: Op): Key {
  if ('put' in op) return op.put
  if ('patch' in op) return op.patch
  return 'delete' in op ? op.delete : op.check
}

/** Everything about a commit that can be known to be wrong before it is sent. Throws Defect. */
export function assertCommit(ops: readonly Op[]): void {
  if (ops.length < 1 || ops.length > tableBounds.opsPerCommit) {
    throw new Defect(`${ops.length} operations in one commit; 1 to ${tableBounds.opsPerCommit}`)
  }
  const seen = new Set<string>()
  let bytes = 0
  for (const op of ops) {
    const key = keyOf(op)
    const table = assertKey(key)
    const id = key.join('\0')
    if (seen.has(id)) throw new Defect(`${key[0]} / ${key[1]} stands twice in one commit`)
    seen.add(id)
    if ('put' in op || 'patch' in op) {
      if (op.index !== undefined) assertPlaces(table, op.index)
      if ('patch' in op) assertPatch(op)
      bytes += itemBytes(key, 'put' in op ? op.item : (op.set ?? {}))
    }
  }
  if (bytes > tableBounds.commitBytesMax) {
    throw new Defect(`one commit of ${bytes} bytes; at most ${tableBounds.commitBytesMax} go together`)
  }
}

/** @throws Defect when no table has such a key */
export function assertKey([pk, sk]: Key): TableName {
  const table = tableOf(pk)
  for (const [part, most] of [
    [pk, pkBytesMax],
    [sk, skBytesMax],
  ] as const) {
    if (part === '' || !fits(part, most) || !part.isWellFormed()) {
      throw new Defect(`key ${pk.slice(0, 80)} / ${sk.slice(0, 80)}: each part is text of 1 to ${most} bytes`)
    }
  }
  return table
}

/** UTF-8 takes at most three bytes for one UTF-16 unit: most texts need no count of bytes. */
const fits = (text: string, most: number) => text.length * 3 <= most || Buffer.byteLength(text) <= most

function itemBytes(key: Key, item: Item): number {
  const bytes = Buffer.byteLength(JSON.stringify(item))
  if (bytes > tableBounds.itemBytesMax) {
    throw new Defect(`item ${key[0]} / ${key[1]} has ${bytes} bytes; at most ${tableBounds.itemBytesMax} can be stored`)
  }
  return bytes
}

function assertPlaces(table: TableName, entries: IndexEntries) {
  for (const name of Object.keys(entries) as IndexName[]) {
    const entry = entries[name]
    if (entry === undefined) continue
    if (indexes[name]?.table !== table) throw new Defect(`index ${name} is not an index of table ${table}`)
    const [pk, sk] = entry
    const isText = (text: unknown, most: number) =>
      typeof text === 'string' && text !== '' && text.isWellFormed() && fits(text, most)
    const isPlace = indexes[name].sort === 'number' ? isSortNumber(sk) : isText(sk, skBytesMax)
    if (!isText(pk, pkBytesMax) || !isPlace) throw new Defect(`index ${name} cannot place [${pk}, ${sk}]`)
  }
}

const isSortNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && fitsNumber(value)

function assertPatch(op: Extract<Op, { patch: Key }>) {
  const touched = new Set<string>()
  const { set = {}, unset = [], add = {} } = op
  for (const attr of [...Object.keys(set).filter((name) => set[name] !== undefined), ...unset, ...Object.keys(add)]) {
    if (touched.has(attr)) throw new Defect(`patch of ${op.patch[0]} / ${op.patch[1]} changes ${attr} twice`)
    touched.add(attr)
  }
  for (const [attr, by] of Object.entries(add)) {
    if (!isSortNumber(by)) throw new Defect(`patch of ${op.patch[0]} / ${op.patch[1]} adds ${by} to ${attr}`)
  }
  for (const guard of op.guards) {
    const value = 'value' in guard ? guard.value : 0
    if (typeof value === 'number' && !isSortNumber(value)) {
      throw new Defect(`patch of ${op.patch[0]} / ${op.patch[1]} compares ${guard.attr} with ${value}`)
    }
  }
}
