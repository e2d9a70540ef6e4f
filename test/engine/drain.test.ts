import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { slotKey } from '../../shared/domain/due.ts'
import { drain, nextDue } from '../../shared/engine/drain.ts'
import { look } from '../../shared/engine/look.ts'
import { listSchedules } from '../../shared/engine/schedule-list.ts'
import { archiveSession } from '../../shared/engine/sessions.ts'
import { keys } from '../../shared/engine/store.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'
import { checkSchedule, cursorOf, headOf, rowsOf } from './ledger.ts'
import { addSchedule, addSession, claim, end, hour, minute, openRoom, type Room, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id

/** Spoils the definition of a schedule, as a disk or a bug would. */
const spoil = async (id: string): Promise<void> => {
  const key = keys.definition(id, 1)
  await room.table.commit([{ patch: key, set: { spec: { kind: 'tides' } }, guards: [] }], `spoil:${id}`)
  room.restart()
}
/** Takes it away altogether. */
const lose = async (id: string): Promise<void> => {
  await room.table.commit([{ delete: keys.definition(id, 1), expect: 'any' }], `lose:${id}`)
  room.restart()
}

describe('the sweep', () => {
  it('S0-16 finds what no alarm brought', async () => {
    const id = await idOf()
    room.jump(start + hour + 30_000)
    await room.settle()
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('an alarm that is delivered twice does nothing the second time', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await look(room.world, [id, id], room.now())
    await look(room.world, [id], room.now())
    await checkSchedule(room, id, new Set([start + hour]))
    expect(room.rings).toHaveLength(1)
  })

  it('an alarm that is early writes nothing', async () => {
    const id = await idOf()
    room.jump(start + hour - 1)
    await look(room.world, [id], room.now())
    expect(await rowsOf(room, id)).toEqual([])
  })

  it('S0-2 after an outage every schedule has exactly its times, each in one row', async () => {
    const ids: string[] = []
    for (let i = 1; i <= 12; i++) ids.push(await idOf({ every: `${i * 5}m`, session: await addSession(room) }))
    room.jump(start + 26 * hour + 7 * minute)
    await room.settle()
    for (const [i, id] of ids.entries()) {
      const step = (i + 1) * 5 * minute
      const times = Array.from({ length: Math.floor((room.now() - start) / step) }, (_, n) => start + (n + 1) * step)
      await checkSchedule(room, id, new Set(times))
      expect(await rowsOf(room, id)).toHaveLength(1)
    }
  })

  it('with an index that lags misses nothing for good', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push(await idOf({ session: await addSession(room) }))
    // No catching up: what the index does not show yet, a later sweep finds.
    for (let at = start; at <= start + 3 * hour; at += 5 * minute) {
      room.jump(at)
      await drain(room.world, at)
    }
    await room.settle()
    for (const id of ids) {
      const rows = (await rowsOf(room, id)).filter((r) => r.trigger !== 'manual')
      expect(rows.at(-1)?.nominalAt).toBe(start + 3 * hour)
      await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
    }
  })

  it('leaves nothing due behind', async () => {
    await idOf()
    await idOf({ at: '2026-03-01T00:30' })
    room.jump(start + 5 * hour)
    await room.settle()
    await room.table.catchUp()
    expect(await nextDue(room.world)).toBeGreaterThan(room.now())
  })
})

describe('a row that cannot be read', () => {
  for (const [how, break_] of [
    ['spoiled', spoil],
    ['lost', lose],
  ] as const) {
    it(`stops no other schedule: its definition is ${how}`, async () => {
      const bad = await idOf()
      const good = await idOf({ session: await addSession(room) })
      await break_(bad)
      room.jump(start + hour)
      await room.settle()
      await checkSchedule(room, good, new Set([start + hour]))
      expect(room.errors.length).toBeGreaterThan(0)
      await room.table.catchUp()
      expect(await nextDue(room.world), 'it is not met again every minute').toBe(start + 2 * hour)
    })

    it(`stops no lease and no slot when its turn lapses: its definition is ${how}`, async () => {
      const other = await addSession(room)
      const bad = await idOf()
      const good = await idOf({ session: other, every: '30m' })
      await room.move(start + hour)
      await claim(room)
      await break_(bad)
      room.jump(start + hour + 30 * minute)
      await room.settle()
      expect((await rowsOf(room, good)).at(-1)?.nominalAt).toBe(start + hour + 30 * minute)
    })

    it(`does not take the list along: its definition is ${how}`, async () => {
      const bad = await idOf()
      const good = await idOf()
      await break_(bad)
      await room.table.catchUp()
      const filter = { agent: null, session: null, createdIn: null, status: null }
      const listed = await listSchedules(room.call(), filter, { limit: 10, before: null })
      expect(listed.items.map((l) => l.cursor.item.id)).toContain(good)
    })
  }
})

describe('a waiting prompt whose definition is lost', () => {
  it('stops no other prompt of its conversation', async () => {
    const bad = await idOf({ every: '30m' })
    const good = await idOf({ every: '1h' })
    await room.move(start + 30 * minute)
    await lose(bad)
    await room.move(start + hour)
    expect((await claim(room))?.message.origin.schedule).toBe(good)
  })

  it('does not keep its conversation from being archived', async () => {
    const bad = await idOf()
    await room.move(start + hour)
    await lose(bad)
    await archiveSession(room.call(), room.session)
    expect((await headOf(room, room.session)).archivedAt).not.toBeNull()
  })
})

describe('effects that fail after the commit', () => {
  it('a bell that is away takes no schedule out, and the message is there', async () => {
    const id = await idOf()
    const mute: World = {
      ...room.world,
      bell: {
        ...room.world.bell,
        ring: async () => {
          throw new Error('the queue is away')
        },
      },
    }
    room.jump(start + hour)
    await room.table.catchUp()
    await drain(mute, room.now()).catch(() => {})
    await room.move(start + 2 * hour)
    expect((await rowsOf(room, id)).map((r) => r.outcome)).toEqual(['fired', 'skipped'])
    expect((await claim(room))?.message.origin.schedule).toBe(id)
  })

  it('an alarm clock that is away loses no claim', async () => {
    await idOf()
    await room.move(start + hour)
    const deaf: World = {
      ...room.world,
      alarms: {
        set: async () => {
          throw new Unavailable('the alarm clock is away')
        },
      },
    }
    const claimed = await claim({ ...room, call: () => room.call({ world: deaf }) })
    expect(claimed?.turn).not.toBeNull()
    await end(room, claimed)
  })
})

describe('one schedule that never gets its commit through', () => {
  it('stops no other', async () => {
    const bad = await idOf()
    const good = await idOf({ session: await addSession(room) })
    // A row stands already where its next slot would write one.
    const { nextAt } = await cursorOf(room, bad)
    await room.table.commit([{ put: keys.run(bad, slotKey(nextAt!)), item: { id: 'x' }, expect: 'absent' }], 'stray')
    room.jump(start + hour)
    await room.settle()
    await checkSchedule(room, good, new Set([start + hour]))
    expect((await headOf(room, room.session)).turn).toBeNull()
  })
})
