import { expect, test } from 'vitest'
import { readDocument } from '../../shared/engine/document-state.ts'
import { onDocumentChange } from '../../shared/engine/monitor-look.ts'
import { changedUnder } from '../../shared/engine/trigger-fire.ts'
import type { TriggerInput } from '../../shared/engine/triggers.ts'
import { createTrigger } from '../../shared/engine/triggers.ts'
import { personOf } from './cards.ts'
import { checkCounts, checkSession, rowsOf } from './ledger.ts'
import { claim, end, inRoom, minute, type Room, second, start } from './room.ts'
import { put, remove } from './watching.ts'

const never = () => {
  throw new Error('a trigger on a document has no address')
}

async function follow(room: Room, input: Partial<TriggerInput> = {}): Promise<string> {
  const { loaded } = await createTrigger(
    room.call(),
    { name: 'Picks', prompt: 'Look.', session: room.session, on: { document: { path: 'd' } }, ...input },
    never,
  )
  return loaded.cursor.item.id
}

const outcomes = async (room: Room, id: string) => (await rowsOf(room, id)).map(({ outcome }) => outcome)
const again = (room: Room) => onDocumentChange(room.world, personOf(room), 'd', room.now())

test('a change that is told twice, at once or late, fires once', async () => {
  await inRoom(async (room) => {
    const id = await follow(room)
    await put(room, 'd', { n: 1 })
    await again(room)
    await Promise.all([again(room), again(room), again(room)])
    expect(await outcomes(room, id)).toEqual(['fired'])
    await end(room, await claim(room))
    room.jump(start + 5 * minute)
    await again(room)
    await room.settle()
    expect(await outcomes(room, id)).toEqual(['fired'])
    await checkCounts(room, id)
    await checkSession(room, room.session)
  })
})

test('a change that is told after a newer one was seen is no news', async () => {
  await inRoom(async (room) => {
    const id = await follow(room)
    await put(room, 'd', { n: 1 })
    await end(room, await claim(room))
    const older = await readDocument(room.world, personOf(room), 'd')
    await put(room, 'd', { n: 2 })
    await end(room, await claim(room))
    expect(await changedUnder(room.world, [id], older, room.now())).toBe(true)
    expect(await outcomes(room, id)).toEqual(['fired', 'fired'])
    // And it left the newer one as what was seen last.
    await again(room)
    expect(await outcomes(room, id)).toEqual(['fired', 'fired'])
  })
})

test('a deletion that is told twice fires once', async () => {
  await inRoom(async (room) => {
    await put(room, 'd', { n: 1 })
    const id = await follow(room)
    await remove(room, 'd')
    await again(room)
    await end(room, await claim(room))
    await again(room)
    expect(await outcomes(room, id)).toEqual(['fired'])
  })
})

test('a change that is told again while it settles puts nothing off and fires once', async () => {
  await inRoom(async (room) => {
    const id = await follow(room, { settle: '5m' })
    await put(room, 'd', { n: 1 })
    await room.move(start + 4 * minute)
    await again(room)
    await room.move(start + 5 * minute)
    expect(await outcomes(room, id)).toEqual(['fired'])
    await again(room)
    await room.move(start + 20 * minute)
    expect(await outcomes(room, id)).toEqual(['fired'])
  })
})

test('a condition that fails is told once for each change', async () => {
  await inRoom(async (room) => {
    const id = await follow(room, { when: 'doc.n > 1' })
    await put(room, 'd', { n: 'none' })
    await again(room)
    await again(room)
    expect(await outcomes(room, id)).toEqual(['failed'])
  })
})

test('a change whose notification was lost is found by the sweep within a minute', async () => {
  await inRoom(async (room) => {
    const id = await follow(room)
    const streamed = { ...room.world, streamed: true }
    await put(room, 'd', { n: 1 }, { world: streamed })
    expect(await outcomes(room, id)).toEqual([])
    await room.move(start + 61 * second)
    expect(await outcomes(room, id)).toEqual(['fired'])
    expect((await claim(room))!.message!.text).toContain('"n": 1')
  })
})

test('a commit that fails under a change leaves it to be found, and is not told twice', async () => {
  await inRoom(async (room) => {
    const id = await follow(room)
    let broken = 0
    const world = room.through((inner) => ({
      ...inner,
      get: (keys) => inner.get(keys),
      list: (pk, range) => inner.list(pk, range),
      find: (index, pk, range) => inner.find(index, pk, range),
      commit: (ops, token) => {
        if (token?.includes('trigger') || token?.includes(id)) {
          broken += 1
          if (broken < 3) return Promise.reject(new Error('the store is away'))
        }
        return inner.commit(ops, token)
      },
    }))
    await put(room, 'd', { n: 1 }, { world }).catch(() => null)
    await room.move(start + 3 * minute)
    await again(room)
    expect(await outcomes(room, id)).toEqual(['fired'])
  })
})
