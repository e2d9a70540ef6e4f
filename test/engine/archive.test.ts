import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { look } from '../../shared/engine/look.ts'
import { listMessages } from '../../shared/engine/message-list.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { editSchedule, pauseSchedule } from '../../shared/engine/schedule-edit.ts'
import { createSchedule } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession, deleteSession, viewSession } from '../../shared/engine/sessions.ts'
import { claimSession } from '../../shared/engine/turns.ts'
import { interrupted } from './between.ts'
import { checkSchedule, checkSession, cursorOf, headOf, messagesOf, rowsOf } from './ledger.ts'
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
const archive = async (session = room.session): Promise<unknown> => await archiveSession(room.call(), session)

describe('archiving a conversation', () => {
  it('S0-54 ends what fires in it, paused ones included, and drops what waits', async () => {
    const active = await idOf()
    const paused = await idOf()
    await pauseSchedule(room.call(), paused, null)
    const once = await idOf({ at: '2026-03-01T01:00' })
    await sendMessage(room.call(), room.session, 'hello')
    await room.move(start + hour)
    await archive()
    for (const id of [active, paused, once]) {
      expect(await cursorOf(room, id)).toMatchObject({ status: 'ended', reason: 'session_archived', open: [] })
      await checkSchedule(room, id)
    }
    await checkSession(room, room.session)
    expect((await listMessages(room.call(), room.session, { limit: 10, after: null })).items).toHaveLength(3)
  })

  it('at an instant at which a slot is due drops the prompt of the slot before it too', async () => {
    const id = await idOf()
    await room.move(start + hour)
    room.jump(start + 2 * hour)
    await archive()
    expect(await cursorOf(room, id)).toMatchObject({ status: 'ended', open: [] })
    await checkSchedule(room, id, new Set([start + hour, start + 2 * hour]))
  })

  it('drops what waits after a compaction, too', async () => {
    await sendMessage(room.call(), room.session, 'hello')
    const { row } = await compactSession(room.call(), room.session)
    await archive(row.id)
    await checkSession(room, row.id)
  })

  it('of the fresh session in which a run waits drops that run, and the schedule goes on', async () => {
    const id = await idOf({ agent: room.agent })
    await room.move(start + hour)
    await archive((await rowsOf(room, id))[0]!.session!)
    await checkSchedule(room, id)
    await room.move(start + 2 * hour)
    expect((await rowsOf(room, id)).at(-1)).toMatchObject({ outcome: 'fired' })
    expect((await claimFresh(room))?.message.origin.schedule).toBe(id)
  })

  it('S0-55 deleting it is the same', async () => {
    const id = await idOf({ agent: room.agent })
    const into = await idOf()
    await room.move(start + hour)
    await deleteSession(room.call(), (await rowsOf(room, id))[0]!.session!)
    await deleteSession(room.call(), room.session)
    expect(await cursorOf(room, into)).toMatchObject({ status: 'ended', reason: 'session_deleted', open: [] })
    await room.move(start + 2 * hour)
    expect((await rowsOf(room, id)).at(-1)).toMatchObject({ outcome: 'fired' })
  })

  it('while its turn runs lets the turn end, and nothing follows', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const claimed = await claim(room)
    await archive()
    await end(room, claimed, { answer: 'done' })
    expect((await rowsOf(room, id))[0]).toMatchObject({ result: 'ok' })
    await room.move(start + 5 * hour)
    expect(await rowsOf(room, id)).toHaveLength(1)
  })

  it('S2-18 the next main session gets the notes once the first is archived', async () => {
    const second = await addSession(room, { main: true })
    await room.table.catchUp()
    await archive()
    await addSchedule(room, { agent: room.agent })
    await room.move(start + hour)
    await end(room, await claimFresh(room), { summary: 'Looked.' })
    const { conv } = await headOf(room, second)
    expect((await messagesOf(room, conv, 'W#')).map((m) => m.kind)).toEqual(['note'])
  })

  it('a fresh session that ends leaves nothing waiting in it, and no schedule of its own', async () => {
    await addSchedule(room, { agent: room.agent })
    await room.move(start + hour)
    const claimed = await claimFresh(room)
    const fresh = claimed!.turn!.session
    const own = await idOf({ session: fresh })
    await pauseSchedule(room.call(), own, null)
    await sendMessage(room.call(), fresh, 'and this?')
    await end(room, claimed)
    await room.settle()
    await checkSession(room, fresh)
    expect(await cursorOf(room, own)).toMatchObject({ status: 'ended', reason: 'session_archived' })
  })

  it('the link of a compacted session still names where to go on', async () => {
    const { row } = await compactSession(room.call(), room.session)
    expect((await viewSession(room.call(), room.session)).row.compactedInto).toBe(row.id)
    expect(await refusalOf(claim(room))).toBe('session_archived')
  })
})

describe('between the reads and the commit of another call comes an archive', () => {
  it('a send is refused or dropped', async () => {
    const world = interrupted(room, 1, archive)
    await refusalOf(sendMessage(room.call({ world }), room.session, 'hello'))
    await checkSession(room, room.session)
  })

  it('a create is refused, the first of a conversation too', async () => {
    const world = interrupted(room, 1, archive)
    const input = { name: 'A', prompt: 'B', session: room.session, every: '1h' }
    expect(await refusalOf(createSchedule(room.call({ world }), input))).toBe('session_archived')
  })

  it('an edit that moves a schedule there is refused, and it stays where it was', async () => {
    const id = await idOf({ session: await addSession(room) })
    const world = interrupted(room, 1, archive)
    expect(await refusalOf(editSchedule(room.call({ world }), id, { session: room.session }, null))).toBe(
      'session_archived',
    )
    expect((await cursorOf(room, id)).status).toBe('active')
  })

  it('a fire puts nothing that stays', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await look(interrupted(room, 1, archive), [id], room.now())
    await room.settle()
    expect(await cursorOf(room, id)).toMatchObject({ status: 'ended', open: [] })
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('a claim hands out what was taken or nothing', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const world = interrupted(room, 1, archive)
    const code = await refusalOf(claimSession(room.call({ world }), room.session, {}))
    expect(['done', 'session_archived']).toContain(code)
    room.jump(room.now() + 10 * minute)
    await room.settle()
    await checkSchedule(room, id)
  })

  it('a note for it is not left waiting', async () => {
    await addSchedule(room, { agent: room.agent })
    await room.move(start + hour)
    const claimed = await claimFresh(room)
    await end({ ...room, call: () => room.call({ world: interrupted(room, 1, archive) }) }, claimed, {
      summary: 'Looked.',
    })
    await checkSession(room, room.session)
  })
})
