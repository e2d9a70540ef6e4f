import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { SchedulerClient } from '@aws-sdk/client-scheduler'
import { SQSClient } from '@aws-sdk/client-sqs'
import { Hono } from 'hono'
import { z } from 'zod'

/** A function as it is usually written: three clients of the SDK, hono and zod, all of it loaded when it starts. Its call reads one item. */
const dynamo = new DynamoDBClient()
export const others = [new SQSClient(), new SchedulerClient()]
const alarm = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) })
const app = new Hono()

app.post('/', async (c) => {
  const { Records } = alarm.parse(await c.req.json())
  const Key = { pk: { S: Records[0]!.body }, sk: { S: 'A' } }
  const { Item } = await dynamo.send(new GetItemCommand({ TableName: 'rouse-schedules', Key, ConsistentRead: true }))
  return c.json({ there: Item !== undefined })
})

export const handler = async (event: object): Promise<unknown> =>
  (await app.request('/', { method: 'POST', body: JSON.stringify(event) })).json()
