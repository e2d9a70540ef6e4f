import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
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
} from '../../ports/table.ts'
import type { Clock } from '../../ports/world.ts'
import { assertCommit, assertKey, keyOf } from './bounds.ts'
import { commitFailure, failure } from './failures.ts'
import { getAll } from './get.ts'
import { Patience } from './patience.ts'
import { type Asked, askedOfFind, askedOfList, cursorAt } from './range.ts'
import { keyAttributesOf, type Marks, marksOf, requestOf, Terms } from './requests.ts'
import { attributesOf, keyAttributes, tokenAttribute, versionAttribute } from './schema.ts'
import { Tokens } from './tokens.ts'
import { type Attributes, storedOf } from './values.ts'

export interface TableOptions {
  /** With retries of its own for what gets lost on the way. */
  readonly client: DynamoDBClient
  /** Physical names. */
  readonly names: { readonly [name in TableName]: string }
  readonly clock?: Clock
  readonly patience?: Patience
}

/** The store on DynamoDB. Every read by key is strongly consistent; indexes lag, as the port allows. */
export function openTable(options: TableOptions): Table {
  return new DynamoTable(options)
}

class DynamoTable implements Table {
  readonly #client: DynamoDBClient
  readonly #names: TableOptions['names']
  readonly #tokens: Tokens
  readonly #patience: Patience

  constructor({ client, names, clock = { now: () => Date.now() }, patience = new Patience() }: TableOptions) {
    this.#client = client
    this.#names = names
    this.#tokens = new Tokens(clock)
    this.#patience = patience
  }

  async get(keys: readonly Key[]): Promise<(Stored | null)[]> {
    if (keys.length > tableBounds.keysPerGet) {
      throw new Defect(`${keys.length} keys in one get; at most ${tableBounds.keysPerGet}`)
    }
    const asked = keys.map((key) => ({ key, table: this.#names[assertKey(key)] }))
    try {
      return await getAll(this.#client, asked, this.#patience)
    } catch (error) {
      throw failure(error, `get of ${keys.length} keys`)
    }
  }

  async list(pk: string, range: Range = {}): Promise<Page<Stored>> {
    const table = this.#names[assertKey([pk, '-'])]
    const terms = new Terms()
    const partition = `${terms.name(keyAttributes.pk)} = ${terms.value({ S: pk })}`
    const asked = askedOfList(pk, range, terms)
    if (asked === null) return { items: [], next: null }
    const answer = await this.#query({ TableName: table, ConsistentRead: true }, partition, asked, terms)
    const items: Stored[] = []
    let bytes = 0
    for (const attributes of answer.Items ?? []) {
      const stored = storedOf(attributes)
      if (stored.key[1] === asked.beyond) continue
      // DynamoDB ends a page at 1 MB as it counts; the port counts JSON, which escapes can make longer.
      bytes += Buffer.byteLength(JSON.stringify(stored.item))
      if (bytes > tableBounds.pageBytesMax && items.length > 0) return { items, next: cursorAt([items.at(-1)!.key[1]]) }
      items.push(stored)
    }
    const last = answer.LastEvaluatedKey
    return { items, next: last === undefined ? null : cursorAt([last[keyAttributes.sk]!.S!]) }
  }

  async find(index: IndexName, pk: string, range: IndexRange = {}): Promise<Page<Found>> {
    const names = attributesOf(index)
    const terms = new Terms()
    const partition = `${terms.name(names.pk)} = ${terms.value({ S: pk })}`
    const asked = askedOfFind(index, pk, range, terms)
    if (asked === null || pk === '') return { items: [], next: null }
    const table = this.#names[indexes[index].table]
    const answer = await this.#query({ TableName: table, IndexName: index }, partition, asked, terms)
    const found = (at: Attributes): Found => {
      const { S, N } = at[names.sk]!
      return { key: [at[keyAttributes.pk]!.S!, at[keyAttributes.sk]!.S!], sk: S ?? Number(N) }
    }
    const last = answer.LastEvaluatedKey === undefined ? null : found(answer.LastEvaluatedKey)
    return { items: (answer.Items ?? []).map(found), next: last === null ? null : cursorAt([last.sk, ...last.key]) }
  }

  async commit(ops: readonly Op[], token: string): Promise<void> {
    assertCommit(ops)
    await this.#tokens.once(ops, token, async () => {
      const marks = marksOf(token)
      try {
        await this.#patience.calling(() =>
          ops.length === 1 && isRepeatable(ops[0]!) ? this.#one(ops[0]!, marks) : this.#all(ops, marks),
        )
      } catch (error) {
        throw commitFailure(error, ops)
      }
    })
  }

  #query(what: QueryCommandInput, partition: string, asked: Asked, terms: Terms): Promise<QueryCommandOutput> {
    const command = new QueryCommand({
      ...what,
      KeyConditionExpression: partition + asked.condition,
      ExpressionAttributeNames: terms.names,
      ExpressionAttributeValues: terms.values,
      ScanIndexForward: !asked.descending,
      Limit: asked.limit,
      ExclusiveStartKey: asked.start,
    })
    return this.#patience
      .calling(() => this.#client.send(command))
      .catch((error) => {
        throw failure(error, `query of ${what.IndexName ?? 'a partition'} in ${what.TableName}`)
      })
  }

  async #all(ops: readonly Op[], marks: Marks) {
    const requests = ops.map((op, place) => {
      const { kind, input } = requestOf(op, place, this.#nameFor(op), marks, false)
      return { [kind]: input }
    })
    await this.#client.send(
      new TransactWriteItemsCommand({ TransactItems: requests, ClientRequestToken: marks.request }),
    )
  }

  /** An answer that got lost makes the SDK ask again, and the repetition finds its own mark on the item: that is no conflict. */
  async #one(op: Op, marks: Marks) {
    const request = requestOf(op, 0, this.#nameFor(op), marks, true)
    const known = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const
    try {
      switch (request.kind) {
        case 'Put':
          await this.#client.send(new PutItemCommand({ ...request.input, ...known }))
          return
        case 'Update':
          await this.#client.send(new UpdateItemCommand({ ...request.input, ...known }))
          return
        case 'Delete':
          await this.#client.send(new DeleteItemCommand(request.input))
          return
        case 'ConditionCheck':
          return await this.#check(op as Extract<Op, { check: Key }>)
      }
    } catch (error) {
      const held = (error as { Item?: Attributes }).Item?.[tokenAttribute]?.S
      if ((error as Error).name !== 'ConditionalCheckFailedException' || held !== marks.item) throw error
    }
  }

  async #check({ check, expect }: Extract<Op, { check: Key }>) {
    const { Item } = await this.#client.send(
      new GetItemCommand({
        TableName: this.#names[tableOf(check[0])],
        Key: keyAttributesOf(check),
        ConsistentRead: true,
        ProjectionExpression: '#v',
        ExpressionAttributeNames: { '#v': versionAttribute },
      }),
    )
    const version = Item === undefined ? null : Number(Item[versionAttribute]?.N)
    const holds = typeof expect === 'number' ? version === expect : (version === null) === (expect === 'absent')
    if (!holds) throw new Conflict(0, check)
  }

  #nameFor(op: Op): string {
    return this.#names[tableOf(keyOf(op)[0])]
  }
}

/**
 * Whether a single write may be sent again by itself when its answer got lost. Not what adds, and not a deletion that
 * expects something: whatever came in between, nothing would tell the repetition that it was applied before. Those go as a
 * transaction of one, which costs twice the units and is exact.
 */
function isRepeatable(op: Op): boolean {
  if ('delete' in op) return op.expect === 'any'
  return !('patch' in op) || Object.keys(op.add ?? {}).length === 0
}
