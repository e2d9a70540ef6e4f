import { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { CreateScheduleGroupCommand, SchedulerClient } from '@aws-sdk/client-scheduler'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { AwsConfig } from '../../shared/adapters/aws/config.ts'
import { type TableShape, tableShapes } from '../../shared/adapters/aws/schema.ts'
import { openWorld } from '../../shared/adapters/aws/world.ts'
import type { TableName } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'

/** A world on the emulator with tables and queues of its own, made without the stack. */
export interface EmulatorWorld {
  readonly world: World
  readonly config: AwsConfig
  readonly dynamo: DynamoDBClient
  readonly sqs: SQSClient
  readonly scheduler: SchedulerClient
  close(): Promise<void>
}

let worlds = 0

export async function openEmulatorWorld(aws: {
  readonly endpoint: string
  readonly region: string
}): Promise<EmulatorWorld> {
  const run = `rouse-${Date.now().toString(36)}-${++worlds}`
  const [dynamo, sqs, scheduler] = [new DynamoDBClient(aws), new SQSClient(aws), new SchedulerClient(aws)]
  const shapes = tableShapes()
  const nameOf = (table: TableName) => `${run}-${table}`
  for (const shape of shapes) await create(dynamo, shape, nameOf(shape.table))
  await scheduler.send(new CreateScheduleGroupCommand({ Name: run }))
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `${run}-alarms` }))
  const flows = await sqs.send(new CreateQueueCommand({ QueueName: `${run}-flows` }))
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  const config: AwsConfig = {
    ...aws,
    tables: Object.fromEntries(shapes.map(({ table }) => [table, nameOf(table)])) as Record<TableName, string>,
    alarmsQueueUrl: QueueUrl!,
    alarmsQueueArn: Attributes!.QueueArn!,
    flowsQueueUrl: flows.QueueUrl!,
    schedulerGroup: run,
    schedulerRoleArn: 'arn:aws:iam::000000000000:role/scheduler',
    queuePrefix: `${run}-`,
    listenerRoleArn: 'arn:aws:iam::000000000000:role/listener',
    secretsPrefix: `/${run}/`,
    shards: 8,
  }
  return {
    world: openWorld(config, () => {}),
    config,
    dynamo,
    sqs,
    scheduler,
    async close() {
      for (const client of [dynamo, sqs, scheduler]) client.destroy()
    },
  }
}

async function create(dynamo: DynamoDBClient, shape: TableShape, TableName: string) {
  const keySchema = (pk: string, sk: string) => [
    { AttributeName: pk, KeyType: 'HASH' as const },
    { AttributeName: sk, KeyType: 'RANGE' as const },
  ]
  const places = shape.indexes.map(({ name, pk, sk }) => ({
    IndexName: name,
    KeySchema: keySchema(pk, sk),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  }))
  await dynamo.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: shape.attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
      KeySchema: keySchema(shape.key.pk, shape.key.sk),
      ...(places.length === 0 ? {} : { GlobalSecondaryIndexes: places }),
    }),
  )
  const TimeToLiveSpecification = { Enabled: true, AttributeName: shape.ttl }
  await dynamo.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
}
