import type { Key } from '../../ports/table.ts'
import type { Row } from './layout.ts'
import type { Rows } from './rows.ts'

/** What is known of one item: the file's row, and newer ones that wait to be filed. */
export interface Slot {
  readonly partition: Partition
  readonly key: Key
  /** The last commit that named it. */
  commit: number
  /** The last group it changed in. */
  group: number
  /** What the file holds. */
  filed: Row
  /** What holds after the last group that is on disk: the state to go back to. */
  durable: Row
  /** What holds now. */
  row: Row
  /** The file holds something else. */
  waiting: boolean
  /** The first journal entry of what waits; 0 until that is written. */
  entry: number
  /** Its place in the list of those whose index places differ from the file's; -1: not in it. */
  movedAt: number
}

/** A walk over so few slots is faster than a map. */
const walkedMax = 8
/** A partition in use is never forgotten whole: beyond this many slots, those that do not wait are. */
const slotsMax = 1000

/** What is known of one partition. */
export class Partition {
  /** The last `sk` that the file may have here, '' when it has none: what lies beyond is absent, and needs no look. */
  lastFiled: string
  /** How many slots wait to be filed. */
  waiting = 0
  slots: Slot[] = []
  #bySk: Map<string, Slot> | null = null

  /** The table it belongs to. */
  readonly rows: Rows

  constructor(rows: Rows, lastFiled: string) {
    this.rows = rows
    this.lastFiled = lastFiled
  }

  slot(sk: string): Slot | undefined {
    if (this.#bySk !== null) return this.#bySk.get(sk)
    for (const slot of this.slots) if (slot.key[1] === sk) return slot
    return undefined
  }

  add(slot: Slot): void {
    this.slots.push(slot)
    if (this.#bySk !== null) this.#bySk.set(slot.key[1], slot)
    else if (this.slots.length > walkedMax) this.#bySk = new Map(this.slots.map((s) => [s.key[1], s]))
  }

  /** Forgets what does not wait, if that is most of it. */
  trim(): void {
    if (this.waiting > this.slots.length / 2) return
    this.slots = this.slots.filter((slot) => slot.waiting)
    this.#bySk = this.slots.length > walkedMax ? new Map(this.slots.map((s) => [s.key[1], s])) : null
  }
}

/**
 * The partitions that were used lately.
 *
 * Two maps: what is used moves to the young one; when that is full it becomes the old one, and the old one is dropped
 * but for what waits. So a use costs a map look-up, not a list of recency.
 */
export class Partitions {
  readonly #charsMax: number
  #young = new Map<string, Partition>()
  #old = new Map<string, Partition>()
  #chars = 0
  /** One that has grown past `slotsMax`. */
  #large: Partition | null = null

  /** @param charsMax  of JSON, with an allowance for the rest: up to twice that is remembered */
  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  get(pk: string): Partition | undefined {
    const young = this.#young.get(pk)
    if (young !== undefined) return young
    const old = this.#old.get(pk)
    if (old === undefined) return undefined
    this.#old.delete(pk)
    this.set(pk, old)
    for (const slot of old.slots) this.weigh(old, slot.row)
    return old
  }

  set(pk: string, partition: Partition): void {
    this.#young.set(pk, partition)
  }

  /** Counts what is remembered from now on. */
  weigh(partition: Partition, row: Row): void {
    this.#chars += weightOf(row)
    if (partition.slots.length > slotsMax) this.#large = partition
  }

  /**
   * Forgets what is too much. To be called while nobody holds a slot: one that is forgotten and then written would be
   * lost.
   */
  trim(): void {
    this.#large?.trim()
    this.#large = null
    if (this.#chars <= this.#charsMax) return
    const dropped = this.#old
    this.#old = this.#young
    this.#young = new Map()
    this.#chars = 0
    for (const [pk, partition] of dropped) if (partition.waiting > 0) this.#young.set(pk, partition)
  }
}

/** In characters: the body, the item parsed from it, and an allowance for the objects around them. */
export const weightOf = (row: Row) => row.body.length * 2 + 400
