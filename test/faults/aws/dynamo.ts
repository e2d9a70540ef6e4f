import { keyAttributes, tableShapes } from '../../../shared/adapters/aws/schema.ts'
import type { TableName } from '../../../shared/ports/table.ts'
import { type Attributes, AwsRefusal, holds, keyRange, updated } from './expressions.ts'
import { keyAttribute, keyOf, ownPlaces, pageOf, placeIn, type Shelf, show, sortValue } from './places.ts'

/** Something that is read or written, as the limits of DynamoDB count it. */
export interface Touch {
  readonly table: string
  /** Null: the table itself. */
  readonly index: string | null
  readonly pk: string
  readonly reads: number
  readonly writes: number
}

/** What a request would use. Throws what DynamoDB answers when there is no room for it. */
export type Limits = (touches: readonly Touch[], action: string) => void

const tokenMemoryMs = 600_000

/**
 * DynamoDB in memory, as far as the adapters use it: conditional writes, transactions with tokens, strong reads, queries of partitions and of
 * keys-only indexes. What it does not know it refuses, so that nothing passes here by being ignored.
 *
 * @param names  physical names of the tables
 */
export class MemoryDynamo {
  readonly #shelves = new Map<string, Shelf>()
  readonly #tokens = new Map<string, { readonly at: number; readonly items: unknown }>()
  readonly #now: () => number
  readonly #limits: Limits

  /** Told of each item that was written, as the stream of a table would be. */
  changed: (table: string, pk: string, sk: string) => void = () => {}

  constructor(names: { readonly [name in TableName]: string }, now: () => number, limits: Limits = () => {}) {
    this.#now = now
    this.#limits = limits
    for (const { table, indexes } of tableShapes())
      this.#shelves.set(names[table], {
        items: new Map(),
        indexes: indexes.map(({ name, pk, sk }) => ({ name, pk, sk, partitions: new Map() })),
      })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a request has as many shapes as there are actions
  call(action: string, input: any): object {
    switch (action) {
      case 'GetItem':
        return this.#get(input)
      case 'BatchGetItem':
        return this.#batchGet(input)
      case 'Query':
        return this.#query(input)
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return this.#single(action, input)
      case 'TransactWriteItems':
        return this.#transact(input)
      default:
        throw new AwsRefusal('UnknownOperationException', action)
    }
  }

  /** Everything that is stored, for whoever looks at it whole. */
  *all(): Generator<readonly [table: string, item: Attributes]> {
    for (const [table, { items }] of this.#shelves)
      for (const partition of items.values()) for (const item of partition.values()) yield [table, item]
  }

  /** How it is now, to come back to. */
  kept(): () => void {
    const shelves = [...this.#shelves].map(([name, shelf]) => ({
      name,
      items: [...shelf.items].map(([pk, partition]) => [pk, new Map(partition)] as const),
      indexes: shelf.indexes.map(({ partitions }) => [...partitions].map(([pk, places]) => [pk, [...places]] as const)),
    }))
    return () => {
      this.#tokens.clear()
      for (const { name, items, indexes } of shelves) {
        const shelf = this.#shelves.get(name)!
        shelf.items.clear()
        for (const [pk, partition] of items) shelf.items.set(pk, new Map(partition))
        for (const [n, { partitions }] of shelf.indexes.entries()) {
          partitions.clear()
          for (const [pk, places] of indexes[n]!) partitions.set(pk, [...places])
        }
      }
    }
  }

  #shelf(table: string): Shelf {
    const shelf = this.#shelves.get(table)
    if (shelf === undefined) throw new AwsRefusal('ResourceNotFoundException', table)
    return shelf
  }

  #find(table: string, key: Attributes): Attributes | null {
    const [pk, sk] = keyOf(key)
    return this.#shelf(table).items.get(pk)?.get(sk) ?? null
  }

  #get(input: { TableName: string; Key: Attributes }): object {
    const item = this.#find(input.TableName, input.Key)
    this.#limits([read(input.TableName, input.Key.pk!.S!, item === null ? 0 : bytesOf(item), 1)], 'GetItem')
    return item === null ? {} : { Item: item }
  }

  #batchGet({ RequestItems }: { RequestItems: Record<string, { Keys: Attributes[] }> }): object {
    const touches: Touch[] = []
    const Responses: Record<string, Attributes[]> = {}
    for (const [table, { Keys }] of Object.entries(RequestItems)) {
      Responses[table] = []
      for (const key of Keys) {
        const item = this.#find(table, key)
        touches.push(read(table, key.pk!.S!, item === null ? 0 : bytesOf(item), 1))
        if (item !== null) Responses[table].push(item)
      }
    }
    this.#limits(touches, 'BatchGetItem')
    return { Responses, UnprocessedKeys: {} }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  #query(input: any): object {
    const { pkName, pk, fits } = keyRange(input.KeyConditionExpression, input)
    const shelf = this.#shelf(input.TableName)
    const index = input.IndexName === undefined ? null : shelf.indexes.find(({ name }) => name === input.IndexName)
    if (index === undefined) throw new AwsRefusal('ValidationException', `no index ${input.IndexName}`)
    if (pkName !== (index?.pk ?? keyAttributes.pk)) throw new AwsRefusal('ValidationException', `not a key: ${pkName}`)
    const places = index === null ? ownPlaces(shelf, pk) : (index.partitions.get(pk) ?? [])
    const { page, more } = pageOf(places, fits, input, index)
    const items = page.map(({ at, key }) =>
      index === null
        ? shelf.items.get(key[0])!.get(key[1])!
        : { ...keyAttribute(key), [index.pk]: { S: pk }, [index.sk]: sortValue(at) },
    )
    const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0)
    this.#limits(
      [{ ...read(input.TableName, pk, bytes, index === null ? 1 : 0.5), index: index?.name ?? null }],
      'Query',
    )
    const last = more ? items.at(-1) : undefined
    if (last === undefined) return { Items: items }
    const names = [keyAttributes.pk, keyAttributes.sk, ...(index === null ? [] : [index.pk, index.sk])]
    return { Items: items, LastEvaluatedKey: Object.fromEntries(names.map((name) => [name, last[name]!])) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  #single(action: string, input: any): object {
    const key = action === 'PutItem' ? input.Item : input.Key
    const before = this.#find(input.TableName, key)
    if (!holds(input.ConditionExpression, input, before)) {
      this.#limits(this.#written(input.TableName, key, before, before, 1), action)
      const shown = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== null
      throw new AwsRefusal('ConditionalCheckFailedException', action, shown ? { Item: before } : {})
    }
    const after = afterOf(action, input, before)
    this.#limits(this.#written(input.TableName, key, before, after, 1), action)
    this.#write(input.TableName, key, after)
    return {}
  }

  #transact({ TransactItems, ClientRequestToken }: Transaction): object {
    const known = this.#tokens.get(ClientRequestToken)
    if (known !== undefined && this.#now() - known.at < tokenMemoryMs) {
      if (JSON.stringify(known.items) === JSON.stringify(TransactItems)) return {}
      throw new AwsRefusal('IdempotentParameterMismatchException')
    }
    if (TransactItems.length > 100) throw new AwsRefusal('ValidationException', 'more than 100 actions')
    const steps = TransactItems.map((one) => {
      const [kind, input] = Object.entries(one)[0]!
      const key = kind === 'Put' ? input.Item : input.Key
      const before = this.#find(input.TableName, key)
      return { kind, input, key, before, id: `${input.TableName} ${keyOf(key).join(' ')}` }
    })
    if (new Set(steps.map(({ id }) => id)).size < steps.length)
      throw new AwsRefusal('ValidationException', 'one item twice in a transaction')
    const reasons = steps.map(({ input, before }) =>
      holds(input.ConditionExpression, input, before) ? { Code: 'None' } : { Code: 'ConditionalCheckFailed' },
    )
    const afters = steps.map(({ kind, input, before }) => afterOf(`${kind}Item`, input, before))
    this.#limits(
      steps.flatMap(({ input, key, before }, i) => this.#written(input.TableName, key, before, afters[i]!, 2)),
      'TransactWriteItems',
    )
    if (reasons.some(({ Code }) => Code !== 'None'))
      throw new AwsRefusal('TransactionCanceledException', 'a condition failed', { CancellationReasons: reasons })
    for (const [i, { kind, input, key }] of steps.entries())
      if (kind !== 'ConditionCheck') this.#write(input.TableName, key, afters[i]!)
    this.#tokens.set(ClientRequestToken, { at: this.#now(), items: TransactItems })
    return {}
  }

  #write(table: string, key: Attributes, after: Attributes | null): void {
    const shelf = this.#shelf(table)
    const [pk, sk] = keyOf(key)
    const before = shelf.items.get(pk)?.get(sk) ?? null
    for (const index of shelf.indexes) show(index, before, after)
    this.changed(table, pk, sk)
    if (after !== null) {
      const partition = shelf.items.get(pk) ?? new Map<string, Attributes>()
      shelf.items.set(pk, partition.set(sk, after))
      return
    }
    shelf.items.get(pk)?.delete(sk)
    if (shelf.items.get(pk)?.size === 0) shelf.items.delete(pk)
  }

  /** The larger of both versions counts, each index that changes again, and all of it twice in a transaction. */
  #written(
    table: string,
    key: Attributes,
    before: Attributes | null,
    after: Attributes | null,
    times: 1 | 2,
  ): readonly Touch[] {
    const [pk] = keyOf(key)
    const bytes = Math.max(before === null ? 0 : bytesOf(before), after === null ? 0 : bytesOf(after))
    const own: Touch = { table, index: null, pk, reads: 0, writes: times * units(bytes, 1024) }
    const shown = this.#shelf(table).indexes.flatMap((index) => {
      const [was, is] = [placeIn(index, before), placeIn(index, after)]
      if (was?.pk === is?.pk && was?.at === is?.at) return []
      return [was, is].flatMap((place): Touch[] =>
        place === null ? [] : [{ table, index: index.name, pk: place.pk, reads: 0, writes: 1 }],
      )
    })
    return [own, ...shown]
  }
}

interface Transaction {
  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  readonly TransactItems: readonly Record<string, any>[]
  readonly ClientRequestToken: string
}

// biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
function afterOf(action: string, input: any, before: Attributes | null): Attributes | null {
  if (action.startsWith('Put')) return input.Item
  if (action.startsWith('Update')) return updated(input.UpdateExpression, input, input.Key, before)
  return action.startsWith('Delete') ? null : before
}

const units = (bytes: number, per: number): number => Math.max(1, Math.ceil(bytes / per))
const read = (table: string, pk: string, bytes: number, times: number): Touch => ({
  table,
  index: null,
  pk,
  reads: times * units(bytes, 4096),
  writes: 0,
})

const known = new WeakMap<Attributes, number>()

/** What an item weighs: names and values. Text here is nearly all ASCII, whose characters are bytes. */
export function bytesOf(item: Attributes): number {
  const before = known.get(item)
  if (before !== undefined) return before
  let bytes = 0
  for (const name in item) {
    const { S, N, SS } = item[name]!
    bytes += name.length + (S?.length ?? (N === undefined ? (SS?.[0]?.length ?? 1) : Math.ceil(N.length / 2) + 1))
  }
  known.set(item, bytes)
  return bytes
}
