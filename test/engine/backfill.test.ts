import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backfill, runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule } from '../../shared/engine/schedule-edit.ts'
import { setLeft } from '../../shared/engine/sessions.ts'
import { checkSchedule, cursorOf, headOf, rowsOf } from './ledger.ts'
import { addSchedule, addSession, claim, claimFresh, end, hour, minute, openRoom, type Room, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const iso = (at: number): string => new Date(at).toISOString()
const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const fill = async (id: string, from: number, to: number): Promise<number> =>
  await backfill(room.call(), id, { from: iso(from), to: iso(to) })

/** A cron that has been paused for a while, so that times of it have no row. */
const holes = async (hours: number, input: object = {}): Promise<string> => {
  const id = await idOf({ cron: '0 * * * *', ...input })
  await pauseSchedule(room.call(), id, null)
  room.jump(start + hours * hour + minute)
  return id
}

describe('a backfill', () => {
  it('goes one at a time, oldest first', async () => {
    const id = await holes(4)
    expect(await fill(id, start + hour, start + 4 * hour)).toBe(4)
    for (let n = 1; n <= 4; n++) {
      const fired = (await rowsOf(room, id)).filter((r) => r.trigger === 'backfill')
      expect(fired.map((r) => r.nominalAt)).toEqual(Array.from({ length: n }, (_, i) => start + (i + 1) * hour))
      expect((await cursorOf(room, id)).open).toHaveLength(1)
      await end(room, await claim(room))
    }
    expect(await claim(room)).toBeNull()
    await checkSchedule(room, id)
  })

  it('leaves the next time and maxRuns alone', async () => {
    const id = await idOf({ cron: '0 * * * *', maxRuns: 3 })
    room.jump(start + minute)
    const before = await cursorOf(room, id)
    await fill(id, start - 2 * hour, start)
    expect(await cursorOf(room, id)).toMatchObject({ nextAt: before.nextAt, fires: 0, status: 'active' })
  })

  it('takes at most 100, however many there are', async () => {
    const id = await holes(150)
    expect(await fill(id, start + hour, start + 150 * hour)).toBe(100)
    expect(await fill(id, start + hour, start + 150 * hour)).toBeLessThanOrEqual(1)
  })

  it('leaves out what has fired, by a slot or by an earlier one', async () => {
    const id = await idOf({ cron: '0 * * * *' })
    await room.move(start + 2 * hour)
    await end(room, await claim(room))
    await room.move(start + 3 * hour)
    const skipped = (await rowsOf(room, id)).filter((r) => r.outcome !== 'fired').map((r) => r.nominalAt)
    expect(skipped).toEqual([start + 2 * hour])
    await end(room, await claim(room))
    expect(await fill(id, start + hour, start + 3 * hour)).toBe(1)
    await end(room, await claim(room))
    expect(await fill(id, start + hour, start + 3 * hour)).toBe(0)
    await checkSchedule(room, id)
  })

  it('does not take what a catch-up is about to stand for', async () => {
    const id = await idOf({ cron: '0 * * * *' })
    room.jump(start + 3 * hour + minute)
    await fill(id, start + hour, start + 3 * hour)
    await room.settle()
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
    const fired = (await rowsOf(room, id)).filter((r) => r.outcome === 'fired').map((r) => r.nominalAt)
    expect(new Set(fired).size).toBe(fired.length)
  })

  it('waits while a prompt of the schedule is open, and goes on when that one ends', async () => {
    const id = await holes(3)
    await runNow(room.call(), id)
    expect(await fill(id, start + hour, start + 3 * hour)).toBe(3)
    const now = await claim(room)
    expect(await claim(room)).toBeNull()
    await end(room, now)
    for (let n = 1; n <= 3; n++) await end(room, await claim(room))
    expect((await cursorOf(room, id)).backfill).toEqual([])
    await checkSchedule(room, id)
  })

  it('of 100 whose agent leaves in between ends all the same, and the turn with it', async () => {
    const id = await holes(110)
    expect(await fill(id, start + hour, start + 110 * hour)).toBe(100)
    const first = await claim(room)
    await setLeft(room.call(), room.session, true)
    await end(room, first)
    expect((await headOf(room, room.session)).turn).toBeNull()
    await setLeft(room.call(), room.session, false)
    await checkSchedule(room, id)
  })

  it('of 100 whose first lease runs out after the agent left stops nobody else', async () => {
    const other = await addSession(room)
    const id = await holes(110)
    await fill(id, start + hour, start + 110 * hour)
    await claim(room)
    await setLeft(room.call(), room.session, true)
    const healthy = await idOf({ session: other, every: '5m' })
    await room.move(room.now() + 5 * minute)
    expect((await rowsOf(room, healthy)).map((r) => r.outcome)).toEqual(['fired'])
  })

  it('whose waiting prompt is dropped by a move goes on in the new conversation', async () => {
    const other = await addSession(room)
    const id = await holes(3)
    await fill(id, start + hour, start + 3 * hour)
    await editSchedule(room.call(), id, { session: other }, null)
    await room.settle()
    const left = (await cursorOf(room, id)).backfill
    if (left.length > 0) expect(await claim(room, other), 'what is queued goes on').not.toBeNull()
    await checkSchedule(room, id)
  })

  it('of an agent target has a fresh session for each', async () => {
    const id = await holes(2, { agent: room.agent })
    await fill(id, start + hour, start + 2 * hour)
    const one = await claimFresh(room)
    await end(room, one)
    const two = await claimFresh(room)
    expect(one?.turn?.session).not.toBe(two?.turn?.session)
    await end(room, two)
    await checkSchedule(room, id)
  })
})
