import type { Limits, Touch } from '../faults/aws/dynamo.ts'
import { AwsRefusal } from '../faults/aws/expressions.ts'
import { quotas } from './quotas.ts'

/** What one partition has served in the second that is running. */
interface Second {
  second: number
  reads: number
  writes: number
}

export interface Throttling {
  readonly limits: Limits
  /** How many requests found no room. */
  refused(): number
  /** The most that any partition served in a second, as a part of what it may. */
  hottest(): number
  /** Write units that were used, by table and index. */
  readonly written: ReadonlyMap<string, number>
}

/**
 * DynamoDB's partitions: each serves 3,000 read and 1,000 write units a second and not one more. Nothing is saved up for bursts, and none
 * is split when it is hot, so that this is colder than AWS is.
 *
 * @param perTable  a table that was just made has four; those of an index are its own
 */
export function partitioned(now: () => number, perTable: number): Throttling {
  const seconds = new Map<string, Second>()
  const written = new Map<string, number>()
  let [refused, hottest] = [0, 0]
  const secondOf = (touch: Touch): Second => {
    const place = `${touch.table} ${touch.index} ${hash(touch.pk) % perTable}`
    const second = Math.floor(now() / 1000)
    const found = seconds.get(place)
    if (found?.second === second) return found
    const fresh = { second, reads: 0, writes: 0 }
    seconds.set(place, fresh)
    return fresh
  }
  return {
    refused: () => refused,
    hottest: () => hottest,
    written,
    limits(touches, action) {
      const { partitionReadUnits, partitionWriteUnits } = quotas.dynamo
      // As a whole: a request that finds no room has used none.
      const asked = new Map<Second, { reads: number; writes: number }>()
      for (const touch of touches) {
        const second = secondOf(touch)
        const sum = asked.get(second) ?? { reads: second.reads, writes: second.writes }
        asked.set(second, { reads: sum.reads + touch.reads, writes: sum.writes + touch.writes })
      }
      for (const { reads, writes } of asked.values())
        if (reads > partitionReadUnits || writes > partitionWriteUnits) {
          refused += 1
          throw throttled(action, touches.length)
        }
      for (const { table, index, writes } of touches) {
        const place = index === null ? table : `${table} ${index}`
        if (writes > 0) written.set(place, (written.get(place) ?? 0) + writes)
      }
      for (const [second, { reads, writes }] of asked) {
        Object.assign(second, { reads, writes })
        hottest = Math.max(hottest, reads / partitionReadUnits, writes / partitionWriteUnits)
      }
    },
  }
}

function throttled(action: string, actions: number): AwsRefusal {
  if (action !== 'TransactWriteItems') return new AwsRefusal('ThrottlingException')
  const CancellationReasons = Array.from({ length: actions }, (_, i) => ({
    Code: i === 0 ? 'ThrottlingError' : 'None',
  }))
  return new AwsRefusal('TransactionCanceledException', 'no room', { CancellationReasons })
}

/** FNV-1a: as good as any to spread keys by. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h >>> 0
}
