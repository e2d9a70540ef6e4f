import { beforeEach, expect, test, vi } from 'vitest'
import { handler } from '../../functions/alarm.ts'
import { now, type Told, toldWorld } from './world.ts'

let told: Told
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => told.world }))
beforeEach(() => {
  told = toldWorld()
})

const sch = 'sch_01M8NZ4TMQ6RHETS2R3ZNDJDGG'
const alarm = (at: number, id = sch): string => JSON.stringify({ kind: 'schedule', id, at })
const batch = (...bodies: string[]) => ({ Records: bodies.map((body, n) => ({ messageId: `m${n}`, body })) })
const failed = async (...bodies: string[]): Promise<string[]> =>
  (await handler(batch(...bodies))).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)

test('an alarm that is due is looked at and done with; the same one twice in a batch is looked at once', async () => {
  expect(await failed(alarm(now), alarm(now))).toEqual([])
  expect(told.looked).toEqual([`S#${sch.slice(4)}`])
})

test('an early alarm is set again and looked at by nobody', async () => {
  expect(await failed(alarm(now + 40_000))).toEqual([])
  expect(told.set).toEqual([{ key: { kind: 'schedule', id: sch }, at: now + 40_000 }])
  expect(told.looked).toEqual([])
})

test('a body that is not ours stays in the queue until it lies in the dead-letter queue; the others are done with', async () => {
  expect(await failed(alarm(now), 'hello', '{"kind":"other"}')).toEqual(['m1', 'm2'])
  expect(told.said).toEqual(['alarm could not be read', 'alarm could not be read'])
})

test('while the store is away every alarm stays in the queue', async () => {
  told.isAway = true
  expect(await failed(alarm(now), alarm(now, 'sch_01M8NZ4TMQ6RHETS2R3ZNDJDGH'))).toEqual(['m0', 'm1'])
})

test('an early alarm that cannot be set again stays in the queue', async () => {
  told.isAway = true
  expect(await failed(alarm(now + 40_000))).toEqual(['m0'])
})
