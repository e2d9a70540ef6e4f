import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule, resumeSchedule } from '../../shared/engine/schedule-edit.ts'
import { removeSchedule } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession } from '../../shared/engine/sessions.ts'
import { claimSession } from '../../shared/engine/turns.ts'
import { checkCounts, checkSchedule, cursorOf, headOf, messagesOf, rowsOf } from './ledger.ts'
import {
  addSchedule,
  addSession,
  claim,
  claimFresh,
  end,
  hour,
  minute,
  openRoom,
  type Room,
  refusalOf,
  start,
} from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const edit = async (id: string, patch: Parameters<typeof editSchedule>[2]) =>
  await editSchedule(room.call(), id, patch, null)

describe('an edit that moves a schedule', () => {
  it('from a conversation to fresh sessions drops what waits, and leaves the conversation open', async () => {
    const id = await idOf()
    await room.move(start + hour)
    await edit(id, { agent: room.agent })
    const head = await headOf(room, room.session)
    expect(head.archivedAt).toBeNull()
    expect((await messagesOf(room, head.conv, 'M#')).map((m) => m.status)).toEqual(['dropped'])
    await checkSchedule(room, id)
    await room.move(start + 2 * hour)
    expect((await claimFresh(room))?.turn?.session).not.toBe(room.session)
  })

  it('S2-48 to another conversation drops what waits where it waited, and goes on there', async () => {
    const other = await addSession(room)
    const id = await idOf()
    await room.move(start + hour)
    await edit(id, { session: other })
    const conv = (await headOf(room, room.session)).conv
    expect((await messagesOf(room, conv, 'M#')).map((m) => m.status)).toEqual(['dropped'])
    expect(await messagesOf(room, (await headOf(room, other)).conv, 'M#')).toEqual([])
    expect(await claim(room)).toBeNull()
    await room.move(start + 2 * hour)
    expect((await claim(room, other))?.message.origin.schedule).toBe(id)
    await checkSchedule(room, id)
  })

  it('from fresh sessions into a conversation closes the session that waited', async () => {
    const id = await idOf({ agent: room.agent })
    await room.move(start + hour)
    const fresh = (await rowsOf(room, id))[0]!.session!
    await edit(id, { session: room.session })
    expect((await headOf(room, fresh)).archivedAt).not.toBeNull()
    expect(await claimFresh(room)).toBeNull()
    await checkSchedule(room, id)
  })

  it('while its turn runs lets it end where it runs', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const claimed = await claim(room)
    await edit(id, { session: await addSession(room) })
    await end(room, claimed)
    expect((await rowsOf(room, id))[0]).toMatchObject({ result: 'ok' })
    await checkSchedule(room, id)
  })
})

describe('an edit, a pause and a slot that waits for its jitter', () => {
  /** A schedule whose first slot has passed but not its jitter. */
  const pending = async (input = {}): Promise<string> => {
    const id = await idOf({ every: '1h', jitter: '59m', ...input })
    const cursor = await cursorOf(room, id)
    expect(cursor.dueAt! - cursor.nextAt!).toBeGreaterThan(1)
    room.jump(cursor.nextAt! + 1)
    await room.settle()
    return id
  }

  it('a pause writes its row', async () => {
    const id = await pending()
    await pauseSchedule(room.call(), id, null)
    expect(await rowsOf(room, id)).toMatchObject([{ outcome: 'skipped', reason: 'paused', nominalAt: start + hour }])
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('a new time writes its row', async () => {
    const id = await pending()
    await edit(id, { every: '2h' })
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('a new name lets it fire', async () => {
    const id = await pending()
    await edit(id, { name: 'Other' })
    await room.move((await cursorOf(room, id)).dueAt!)
    expect(await rowsOf(room, id)).toMatchObject([{ outcome: 'fired', nominalAt: start + hour }])
  })

  it('no jitter any more lets it fire at once', async () => {
    const id = await pending()
    await edit(id, { jitter: null })
    await room.settle()
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('a maxRuns that is reached leaves no slot without a row', async () => {
    const id = await pending()
    await room.move((await cursorOf(room, id)).dueAt!)
    await end(room, await claim(room))
    room.jump((await cursorOf(room, id)).nextAt! + 1)
    await room.settle()
    await edit(id, { maxRuns: 1 })
    expect(await cursorOf(room, id)).toMatchObject({ status: 'done', nextAt: null })
    await checkSchedule(room, id, new Set([start + hour, start + 2 * hour]))
  })

  it('a delete leaves no slot without a row', async () => {
    const id = await pending()
    await removeSchedule(room.call(), id)
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('the counts hold the row that a pause, an edit or a delete wrote', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push(await idOf({ every: '1h', jitter: '59m' }))
    room.jump(start + hour + 1)
    await pauseSchedule(room.call(), ids[0]!, null)
    await edit(ids[1]!, { every: '2h' })
    await removeSchedule(room.call(), ids[2]!)
    for (const id of ids) await checkCounts(room, id)
  })
})

describe('a schedule that stops through its own count leaves no slot without a row', () => {
  it('a lease that ran out in an outage pauses it, with slots overdue', async () => {
    const id = await idOf({ pauseAfterFailures: 1 })
    await room.move(start + hour)
    await claim(room)
    room.jump(start + 3 * hour + minute)
    await room.settle()
    expect(await cursorOf(room, id)).toMatchObject({ status: 'paused', reason: 'failures' })
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
  })

  it('a turn that fails pauses it, while a slot waits for its jitter', async () => {
    const id = await idOf({ every: '1h', jitter: '59m', pauseAfterFailures: 1 })
    await room.move((await cursorOf(room, id)).dueAt!)
    const claimed = await claimSession(room.call(), room.session, { leaseSeconds: 7200 })
    room.jump(start + 2 * hour + 1)
    await room.settle()
    await end(room, claimed, { outcome: 'failed' })
    await checkSchedule(room, id, new Set([start + hour, start + 2 * hour]))
  })

  it('a catch-up reaches maxRuns, while the latest slot waits for its jitter', async () => {
    const id = await idOf({ every: '1h', jitter: '59m', maxRuns: 1 })
    room.jump(start + 3 * hour + 1)
    await room.settle()
    expect(await cursorOf(room, id)).toMatchObject({ status: 'done', nextAt: null })
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
  })

  it('its conversation is archived, while the latest of several slots waits for its jitter', async () => {
    const id = await idOf({ every: '1h', jitter: '59m' })
    room.jump(start + 3 * hour + 1)
    await archiveSession(room.call(), room.session)
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
  })
})

describe('pause and resume', () => {
  it('S2-47 does not catch up the paused times', async () => {
    const id = await idOf()
    await pauseSchedule(room.call(), id, null)
    await room.move(start + 5 * hour + 1)
    const { cursor } = await resumeSchedule(room.call(), id)
    expect(cursor.item.nextAt).toBe(start + 6 * hour)
    expect(await rowsOf(room, id)).toEqual([])
  })

  it('a slot that came due before the pause is decided first', async () => {
    const id = await idOf()
    room.jump(start + 3 * hour)
    await pauseSchedule(room.call(), id, null)
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
    expect((await claim(room))?.message.origin.schedule).toBe(id)
  })

  it('S2-49 a paused schedule stays paused after an edit', async () => {
    const id = await idOf()
    await pauseSchedule(room.call(), id, null)
    expect((await edit(id, { every: '2h' })).cursor.item).toMatchObject({ status: 'paused', nextAt: null })
  })

  it('a resume runs no more than maxRuns, lowered while it was paused', async () => {
    const id = await idOf()
    await room.move(start + hour)
    await end(room, await claim(room))
    await pauseSchedule(room.call(), id, null)
    await edit(id, { maxRuns: 1 })
    await resumeSchedule(room.call(), id)
    await room.move(start + 5 * hour)
    expect((await rowsOf(room, id)).filter((r) => r.outcome === 'fired')).toHaveLength(1)
  })

  it('a slot is not decided twice by a clock that is behind', async () => {
    const id = await idOf()
    await room.move(start + hour)
    await end(room, await claim(room))
    // Another process, whose clock is some ms behind.
    const behind = room.call({ now: start + hour - 5 })
    await pauseSchedule(behind, id, null)
    await resumeSchedule(behind, id)
    await room.move(start + 3 * hour)
    await checkSchedule(room, id, new Set([1, 2, 3].map((n) => start + n * hour)))
  })

  it('nor by an edit with a clock that is behind', async () => {
    const id = await idOf({ cron: '0 * * * *' })
    await room.move(start + hour)
    await editSchedule(room.call({ now: start + hour - 5 }), id, { cron: '0,30 * * * *' }, null)
    await room.move(start + 2 * hour)
    const expected = [hour, hour + 30 * minute, 2 * hour].map((after) => start + after)
    await checkSchedule(room, id, new Set(expected))
  })
})

describe('the grid of an interval', () => {
  it('S0-18 stays where the edit that made it an interval put it', async () => {
    const id = await idOf({ cron: '0 * * * *' })
    await room.move(start + 17 * minute)
    await edit(id, { every: '1h' })
    const before = (await cursorOf(room, id)).nextAt
    expect(before).toBe(start + hour + 17 * minute)
    await edit(id, { tz: 'Europe/Amsterdam' })
    expect((await cursorOf(room, id)).nextAt).toBe(before)
  })
})

describe('a finished schedule', () => {
  it('S2-50 runs again if given a future time', async () => {
    const id = await idOf({ at: '2026-03-01T01:00' })
    await room.move(start + hour)
    await end(room, await claim(room))
    expect((await cursorOf(room, id)).status).toBe('done')
    await edit(id, { at: '2026-03-01T03:00' })
    await room.move(start + 3 * hour)
    expect((await claim(room))?.message.origin.schedule).toBe(id)
    await checkSchedule(room, id, new Set([start + hour, start + 3 * hour]))
  })

  it('S2-64 runs now although its conversation has had many others since', async () => {
    const id = await idOf({ at: '2026-03-01T01:00' })
    await room.move(start + hour)
    await end(room, await claim(room))
    for (let i = 0; i < 20; i++) await idOf()
    await runNow(room.call(), id)
    await checkSchedule(room, id)
    expect((await claim(room))?.message.origin.schedule).toBe(id)
  })

  it('an ended one is neither edited nor run', async () => {
    const id = await idOf()
    await removeSchedule(room.call(), id)
    expect(await refusalOf(runNow(room.call(), id))).toBe('not_found')
  })
})

describe('compaction', () => {
  it('S0-58 the waiting prompt, the running turn and what comes next move to the new conversation', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const claimed = await claim(room)
    room.jump(start + hour + minute)
    await runNow(room.call(), id)
    const { row } = await compactSession(room.call(), room.session)
    await end(room, claimed)
    const next = await claim(room, row.id)
    expect(next?.message.origin.schedule).toBe(id)
    await end(room, next)
    await room.move(start + 2 * hour)
    const { turn } = (await claim(room, row.id))!
    expect(turn?.session).toBe(row.id)
    await checkSchedule(room, id, new Set([start + hour, start + 2 * hour]))
  })
})
