import { type IndexName, indexes, type TableName, tables } from '../../ports/table.ts'

/** The attribute names of every table's key, both text. */
export const keyAttributes = { pk: 'pk', sk: 'sk' } as const

/** Number, the item's version. */
export const versionAttribute = 'v'

/** Number, epoch seconds: what the tables' TTL is set to. */
export const ttlAttribute = 'ttl'

/** Text, names the commit that wrote the item when it stood alone (tokens.ts). */
export const tokenAttribute = '_t'

/**
 * One letter per index, for good: it names the attributes of what is stored. Short, since names count as bytes of an
 * item and a write unit has 1 KB.
 */
const letters: { readonly [name in IndexName]: string } = {
  due: 'd',
  schedulesByAgent: 'a',
  schedulesByMaker: 'm',
  leases: 'l',
  deliveries: 'o',
  jobs: 'j',
  watches: 'w',
  toolRuns: 'y',
  monitorsByAgent: 'n',
  changes: 'c',
  flowRuns: 'f',
  flowRunsByAgent: 'q',
  tracesByAgent: 't',
  tracesByProject: 'p',
  suggestions: 'r',
  sessionsByAgent: 's',
  agents: 'g',
}

/** The attributes that hold an item's place in an index: its partition (text) and its sort value (the index's own type). */
export function attributesOf(index: IndexName): { pk: string; sk: string } {
  return { pk: `_${letters[index]}p`, sk: `_${letters[index]}s` }
}

/** Whose changes somebody listens to: these tables have a stream. */
export const streamedTables: readonly TableName[] = ['documents']

/** What a table looks like to whoever creates it. */
export interface TableShape {
  readonly table: TableName
  /** Every attribute that is part of a key, with its DynamoDB type. */
  readonly attributes: readonly { readonly name: string; readonly type: 'S' | 'N' }[]
  readonly key: typeof keyAttributes
  readonly ttl: typeof ttlAttribute
  readonly streamed: boolean
  /** Global secondary indexes, keys only. */
  readonly indexes: readonly { readonly name: IndexName; readonly pk: string; readonly sk: string }[]
}

export function shapeOf(table: TableName): TableShape {
  const own = indexesOf(table)
  return {
    table,
    attributes: [
      { name: keyAttributes.pk, type: 'S' },
      { name: keyAttributes.sk, type: 'S' },
      ...own.flatMap((name) => {
        const { pk, sk } = attributesOf(name)
        return [
          { name: pk, type: 'S' as const },
          { name: sk, type: indexes[name].sort === 'number' ? ('N' as const) : ('S' as const) },
        ]
      }),
    ],
    key: keyAttributes,
    ttl: ttlAttribute,
    streamed: streamedTables.includes(table),
    indexes: own.map((name) => ({ name, ...attributesOf(name) })),
  }
}

export const tableShapes = (): readonly TableShape[] => (Object.keys(tables) as TableName[]).map(shapeOf)

const byTable = new Map<TableName, readonly IndexName[]>(
  (Object.keys(tables) as TableName[]).map((table) => [
    table,
    (Object.keys(indexes) as IndexName[]).filter((name) => indexes[name].table === table),
  ]),
)

export const indexesOf = (table: TableName): readonly IndexName[] => byTable.get(table)!
