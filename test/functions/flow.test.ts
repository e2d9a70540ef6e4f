import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { handler } from '../../functions/flow.ts'
import { runFlow } from '../../shared/engine/flow-runs.ts'
import type { AlarmKey, OutboundRequest, World } from '../../shared/ports/world.ts'
import { how, latest, mixed, promote, tools, worker } from '../engine/flowing.ts'
import { openRoom, type Room } from '../engine/room.ts'

/** The room's world as the functions see theirs: what is set waits in a queue. */
let room: Room
let world: World
let queue: { readonly key: AlarmKey; readonly at: number }[]
let isAway = false
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => world }))

beforeEach(async () => {
  isAway = false
  queue = []
  room = await openRoom()
  world = {
    ...room.world,
    flowsApart: true,
    alarms: {
      set: async (key, at) => {
        if (isAway) throw new Error('the queue is away')
        if (key.kind === 'flow') queue.push({ key, at })
      },
    },
  }
  await tools(room)
})
afterEach(() => room.close())

const bodyOf = ({ key, at }: (typeof queue)[number]): string => JSON.stringify({ ...key, at })
const deliver = async (...bodies: string[]): Promise<string[]> =>
  (await handler({ Records: bodies.map((body, n) => ({ messageId: `m${n}`, body })) })).batchItemFailures.map(
    ({ itemIdentifier }) => itemIdentifier,
  )
/** Hands over what waits, each message on its own, until nothing does. */
async function drained(): Promise<number> {
  let invocations = 0
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    expect(await deliver(bodyOf(next))).toEqual([])
    invocations += 1
  }
  return invocations
}
const begin = async () => await runFlow(room.call({ world }), room.agent, 'shopping')
const sent = () => (room.outside.sent as OutboundRequest[]).map(({ method }) => method)

test('takes one step an invocation, and ends with the last one', async () => {
  await promote(room)
  const { id } = await begin()
  expect(queue.map(({ key }) => key)).toEqual([{ kind: 'flow', id }])
  expect(await deliver(bodyOf(queue.shift()!))).toEqual([])
  expect([sent(), queue.length]).toEqual([['GET'], 1])
  expect(await drained()).toBe(3)
  expect(how(await latest(room))).toEqual(['ok', null, 4])
  expect(sent()).toEqual(['GET', 'POST', 'POST'])
})

test('a message that comes twice takes no step twice, at once or later', async () => {
  await promote(room)
  await begin()
  const first = queue.shift()!
  await Promise.all([deliver(bodyOf(first)), deliver(bodyOf(first))])
  await drained()
  await deliver(bodyOf(first))
  expect(sent().filter((method) => method === 'POST')).toHaveLength(2)
  expect(how(await latest(room))).toEqual(['ok', null, 4])
})

test('a step of the host ends the chain until the worker has answered', async () => {
  await promote(room, mixed)
  await worker(room, true)
  await begin()
  await drained()
  expect((await latest(room)).phase).toBe('host')
})

test('an early message is set again, and nothing is called', async () => {
  await promote(room)
  const { id } = await begin()
  queue.length = 0
  expect(await deliver(JSON.stringify({ kind: 'flow', id, at: room.now() + 30_000 }))).toEqual([])
  expect([queue, sent()]).toEqual([[{ key: { kind: 'flow', id }, at: room.now() + 30_000 }], []])
})

test('a body that is not ours, and an alarm of another kind, end in the dead-letter queue; the others are done', async () => {
  await promote(room)
  const { id } = await begin()
  const mine = JSON.stringify({ kind: 'flow', id, at: room.now() })
  const other = JSON.stringify({ kind: 'schedule', id: 'sch_01M8NZ4TMQ6RHETS2R3ZNDJDGG', at: room.now() })
  expect(await deliver(mine, 'hello', other)).toEqual(['m1', 'm2'])
  expect(sent()).toEqual(['GET'])
})

test('what could not be set again stays in the queue; the step that was taken is not taken again', async () => {
  await promote(room)
  const { id } = await begin()
  isAway = true
  const mine = JSON.stringify({ kind: 'flow', id, at: room.now() })
  expect(await deliver(mine)).toEqual(['m0'])
  isAway = false
  expect(await deliver(mine)).toEqual([])
  expect(sent()).toEqual(['GET', 'POST'])
})
