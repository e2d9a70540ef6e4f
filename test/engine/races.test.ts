import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { editAgent, getAgent } from '../../shared/engine/agents.ts'
import { look } from '../../shared/engine/look.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule } from '../../shared/engine/schedule-edit.ts'
import { createSchedule, removeSchedule } from '../../shared/engine/schedules.ts'
import {
  archiveSession,
  compactSession,
  deleteSession,
  editSession,
  setLeft,
  viewSession,
} from '../../shared/engine/sessions.ts'
import { endTurn, heartbeat } from '../../shared/engine/turns.ts'
import { checkSchedule, checkSession, cursorOf, headOf, messagesOf, rowsOf } from './ledger.ts'
import { addSchedule, addSession, claim, end, hour, minute, openRoom, type Room, refusalOf, start } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id

describe('at the same moment', () => {
  it('two looks at one due schedule make one row and ring once', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await Promise.all([look(room.world, [id], room.now()), look(room.world, [id], room.now())])
    expect(await rowsOf(room, id)).toHaveLength(1)
    expect(room.rings).toHaveLength(1)
    expect(room.errors).toEqual([])
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('two looks whose gates differ make one row, and the schedule goes on', async () => {
    const id = await idOf({ agent: room.agent, session: null })
    room.jump(start + hour)
    const first = look(room.world, [id], room.now())
    const away = editSession(room.call(), room.session, { workerConnected: false })
    await Promise.all([first, away, look(room.world, [id], room.now())])
    await Promise.all([look(room.world, [id], room.now()), look(room.world, [id], room.now())])
    expect(await rowsOf(room, id)).toHaveLength(1)
    expect(room.errors).toEqual([])
  })

  it('30 parallel creates are exactly 20', async () => {
    const codes = await Promise.all(Array.from({ length: 30 }, () => refusalOf(addSchedule(room))))
    expect(codes.filter((c) => c === 'done')).toHaveLength(20)
    expect(codes.filter((c) => c === 'schedule_limit')).toHaveLength(10)
    expect((await viewSession(room.call(), room.session)).scheduled.count).toBe(20)
  })

  it('two claims hand out two messages, never one twice', async () => {
    const other = await addSession(room)
    await addSchedule(room)
    await addSchedule(room, { session: other })
    room.jump(start + hour)
    await room.settle()
    const claims = await Promise.all([claim(room), claim(room), claim(room, other), claim(room, other)])
    const ids = claims.flatMap((c) => (c === null ? [] : [c.message.id]))
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
  })

  it('two steering claims hand out two messages, never one twice', async () => {
    await sendMessage(room.call(), room.session, 'one')
    const turn = await claim(room, room.session, true)
    expect(turn?.turn).not.toBeNull()
    await sendMessage(room.call(), room.session, 'two')
    await sendMessage(room.call(), room.session, 'three')
    const steered = await Promise.all([claim(room, room.session, true), claim(room, room.session, true)])
    expect(steered.map((c) => c?.message.text).sort()).toEqual(['three', 'two'])
  })

  it('two heartbeats hand a steering message out once', async () => {
    await sendMessage(room.call(), room.session, 'one')
    const { turn } = (await claim(room, room.session, true))!
    await sendMessage(room.call(), room.session, 'two')
    const beats = await Promise.all([heartbeat(room.call(), turn!.id), heartbeat(room.call(), turn!.id)])
    expect(beats.flatMap((b) => b.steer.map((m) => m.text))).toEqual(['two'])
  })

  it('a claim races a delete: the message is taken or dropped, not both and not neither', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await room.settle()
    const [claimed] = await Promise.all([claim(room), removeSchedule(room.call(), id)])
    const history = await messagesOf(room, (await headOf(room, room.session)).conv, 'M#')
    expect(history.map((m) => m.status)).toEqual([claimed === null ? 'dropped' : 'taken'])
    await checkSchedule(room, id)
  })

  it('the end of a turn races the overlap that cancels it: the new message goes out either way', async () => {
    const id = await idOf({ overlap: 'cancel' })
    await room.move(start + hour)
    const old = await claim(room)
    room.jump(start + 2 * hour - 1)
    await heartbeat(room.call(), old!.turn!.id).catch(() => {})
    room.jump(start + 2 * hour)
    await Promise.all([refusalOf(end(room, old)), look(room.world, [id], room.now())])
    await room.settle()
    const fresh = await claim(room)
    expect(fresh?.message.origin.run).toBe((await rowsOf(room, id)).at(-1)?.id)
    await checkSchedule(room, id)
  })

  it('a create races an archive: refused, or ended with it', async () => {
    for (let i = 0; i < 6; i++) {
      const session = await addSession(room)
      const made = createSchedule(room.call(), { name: 'A', prompt: 'B', session, every: '1h' }).then(
        (loaded) => loaded.cursor.item.id,
        () => null,
      )
      const [id] = await Promise.all([made, archiveSession(room.call(), session)])
      if (id !== null) expect((await cursorOf(room, id)).status).toBe('ended')
    }
  })

  it('a send races an archive: refused, or dropped with it', async () => {
    for (let i = 0; i < 6; i++) {
      const session = await addSession(room)
      await Promise.all([refusalOf(sendMessage(room.call(), session, 'hello')), archiveSession(room.call(), session)])
      await checkSession(room, session)
    }
  })

  it('two edits of a schedule both take effect', async () => {
    const id = await idOf()
    await Promise.all([
      editSchedule(room.call(), id, { name: 'New name' }, null),
      editSchedule(room.call(), id, { prompt: 'New prompt' }, null),
    ])
    const { definition } = await editSchedule(room.call(), id, {}, null)
    expect(definition).toMatchObject({ name: 'New name', prompt: 'New prompt' })
  })

  it('two edits of a session both take effect', async () => {
    await Promise.all([
      editSession(room.call(), room.session, { title: 'New' }),
      editSession(room.call(), room.session, { goal: 'Ship' }),
      setLeft(room.call(), room.session, true),
    ])
    expect(await headOf(room, room.session)).toMatchObject({ title: 'New', goal: 'Ship', left: true })
  })

  it('two edits of an agent both take effect', async () => {
    await Promise.all([
      editAgent(room.call(), room.agent, { team: true }),
      editAgent(room.call(), room.agent, { project: 'acme' }),
    ])
    expect(await getAgent(room.call(), room.agent)).toMatchObject({ team: true, project: 'acme' })
  })

  it('two run-nows: one goes out, the other is skipped', async () => {
    const id = await idOf()
    const runs = await Promise.all([runNow(room.call(), id), runNow(room.call(), id)])
    expect(runs.map((r) => r.outcome).sort()).toEqual(['fired', 'skipped'])
    await checkSchedule(room, id)
  })

  it('two ends of one turn: one is taken, the other is told that it does not run', async () => {
    await sendMessage(room.call(), room.session, 'one')
    const claimed = await claim(room)
    const answer = {
      outcome: 'ok',
      answer: 'done',
      summary: null,
      tokens: null,
      usd: null,
      toolCalls: [],
      sleep: null,
    } as const
    const ends = [1, 2].map(() => refusalOf(endTurn(room.call(), claimed!.turn!.id, answer)))
    expect((await Promise.all(ends)).sort()).toEqual(['done', 'turn_not_running'])
    const { conv } = await headOf(room, room.session)
    expect((await messagesOf(room, conv, 'M#')).filter((m) => m.kind === 'answer')).toHaveLength(1)
  })

  it('two compactions: one new session, the other is told where to go on', async () => {
    const codes = await Promise.all([1, 2].map(() => refusalOf(compactSession(room.call(), room.session))))
    expect(codes.sort()).toEqual(['done', 'session_archived'])
  })

  it('S2-51 a delete races the archive of its session: deleted all the same', async () => {
    const id = await idOf()
    await Promise.all([removeSchedule(room.call(), id), archiveSession(room.call(), room.session)])
    expect(await cursorOf(room, id)).toMatchObject({ status: 'ended', deleted: true })
  })

  it('a delete of a session races its archive: deleted all the same', async () => {
    await Promise.all([refusalOf(archiveSession(room.call(), room.session)), deleteSession(room.call(), room.session)])
    expect(await refusalOf(viewSession(room.call(), room.session))).toBe('not_found')
  })

  it('a pause races a fire: the slot has one row', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await Promise.all([look(room.world, [id], room.now()), pauseSchedule(room.call(), id, null)])
    expect(await cursorOf(room, id)).toMatchObject({ status: 'paused', nextAt: null })
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('an edit races a fire: the message keeps the text of the generation it was fired from', async () => {
    const id = await idOf()
    room.jump(start + hour)
    await Promise.all([look(room.world, [id], room.now()), editSchedule(room.call(), id, { prompt: 'Changed.' }, null)])
    const claimed = await claim(room)
    expect(claimed?.message.text.endsWith('\nLook.')).toBe(true)
    room.jump(room.now() + minute)
    await end(room, claimed)
    await checkSchedule(room, id, new Set([start + hour]))
  })
})
