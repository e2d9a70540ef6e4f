import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  type KeysAndAttributes,
} from '@aws-sdk/client-dynamodb'
import { type Key, type Stored, Unavailable } from '../../ports/table.ts'
import type { Patience } from './patience.ts'
import { keyAttributesOf } from './requests.ts'
import { type Attributes, storedOf } from './values.ts'

interface Asked {
  readonly key: Key
  /** Its physical name. */
  readonly table: string
}

/** Strongly consistent, one request unless DynamoDB leaves some for later. A key may be asked for twice. */
export async function getAll(
  client: DynamoDBClient,
  asked: readonly Asked[],
  patience: Patience,
): Promise<(Stored | null)[]> {
  const distinct = new Map(asked.map((one) => [idOf(one.key), one]))
  const found = new Map<string, Stored>()
  const take = (attributes: Attributes) => {
    const stored = storedOf(attributes)
    found.set(idOf(stored.key), stored)
  }
  const [first] = asked
  if (distinct.size === 1 && first !== undefined) {
    const command = new GetItemCommand({
      TableName: first.table,
      Key: keyAttributesOf(first.key),
      ConsistentRead: true,
    })
    const { Item } = await patience.calling(() => client.send(command))
    if (Item !== undefined) take(Item)
  } else if (distinct.size > 1) await getBatch(client, batchOf([...distinct.values()]), take, patience)
  return asked.map(({ key }) => found.get(idOf(key)) ?? null)
}

const idOf = ([pk, sk]: Key) => `${pk}\0${sk}`

type Batch = Record<string, KeysAndAttributes>

function batchOf(asked: readonly Asked[]): Batch {
  const batch: Record<string, { Keys: Attributes[]; ConsistentRead: true }> = {}
  for (const { key, table } of asked) {
    batch[table] ??= { Keys: [], ConsistentRead: true }
    batch[table].Keys.push(keyAttributesOf(key))
  }
  return batch
}

/** What DynamoDB leaves for later (beyond 16 MB, or when it is busy) is asked for until it comes. */
async function getBatch(
  client: DynamoDBClient,
  batch: Batch,
  take: (attributes: Attributes) => void,
  patience: Patience,
) {
  const pauses = patience.pauses()
  for (let left: Batch = batch; ; ) {
    const request = new BatchGetItemCommand({ RequestItems: left })
    const answer = await patience.calling(() => client.send(request))
    for (const items of Object.values(answer.Responses ?? {})) for (const item of items) take(item)
    left = answer.UnprocessedKeys ?? {}
    if (Object.keys(left).length === 0) return
    if (!(await pauses.next()))
      throw new Unavailable('DynamoDB left keys of a get unread for too long: try again later')
  }
}
