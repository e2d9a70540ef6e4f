import type Database from 'libsql'
import type { Found, IndexName, Key, Stored } from '../../ports/table.ts'
import type { Layout, Places, Row } from './layout.ts'
import { type Bounds, sqlOf } from './range.ts'

type Statement = Database.Statement<unknown[]>

/** A row to bring into the file. */
interface Filing {
  readonly key: Key
  /** What the file holds, so that only what differs is written. */
  readonly filed: Row
  readonly row: Row
}

/**
 * Binding and calling cost more than SQLite's own work; beyond this many rows in one statement nothing more is saved.
 */
const rowsPerStatement = 16

/** One table of the file: its SQL, prepared once per shape. */
export class FiledTable {
  readonly #db: Database.Database
  readonly #layout: Layout
  readonly #statements = new Map<string, Statement>()
  readonly #select: Statement
  readonly #selectWithLast: Statement
  readonly #selectMany: Statement

  constructor(db: Database.Database, layout: Layout) {
    this.#db = db
    this.#layout = layout
    const { table } = layout
    const columns = ['ver', 'ttl', 'body', ...layout.columns].join()
    this.#select = this.#statement(`SELECT ${columns} FROM ${table} WHERE pk = ? AND sk = ?`)
    this.#selectWithLast = this.#statement(
      `SELECT (SELECT max(sk) FROM ${table} WHERE pk = ?1), ${columns} FROM (SELECT 1) LEFT JOIN ${table} ON pk = ?1 AND sk = ?2`,
    )
    // One JSON text each way: binding a value or handing one over costs about as much as reading the row.
    this.#selectMany = this.#statement(
      `SELECT json_group_array(json_array(j.key, (SELECT max(sk) FROM ${table} WHERE pk = j.value ->> 0), ${columns}))
       FROM json_each(?) j LEFT JOIN ${table} ON pk = j.value ->> 0 AND sk = j.value ->> 1`,
    )
  }

  /** The last partition that begins with a letter and `#`; '' when there is none. */
  lastPartition(letter: string): string {
    const sql = `SELECT max(pk) FROM ${this.#layout.table} WHERE pk >= ? AND pk < ?`
    const [last] = this.#statement(sql).get([letter, `${letter[0]}$`]) as [string | null]
    return last ?? ''
  }

  select(key: Key): Row | null {
    const found = this.#select.get(key as unknown as unknown[]) as Selected | undefined
    return found === undefined ? null : rowOf(found)
  }

  /** The row, and the last `sk` of its partition: '' when the partition is empty. */
  selectWithLast(key: Key): { row: Row | null; last: string } {
    const [last, ...found] = this.#selectWithLast.get(key as unknown as unknown[]) as [string | null, ...Selected]
    return { row: found[0] === null ? null : rowOf(found), last: last ?? '' }
  }

  /** As `selectWithLast`, for many keys, in any order. */
  selectMany(keys: readonly Key[]): { at: number; last: string; row: Row | null }[] {
    const [text] = this.#selectMany.get([JSON.stringify(keys)]) as [string]
    return (JSON.parse(text) as [number, string | null, ...Selected][]).map(([at, last, ...found]) => ({
      at,
      last: last ?? '',
      row: found[0] === null ? null : rowOf(found),
    }))
  }

  *list(pk: string, bounds: Bounds): Generator<Stored<string>> {
    const { sql, values } = sqlOf(bounds, ['sk'])
    const statement = this.#statement(`SELECT sk, ver, body FROM ${this.#layout.table} WHERE pk = ?${sql}`)
    const read = (bound: readonly unknown[]) => statement.all([...bound]) as [string, number, string][]
    for (const [sk, version, item] of chunks(read, [pk, ...values], bounds.limit + 1, 101)) {
      yield { key: [pk, sk], version, item }
    }
  }

  *find(index: IndexName, pk: string, bounds: Bounds): Generator<Found> {
    const { sql, values } = sqlOf(bounds, [`${index}_sk`, 'pk', 'sk'])
    // One JSON text per chunk, as in `selectMany`.
    const statement = this.#statement(
      `SELECT json_group_array(json_array(value, pk, sk)) FROM (SELECT ${index}_sk AS value, pk, sk FROM ${this.#layout.table} WHERE ${index}_pk = ?${sql})`,
    )
    type Entry = [string | number, string, string]
    const read = (bound: readonly unknown[]) => JSON.parse((statement.get(bound) as [string])[0]) as Entry[]
    for (const [value, itemPk, sk] of chunks(read, [pk, ...values], bounds.limit + 1, 1000)) {
      yield { key: [itemPk, sk], sk: value }
    }
  }

  /** Brings rows into the file, inside the transaction that the caller has open. */
  file(rows: Iterable<Filing>): void {
    const { table } = this.#layout
    const byShape = new Map<number, Filing[]>()
    for (const filing of rows) {
      const { key, filed, row } = filing
      if (row.version === 0) {
        if (filed.version > 0) this.#statement(`DELETE FROM ${table} WHERE pk = ? AND sk = ?`).run([...key])
        continue
      }
      const moved = movedPlaces(filed.places, row.places)
      if (filed.version > 0 && moved === 0) {
        const update = this.#statement(`UPDATE ${table} SET ver = ?, ttl = ?, body = ? WHERE pk = ? AND sk = ?`)
        update.run([row.version, row.ttl, row.body, key[0], key[1]])
        continue
      }
      const shape = byShape.get(moved)
      if (shape === undefined) byShape.set(moved, [filing])
      else shape.push(filing)
    }
    for (const [moved, filings] of byShape) this.#upsert(moved, filings)
  }

  /** All places, for the lagging copy. */
  placed(): { key: Key; places: Places }[] {
    const { columns, table } = this.#layout
    if (columns.length === 0) return []
    const rows = this.#statement(`SELECT pk, sk, ${columns.join()} FROM ${table}`).all()
    return (rows as [string, string, ...Places][]).map(([pk, sk, ...places]) => ({ key: [pk, sk], places }))
  }

  /** The last of the next `rows` keys after `from`; null when fewer are left. */
  keyAfter(from: Key, rows: number): Key | null {
    const sql = `SELECT pk, sk FROM ${this.#layout.table} WHERE (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT 1 OFFSET ?`
    return (this.#statement(sql).get([...from, rows - 1]) as [string, string] | undefined) ?? null
  }

  /** Keys after `from` up to `to` (null: to the end) whose ttl has passed. */
  expired(from: Key, to: Key | null, nowSeconds: number): Key[] {
    const until = to === null ? '' : ' AND (pk, sk) <= (?, ?)'
    const sql = `SELECT pk, sk FROM ${this.#layout.table} WHERE (pk, sk) > (?, ?)${until} AND ttl <= ?`
    return this.#statement(sql).all([...from, ...(to ?? []), nowSeconds]) as [string, string][]
  }

  #upsert(moved: number, filings: readonly Filing[]) {
    const columns = this.#layout.columns.filter((_, i) => moved & (1 << (i >> 1)))
    for (let at = 0; at < filings.length; ) {
      const count = filings.length - at >= rowsPerStatement ? rowsPerStatement : 1
      const values: unknown[] = []
      for (const { key, row } of filings.slice(at, at + count)) {
        values.push(key[0], key[1], row.version, row.ttl, row.body)
        for (let i = 0; i < row.places.length; i++) if (moved & (1 << (i >> 1))) values.push(row.places[i])
      }
      this.#statement(upsertSql(this.#layout.table, columns, count)).run(values)
      at += count
    }
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      if (sql.startsWith('SELECT')) statement.raw()
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

/** One bit per index whose place differs. */
export function movedPlaces(before: Places, after: Places): number {
  if (before === after) return 0
  let moved = 0
  for (let i = 0; i < after.length; i++) if (before[i] !== after[i]) moved |= 1 << (i >> 1)
  return moved
}

type Selected = [ver: number, ttl: number | null, body: string, ...Places]

const rowOf = ([version, ttl, body, ...places]: Selected): Row => ({ version, ttl, body, item: null, places })

/**
 * Reads a range a chunk at a time, since a page may end before its limit (1 MB) or need more rows than that (some are
 * hidden). Whole chunks: a statement left in the middle of its rows would keep the WAL from being checkpointed.
 */
function* chunks<T>(
  read: (values: readonly unknown[]) => T[],
  values: readonly unknown[],
  first: number,
  most: number,
): Generator<T> {
  for (let size = Math.min(first, most), offset = 0; ; offset += size, size = most) {
    const rows = read([...values, size, offset])
    yield* rows
    if (rows.length < size) return
  }
}

/**
 * Inserts rows or updates them, naming only the index columns that differ: SQLite rewrites the entries of every index
 * whose columns an UPDATE names, changed or not.
 */
function upsertSql(table: string, columns: readonly string[], rows: number): string {
  const all = ['pk', 'sk', 'ver', 'ttl', 'body', ...columns]
  const places = Array(rows).fill(`(${all.map(() => '?').join()})`)
  const sets = all.slice(2).map((column) => `${column} = excluded.${column}`)
  return `INSERT INTO ${table} (${all.join()}) VALUES ${places.join()} ON CONFLICT (pk, sk) DO UPDATE SET ${sets.join()}`
}
