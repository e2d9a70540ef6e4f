import { openAlarms } from '../../../shared/adapters/aws/alarms.ts'
import { openBell } from '../../../shared/adapters/aws/bell.ts'
import { openEars } from '../../../shared/adapters/aws/ears.ts'
import type { Patience } from '../../../shared/adapters/aws/patience.ts'
import { openSecrets } from '../../../shared/adapters/aws/secrets.ts'
import { openTable } from '../../../shared/adapters/aws/table.ts'
import { noMeter } from '../../../shared/ports/meter.ts'
import type { Ids, Log, Outbound, World } from '../../../shared/ports/world.ts'
import type { Clients } from './clients.ts'
import { alarmsQueue, flowsQueue, queuePrefix, tableNames } from './memory-aws.ts'
import { MemoryQueues } from './queues.ts'

/** What one process has: the real adapters over these clients. */
export function memoryWorld(o: {
  readonly clients: Clients
  readonly patience: Patience
  readonly now: () => number
  readonly ids: Ids
  readonly outbound: Outbound
  readonly log: Log
  readonly shards: number
}): World {
  const { clients, patience, log, ids, outbound, shards } = o
  const clock = { now: o.now }
  return {
    table: openTable({ client: clients.dynamo, names: tableNames, clock, patience }),
    bell: openBell({
      client: clients.sqs,
      patience,
      queuePrefix,
      urlPrefix: MemoryQueues.urlOf(''),
      arnPrefix: MemoryQueues.arnOf(''),
      region: 'eu-west-1',
      endpoint: null,
      listenerRoleArn: 'arn:aws:iam::000000000000:role/listener',
      sts: async () => clients.sts,
    }),
    ears: openEars(),
    alarms: openAlarms({
      client: clients.sqs,
      clock,
      patience,
      queueUrl: MemoryQueues.urlOf(alarmsQueue),
      queueArn: MemoryQueues.arnOf(alarmsQueue),
      flowsQueueUrl: MemoryQueues.urlOf(flowsQueue),
      schedulerGroup: 'rouse-test',
      schedulerRoleArn: 'arn:aws:iam::000000000000:role/scheduler',
      scheduler: async () => clients.scheduler,
    }),
    secrets: openSecrets({ ssm: async () => clients.ssm, prefix: '/rouse/test/secrets/', patience }),
    outbound,
    clock,
    ids,
    log,
    meter: noMeter,
    shards,
    streamed: true,
    flowsApart: true,
    proactive: true,
  }
}
