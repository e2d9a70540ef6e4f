import { envelopeIn } from '../../shared/adapters/aws/bell.ts'
import { plainName } from '../../shared/adapters/aws/names.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { conformance } from '../conformance/suite.ts'
import { openOutside } from '../engine/outside.ts'
import { plainClients } from './aws/clients.ts'
import { alarmsQueue, MemoryAws, queuePrefix } from './aws/memory-aws.ts'
import { memoryWorld } from './aws/memory-world.ts'

// What the fault and scale tests stand on: it must keep the promises that DynamoDB and SQS keep.
conformance('AWS in memory', async () => {
  const now = () => Date.now()
  const aws = new MemoryAws(now)
  const world = memoryWorld({
    clients: plainClients((service, action, input) => aws.call(service, action, input)),
    patience: new Patience(),
    now,
    ids: openIds(),
    outbound: openOutside().outbound,
    log: () => {},
    shards: 1,
  })
  return {
    ...world,
    catchUp: () => {},
    hear(queue) {
      const heard = aws.queues.make(queuePrefix + plainName(queue))
      return {
        async next() {
          for (;;) {
            const [message] = aws.queues.receive(heard, 1, 60_000)
            if (message !== undefined) return envelopeIn(message.body)
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        },
      }
    },
    async nextAlarm() {
      for (;;) {
        const [message] = aws.queues.receive(aws.queues.named(alarmsQueue)!, 1, 60_000)
        if (message !== undefined) return now()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    close: async () => {},
  }
})
