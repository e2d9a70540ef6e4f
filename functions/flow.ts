import { readAlarms } from '../shared/adapters/aws/alarms.ts'
import { stepOrSetAside } from '../shared/engine/flow-due.ts'
import type { SqsBatchAnswer, SqsEvent } from './events.ts'
import { worldFromEnv } from './world.ts'

/**
 * A batch of the flows queue: one step of each run that it names, so that a flow may be as long as it likes. The next step is the next
 * message.
 *
 * A message that comes twice finds the step taken. One that could not be looked at stays in the queue and comes again; after five times it
 * lies in the dead-letter queue, and its run is due in the table all the same.
 */
export async function handler({ Records: records }: SqsEvent): Promise<SqsBatchAnswer> {
  const world = worldFromEnv()
  const failed = await Promise.all(
    records.map(async ({ messageId, body }) => {
      const { due, bad, unset } = await readAlarms(world.alarms, [body], world.clock.now())
      if (bad.length > 0 || due.some(({ kind }) => kind !== 'flow')) {
        world.log('error', 'flow alarm could not be read', { message: messageId })
        return [messageId]
      }
      if (unset.length > 0) return [messageId]
      try {
        for (const key of due)
          if ((await stepOrSetAside(world, key.id)) === 'on') await world.alarms.set(key, world.clock.now())
        return []
      } catch (error) {
        world.log('error', `flow not stepped: ${error instanceof Error ? error.message : 'unknown fault'}`)
        return [messageId]
      }
    }),
  )
  return { batchItemFailures: failed.flat().map((itemIdentifier) => ({ itemIdentifier })) }
}
