import { readAlarms } from '../shared/adapters/aws/alarms.ts'
import { onAlarms } from '../shared/engine/alarm.ts'
import { faultOf } from '../shared/ports/log.ts'
import { viewOf } from '../shared/ports/world.ts'
import { alarmsNamed, type SqsBatchAnswer, type SqsEvent } from './events.ts'
import { observed } from './sight.ts'
import { worldFromEnv } from './world.ts'

/**
 * A batch of the alarms queue.
 *
 * What could not be looked at stays in the queue and comes again; after five times it lies in the dead-letter queue, where a body that is not
 * ours ends too. A message that is looked at twice does no harm, so a store that is away fails them all.
 */
export const handler = observed(async ({ Records: records }: SqsEvent): Promise<SqsBatchAnswer> => {
  const world = viewOf(worldFromEnv(), (ids) => alarmsNamed(records, ids))
  const now = world.clock.now()
  const bodies = records.map(({ body }) => body)
  const { due, bad, unset } = await readAlarms(world.alarms, bodies, now)
  for (const place of bad) world.log('error', 'alarm could not be read', { alarm: records[place]!.messageId })
  let failed: readonly number[] = [...bad, ...unset]
  try {
    await onAlarms(world, due, now)
  } catch (error) {
    world.log('error', 'alarms not looked at', { alarms: records.length, ...faultOf(error) })
    failed = records.map((_, place) => place)
  }
  return { batchItemFailures: failed.map((place) => ({ itemIdentifier: records[place]!.messageId })) }
})
