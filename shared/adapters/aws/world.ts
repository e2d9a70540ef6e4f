import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { type Meter, noMeter } from '../../ports/meter.ts'
import type { Log, World } from '../../ports/world.ts'
import { openIds } from '../ids.ts'
import { openOutbound } from '../outbound/open.ts'
import { proactiveFromEnv } from '../proactive.ts'
import { retained, retentionFromEnv } from '../retention.ts'
import { openAlarms } from './alarms.ts'
import { openBell } from './bell.ts'
import type { AwsConfig } from './config.ts'
import { openEars } from './ears.ts'
import { Patience } from './patience.ts'
import { retriesOf } from './retries.ts'
import { openSecrets } from './secrets.ts'
import { openTable } from './table.ts'

const agent = { keepAlive: true, maxSockets: 128 }
/**
 * A connection that died must not eat the time a function has to answer: the SDK asks again on another one. Both times
 * also count what a request of a burst waits for its connection, hence no shorter ones.
 */
const requestHandler = {
  connectionTimeout: 3000,
  requestTimeout: 5000,
  throwOnRequestTimeout: true,
  httpAgent: agent,
  httpsAgent: agent,
}

/** The world of a function on AWS. Opens no connection; clients that few calls need are loaded with their first use. */
export function openWorld(
  config: AwsConfig,
  log: Log,
  meter: Meter = noMeter,
  patience: Patience = new Patience(),
): World {
  const { region, endpoint } = config
  const options = {
    region,
    ...(endpoint === null ? {} : { endpoint }),
    requestHandler,
    retryStrategy: retriesOf(patience),
  }
  const sqs = new SQSClient(options)
  const clock = { now: () => Date.now() }
  return {
    table: retained(
      openTable({ client: new DynamoDBClient(options), names: config.tables, clock, patience }),
      retentionFromEnv(process.env),
    ),
    bell: openBell({
      client: sqs,
      region,
      endpoint,
      patience,
      queuePrefix: config.queuePrefix,
      // All queues stand where the alarms queue stands.
      urlPrefix: config.alarmsQueueUrl.slice(0, config.alarmsQueueUrl.lastIndexOf('/') + 1),
      arnPrefix: config.alarmsQueueArn.slice(0, config.alarmsQueueArn.lastIndexOf(':') + 1),
      listenerRoleArn: config.listenerRoleArn,
      sts: once(async () => new (await import('@aws-sdk/client-sts')).STSClient(options)),
    }),
    ears: openEars(),
    alarms: openAlarms({
      client: sqs,
      clock,
      patience,
      queueUrl: config.alarmsQueueUrl,
      queueArn: config.alarmsQueueArn,
      flowsQueueUrl: config.flowsQueueUrl,
      schedulerGroup: config.schedulerGroup,
      schedulerRoleArn: config.schedulerRoleArn,
      scheduler: once(async () => new (await import('@aws-sdk/client-scheduler')).SchedulerClient(options)),
    }),
    secrets: openSecrets({
      patience,
      prefix: config.secretsPrefix,
      ssm: once(async () => new (await import('@aws-sdk/client-ssm')).SSMClient(options)),
    }),
    outbound: openOutbound({ env: process.env }),
    clock,
    ids: openIds(),
    log,
    meter,
    shards: config.shards,
    streamed: true,
    flowsApart: true,
    proactive: proactiveFromEnv(process.env),
  }
}

/** Made with the first call. A promise that failed is made again: a module may load the next time. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error) => {
      made = null
      throw error
    })
    return made
  }
}
