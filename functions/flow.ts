import { readAlarms } from '../shared/adapters/aws/alarms.ts'
import { stepOrSetAside } from '../shared/engine/flow-due.ts'
import { faultOf } from '../shared/ports/log.ts'
import { viewOf } from '../shared/ports/world.ts'
import { alarmsNamed, type SqsBatchAnswer, type SqsEvent } from './events.ts'
import { observed } from './sight.ts'
import { worldFromEnv } from './world.ts'

/**
 * A batch of the flows queue: one step of each run that it names, so that a flow may be as long as it likes. The next step is the next
 * message.
 *
 * A message that comes twice finds the step taken. One that could not be looked at stays in the queue and comes again; after five times it
 * lies in the dead-letter queue, and its run is due in the table all the same.
 */
export const handler = observed(async ({ Records: records }: SqsEvent): Promise<SqsBatchAnswer> => {
  const world = viewOf(worldFromEnv(), (ids) => alarmsNamed(records, ids))
  const failed = await Promise.all(
    records.map(async ({ messageId, body }) => {
      const { due, bad, unset } = await readAlarms(world.alarms, [body], world.clock.now())
      if (bad.length > 0 || due.some(({ kind }) => kind !== 'flow')) {
        world.log('error', 'flow alarm could not be read', { alarm: messageId })
        return [messageId]
      }
      if (unset.length > 0) return [messageId]
      try {
        for (const key of due)
          if ((await stepOrSetAside(world, key.id)) === 'on') await world.alarms.set(key, world.clock.now())
        return []
      } catch (error) {
        world.log('error', 'flow not stepped', { alarm: messageId, ...faultOf(error) })
        return [messageId]
      }
    }),
  )
  return { batchItemFailures: failed.flat().map((itemIdentifier) => ({ itemIdentifier })) }
})
