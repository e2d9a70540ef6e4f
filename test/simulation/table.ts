import { compareText } from '../../shared/adapters/order.ts'
import { type Layout, layouts, type Row } from '../../shared/adapters/sqlite/layout.ts'
import { absent, itemOf, keyOf, lookedAt, outcomeOf } from '../../shared/adapters/sqlite/ops.ts'
import {
  cursorAt,
  findBounds,
  inOrder,
  isWithin,
  listBounds,
  type Position,
} from '../../shared/adapters/sqlite/range.ts'
import {
  Conflict,
  Defect,
  type Found,
  type IndexName,
  type IndexRange,
  type Item,
  indexes,
  type Key,
  type Op,
  type Page,
  type Range,
  type Stored,
  type Table,
  tableBounds,
  tableOf,
} from '../../shared/ports/table.ts'
import { type Dice, dice } from './chance.ts'

/** What one commit made of an item. */
export interface Change {
  readonly key: Key
  readonly before: Item | null
  readonly after: Item | null
}

interface Placed extends Found {
  readonly pk: string
}
interface Placement {
  readonly id: string
  readonly index: IndexName
  readonly to: Placed | null
  readonly commit: number
  readonly at: number
}
class Partition {
  readonly sks: string[] = []
  readonly rows = new Map<string, Row>()
}

const lagCommitsMax = 8
/** By then an index has caught up, however little is committed. */
const lagMsMax = 3_000

/**
 * The store of a simulated world: in memory, with the bounds, versions and tokens of the port. Its indexes are always behind, by a few
 * commits or seconds, so that they name what has moved on and leave out what has come.
 */
export class MemoryTable implements Table {
  /** Reads along what is committed. */
  onCommit: (changes: readonly Change[]) => void = () => {}
  readonly #now: () => number
  readonly #lag: Dice
  readonly #partitions = new Map<string, Partition>()
  readonly #true = new Map<IndexName, Map<string, Placed>>()
  readonly #seen = new Map<IndexName, Map<string, Placed>>()
  #waiting: Placement[] = []
  readonly #dueById = new Map<string, { commit: number; at: number }>()
  readonly #tokens = new Map<string, { readonly at: number; readonly keys: string }>()
  #commits = 0

  constructor(now: () => number, seed: number) {
    this.#now = now
    this.#lag = dice(seed)
  }

  async get(keys: readonly Key[]): Promise<(Stored | null)[]> {
    if (keys.length > tableBounds.keysPerGet)
      throw new Defect(`${keys.length} keys in one get; at most ${tableBounds.keysPerGet}`)
    return keys.map((key) => this.peek(key))
  }

  /** As `get`, at once. */
  peek(key: Key): Stored | null {
    tableOf(key[0])
    const row = this.#partitions.get(key[0])?.rows.get(key[1])
    return row === undefined ? null : { key, version: row.version, item: shown(row) }
  }

  async list(pk: string, range: Range = {}): Promise<Page<Stored>> {
    tableOf(pk)
    const bounds = listBounds(range)
    const partition = this.#partitions.get(pk)
    const items: Stored[] = []
    let bytes = 0
    let next: string | null = null
    const { sks = [], rows = new Map<string, Row>() } = partition ?? {}
    const order = bounds.descending ? sks.toReversed() : sks
    for (const sk of order) {
      if (!isWithin(bounds, [sk])) continue
      const row = rows.get(sk)!
      bytes += row.body.length
      if (items.length === bounds.limit || (items.length > 0 && bytes > tableBounds.pageBytesMax)) {
        next = cursorAt([items.at(-1)!.key[1]])
        break
      }
      items.push({ key: [pk, sk], version: row.version, item: shown(row) })
    }
    return { items, next }
  }

  async find(index: IndexName, pk: string, range: IndexRange = {}): Promise<Page<Found>> {
    const bounds = findBounds(index, range)
    this.#show(this.#commits, this.#now())
    const position = ({ sk, key }: Found): Position => [sk, ...key]
    const within: Placed[] = []
    for (const entry of this.#seen.get(index)?.values() ?? [])
      if (entry.pk === pk && isWithin(bounds, position(entry))) within.push(entry)
    const page = inOrder(bounds, within, position).slice(0, bounds.limit)
    return {
      items: page.map(({ key, sk }) => ({ key, sk })),
      next: within.length > bounds.limit ? cursorAt(position(page.at(-1)!)) : null,
    }
  }

  async commit(ops: readonly Op[], token: string): Promise<void> {
    if (ops.length < 1 || ops.length > tableBounds.opsPerCommit)
      throw new Defect(`${ops.length} operations in one commit; 1 to ${tableBounds.opsPerCommit}`)
    const names = ops.map((op) => keyOf(op).join('\0'))
    if (new Set(names).size < names.length) throw new Defect(`a key stands twice in one commit: ${names.join(', ')}`)
    const keys = names.join('\n')
    const before = this.#tokens.get(token)
    if (before !== undefined && this.#now() - before.at < tableBounds.tokenMemoryMs) {
      if (before.keys !== keys) throw new Defect(`token ${token} has named another commit within ten minutes`)
      return
    }
    this.#apply(ops)
    this.#tokens.set(token, { at: this.#now(), keys })
  }

  #apply(ops: readonly Op[]): void {
    const rows: { key: Key; layout: Layout; old: Row | undefined; row: Row }[] = []
    let bytes = 0
    for (const [i, op] of ops.entries()) {
      const key = keyOf(op)
      const layout = layoutOf.get(tableOf(key[0]))!
      const old = this.#partitions.get(key[0])?.rows.get(key[1])
      const outcome = outcomeOf(op, old ?? absent(layout), layout)
      if (outcome === null) throw new Conflict(i, key)
      if (outcome === lookedAt) continue
      bytes += Buffer.byteLength(outcome.body)
      // What is kept is what a read answers: text, never the writer's own object.
      rows.push({ key, layout, old, row: { ...outcome, item: null } })
    }
    if (bytes > tableBounds.commitBytesMax)
      throw new Defect(`one commit of ${bytes} bytes; at most ${tableBounds.commitBytesMax} go together`)
    this.#commits += 1
    const changes = rows.map(({ key, layout, old, row }): Change => {
      this.#write(key, layout, row)
      return {
        key,
        before: old === undefined ? null : shown(old),
        after: row.version === 0 ? null : shown(row),
      }
    })
    this.onCommit(changes)
  }

  #write(key: Key, layout: Layout, row: Row): void {
    const [pk, sk] = key
    let partition = this.#partitions.get(pk)
    if (partition === undefined) {
      partition = new Partition()
      this.#partitions.set(pk, partition)
    }
    const { rows, sks } = partition
    const place = firstNotBelow(sks, sk)
    if (row.version === 0) {
      if (rows.delete(sk)) sks.splice(place, 1)
    } else {
      if (!rows.has(sk)) sks.splice(place, 0, sk)
      rows.set(sk, row)
    }
    const id = `${pk}\0${sk}`
    for (const [i, index] of layout.indexes.entries()) {
      const at = row.places[i * 2]
      const to = at == null ? null : { pk: String(at), key, sk: row.places[i * 2 + 1]! }
      const known = entriesOf(this.#true, index)
      if (to === null && !known.has(id)) continue
      if (to === null) known.delete(id)
      else known.set(id, to)
      this.#later(id, index, to)
    }
  }

  /** Placements of one item never overtake each other. */
  #later(id: string, index: IndexName, to: Placed | null): void {
    const name = `${index} ${id}`
    const last = this.#dueById.get(name) ?? { commit: 0, at: 0 }
    const roll = this.#lag(name, this.#commits)
    const due = {
      commit: Math.max(last.commit, this.#commits + Math.floor(roll * lagCommitsMax)),
      at: Math.max(last.at, this.#now() + roll * lagMsMax),
    }
    this.#dueById.set(name, due)
    this.#waiting.push({ id, index, to, ...due })
  }

  #show(commit: number, at: number): void {
    if (this.#waiting.length === 0) return
    const still: Placement[] = []
    for (const placement of this.#waiting) {
      if (placement.commit > commit && placement.at > at) {
        still.push(placement)
        continue
      }
      const entries = entriesOf(this.#seen, placement.index)
      if (placement.to === null) entries.delete(placement.id)
      else entries.set(placement.id, placement.to)
    }
    this.#waiting = still
  }

  catchUp(): void {
    this.#show(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  }

  /** Where items truly stand in an index of times: the earliest, and what is due by then. */
  places(index: IndexName): Iterable<Placed> {
    return this.#true.get(index)?.values() ?? []
  }

  /** Where an item truly stands in an index; null: nowhere. */
  placeOf(index: IndexName, key: Key): string | number | null {
    return this.#true.get(index)?.get(key.join('\0'))?.sk ?? null
  }

  /** The earliest time in any of these indexes, whatever a reader sees of them. */
  earliest(names: readonly IndexName[]): number {
    let first = Number.POSITIVE_INFINITY
    for (const index of names)
      for (const entries of [this.#true.get(index), this.#seen.get(index)])
        for (const { sk } of entries?.values() ?? []) if (typeof sk === 'number' && sk < first) first = sk
    return first
  }

  *within(pk: string, prefix: string): Generator<Stored> {
    const { sks = [], rows = new Map<string, Row>() } = this.#partitions.get(pk) ?? {}
    for (const sk of sks) if (sk.startsWith(prefix)) yield { key: [pk, sk], version: 1, item: shown(rows.get(sk)!) }
  }

  /** Every item whose partition begins with this letter. */
  *everything(letter: string): Generator<Stored> {
    for (const [pk, { rows }] of this.#partitions)
      if (pk[0] === letter)
        for (const [sk, row] of rows) yield { key: [pk, sk], version: row.version, item: shown(row) }
  }
}

const layoutOf = new Map(layouts.map((layout) => [layout.table, layout]))
/** Indexes of times at which something has to be looked at. */
export const timed = (Object.keys(indexes) as IndexName[]).filter(
  (name) => indexes[name].sort === 'number' && name !== 'suggestions',
)

/** Readers share what they read and must not write in it: here they cannot. */
function shown(row: Row): Item {
  row.item ??= frozen(JSON.parse(row.body))
  return itemOf(row)
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner)
    Object.freeze(value)
  }
  return value
}

function entriesOf(of: Map<IndexName, Map<string, Placed>>, index: IndexName): Map<string, Placed> {
  let entries = of.get(index)
  if (entries === undefined) {
    entries = new Map()
    of.set(index, entries)
  }
  return entries
}

function firstNotBelow(sks: readonly string[], sk: string): number {
  let [low, high] = [0, sks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareText(sks[middle]!, sk) < 0) low = middle + 1
    else high = middle
  }
  return low
}
