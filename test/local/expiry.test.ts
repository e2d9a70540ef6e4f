import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openExpiry } from '../../apps/local/expiry.ts'
import type { SqliteTable } from '../../shared/adapters/sqlite/table.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 100, 240, 700, 5000])(
  'where %i rows a minute are written, twice as many keys are looked at',
  (perMinute) => {
    let written = 0
    let looked = 0
    const table = {
      get written() {
        return written
      },
      expire: (_now: number, keys: number) => {
        looked += keys
        return 0
      },
    } as unknown as SqliteTable
    const expiry = openExpiry({ table, clock: { now: () => 0 }, log: () => {} })
    for (let minute = 0; minute < 30; minute++) {
      written += perMinute
      expiry.look()
      vi.advanceTimersByTime(60_000)
    }
    expiry.stop()
    expect(looked).toBeGreaterThanOrEqual(2 * written)
  },
)
