import { beforeEach, expect, test, vi } from 'vitest'
import { handler } from '../../functions/change.ts'
import { type Told, toldWorld } from './world.ts'

let told: Told
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => told.world }))
beforeEach(() => {
  told = toldWorld()
})

const owner = '01M8NZ4TMQ6RHETS2R3ZNDJDGG'
const change = (sk: string, SequenceNumber: string) => ({
  eventName: 'MODIFY',
  dynamodb: { Keys: { pk: { S: `D#${owner}` }, sk: { S: sk } }, SequenceNumber },
})

test('several changes of one document are one look, and its parts are none', async () => {
  const Records = [
    change('H#a/b', '1'),
    change('B0#a/b', '2'),
    change('H#a/b', '3'),
    change('V#c', '4'),
    change('H#d', '5'),
  ]
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] })
  // The head and what is remembered of a deleted one, for each of the two.
  expect(told.looked).toEqual(Array.from({ length: 4 }, () => `D#${owner}`))
})

test('while the store is away the batch comes again from the first change on', async () => {
  told.isAway = true
  const { batchItemFailures } = await handler({ Records: [change('H#a', '1'), change('H#b', '2')] })
  expect(batchItemFailures).toEqual([{ itemIdentifier: '1' }, { itemIdentifier: '2' }])
})

test('a record that is none of ours is named in the log and not asked for again', async () => {
  const Records = [{}, { dynamodb: { Keys: { id: { S: 'x' } }, SequenceNumber: '7' } }]
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] })
  expect(told.said).toEqual(['change could not be read', 'change could not be read'])
})
