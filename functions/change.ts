import { keyAttributes } from '../shared/adapters/aws/schema.ts'
import { onDocumentChange } from '../shared/engine/monitor-look.ts'
import { faultOf } from '../shared/ports/log.ts'
import type { StreamBatchAnswer, StreamEvent, StreamRecord } from './events.ts'
import { observed } from './sight.ts'
import { worldFromEnv } from './world.ts'

/**
 * A batch of the documents table's stream: brings each change to whoever watches.
 *
 * A record says which document, no more: what is looked at is the document as it is now, so that several changes of one are one look, and a
 * batch that comes again does no harm. What is given up lies in the dead-letter queue, and is owed in the table all the same: the sweep
 * brings it.
 */
export const handler = observed(async ({ Records: records }: StreamEvent): Promise<StreamBatchAnswer> => {
  const world = worldFromEnv()
  const now = world.clock.now()
  const first = new Map<string, { readonly owner: string; readonly path: string; readonly record: StreamRecord }>()
  for (const record of records) {
    const key = keyOf(record)
    if (key === null) world.log('error', 'change could not be read', { record: sequenceOf(record) })
    // A document's parts change with its head.
    else if (key.sk.startsWith('H#') && !first.has(`${key.pk} ${key.sk}`))
      first.set(`${key.pk} ${key.sk}`, { owner: `per_${key.pk.slice(2)}`, path: key.sk.slice(2), record })
  }
  const failed = await Promise.all(
    [...first.values()].map(async ({ owner, path, record }) => {
      try {
        await onDocumentChange(world, owner, path, now)
        return []
      } catch (error) {
        world.log('error', 'change of a document not told', { record: sequenceOf(record), ...faultOf(error) })
        return [{ itemIdentifier: sequenceOf(record) ?? '' }]
      }
    }),
  )
  return { batchItemFailures: failed.flat() }
})

function keyOf({ dynamodb }: StreamRecord): { readonly pk: string; readonly sk: string } | null {
  const pk = dynamodb?.Keys?.[keyAttributes.pk]?.S
  const sk = dynamodb?.Keys?.[keyAttributes.sk]?.S
  return pk === undefined || sk === undefined || !pk.startsWith('D#') ? null : { pk, sk }
}

const sequenceOf = ({ dynamodb }: StreamRecord): string | null => dynamodb?.SequenceNumber ?? null
