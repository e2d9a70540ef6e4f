import type { SqliteTable } from '../../shared/adapters/sqlite/table.ts'
import { faultOf } from '../../shared/ports/log.ts'
import type { Clock, Log } from '../../shared/ports/world.ts'

/** Deletes what has outlived its retention, a slice at a time, so that no wake waits for it. */
export interface Expiry {
  /** Takes up what there is to look at. Once a minute; what is under way goes on. */
  look(): void
  stop(): void
}

/** Keys looked at a minute while nothing is written, so that idle is idle. */
const quietKeys = 100
/**
 * Keys looked at for each row that is written. The walk goes round before half as much again is written as there is: the file keeps what
 * has not expired and at most that half. A fixed pace let it grow without end where much is written.
 */
const keysPerWritten = 2
const keysPerSlice = 500
/** What a minute has brought is looked at within the next. */
const spreadMs = 45_000
const pauseMsMin = 10
const pauseMsMax = 1_000

export function openExpiry(options: { table: SqliteTable; clock: Clock; log: Log }): Expiry {
  const { table, clock, log } = options
  let owed = 0
  let written = 0
  let pauseMs = pauseMsMax
  let timer: NodeJS.Timeout | null = null
  const count = (): void => {
    owed += (table.written - written) * keysPerWritten
    written = table.written
  }
  const slice = (): void => {
    timer = null
    try {
      const keys = Math.min(owed, keysPerSlice)
      table.expire(clock.now(), keys)
      owed -= keys
    } catch (error) {
      log('error', 'expired items were not deleted', faultOf(error))
      return
    }
    if (owed > 0) timer = setTimeout(slice, pauseMs).unref()
  }
  return {
    look() {
      count()
      owed = Math.max(owed, quietKeys)
      pauseMs = Math.min(Math.max((spreadMs * keysPerSlice) / owed, pauseMsMin), pauseMsMax)
      if (timer === null) slice()
    },
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
