import { Generations } from '../../domain/generations.ts'
import {
  Conflict,
  Defect,
  type Found,
  type IndexName,
  type IndexRange,
  indexes,
  type Key,
  type Op,
  type Page,
  type Range,
  type Stored,
  type Table,
  type TableName,
  tableBounds,
  tableOf,
  Unavailable,
} from '../../ports/table.ts'
import type { Clock } from '../../ports/world.ts'
import { openFile, type StoreFile } from './file.ts'
import { type Batch, Journal } from './journal.ts'
import { LaggingIndexes, type Placement } from './lag.ts'
import { layouts, type Row } from './layout.ts'
import { absent, itemOf, keyOf, lookedAt, type Outcome, outcomeOf } from './ops.ts'
import type { Slot } from './partitions.ts'
import { Rows } from './rows.ts'

export interface SqliteTable extends Table {
  /**
   * Resolves when everything applied so far is durable, at once when nothing is pending.
   *
   * Reads see commits that are applied and not yet durable. Who answers somebody outside from a read awaits this first,
   * in the turn of the event loop in which it read; rejects with Unavailable when what was applied got lost.
   */
  flush(): Promise<void>
  /**
   * Deletes items whose ttl has passed, looking at the next `rows` keys only: writes pay for no index on ttl. Goes on
   * where the last call stopped, from the beginning after the end.
   *
   * @returns how many were deleted; durable with the next `flush`
   */
  expire(nowMs: number, rows: number): number
  /** Rows that groups have written since the store was opened: what the pace of `expire` follows. */
  readonly written: number
  /** With `lagIndexes`: index reads see everything up to now. */
  catchUp(): Promise<void>
  /** Flushes, moves the WAL into the file and gives up its lock. */
  close(): Promise<void>
}

export interface TableOptions {
  readonly clock: Clock
  /**
   * Index reads answer from a state that is behind on purpose, as DynamoDB's may be. For tests and simulations: keeps
   * all places in memory.
   */
  readonly lagIndexes?: boolean
}

/** Opens the store of an embedded node: one SQLite file, one process. Throws what `openFile` throws. */
export function openTable(
  options: TableOptions & { readonly file: string | ':memory:'; readonly synchronous?: 'FULL' | 'NORMAL' },
): SqliteTable {
  return tableOn(openFile(options), options)
}

/** The store on a file that is open already. */
export function tableOn(file: StoreFile, options: TableOptions): SqliteTable {
  return new GroupingTable(file, options)
}

/** Commits that become durable together. */
interface Group {
  commits: number
  chars: number
  readonly tokens: string[]
  readonly placements: Placement[]
  immediate: NodeJS.Immediate | null
  /** Nobody is waited for any more: it goes as soon as the one before it is through. */
  ready: boolean
  readonly durable: Promise<void>
  readonly resolve: () => void
  readonly reject: (cause: Unavailable) => void
}

interface Answer {
  readonly at: number
  readonly slots: readonly Slot[]
  readonly durable: Promise<void>
  readonly weight: number
}

const nothing = () => {}
const commitsPerGroup = 500
/** However busy it is, nobody waits longer for others to join. */
const groupMsMax = 10
/** Characters of JSON: keeps the entry of a group far from SQLite's bound for one value (1 GB). */
const charsPerGroup = 8_000_000
/**
 * In weight, an answer counting 1 and one more per 4,000 characters. Bounded is enough: inside one process no answer
 * gets lost, so a commit is repeated only by who was refused with Unavailable, soon after, and that one was not
 * written. A crash forgets all tokens: who comes back after it with the same one meets what he wrote, as a Conflict
 * where he expected a state, a second time where he expected none.
 */
const tokensMax = 4096

class GroupingTable implements SqliteTable {
  readonly #file: StoreFile
  readonly #clock: Clock
  readonly #rows: { readonly [name in TableName]: Rows }
  readonly #tables: readonly Rows[]
  readonly #journal: Journal
  readonly #lag: LaggingIndexes | null
  readonly #answers = new Generations<Answer>(tokensMax, (answer) => answer.weight)
  #group: Group | null = null
  /** On its way to the disk. */
  #writing: Group | null = null
  #closed = false
  /** Counts commits, so that a key that stands twice in one is seen by a look at its slot. */
  #nth = 0
  #written = 0
  #expireAt: { table: number; after: Key } = { table: 0, after: ['', ''] }

  constructor(file: StoreFile, options: TableOptions) {
    this.#file = file
    this.#clock = options.clock
    this.#tables = layouts.map((layout) => new Rows(file.db, layout))
    this.#rows = Object.fromEntries(this.#tables.map((rows) => [rows.layout.table, rows])) as {
      [name in TableName]: Rows
    }
    this.#journal = new Journal(file, this.#tables)
    this.#lag = options.lagIndexes ? new LaggingIndexes() : null
    for (const { layout, filed } of this.#tables) this.#lag?.load(layout, filed.placed())
  }

  async get(keys: readonly Key[]): Promise<(Stored | null)[]> {
    if (keys.length > tableBounds.keysPerGet) {
      throw new Defect(`${keys.length} keys in one get; at most ${tableBounds.keysPerGet}`)
    }
    return this.#reading(() => {
      const tables = new Set(keys.map(([pk]) => tableOf(pk)))
      for (const name of tables) this.#rows[name].prefetch(keys.filter(([pk]) => tableOf(pk) === name))
      return keys.map((key) => {
        const { row } = this.#rows[tableOf(key[0])].slot(key)
        return row.version === 0 ? null : { key, version: row.version, item: itemOf(row) }
      })
    })
  }

  async list(pk: string, range: Range = {}): Promise<Page<Stored>> {
    const rows = this.#rows[tableOf(pk)]
    return this.#reading(() => rows.list(pk, range))
  }

  async find(index: IndexName, pk: string, range: IndexRange = {}): Promise<Page<Found>> {
    const rows = this.#rows[indexes[index].table]
    return this.#reading(() => (this.#lag ?? rows).find(index, pk, range))
  }

  /**
   * Checks and applies at once, before it returns its promise; the promise resolves when the group of this commit is
   * durable. A group closes when a turn of the event loop adds nothing to it, or when it is full: one fsync for all that a burst
   * commits.
   */
  async commit(ops: readonly Op[], token: string): Promise<void> {
    const before = this.#answers.get(token)
    if (before !== undefined && this.#clock.now() - before.at < tableBounds.tokenMemoryMs) {
      if (!sameItems(before.slots, ops)) throw new Defect(`token ${token} has named another commit within ten minutes`)
      return await before.durable
    }
    const { slots, chars } = this.#reading(() => this.#apply(ops))
    const group = this.#open()
    group.tokens.push(token)
    group.commits++
    group.chars += chars
    const weight = 1 + chars / 4000
    this.#answers.set(token, { at: this.#clock.now(), slots, durable: group.durable, weight })
    if (group.commits >= commitsPerGroup || group.chars >= charsPerGroup) this.#closeGroup()
    await group.durable
  }

  async flush(): Promise<void> {
    // Groups go one after the other: the open one is through when all are.
    await (this.#group ?? this.#writing)?.durable
  }

  expire(nowMs: number, most: number): number {
    return this.#reading(() => {
      const seconds = Math.floor(nowMs / 1000)
      const { table, after } = this.#expireAt
      const rows = this.#tables[table]!
      const last = rows.filed.keyAfter(after, most)
      let deleted = 0
      const keys = rows.filed.expired(after, last, seconds)
      rows.prefetch(keys)
      for (const key of keys) {
        const slot = rows.slot(key)
        // The file may be behind: what has been written again since lives on.
        if (slot.row.ttl === null || slot.row.ttl > seconds) continue
        this.#write(slot, absent(rows.layout))
        deleted++
      }
      this.#expireAt = last === null ? { table: (table + 1) % layouts.length, after: ['', ''] } : { table, after: last }
      return deleted
    })
  }

  get written(): number {
    return this.#written
  }

  async catchUp(): Promise<void> {
    // Not in a later turn where nothing is on its way.
    const settled = this.#settled()
    if (settled !== null) await settled
    this.#lag?.catchUp()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const settled = this.#settled()
    if (settled !== null) await settled
    this.#journal.close()
    this.#file.close()
  }

  /** Closes what is open and waits for what is on its way; at once where nothing is. Never rejects: whoever committed is told. */
  #settled(): Promise<void> | null {
    this.#closeGroup()
    const last = this.#group ?? this.#writing
    return last === null ? null : last.durable.then(nothing, nothing)
  }

  /**
   * Checks everything before it writes anything, so that a refused commit leaves nothing.
   *
   * @returns how many characters of JSON it wrote
   */
  #apply(ops: readonly Op[]): { slots: readonly Slot[]; chars: number } {
    if (ops.length < 1 || ops.length > tableBounds.opsPerCommit) {
      throw new Defect(`${ops.length} operations in one commit; 1 to ${tableBounds.opsPerCommit}`)
    }
    const nth = ++this.#nth
    const slots: Slot[] = []
    const outcomes: Outcome[] = []
    let refused: Conflict | null = null
    let chars = 0
    for (let i = 0; i < ops.length; i++) {
      const op = ops[i]!
      const key = keyOf(op)
      const rows = this.#rows[tableOf(key[0])]
      const slot = rows.slot(key)
      if (slot.commit === nth) throw new Defect(`${key[0]} / ${key[1]} stands twice in one commit`)
      slot.commit = nth
      slots.push(slot)
      const outcome = outcomeOf(op, slot.row, rows.layout)
      if (outcome === null) {
        refused ??= new Conflict(i, key)
        continue
      }
      outcomes.push(outcome)
      if (outcome !== lookedAt) chars += outcome.body.length
    }
    if (refused !== null) throw refused
    assertCommitFits(outcomes, chars)
    for (let i = 0; i < slots.length; i++) {
      const row = outcomes[i]!
      if (row !== lookedAt) this.#write(slots[i]!, row)
    }
    return { slots, chars }
  }

  #write(slot: Slot, row: Row) {
    const group = this.#open()
    const { rows } = slot.partition
    rows.write(slot, row)
    const { layout } = rows
    if (this.#lag !== null && layout.columns.length > 0) {
      group.placements.push({ layout, key: slot.key, places: row.places })
    }
  }

  #open(): Group {
    if (this.#group === null) {
      let resolve = () => {}
      let reject: Group['reject'] = () => {}
      const durable = new Promise<void>((ok, no) => {
        resolve = ok
        reject = no
      })
      // A group that nobody awaits (expire) must not end the process when it fails.
      durable.catch(() => {})
      this.#group = {
        commits: 0,
        chars: 0,
        tokens: [],
        placements: [],
        immediate: null,
        ready: false,
        durable,
        resolve,
        reject,
      }
      this.#closeWhenQuiet(this.#group, 0, performance.now())
    }
    return this.#group
  }

  /**
   * A group closes after a turn of the event loop that added nothing to it: for one caller that is at once, for many it is
   * when all of them wait for it. Closing after every turn cost 64 callers an fsync for each handful; waiting longer for company
   * gained nothing.
   */
  #closeWhenQuiet(group: Group, commits: number, opened: number) {
    group.immediate = setImmediate(() => {
      const age = performance.now() - opened
      if (group.commits > commits && age < groupMsMax) this.#closeWhenQuiet(group, group.commits, opened)
      else this.#closeGroup()
    })
  }

  #closeGroup() {
    const group = this.#group
    if (group === null) return
    if (group.immediate !== null) clearImmediate(group.immediate)
    group.ready = true
    if (this.#writing !== null) return
    this.#group = null
    this.#writing = group
    const batches = this.#tables.map((rows) => rows.seal())
    for (const batch of batches) this.#written += batch.length
    let appended: Promise<void> | null
    try {
      appended = this.#journal.append(batches.flat())
    } catch (cause) {
      this.#lose(group, batches, cause)
      return
    }
    if (appended === null) this.#through(group)
    else
      appended.then(
        () => this.#through(group),
        (cause: unknown) => this.#lose(group, batches, cause),
      )
  }

  #through(group: Group) {
    this.#writing = null
    this.#lag?.passed(group.commits, group.placements)
    group.resolve()
    this.#journal.relieve()
    if (this.#group?.ready) this.#closeGroup()
  }

  /** What was committed since then was decided on what is lost: it is lost with it. */
  #lose(group: Group, batches: readonly Batch[], cause: unknown) {
    this.#writing = null
    for (const [i, rows] of this.#tables.entries()) rows.forget(batches[i]!)
    const lost = this.#group === null ? [group] : [group, this.#group]
    if (this.#group?.immediate) clearImmediate(this.#group.immediate)
    this.#group = null
    for (const { tokens, reject } of lost) {
      for (const token of tokens) this.#answers.delete(token)
      reject(this.#unavailable(cause))
    }
  }

  #reading<T>(read: () => T): T {
    if (this.#closed) throw new Unavailable(`${this.#file.path} is closed`)
    for (const rows of this.#tables) rows.trim()
    try {
      return read()
    } catch (cause) {
      throw (cause as { code?: unknown }).code === undefined ? cause : this.#unavailable(cause)
    }
  }

  #unavailable(cause: unknown): Unavailable {
    const { message } = cause as Error
    return new Unavailable(
      `${this.#file.path} cannot be used now (${message}): check the disk and its free space`,
      cause,
    )
  }
}

/** DynamoDB compares the whole request; the keys are what tells a repeated commit from a token made wrongly. */
const sameItems = (before: readonly Slot[], ops: readonly Op[]) =>
  before.length === ops.length && ops.every((op, i) => keyOf(op).join('\0') === before[i]!.key.join('\0'))

function assertCommitFits(outcomes: readonly Outcome[], chars: number) {
  // UTF-8 takes at most three bytes for one UTF-16 unit: most commits need no count of bytes.
  if (chars * 3 <= tableBounds.commitBytesMax) return
  let bytes = 0
  for (const row of outcomes) if (row !== lookedAt) bytes += Buffer.byteLength(row.body)
  if (bytes > tableBounds.commitBytesMax)
    throw new Defect(`one commit of ${bytes} bytes; at most ${tableBounds.commitBytesMax} go together`)
}
