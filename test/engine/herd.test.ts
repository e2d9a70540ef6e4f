import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { look } from '../../shared/engine/look.ts'
import { runNow } from '../../shared/engine/runs.ts'
import { setLeft } from '../../shared/engine/sessions.ts'
import { keys } from '../../shared/engine/store.ts'
import { Defect, type Op } from '../../shared/ports/table.ts'
import { interrupted } from './between.ts'
import { checkSchedule, cursorOf, headOf, rowsOf } from './ledger.ts'
import { addSchedule, addSession, claim, hour, openRoom, type Room, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const herdOf = async (count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await idOf({ session: await addSession(room) }))
  return ids
}
const fired = new Set([start + hour])

describe('schedules that are due together', () => {
  it('share commits, 100 operations each', async () => {
    const ids = await herdOf(120)
    const sizes: number[] = []
    const counting = room.through((inner) => ({
      get: (k) => inner.get(k),
      list: (pk, range) => inner.list(pk, range),
      find: (index, pk, range) => inner.find(index, pk, range),
      commit: (ops: readonly Op[], token: string) => {
        sizes.push(ops.length)
        return inner.commit(ops, token)
      },
    }))
    room.jump(start + hour)
    await look(counting, ids, room.now())
    expect(sizes).toEqual([100, 100, 40])
    for (const id of ids) await checkSchedule(room, id, fired)
    expect(room.rings).toHaveLength(120)
  })

  it('have one row and one ring each when another commit comes between for one of them', async () => {
    const ids = await herdOf(7)
    room.jump(start + hour)
    const world = interrupted(room, 1, () => look(room.world, [ids[3]!], room.now()))
    expect(await look(world, ids, room.now())).toEqual([])
    for (const id of ids) await checkSchedule(room, id, fired)
    expect(room.rings.map((ring) => ring.envelope.id).sort()).toEqual(
      [...new Set(room.rings.map((ring) => ring.envelope.id))].sort(),
    )
    expect(room.rings).toHaveLength(7)
  })

  it('go without one that cannot be written, which is named', async () => {
    const ids = await herdOf(5)
    const [bad] = ids
    const broken = room.through((inner) => ({
      get: (k) => inner.get(k),
      list: (pk, range) => inner.list(pk, range),
      find: (index, pk, range) => inner.find(index, pk, range),
      commit: async (ops: readonly Op[], token: string) => {
        if (ops.some((op) => 'put' in op && op.put[0] === keys.cursor(bad!)[0])) throw new Defect('too large')
        await inner.commit(ops, token)
      },
    }))
    room.jump(start + hour)
    expect(await look(broken, ids, room.now())).toEqual([bad])
    for (const id of ids.slice(1)) await checkSchedule(room, id, fired)
    expect(await rowsOf(room, bad!)).toEqual([])
  })

  it('each have their own fate: one cancels a turn, one opens a session, one is closed by a gate, one is early', async () => {
    const replaced = await idOf({ overlap: 'cancel' })
    await runNow(room.call(), replaced)
    const claimed = await claim(room)
    const fresh = await idOf({ agent: room.agent, session: null })
    const left = await addSession(room)
    const gated = await idOf({ session: left })
    await setLeft(room.call(), left, true)
    const early = await idOf({ every: '2h', session: await addSession(room) })
    const plain = await idOf({ session: await addSession(room) })
    room.jump(start + hour)
    expect(await look(room.world, [replaced, fresh, gated, early, plain], room.now())).toEqual([])
    expect((await headOf(room, claimed!.turn!.session)).turn?.cancelled).toBe('overlap')
    expect((await rowsOf(room, fresh)).map((r) => [r.outcome, r.session?.slice(0, 4)])).toEqual([['fired', 'ses_']])
    expect((await rowsOf(room, gated)).map((r) => r.outcome)).not.toContain('fired')
    expect(await rowsOf(room, early)).toEqual([])
    expect((await cursorOf(room, early)).nextAt).toBe(start + 2 * hour)
    for (const id of [fresh, plain]) await checkSchedule(room, id, fired)
    expect((await rowsOf(room, replaced)).at(-1)?.outcome).toBe('fired')
  })
})
