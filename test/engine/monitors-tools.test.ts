import { expect, test } from 'vitest'
import { onAlarms } from '../../shared/engine/alarm.ts'
import { doApart } from '../../shared/engine/apart.ts'
import { drainWakes } from '../../shared/engine/drain.ts'
import { cancelMonitor } from '../../shared/engine/monitors.ts'
import { putTool, removeTool } from '../../shared/engine/tools.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import { answered } from './outside.ts'
import { inRoom, minute, type Room, start } from './room.ts'
import { arm, events, shownAs } from './watching.ts'

const json = { 'content-type': 'application/json' }
const hour = 60 * minute

const register = (room: Room, path = '/rate', more: object = {}) =>
  putTool(room.call(), room.agent, 'rate', {
    description: 'Reads the rate.',
    parameters: { type: 'object' },
    readOnly: true,
    steps: [{ http: { method: 'GET', url: `https://bank.test${path}` } }],
    ...more,
  })
const says = (room: Room, rate: number) => {
  room.outside.answer = () => answered(200, json, JSON.stringify({ rate }))
}
const watch = { watch: { tool: { name: 'rate', every: '1h' } }, when: 'output.rate > 1' }

test('a look is claimed before the tool is run: of several at the same moment one runs it', async () => {
  await inRoom(async (room) => {
    await register(room)
    says(room, 0.5)
    const { id } = await arm(room, watch)
    room.jump(start + hour)
    await room.table.catchUp()
    // Two processes: what each remembers of its own errands is no help.
    const other = { ...room.world }
    await Promise.all([doApart(room.world, room.now()), doApart(other, room.now())])
    expect(room.outside.sent).toHaveLength(1)
    expect(await shownAs(room, id)).toMatchObject({ status: 'armed', nextLookAt: start + 2 * hour })
  })
})

test('a run that is slow holds up no wake, and its news come when it ends', async () => {
  await inRoom(async (room) => {
    await register(room)
    let answer = (): void => {}
    const waits = new Promise<void>((resolve) => {
      answer = resolve
    })
    room.outside.answer = async () => {
      await waits
      return answered(200, json, '{"rate": 2}')
    }
    await arm(room, watch)
    await arm(room, { watch: { time: { in: '1h' } } })
    room.jump(start + hour)
    await room.table.catchUp()
    const apart = doApart(room.world, room.now())
    await drainWakes(room.world, room.now())
    expect((await events(room)).map(({ text }) => text.slice(0, 34))).toEqual(['[monitor event] the time has come '])
    answer()
    await apart
    expect(await events(room)).toHaveLength(2)
  })
})

test('a run that is cut off is made up by the next one on the grid', async () => {
  await inRoom(async (room) => {
    await register(room)
    says(room, 2)
    const { id } = await arm(room, watch)
    let commits = 0
    const world = room.through((inner) => ({
      get: (keys) => inner.get(keys),
      list: (pk, range) => inner.list(pk, range),
      find: (index, pk, range) => inner.find(index, pk, range),
      commit: async (ops, token) => {
        if (commits++ > 0) throw new Unavailable('cut off')
        await inner.commit(ops, token)
      },
    }))
    room.jump(start + hour)
    await onAlarms(world, [{ kind: 'monitor', id }], room.now())
    expect(await shownAs(room, id)).toMatchObject({ status: 'armed', nextLookAt: start + 2 * hour })
    expect(room.said.some((line) => line.includes('could not be recorded'))).toBe(true)
    await room.move(start + 2 * hour)
    expect(await events(room)).toHaveLength(1)
  })
})

test('looks that were missed while nobody was there are one look, and the grid stays', async () => {
  await inRoom(async (room) => {
    await register(room)
    says(room, 0.5)
    const { id } = await arm(room, watch)
    room.jump(start + 5 * hour + 20 * minute)
    await room.settle()
    expect(room.outside.sent).toHaveLength(1)
    expect((await shownAs(room, id)).nextLookAt).toBe(start + 6 * hour)
  })
})

test('what was cancelled, or has ended, while its tool ran fires no more', async () => {
  await inRoom(async (room) => {
    await register(room)
    const { id } = await arm(room, watch)
    room.outside.answer = async () => {
      await cancelMonitor(room.call(), id)
      return answered(200, json, '{"rate": 2}')
    }
    await room.move(start + hour)
    expect((await shownAs(room, id)).status).toBe('cancelled')
    const other = await arm(room, watch)
    room.outside.answer = async () => {
      await removeTool(room.call(), room.agent, 'rate')
      return answered(200, json, '{"rate": 2}')
    }
    await room.move(start + 2 * hour)
    expect(await shownAs(room, other.id)).toMatchObject({ status: 'ended', reason: 'tool_changed' })
    expect((await events(room)).map(({ text }) => text.split('\n')[1])).toEqual([
      'The watched tool was deleted, so nothing is looked at any more. Nothing has been found.',
    ])
  })
})

test('a change that nobody was told of is seen before the next run: what was not armed on is never run', async () => {
  await inRoom(async (room) => {
    const { hash } = await register(room)
    const { id } = await arm(room, watch)
    await register(room, '/other')
    // As if the notification had been lost.
    const key = [`N#${id.slice(4)}`, 'A'] as const
    const [ended] = await room.table.get([key])
    const armed = {
      ...ended!.item,
      status: 'armed',
      reason: null,
      message: null,
      nextLookAt: start + hour,
      endedAt: null,
    }
    const index = { toolRuns: ['0', start + hour] } as const
    await room.table.commit([{ put: key, item: armed, expect: ended!.version, index }], 'lost')
    expect((armed as unknown as { watch: { hash: string } }).watch.hash).toBe(hash)
    await room.move(start + hour)
    expect(room.outside.sent).toEqual([])
    expect(await shownAs(room, id)).toMatchObject({ status: 'ended', reason: 'tool_changed' })
  })
})

test('an output that is too large to be compared is a failed look', async () => {
  await inRoom(async (room) => {
    await register(room)
    room.outside.answer = () => answered(200, json, JSON.stringify('x'.repeat(70_000)))
    const { id } = await arm(room, { watch: watch.watch })
    await room.move(start + hour)
    expect(await shownAs(room, id)).toMatchObject({ status: 'armed', failures: 1, before: null })
  })
})

test('a tool monitor expires like any other, without a last run', async () => {
  await inRoom(async (room) => {
    await register(room)
    says(room, 0.5)
    const { id } = await arm(room, { ...watch, expiresIn: '150m' })
    await room.move(start + 4 * hour)
    expect(room.outside.sent).toHaveLength(2)
    expect(await shownAs(room, id)).toMatchObject({ status: 'expired', endedAt: start + 150 * minute })
  })
})
