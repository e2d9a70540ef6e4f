import type { Item, Key, TableName } from '../../ports/table.ts'
import type { StoreFile } from './file.ts'
import type { Places, Row } from './layout.ts'
import { absent } from './ops.ts'
import type { Rows } from './rows.ts'

/**
 * Makes groups of commits durable in one write, and brings them into the tables afterwards.
 *
 * Binding rows to statements and rewriting index entries cost far more than the write itself, so a burst only appends:
 * one entry with all rows of a group, one fsync. When the burst is over the rows are filed in small slices; when too
 * many wait, each group files more than it adds. A crash loses nothing: the next start files what the journal holds.
 * Until then the sqlite3 shell shows the tables as last filed.
 */
export class Journal {
  readonly #file: StoreFile
  readonly #tables: readonly Rows[]
  readonly #closeGroup: () => void
  readonly #insert
  #timer: NodeJS.Timeout | null = null
  #closed = false
  /** Since the timer last looked. */
  #commits = 0
  /** False once a slice has begun: a transaction may be open, and writes may not be synced. */
  #safe = true
  /** Rows of the last group. */
  #added = 0
  /** Estimated; a checkpoint leaves the WAL's file as it is, to be written again from its beginning. */
  #walBytes = 0

  /** @param closeGroup  makes durable what is open; called before rows are filed by the clock */
  constructor(file: StoreFile, tables: readonly Rows[], closeGroup: () => void) {
    this.#file = file
    this.#tables = tables
    this.#closeGroup = closeGroup
    this.#insert = file.db.prepare('INSERT INTO journal (entry) VALUES (?)')
    this.#replay()
  }

  /** Makes everything open durable. Throws what SQLite throws: then nothing of it was written. */
  append(commits: number): void {
    this.#setSafe()
    const entry = entryOf(this.#tables)
    this.#added = 0
    for (const { open } of this.#tables) this.#added += open.length
    if (entry !== null) {
      const n = Number(this.#insert.run([entry]).lastInsertRowid)
      for (const rows of this.#tables) rows.settle(n)
      this.#walBytes += entry.length
    }
    this.#commits += commits
    this.#lookAfter(lookMs)
  }

  /** Keeps what waits within bounds while a burst goes on. Called between groups. */
  relieve(): void {
    let chars = 0
    for (const { waiting } of this.#tables) chars += waiting.chars
    if (chars > waitingCharsMax) this.#fileSlice(rowsPerSlice + this.#added * 2)
    if (this.#walBytes > walBytesMax) this.#checkpoint()
  }

  close(): void {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    // Nobody waits for it any more; and what cannot be filed stays in the journal for the next start.
    this.#fileSlice(Number.MAX_SAFE_INTEGER)
  }

  #lookAfter(ms: number) {
    if (this.#timer === null && !this.#closed) this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look() {
    this.#timer = null
    const busy = this.#commits > busyCommits
    const quiet = this.#commits === 0
    this.#commits = 0
    if (busy) {
      this.#lookAfter(lookMs)
    } else if (this.#tables.some((rows) => rows.waiting.rows > 0)) {
      this.#closeGroup()
      const filed = this.#fileSlice(rowsPerSlice)
      this.#lookAfter(filed ? pauseMs : retryMs)
    } else if (this.#walBytes > 0) {
      if (quiet) this.#checkpoint()
      else this.#lookAfter(idleMs)
    }
  }

  /** @returns false when the file would not take them; they stay where they are */
  #fileSlice(most: number): boolean {
    const { db } = this.#file
    try {
      this.#setSafe()
      // No fsync: the rows are durable in the journal, and the WAL keeps the order of this and the journal's deletion.
      this.#safe = false
      db.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE')
      let left = most
      const filings = this.#tables.map((rows) => {
        const filing = rows.file(left)
        left -= filing.rows
        return filing
      })
      const needed = Math.min(...filings.map((filing) => filing.entryNeeded))
      db.exec(Number.isFinite(needed) ? `DELETE FROM journal WHERE n < ${needed}` : 'DELETE FROM journal')
      db.exec('COMMIT')
      for (const filing of filings) filing.done()
      this.#walBytes += (most - left) * walBytesPerRow
      return true
    } catch {
      return false
    }
  }

  /** Ends what a slice left behind, so that the next write is durable when it returns. */
  #setSafe() {
    if (this.#safe) return
    // SQLite rolls back by itself on some errors, a full disk among them.
    if (this.#file.db.inTransaction) this.#file.db.exec('ROLLBACK')
    this.#file.db.exec(`PRAGMA synchronous = ${this.#file.synchronous}`)
    this.#safe = true
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
    const entries = this.#file.db.prepare('SELECT n, entry FROM journal ORDER BY n').raw().all() as [number, string][]
    if (entries.length === 0) return
    for (const [n, entry] of entries) {
      for (const [table, row, key] of rowsOf(entry)) {
        const rows = this.#tables.find(({ layout }) => layout.table === table)!
        const places = rows.layout.nowhere.map((nothing, i) => row.places[i] ?? nothing)
        rows.write(rows.slot(key), row.version === 0 ? absent(rows.layout) : { ...row, places })
      }
      for (const rows of this.#tables) rows.settle(n)
    }
    this.#fileSlice(Number.MAX_SAFE_INTEGER)
    this.#lookAfter(lookMs)
  }
}

/** More commits than this between two looks: a burst, in which nothing is filed. */
const busyCommits = 10
const lookMs = 50
const rowsPerSlice = 500
const pauseMs = 2
const idleMs = 1000
const retryMs = 5000
const waitingCharsMax = 64_000_000
/** A checkpoint stops the process while it runs, so it waits for an idle moment, or for a WAL this large. */
const walBytesMax = 64_000_000
/** About half a page, on average over rows that stand together and rows that do not. */
const walBytesPerRow = 2000

type Entry = {
  readonly [table in TableName]?: readonly [string, string, number, number | null, Item | null, ...Places][]
}

/**
 * The open rows of a group as JSON: per table `[pk, sk, version, ttl, item, ...places]`. Put together by hand, since
 * the items are JSON already.
 */
function entryOf(tables: readonly Rows[]): string | null {
  let entry = ''
  for (const { layout, open } of tables) {
    if (open.length === 0) continue
    let rows = ''
    for (const { key, row } of open) {
      rows += `${rows === '' ? '' : ','}[${quoted(key[0])},${quoted(key[1])},${row.version},${row.ttl},${row.body || null}`
      if (row.places !== layout.nowhere) {
        for (const place of row.places) rows += typeof place === 'string' ? `,${quoted(place)}` : `,${place}`
      }
      rows += ']'
    }
    entry += `${entry === '' ? '{' : ','}"${layout.table}":[${rows}]`
  }
  return entry === '' ? null : `${entry}}`
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
