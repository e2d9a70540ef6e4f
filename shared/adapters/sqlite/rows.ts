import type Database from 'libsql'
import {
  Defect,
  type Found,
  type IndexName,
  type IndexRange,
  type Key,
  type Page,
  type Range,
  type Stored,
  tableBounds,
} from '../../ports/table.ts'
import { FiledTable, movedPlaces } from './filed.ts'
import { Generations } from './generations.ts'
import type { Layout, Row } from './layout.ts'
import { absent } from './ops.ts'
import { compareText } from './order.ts'
import { cursorAt, findBounds, inOrder, isWithin, listBounds, merged, type Position } from './range.ts'

/** A row that the file does not have yet. */
interface Change {
  readonly id: string
  readonly key: Key
  /** What the file holds. */
  readonly base: Row
  /** What holds after the last durable group: the state to go back to. */
  durable: Row
  row: Row
  /** The first journal entry that holds it; 0 until that is written. */
  entry: number
}

/** Characters of JSON, and an allowance for the rest, that one table remembers of what was read or written lately. */
const rememberedMax = 8_000_000
const partitionsRemembered = 20_000

/**
 * The rows of one table, as they are now: what has changed and is not in the file yet, before what the file says.
 *
 * Nobody else writes the file (openFile's lock), so what is remembered of it stays true. Changes become durable through the journal and are
 * filed later, so a row written in twenty groups may be filed once.
 */
export class Rows {
  readonly layout: Layout
  readonly filed: FiledTable
  readonly #known = new Generations<Row>(rememberedMax, weigh)
  /** The last `sk` that the file may have in a partition: what lies beyond is absent, and needs no look. */
  readonly #lastFiled = new Generations<string>(partitionsRemembered, () => 1)
  readonly #changes = new Map<string, Change>()
  readonly #changesByPartition = new Map<string, Set<Change>>()
  /** Changes whose places in the indexes differ from the file's. */
  readonly #moved = new Map<string, Change>()
  /** Changed since the last durable group. */
  #open: Change[] = []
  readonly #nothing: Row
  #chars = 0

  constructor(db: Database.Database, layout: Layout) {
    this.layout = layout
    this.filed = new FiledTable(db, layout)
    this.#nothing = absent(layout)
  }

  /** How many rows wait to be filed, and what they weigh. */
  get waiting(): { readonly rows: number; readonly chars: number } {
    return { rows: this.#changes.size, chars: this.#chars }
  }

  read(id: string, key: Key): Row {
    const row = this.#changes.get(id)?.row ?? this.#known.get(id)
    if (row !== undefined) return row
    const last = this.#lastFiled.get(key[0])
    checkKey(key)
    if (last === undefined) {
      const found = this.filed.selectWithLast(key)
      this.#lastFiled.set(key[0], found.last)
      return this.#know(id, found.row ?? this.#nothing)
    }
    if (compareText(key[1], last) > 0) return this.#nothing
    return this.#know(id, this.filed.select(key) ?? this.#nothing)
  }

  /** @param before  what `read` gave for this key in the same turn */
  write(id: string, key: Key, before: Row, row: Row): void {
    let change = this.#changes.get(id)
    if (change === undefined) {
      change = { id, key, base: before, durable: before, row, entry: 0 }
      this.#changes.set(id, change)
      const others = this.#changesByPartition.get(key[0])
      if (others === undefined) this.#changesByPartition.set(key[0], new Set([change]))
      else others.add(change)
      this.#open.push(change)
    } else {
      if (change.row === change.durable) this.#open.push(change)
      this.#chars -= weigh(change.row)
      change.row = row
    }
    this.#chars += weigh(row)
    this.#mark(change)
  }

  /** What changed since the last durable group, for the journal. */
  get open(): readonly { readonly key: Key; readonly row: Row }[] {
    return this.#open
  }

  /** What was open is durable, by this journal entry. */
  settle(entry: number): void {
    for (const change of this.#open) {
      change.durable = change.row
      if (change.entry === 0) change.entry = entry
    }
    this.#open = []
  }

  /** What was open is lost. */
  forget(): void {
    for (const change of this.#open) {
      this.#chars += weigh(change.durable) - weigh(change.row)
      change.row = change.durable
      if (change.durable === change.base) this.#drop(change)
      else this.#mark(change)
    }
    this.#open = []
  }

  /**
   * Brings up to `most` rows into the file, those that wait longest first, inside the transaction that the caller has open. Nothing may be
   * open: what is not durable must not be filed.
   *
   * @returns how many rows it was, the first journal entry that is still needed then, and what to call when that transaction is through
   */
  file(most: number): { rows: number; entryNeeded: number; done(): void } {
    const filings: Change[] = []
    let entryNeeded = Number.POSITIVE_INFINITY
    for (const change of this.#changes.values()) {
      if (filings.length >= most) {
        entryNeeded = change.entry
        break
      }
      filings.push(change)
    }
    this.filed.file(filings)
    return {
      rows: filings.length,
      entryNeeded,
      done: () => {
        for (const change of filings) this.#isFiled(change)
      },
    }
  }

  list(pk: string, range: Range): Page<Stored> {
    const bounds = listBounds(range)
    const position = ({ key }: Stored<string>): Position => [key[1]]
    const waiting: Stored<string>[] = []
    for (const { key, row } of this.#changesByPartition.get(pk) ?? []) {
      if (row.version === 0 || !isWithin(bounds, [key[1]])) continue
      waiting.push({ key, version: row.version, item: row.body })
    }
    const items: Stored[] = []
    let bytes = 0
    const filed = except(this.filed.list(pk, bounds), this.#changes)
    for (const stored of merged(bounds, filed, inOrder(bounds, waiting, position), position)) {
      bytes += Buffer.byteLength(stored.item)
      if (items.length === bounds.limit || (bytes > tableBounds.pageBytesMax && items.length > 0)) {
        return { items, next: cursorAt([items.at(-1)!.key[1]]) }
      }
      items.push({ ...stored, item: JSON.parse(stored.item) })
    }
    return { items, next: null }
  }

  find(index: IndexName, pk: string, range: IndexRange): Page<Found> {
    const bounds = findBounds(index, range)
    const position = ({ sk, key }: Found): Position => [sk, ...key]
    const at = this.layout.indexes.indexOf(index) * 2
    const waiting: Found[] = []
    for (const { key, row } of this.#moved.values()) {
      if (row.places[at] !== pk) continue
      const found = { key, sk: row.places[at + 1]! }
      if (isWithin(bounds, position(found))) waiting.push(found)
    }
    const items: Found[] = []
    const filed = except(this.filed.find(index, pk, bounds), this.#moved)
    for (const found of merged(bounds, filed, inOrder(bounds, waiting, position), position)) {
      if (items.length === bounds.limit) return { items, next: cursorAt(position(items.at(-1)!)) }
      items.push(found)
    }
    return { items, next: null }
  }

  #know(id: string, row: Row): Row {
    this.#known.set(id, row)
    return row
  }

  #mark(change: Change) {
    if (movedPlaces(change.base.places, change.row.places) === 0) this.#moved.delete(change.id)
    else this.#moved.set(change.id, change)
  }

  #isFiled(change: Change) {
    const [pk, sk] = change.key
    const last = this.#lastFiled.get(pk)
    if (last !== undefined && compareText(sk, last) > 0) this.#lastFiled.set(pk, sk)
    this.#drop(change)
    this.#known.set(change.id, change.row)
  }

  #drop(change: Change) {
    this.#chars -= weigh(change.row)
    this.#changes.delete(change.id)
    this.#moved.delete(change.id)
    const others = this.#changesByPartition.get(change.key[0])
    others?.delete(change)
    if (others?.size === 0) this.#changesByPartition.delete(change.key[0])
  }
}

/** In characters: the body and an allowance for the rest. */
const weigh = (row: Row) => row.body.length + 200

export const idOf = (key: Key) => `${key[0]}\0${key[1]}`

function* except<T extends { readonly key: Key }>(rows: Iterable<T>, ids: ReadonlyMap<string, unknown>): Generator<T> {
  for (const row of rows) if (ids.size === 0 || !ids.has(idOf(row.key))) yield row
}

/** The bounds of DynamoDB, and what SQLite's text cannot carry. Checked where a key is first looked up: a known key costs nothing. */
function checkKey([pk, sk]: Key) {
  if (pk === '' || sk === '') throw new Defect(`a key has two parts that are not empty, not '${pk}' / '${sk}'`)
  if (pk.length * 3 > 2048 && Buffer.byteLength(pk) > 2048)
    throw new Defect(`partition ${pk.slice(0, 80)}… is over 2048 bytes`)
  if (sk.length * 3 > 1024 && Buffer.byteLength(sk) > 1024)
    throw new Defect(`sort key ${sk.slice(0, 80)}… is over 1024 bytes`)
  if (/\0|\p{Surrogate}/u.test(pk) || /\0|\p{Surrogate}/u.test(sk)) {
    throw new Defect(`key ${pk} / ${sk} has a NUL or half a surrogate pair in it`)
  }
}
