/** The store, as narrow as DynamoDB is: strong reads by key, ordered partitions, lagging keys-only indexes, all-or-nothing commits. */
export interface Table {
  /**
   * Reads items by key, strongly consistent, in one request. What is read is shared with other readers and must not be written in.
   *
   * @param keys  at most `tableBounds.keysPerGet`
   * @returns     one place per key, in order; null where nothing is stored
   */
  get(keys: readonly Key[]): Promise<(Stored | null)[]>

  /** Reads one partition in the order of `sk` (byte order), strongly consistent, up to 1 MB a page. */
  list(pk: string, range?: Range): Promise<Page<Stored>>

  /** Reads an index: keys only, in the order of its sort value, and it MAY LAG behind commits. A hint, never the truth. */
  find(index: IndexName, pk: string, range?: IndexRange): Promise<Page<Found>>

  /**
   * Applies all operations or none, and answers when it is durable.
   *
   * @param ops    1..`tableBounds.opsPerCommit` on distinct keys
   * @param token  names what is committed: the same token within ten minutes answers the same and writes once
   * @throws       Conflict when an expectation or guard does not hold (nothing was written); Unavailable when the store cannot be
   *               reached: it may have been written all the same, and only the same token again tells
   */
  commit(ops: readonly Op[], token: string): Promise<void>
}

export type Key = readonly [pk: string, sk: string]
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }
export type Item = { readonly [key: string]: Json | undefined }
/**
 * Another one after every write of an item. Put with `expect: 'absent'` it is 1, with a version that version plus one, so who wrote
 * it knows it; after `'any'` or a patch only a read tells.
 */
export type Version = number

export interface Stored<T = Item> {
  readonly key: Key
  readonly version: Version
  readonly item: T
}

/** Where an item stands in the indexes; what is not named keeps no place there. `sk` of a number index is a number. */
export type IndexEntries = { readonly [name in IndexName]?: readonly [pk: string, sk: string | number] }

export type Guard =
  | { readonly attr: string; readonly is: '<' | '<=' | '=' | '>=' | '>'; readonly value: string | number }
  | { readonly attr: string; readonly is: 'absent' | 'present' }

export type Op =
  /** Writes the whole item; one that is frozen is given away for good, nested values too. `ttl`: epoch seconds after which the store may delete it by itself. */
  | {
      readonly put: Key
      readonly item: Item
      readonly expect: Version | 'absent' | 'any'
      readonly index?: IndexEntries
      readonly ttl?: number
    }
  /**
   * Changes top-level attributes of an item without reading it first; creates it when it does not exist and the guards allow that.
   * A guard on a missing item sees every attribute as absent, and comparisons with an absent attribute do not hold. `add` starts from 0.
   * Index places and TTL stay as they are unless given.
   */
  | {
      readonly patch: Key
      readonly set?: Item
      readonly unset?: readonly string[]
      readonly add?: { readonly [attr: string]: number }
      readonly guards: readonly Guard[]
      readonly index?: IndexEntries
      readonly ttl?: number
    }
  | { readonly delete: Key; readonly expect: Version | 'present' | 'any' }
  | { readonly check: Key; readonly expect: Version | 'absent' | 'present' }

/** Bounds on `sk`: `prefix`, or from/to inclusive. `after`: an earlier page's `next`. `limit` defaults to 100, at most 1000. */
export interface Range {
  readonly prefix?: string
  readonly from?: string
  readonly to?: string
  readonly descending?: boolean
  readonly limit?: number
  readonly after?: string
}

/** Bounds on the index's sort value, inclusive, of the index's own type. */
export interface IndexRange {
  readonly from?: string | number
  readonly to?: string | number
  readonly descending?: boolean
  readonly limit?: number
  readonly after?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Opaque; null at the end. */
  readonly next: string | null
}

export interface Found {
  readonly key: Key
  readonly sk: string | number
}

/** Held by every adapter, so that nobody comes to rely on more than the narrowest store gives. */
export const tableBounds = {
  keysPerGet: 100,
  /** DynamoDB allows 100 in a transaction; a commit that needs more wants another shape. */
  opsPerCommit: 100,
  itemBytesMax: 350_000,
  /** DynamoDB's transactions, all their items together. */
  commitBytesMax: 3_500_000,
  pageBytesMax: 1_000_000,
  pageItemsMax: 1000,
  tokenMemoryMs: 600_000,
} as const

/** Lost a race: read again, decide again. */
export class Conflict extends Error {
  readonly op: number
  readonly key: Key
  constructor(op: number, key: Key) {
    super(
      `commit refused: operation ${op} on ${key[0]} / ${key[1]} expected another state; read again and decide again`,
    )
    this.name = 'Conflict'
    this.op = op
    this.key = key
  }
}

/** The store or the network is away: try later, nothing is known to be wrong with the call. */
export class Unavailable extends Error {
  constructor(what: string, cause?: unknown) {
    super(what, { cause })
    this.name = 'Unavailable'
  }
}

/** The call itself breaks a promise of this port (too many ops, the same key twice, an item too large): a fault of ours. */
export class Defect extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'Defect'
  }
}

/**
 * Which physical table a partition lives in, by the letter before `#`. Read by every adapter and by the stack.
 * A letter belongs to one table for good.
 */
export const tables = {
  /** K#sha256 keys and calendars, O#owner which are theirs, P#person, I#key idempotency, G#settings, U#owner audit */
  access: { partitions: ['K', 'O', 'P', 'I', 'G', 'U'] },
  /** A#agent and the jobs that wait for it, X#session, C#conversation (head, links, inbox, history), T#turn, J#job */
  sessions: { partitions: ['A', 'X', 'C', 'T', 'J'] },
  /** S#schedule: cursor, definitions, runs, what their ends send out */
  schedules: { partitions: ['S'] },
  /** N#monitor; W#what is watched, and who watches it */
  monitors: { partitions: ['N', 'W'] },
  /** D#owner: heads, parts of bodies, versions of deleted ones */
  documents: { partitions: ['D'] },
  /** R#trace in chunks; F#agent, counts per fingerprint */
  traces: { partitions: ['R', 'F'] },
  /** L#agent: tools and flows; Q#flow run and its steps */
  flows: { partitions: ['L', 'Q'] },
  /** B#owner, per day */
  budgets: { partitions: ['B'] },
  /** E#person: cards, marks of those that moved, calls that were repeated */
  feed: { partitions: ['E'] },
} as const satisfies Record<string, { partitions: readonly string[] }>
export type TableName = keyof typeof tables

export const indexes = {
  /** pk: shard, sk: epoch ms when the schedule has to be looked at */
  due: { table: 'schedules', sort: 'number' },
  /** pk: agent, sk: schedule id */
  schedulesByAgent: { table: 'schedules', sort: 'string' },
  /** pk: person, sk: schedule id */
  schedulesByMaker: { table: 'schedules', sort: 'string' },
  /** pk: shard, sk: epoch ms when a turn's lease may have run out */
  leases: { table: 'sessions', sort: 'number' },
  /** pk: shard, sk: epoch ms of the next try of something that is sent out */
  deliveries: { table: 'schedules', sort: 'number' },
  /** pk: shard, sk: epoch ms of a monitor's time or expiry */
  watches: { table: 'monitors', sort: 'number' },
  /** pk: shard, sk: epoch ms of the next run of a tool that is watched */
  toolRuns: { table: 'monitors', sort: 'number' },
  /** pk: agent, sk: monitor id */
  monitorsByAgent: { table: 'monitors', sort: 'string' },
  /** pk: shard, sk: epoch ms of a change that has not been brought to everybody who watches the document */
  changes: { table: 'documents', sort: 'number' },
  /** pk: shard, sk: epoch ms when a job of Rouse's own is to be run */
  jobs: { table: 'sessions', sort: 'number' },
  /** pk: shard, sk: epoch ms when a flow's run has to be looked at */
  flowRuns: { table: 'flows', sort: 'number' },
  /** pk: agent, sk: flow run id */
  flowRunsByAgent: { table: 'flows', sort: 'string' },
  /** pk: agent, sk: trace id */
  tracesByAgent: { table: 'traces', sort: 'string' },
  /** pk: agent and project, sk: trace id; those without a project are not in it */
  tracesByProject: { table: 'traces', sort: 'string' },
  /** pk: agent, sk: tokens of the traces that did the same; only where there are two or more */
  suggestions: { table: 'traces', sort: 'number' },
  /** pk: agent, sk: session id */
  sessionsByAgent: { table: 'sessions', sort: 'string' },
  /** pk: 'all', sk: agent id */
  agents: { table: 'sessions', sort: 'string' },
} as const satisfies Record<string, { table: TableName; sort: 'number' | 'string' }>
export type IndexName = keyof typeof indexes

const tableByLetter = new Map<string, TableName>(
  Object.entries(tables).flatMap(([name, { partitions }]) => partitions.map((p) => [p, name as TableName] as const)),
)

/** @throws Defect when the partition's letter is not declared */
export function tableOf(pk: string): TableName {
  const name = tableByLetter.get(pk[0] ?? '')
  if (name === undefined || pk[1] !== '#') throw new Defect(`no table is declared for partition ${pk}`)
  return name
}
