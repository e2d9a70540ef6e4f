import type Database from 'libsql'
import {
  Defect,
  type Found,
  type IndexName,
  type IndexRange,
  indexes,
  type Key,
  type Page,
  type Range,
  type Stored,
  tableBounds,
} from '../../ports/table.ts'
import { compareText } from '../order.ts'
import { FiledTable, movedPlaces } from './filed.ts'
import type { Batch } from './journal.ts'
import type { Layout, Row } from './layout.ts'
import { absent } from './ops.ts'
import { Partition, Partitions, type Slot, weightOf } from './partitions.ts'
import { canBeWithin, cursorAt, findBounds, inOrder, isWithin, listBounds, merged, type Position } from './range.ts'

/** A herd of 10,000 schedules that were made or looked at lately stays at hand: cursors and definitions. */
const rememberedCharsMax = 40_000_000
const prefetchedMin = 4

/**
 * The rows of one table, as they are now: what has changed and is not in the file yet, before what the file says.
 *
 * Nobody else writes the file (openFile's lock), so what is remembered of it stays true. Changes become durable through
 * the journal and are filed later, so a row written in twenty groups may be filed once.
 */
export class Rows {
  readonly layout: Layout
  readonly filed: FiledTable
  readonly #partitions = new Partitions(rememberedCharsMax)
  readonly #nothing: Row
  /** The last partition that the file may have, by letter. */
  readonly #lastFiled = new Map<string, string>()
  /** Changed since the last group closed. */
  #open: Slot[] = []
  /** Counts groups, so that a slot is noted once in each. */
  #nth = 1
  /** What waits to be filed, from `#first` on, in the order of the journal entries. */
  #queue: Slot[] = []
  #first = 0
  #waitingChars = 0
  /** Slots whose places in the indexes differ from the file's. */
  readonly #moved: Slot[] = []
  /**
   * Their sort values per number index, NaN for none: `find` runs over them once a page, and a slot is far away in
   * memory.
   */
  readonly #movedTo: (number[] | null)[]

  constructor(db: Database.Database, layout: Layout) {
    this.layout = layout
    this.filed = new FiledTable(db, layout)
    this.#nothing = absent(layout)
    this.#movedTo = layout.indexes.map((name) => (indexes[name].sort === 'number' ? [] : null))
  }

  /** How many rows wait to be filed, and what they weigh. */
  get waiting(): { readonly rows: number; readonly chars: number } {
    return { rows: this.#queue.length - this.#first, chars: this.#waitingChars }
  }

  /** Forgets what is too much; ends the life of every slot that was handed out. */
  trim(): void {
    this.#partitions.trim()
  }

  /** The slot of a key, with its row as it is now. Good until the next `trim`. */
  slot(key: Key): Slot {
    const [pk, sk] = key
    const partition = this.#partitions.get(pk)
    const slot = partition?.slot(sk)
    if (slot !== undefined) return slot
    checkKey(key)
    if (partition === undefined) {
      if (this.#isBeyondAll(pk)) return this.#add(this.#partition(pk, ''), key, null)
      const { last, row } = this.filed.selectWithLast(key)
      return this.#add(this.#partition(pk, last), key, row)
    }
    return this.#add(partition, key, this.#isBeyond(partition, sk) ? null : this.filed.select(key))
  }

  /**
   * Reads what of these is not known yet in one statement: from a few rows on, that costs half of reading them one by
   * one.
   */
  prefetch(keys: readonly Key[]): void {
    const unknown = keys.filter(([pk, sk]) => {
      const partition = this.#partitions.get(pk)
      if (partition === undefined) return !this.#isBeyondAll(pk)
      return partition.slot(sk) === undefined && !this.#isBeyond(partition, sk)
    })
    if (unknown.length < prefetchedMin) return
    for (const key of unknown) checkKey(key)
    for (const { at, last, row } of this.filed.selectMany(unknown)) {
      const key = unknown[at]!
      const partition = this.#partitions.get(key[0]) ?? this.#partition(key[0], last)
      if (partition.slot(key[1]) === undefined) this.#add(partition, key, row)
    }
  }

  write(slot: Slot, row: Row): void {
    if (slot.group !== this.#nth) {
      slot.group = this.#nth
      this.#open.push(slot)
    }
    if (slot.waiting) {
      this.#waitingChars -= weightOf(slot.row)
    } else {
      slot.waiting = true
      slot.partition.waiting++
      this.#queue.push(slot)
    }
    this.#waitingChars += weightOf(row)
    slot.row = row
    this.#mark(slot)
  }

  /** Closes a group: what changed in it, as it is now, for the journal. */
  seal(): { slot: Slot; row: Row }[] {
    const sealed = this.#open.map((slot) => ({ slot, row: slot.row }))
    this.#open = []
    this.#nth++
    return sealed
  }

  /** These slots' last changes are lost, with everything that is not durable. */
  forget(lost: Batch): void {
    for (const { slot } of lost) this.#revert(slot)
    for (const slot of this.#open) this.#revert(slot)
    this.#open = []
    this.#nth++
    // What began to wait in a lost group stands at the end of the queue.
    while (this.#queue.length > this.#first && this.#queue.at(-1)!.entry === 0) this.#leave(this.#queue.pop()!)
  }

  /**
   * Brings up to `most` rows into the file, those that wait longest first, inside the transaction that the caller has
   * open. What has changed since and is not durable is left out.
   *
   * @returns how many rows it was, the first journal entry that is still needed then, and what to call when that
   *          transaction is through
   */
  file(most: number): { rows: number; entryNeeded: number; done(): void } {
    const filings: Slot[] = []
    const kept: Slot[] = []
    let at = this.#first
    for (; at < this.#queue.length && filings.length < most; at++) {
      const slot = this.#queue[at]!
      // Nothing behind it is durable.
      if (slot.entry === 0) break
      if (slot.row === slot.durable) filings.push(slot)
      else kept.push(slot)
    }
    this.filed.file(filings)
    const needed = kept[0] ?? this.#queue[at]
    return {
      rows: filings.length,
      entryNeeded: needed === undefined || needed.entry === 0 ? Number.POSITIVE_INFINITY : needed.entry,
      done: () => {
        for (const slot of filings) this.#isFiled(slot)
        this.#first = at - kept.length
        for (const [i, slot] of kept.entries()) this.#queue[this.#first + i] = slot
        if (this.#first > this.#queue.length / 2) {
          this.#queue = this.#queue.slice(this.#first)
          this.#first = 0
        }
      },
    }
  }

  list(pk: string, range: Range): Page<Stored> {
    const bounds = listBounds(range)
    const position = ({ key }: Stored<string>): Position => [key[1]]
    const partition = this.#partitions.get(pk)
    const waiting: Stored<string>[] = []
    if (partition !== undefined && partition.waiting > 0) {
      for (const { key, row, waiting: waits } of partition.slots) {
        if (!waits || row.version === 0 || !isWithin(bounds, [key[1]])) continue
        waiting.push({ key, version: row.version, item: row.body })
      }
    }
    const isHidden = ({ key }: Stored<string>) => partition?.slot(key[1])?.waiting ?? false
    const filed = except(this.filed.list(pk, bounds), isHidden)
    const items: Stored[] = []
    let bytes = 0
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
    const at = this.layout.indexes.indexOf(index)
    const values = this.#movedTo[at]!
    const waiting: Found[] = []
    for (let i = 0; i < this.#moved.length; i++) {
      if (values !== null && !canBeWithin(bounds, values[i]!)) continue
      const { key, row } = this.#moved[i]!
      if (row.places[at * 2] !== pk) continue
      const found = { key, sk: row.places[at * 2 + 1]! }
      if (isWithin(bounds, position(found))) waiting.push(found)
    }
    const isHidden = ({ key }: Found) => (this.#partitions.get(key[0])?.slot(key[1])?.movedAt ?? -1) >= 0
    const filed = except(this.filed.find(index, pk, bounds), isHidden)
    const items: Found[] = []
    for (const found of merged(bounds, filed, inOrder(bounds, waiting, position), position)) {
      if (items.length === bounds.limit) return { items, next: cursorAt(position(items.at(-1)!)) }
      items.push(found)
    }
    return { items, next: null }
  }

  #partition(pk: string, lastFiled: string): Partition {
    const partition = new Partition(this, lastFiled)
    this.#partitions.set(pk, partition)
    return partition
  }

  /** Whether the file can have nothing in a partition: new ids sort behind the old ones of their letter, and need no look. */
  #isBeyondAll(pk: string): boolean {
    const letter = pk.slice(0, 2)
    let last = this.#lastFiled.get(letter)
    if (last === undefined) {
      last = this.filed.lastPartition(letter)
      this.#lastFiled.set(letter, last)
    }
    return compareText(pk, last) > 0
  }

  #isBeyond(partition: Partition, sk: string): boolean {
    return compareText(sk, partition.lastFiled) > 0
  }

  #add(partition: Partition, key: Key, found: Row | null): Slot {
    const row = found ?? this.#nothing
    // A key of its own: the caller may do with his as he likes.
    const slot = {
      partition,
      key: [key[0], key[1]] as const,
      commit: 0,
      group: 0,
      filed: row,
      durable: row,
      row,
      waiting: false,
      entry: 0,
      movedAt: -1,
    }
    partition.add(slot)
    this.#partitions.weigh(partition, row)
    return slot
  }

  /** Keeps the list of what moved in step with a slot. */
  #mark(slot: Slot) {
    if (movedPlaces(slot.filed.places, slot.row.places) !== 0) {
      if (slot.movedAt < 0) slot.movedAt = this.#moved.push(slot) - 1
      this.#noteMove(slot)
    } else if (slot.movedAt >= 0) {
      const last = this.#moved.pop()!
      for (const values of this.#movedTo) values?.pop()
      if (last !== slot) {
        last.movedAt = slot.movedAt
        this.#moved[slot.movedAt] = last
        this.#noteMove(last)
      }
      slot.movedAt = -1
    }
  }

  #noteMove({ movedAt, row }: Slot) {
    for (let i = 0; i < this.#movedTo.length; i++) {
      const values = this.#movedTo[i]!
      if (values !== null) values[movedAt] = (row.places[i * 2 + 1] as number | null) ?? Number.NaN
    }
  }

  #isFiled(slot: Slot) {
    slot.filed = slot.row
    this.#mark(slot)
    this.#leave(slot)
    const [pk, sk] = slot.key
    if (this.#isBeyond(slot.partition, sk)) slot.partition.lastFiled = sk
    if (this.#isBeyondAll(pk)) this.#lastFiled.set(pk.slice(0, 2), pk)
  }

  #revert(slot: Slot) {
    this.#waitingChars += weightOf(slot.durable) - weightOf(slot.row)
    slot.row = slot.durable
    this.#mark(slot)
  }

  #leave(slot: Slot) {
    this.#waitingChars -= weightOf(slot.row)
    slot.waiting = false
    slot.partition.waiting--
    slot.entry = 0
  }
}

function* except<T>(rows: Iterable<T>, isHidden: (row: T) => boolean): Generator<T> {
  for (const row of rows) if (!isHidden(row)) yield row
}

/**
 * The bounds of DynamoDB, and what SQLite's text cannot carry. Checked where a key is first looked up: a known key
 * costs nothing.
 */
function checkKey([pk, sk]: Key) {
  if (pk === '' || sk === '') throw new Defect(`a key has two parts that are not empty, not '${pk}' / '${sk}'`)
  if (pk.length * 3 > 2048 && Buffer.byteLength(pk) > 2048) {
    throw new Defect(`partition ${pk.slice(0, 80)}… is over 2048 bytes`)
  }
  if (sk.length * 3 > 1024 && Buffer.byteLength(sk) > 1024) {
    throw new Defect(`sort key ${sk.slice(0, 80)}… is over 1024 bytes`)
  }
  // The narrow look first: the exact one has to read by code point.
  if (!/[\0\ud800-\udfff]/.test(pk) && !/[\0\ud800-\udfff]/.test(sk)) return
  if (/\0|\p{Surrogate}/u.test(pk) || /\0|\p{Surrogate}/u.test(sk)) {
    throw new Defect(`key ${pk} / ${sk} has a NUL or half a surrogate pair in it`)
  }
}
