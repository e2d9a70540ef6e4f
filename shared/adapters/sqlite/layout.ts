import {
  Defect,
  type IndexEntries,
  type IndexName,
  type Item,
  indexes,
  type TableName,
  tables,
} from '../../ports/table.ts'

/**
 * One declared table as SQL sees it. Column order matters: `body` stands last, so that a walk over ttl never reads
 * overflow pages.
 */
export interface Layout {
  readonly table: TableName
  readonly indexes: readonly IndexName[]
  /** Two columns per index, in the order of `indexes`. */
  readonly columns: readonly string[]
  /** The places of an item that stands in no index. */
  readonly nowhere: Places
}

/** Partition and sort value per index of the table, both null where the item has no place. */
export type Places = readonly (string | number | null)[]

/** An item as the file keeps it. */
export interface Row {
  /** 0: there is no such item. */
  readonly version: number
  /** The item as JSON. */
  readonly body: string
  /**
   * The item itself, once somebody has written or read it: shared by all readers from then on, which is why the port's items are
   * readonly. Parsing it at every read was a tenth of a burst.
   */
  item: Item | null
  /** Epoch seconds; null: kept until deleted. */
  readonly ttl: number | null
  readonly places: Places
}

export const layouts: readonly Layout[] = (Object.keys(tables) as TableName[]).map((table) => {
  const own = (Object.keys(indexes) as IndexName[]).filter((name) => indexes[name].table === table)
  const columns = own.flatMap((name) => [`${name}_pk`, `${name}_sk`])
  return { table, indexes: own, columns, nowhere: columns.map(() => null) }
})

/** Raised with every change of the declarations, so that an older Rouse leaves a newer file alone. */
export const schemaVersion = 4

/**
 * What has to be created in a file that has these tables and columns: everything in a new one, what was declared since in an older one.
 * Run in one transaction with `user_version` and `application_id`: a file has all of it or none.
 *
 * @param columnsOf  names of a table's columns; null where there is no such table
 */
export function schemaSteps(columnsOf: (table: string) => readonly string[] | null): string[] {
  const steps: string[] = []
  for (const { table, indexes: names } of layouts) {
    const known = columnsOf(table)
    const columns = names.map((name) => [
      `${name}_pk TEXT`,
      `${name}_sk ${indexes[name].sort === 'number' ? 'INTEGER' : 'TEXT'}`,
    ])
    if (known === null)
      steps.push(
        `CREATE TABLE ${table} (pk TEXT NOT NULL, sk TEXT NOT NULL, ver INTEGER NOT NULL, ttl INTEGER, ${columns
          .flat()
          .map((column) => `${column}, `)
          .join('')}body TEXT NOT NULL, PRIMARY KEY (pk, sk)) WITHOUT ROWID`,
      )
    for (const [i, name] of names.entries()) {
      if (known?.includes(`${name}_pk`)) continue
      if (known !== null) steps.push(...columns[i]!.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`))
      // A WITHOUT ROWID index carries pk and sk behind its own columns, so it covers `find` and orders equal sort values.
      steps.push(`CREATE INDEX ${table}_${name} ON ${table} (${name}_pk, ${name}_sk) WHERE ${name}_pk IS NOT NULL`)
    }
  }
  // The last journal entry whose rows are in the tables (journal.ts).
  if (columnsOf('log') === null) steps.push('CREATE TABLE log (filed INTEGER NOT NULL)', 'INSERT INTO log VALUES (0)')
  return steps
}

/** @throws Defect when an entry names another table's index or has the wrong type */
export function placesOf(layout: Layout, entries: IndexEntries | undefined): Places {
  if (entries === undefined) return layout.nowhere
  const places: (string | number | null)[] = [...layout.nowhere]
  for (const name of Object.keys(entries) as IndexName[]) {
    const entry = entries[name]
    if (entry === undefined) continue
    const at = layout.indexes.indexOf(name)
    if (at < 0) throw new Defect(`index ${name} is not an index of table ${layout.table}`)
    const [pk, sk] = entry
    const fits = indexes[name].sort === 'number' ? Number.isFinite(sk) : typeof sk === 'string' && sk !== ''
    if (typeof pk !== 'string' || pk === '' || !fits) throw new Defect(`index ${name} cannot place [${pk}, ${sk}]`)
    places[at * 2] = pk
    places[at * 2 + 1] = sk
  }
  return places
}
