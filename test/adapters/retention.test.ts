import { describe, expect, it } from 'vitest'
import { retained, retentionFromEnv } from '../../shared/adapters/retention.ts'
import type { Key, Op, Table } from '../../shared/ports/table.ts'

const minute = 60
const day = 86_400
/** What is kept for the usual time is kept so long, in seconds, where the deployment says otherwise. */
async function kept(env: Readonly<Record<string, string>>, key: Key, usual: number): Promise<number> {
  const committed: Op[] = []
  const table = { commit: async (ops: readonly Op[]) => void committed.push(...ops) } as unknown as Table
  await retained(table, retentionFromEnv(env)).commit([{ put: key, item: {}, expect: 'any', ttl: usual }], 'token')
  return (committed[0] as { ttl: number }).ttl
}

describe('what has ended is kept', () => {
  const shortest = { ROUSE_RETENTION: '10m', ROUSE_RETENTION_TRACES: '1h', ROUSE_RETENTION_AUDIT: '2d' }
  it.each<[string, Key, usual: number, after: number]>([
    ['a run for as long as the ledger', ['S#1', 'R#1'], 90 * day, 10 * minute],
    ['a turn for as long', ['T#1', 'A'], 90 * day, 10 * minute],
    ['a trace for as long as traces', ['R#1', 'A'], 30 * day, 60 * minute],
    ['a row of the trail for as long as the trail', ['U#1', '1'], 365 * day, 2 * day],
    ['what a trigger has seen as ever', ['S#1', 'N#d'], 90 * day, 90 * day],
    ['a card as ever', ['E#1', 'C#1'], 90 * day, 90 * day],
    ['a delivery until its last try is over', ['S#1', 'V#1'], 90 * day, 3 * day],
    ['a job until nobody can be at work on it', ['J#1', 'A'], 90 * day, 70 * minute],
    ['where it waits for a worker as long', ['A#1', 'J#1'], 90 * day, 70 * minute],
  ])('%s', async (_, key, usual, after) => {
    expect(await kept({}, key, usual)).toBe(usual)
    expect(await kept(shortest, key, usual)).toBe(after)
  })

  it('for a time that makes sense, or the node does not start', () => {
    for (const text of ['9m', '36501d', 'ever'])
      expect(() => retentionFromEnv({ ROUSE_RETENTION: text })).toThrow(`got "${text}"`)
  })
})
