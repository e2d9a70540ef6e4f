import type { Item, Key, TableName } from '../../ports/table.ts'
import type { EntryLog } from './entry-log.ts'
import type { StoreFile } from './file.ts'
import type { Places, Row } from './layout.ts'
import { absent } from './ops.ts'
import type { Slot } from './partitions.ts'
import type { Rows } from './rows.ts'

/** Rows as they stood when their group closed. */
export type Batch = readonly { readonly slot: Slot; readonly row: Row }[]

/**
 * Makes groups of commits durable in one write, and brings them into the tables afterwards.
 *
 * Binding rows to statements and rewriting index entries cost far more than the write itself, so a burst only appends:
 * one entry with all rows of a group, one sync, beside the event loop. When the burst is over the rows are filed in small slices; when
 * too many wait, each group files more than it adds. A crash loses nothing: the next start files what the log holds.
 * Until then the sqlite3 shell shows the tables as last filed.
 */
export class Journal {
  readonly #file: StoreFile
  readonly #log: EntryLog
  readonly #tables: readonly Rows[]
  #timer: NodeJS.Timeout | null = null
  #closed = false
  /** The last entry that got through. */
  #last: number
  /** Everything up to this entry is in the tables; and, up to `#synced`, for good. */
  #filed: number
  #synced: number
  /** Rows since the timer last looked. */
  #rows = 0
  /** Rows of the last group. */
  #added = 0
  /** Estimated; a checkpoint leaves the WAL's file as it is, to be written again from its beginning. */
  #walBytes = 0

  constructor(file: StoreFile, tables: readonly Rows[]) {
    this.#file = file
    this.#log = file.log
    this.#tables = tables
    const [filed] = file.db.prepare('SELECT filed FROM log').raw().get() as [number]
    this.#filed = filed
    this.#synced = filed
    this.#last = filed
    this.#replayOldest()
    this.#replay()
  }

  /**
   * Makes a group durable; the next one may come when this is through. Rejects with what the disk says: then the group is lost.
   *
   * @returns null when that is done already
   */
  append(batch: Batch): Promise<void> | null {
    this.#rows += batch.length
    this.#added = batch.length
    this.#lookAfter(lookMs)
    if (batch.length === 0) return null
    const n = this.#last + 1
    const done = () => {
      this.#last = n
      settle(batch, n)
    }
    const appended = this.#log.append(n, entryOf(batch))
    if (appended !== null) return appended.then(done)
    done()
    return null
  }

  /** Keeps what waits within bounds while a burst goes on. Called between groups. */
  relieve(): void {
    let chars = 0
    for (const { waiting } of this.#tables) chars += waiting.chars
    if (chars > waitingCharsMax) this.#fileSlice(rowsPerSlice + this.#added * 2)
    if (this.#log.size > logBytesMax && this.#filed > this.#synced) this.#syncFiled()
    if (this.#walBytes > walBytesMax) this.#checkpoint()
  }

  close(): void {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    // Nobody waits for it any more; and what cannot be filed stays in the log for the next start.
    while (this.#rowsWait() && this.#fileSlice(Number.MAX_SAFE_INTEGER));
    const empty = !this.#rowsWait() && this.#syncFiled()
    this.#log.close(empty)
  }

  #lookAfter(ms: number) {
    if (this.#timer === null && !this.#closed) this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look() {
    this.#timer = null
    const busy = this.#rows > busyRows
    const quiet = this.#rows === 0
    this.#rows = 0
    if (busy) {
      this.#lookAfter(lookMs)
    } else if (this.#rowsWait()) {
      const filed = this.#fileSlice(quiet ? rowsPerSlice : rowsBetweenCalls)
      this.#lookAfter(filed ? pauseMs : retryMs)
    } else if (this.#walBytes > 0 || this.#filed > this.#synced) {
      if (!quiet) this.#lookAfter(idleMs)
      else if (this.#syncFiled()) this.#checkpoint()
    }
  }

  #rowsWait(): boolean {
    return this.#tables.some((rows) => rows.waiting.rows > 0)
  }

  /** @returns false when the file would not take them; they stay where they are */
  #fileSlice(most: number): boolean {
    let left = most
    let filings: ReturnType<Rows['file']>[] = []
    // No sync: the rows are durable in the log until it is told to drop them.
    const done = this.#write('NORMAL', () => {
      filings = this.#tables.map((rows) => {
        const filing = rows.file(left)
        left -= filing.rows
        return filing
      })
      const needed = Math.min(...filings.map((filing) => filing.entryNeeded))
      return Number.isFinite(needed) ? needed - 1 : this.#last
    })
    if (!done) return false
    for (const filing of filings) filing.done()
    this.#walBytes += (most === Number.MAX_SAFE_INTEGER ? 0 : most - left) * walBytesPerRow
    return true
  }

  /** Makes durable what is in the tables, and gives back its room in the log. @returns false when the file would not */
  #syncFiled(): boolean {
    if (this.#filed > this.#synced && !this.#write(this.#file.synchronous, () => this.#filed)) return false
    this.#synced = this.#filed
    try {
      this.#log.drop(this.#synced)
    } catch {
      // Room that is not given back is no loss; the next quiet moment tries again.
    }
    return true
  }

  /** One transaction, with the number of the last entry that is in the tables then. */
  #write(synchronous: 'FULL' | 'NORMAL', write: () => number): boolean {
    const { db } = this.#file
    try {
      db.exec(`PRAGMA synchronous = ${synchronous}; BEGIN IMMEDIATE`)
      const filed = write()
      db.exec(`UPDATE log SET filed = ${filed}; COMMIT`)
      this.#filed = filed
      return true
    } catch {
      // SQLite rolls back by itself on some errors, a full disk among them.
      if (db.inTransaction) db.exec('ROLLBACK')
      return false
    }
  }

  #checkpoint() {
    try {
      this.#file.checkpoint()
      this.#walBytes = 0
    } catch {
      // The WAL holds everything all the same; the next quiet moment tries again.
      this.#lookAfter(retryMs)
    }
  }

  /** Takes up what an earlier process made durable and did not file. */
  #replay() {
    for (const { n, entry } of this.#log.entries()) {
      if (n <= this.#filed) continue
      this.#takeUp(n, entry)
      this.#last = n
    }
    if (this.#last === this.#filed) return
    this.#fileSlice(Number.MAX_SAFE_INTEGER)
    this.#lookAfter(lookMs)
  }

  /** The first schema kept its journal in a table of the same file. */
  #replayOldest() {
    const { db } = this.#file
    const [there] = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'journal'").raw().get() as [number]
    if (there === 0) return
    const entries = db.prepare('SELECT entry FROM journal ORDER BY n').raw().all() as [string][]
    for (const [entry] of entries) this.#takeUp(1, entry)
    let filings: ReturnType<Rows['file']>[] = []
    const done = this.#write('FULL', () => {
      filings = this.#tables.map((rows) => rows.file(Number.MAX_SAFE_INTEGER))
      db.exec('DROP TABLE journal')
      return this.#filed
    })
    if (!done) throw new Error(`${this.#file.path} cannot be brought up to date: check the disk and its free space`)
    for (const filing of filings) filing.done()
  }

  #takeUp(n: number, entry: string) {
    for (const [table, row, key] of rowsOf(entry)) {
      const rows = this.#tables.find(({ layout }) => layout.table === table)!
      const places = rows.layout.nowhere.map((nothing, i) => row.places[i] ?? nothing)
      rows.write(rows.slot(key), row.version === 0 ? absent(rows.layout) : { ...row, places })
    }
    for (const rows of this.#tables) settle(rows.seal(), n)
  }
}

/** More rows than this between two looks: a burst, in which nothing is filed. Commits tell nothing: one may hold a hundred rows or one. */
const busyRows = 100
const lookMs = 50
const rowsPerSlice = 500
/** While calls come, one of them waits for each slice: a millisecond or so, not the five that a whole one takes. */
const rowsBetweenCalls = 80
const pauseMs = 2
const idleMs = 1000
const retryMs = 5000
const waitingCharsMax = 64_000_000
/** One of the log's two files is full: what is filed is made durable, so that the other is free when it is needed. */
const logBytesMax = 64_000_000
/** A checkpoint stops the process while it runs, so it waits for an idle moment, or for a WAL this large. */
const walBytesMax = 64_000_000
/** About half a page, on average over rows that stand together and rows that do not. */
const walBytesPerRow = 2000

function settle(batch: Batch, n: number) {
  for (const { slot, row } of batch) {
    slot.durable = row
    if (slot.entry === 0) slot.entry = n
  }
}

type Entry = {
  readonly [table in TableName]?: readonly [string, string, number, number | null, Item | null, ...Places][]
}

/**
 * The rows of a group as JSON: per table `[pk, sk, version, ttl, item, ...places]`. Put together by hand, since
 * the items are JSON already.
 */
function entryOf(batch: Batch): string {
  const parts = new Map<Rows, string>()
  for (const { slot, row } of batch) {
    const { rows } = slot.partition
    const { key } = slot
    const before = parts.get(rows)
    let part = before === undefined ? '[' : `${before},[`
    part += `${quoted(key[0])},${quoted(key[1])},${row.version},${row.ttl},${row.body || null}`
    if (row.places !== rows.layout.nowhere) {
      for (const place of row.places) part += typeof place === 'string' ? `,${quoted(place)}` : `,${place}`
    }
    parts.set(rows, `${part}]`)
  }
  return `{${[...parts].map(([{ layout }, part]) => `"${layout.table}":[${part}]`).join()}}`
}

/** What needs no escapes is only wrapped: half the price of JSON.stringify, and keys are most of a small row. */
const quoted = (text: string) => (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text))

function* rowsOf(entry: string): Generator<[TableName, Row, Key]> {
  for (const [table, rows] of Object.entries(JSON.parse(entry) as Entry)) {
    for (const [pk, sk, version, ttl, item, ...places] of rows) {
      yield [table as TableName, { version, ttl, body: JSON.stringify(item), item, places }, [pk, sk]]
    }
  }
}
