import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { look } from '../../shared/engine/look.ts'
import { listMessages } from '../../shared/engine/message-list.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { removeSchedule } from '../../shared/engine/schedules.ts'
import { editSession, viewSession } from '../../shared/engine/sessions.ts'
import { heartbeat } from '../../shared/engine/turns.ts'
import { checkSchedule, checkSession, cursorOf, headOf, rowsOf } from './ledger.ts'
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
  second,
  start,
} from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

const idOf = async (input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const send = async (text: string): Promise<unknown> => await sendMessage(room.call(), room.session, text)

describe('a turn', () => {
  it('S0-38 starts with a scheduled prompt in an idle session', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const claimed = await claim(room)
    expect(claimed?.message).toMatchObject({ kind: 'schedule', automated: true, status: 'taken' })
    expect((await viewSession(room.call(), room.session)).head.turn?.id).toBe(claimed?.turn?.id)
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('S0-37 takes a person first, although the schedule is older', async () => {
    await idOf()
    await room.move(start + hour)
    room.jump(start + hour + minute)
    await send('me first')
    const claimed = await claim(room)
    expect(claimed?.message.kind).toBe('user')
    await end(room, claimed)
    expect((await claim(room))?.message.kind).toBe('schedule')
  })

  it('S0-39 while one runs nothing else is handed out, and it becomes the next', async () => {
    await send('one')
    const claimed = await claim(room)
    await idOf()
    await room.move(start + 90 * second)
    await heartbeat(room.call(), claimed!.turn!.id)
    expect(await claim(room)).toBeNull()
    await end(room, claimed)
    await room.move(start + hour + 90 * second)
    expect((await claim(room))?.message.kind).toBe('schedule')
  })

  it('S0-40 that takes steering is handed the scheduled prompt', async () => {
    const id = await idOf()
    await room.move(start + hour - minute)
    await send('one')
    const claimed = await claim(room, room.session, true)
    await room.move(start + hour)
    const beat = await heartbeat(room.call(), claimed!.turn!.id)
    expect(beat.steer.map((m) => m.kind)).toEqual(['schedule'])
    await end(room, claimed)
    expect((await rowsOf(room, id))[0]).toMatchObject({ turn: claimed?.turn?.id, result: 'ok' })
    await checkSchedule(room, id)
  })

  it('S0-42 runs in the mode of its session', async () => {
    await editSession(room.call(), room.session, { mode: 'plan' })
    await idOf()
    await room.move(start + hour)
    expect((await claim(room))?.turn?.mode).toBe('plan')
  })

  it('is not started in a session that is paused', async () => {
    await idOf()
    await room.move(start + hour)
    await editSession(room.call(), room.session, { paused: true })
    expect(await claim(room)).toBeNull()
    await editSession(room.call(), room.session, { paused: false })
    expect(await claim(room)).not.toBeNull()
  })
})

describe('a lease that runs out', () => {
  it('ends the turn as unknown, and the message is not handed out again', async () => {
    const id = await idOf()
    await room.move(start + hour)
    const claimed = await claim(room)
    await room.move(start + hour + 2 * minute)
    expect((await rowsOf(room, id))[0]).toMatchObject({ outcome: 'fired', result: 'unknown', reason: 'lease_expired' })
    expect(await claim(room)).toBeNull()
    expect(await refusalOf(end(room, claimed))).toBe('turn_not_running')
    await checkSchedule(room, id)
  })

  it('with onUnknown retry the message is handed out again once', async () => {
    const id = await idOf({ onUnknown: 'retry' })
    await room.move(start + hour)
    for (const turns of [1, 2]) {
      expect(await claim(room), `turn ${turns}`).not.toBeNull()
      await room.move(room.now() + 2 * minute)
    }
    expect(await claim(room)).toBeNull()
    expect((await rowsOf(room, id)).map((r) => [r.trigger, r.nominalAt, r.result])).toEqual([
      ['slot', start + hour, 'unknown'],
      ['retry', start + hour, 'unknown'],
    ])
    await checkSchedule(room, id, new Set([start + hour]))
  })

  it('of a run of an agent is tried again in a new session', async () => {
    const id = await idOf({ agent: room.agent, onUnknown: 'retry' })
    await room.move(start + hour)
    const first = await claimFresh(room)
    await room.move(start + hour + 2 * minute)
    const again = await claimFresh(room)
    expect(again?.turn?.session).not.toBe(first?.turn?.session)
    await end(room, again)
    await checkSchedule(room, id)
  })

  it('S0-19 lapses before a slot of the same instant, which does not meet a dead turn', async () => {
    const id = await idOf({ overlap: 'skip' })
    await room.move(start + hour)
    await claim(room)
    room.jump(start + 2 * hour)
    await room.settle()
    expect((await rowsOf(room, id)).map((r) => r.outcome)).toEqual(['fired', 'fired'])
    await checkSchedule(room, id, new Set([start + hour, start + 2 * hour]))
  })

  it('is found by a claim that comes before the sweep', async () => {
    await send('one')
    await claim(room)
    await send('two')
    room.jump(room.now() + 2 * minute)
    expect((await claim(room))?.message.text).toBe('two')
  })

  it('that is extended does not run out', async () => {
    await send('one')
    const claimed = await claim(room)
    for (let i = 1; i <= 5; i++) {
      await room.move(start + i * minute)
      await heartbeat(room.call(), claimed!.turn!.id)
    }
    await end(room, claimed)
  })
})

describe('overlap while a turn runs', () => {
  /** Claims the first run and keeps it alive until the second is due. */
  const running = async (input: object): Promise<{ id: string; first: Awaited<ReturnType<typeof claim>> }> => {
    const id = await idOf({ every: '5m', ...input })
    await room.move(start + 5 * minute)
    const first = 'agent' in input ? await claimFresh(room) : await claim(room)
    for (let i = 6; i < 10; i++) {
      await room.move(start + i * minute)
      await heartbeat(room.call(), first!.turn!.id)
    }
    await room.move(start + 10 * minute)
    return { id, first }
  }

  it('skip skips', async () => {
    const { id } = await running({ overlap: 'skip' })
    expect((await rowsOf(room, id)).at(-1)).toMatchObject({ outcome: 'skipped', reason: 'previous_running' })
  })

  it('cancel flags the running turn, whose worker hears it, and the new message follows its end', async () => {
    const { id, first } = await running({ overlap: 'cancel' })
    expect(await heartbeat(room.call(), first!.turn!.id)).toMatchObject({ cancelled: true })
    expect(room.rings.at(-1)?.envelope).toMatchObject({ kind: 'cancelled', id: first?.turn?.id })
    expect(await claim(room)).toBeNull()
    await end(room, first, { answer: 'too late' })
    expect((await rowsOf(room, id))[0]).toMatchObject({ result: 'failed', reason: 'cancelled_by_overlap' })
    expect((await claim(room))?.message.origin.run).toBe((await rowsOf(room, id))[1]?.id)
    await checkSchedule(room, id)
  })

  it('cancel follows the end of the lease, too', async () => {
    const { id } = await running({ overlap: 'cancel' })
    await room.move(start + 12 * minute)
    expect((await rowsOf(room, id))[0]).toMatchObject({ result: 'failed', reason: 'cancelled_by_overlap' })
    expect(await claim(room)).not.toBeNull()
  })

  it('buffer of an agent target is handed out when the running turn ends', async () => {
    const { id, first } = await running({ overlap: 'buffer', agent: room.agent })
    expect(await claimFresh(room)).toBeNull()
    await end(room, first)
    expect((await claimFresh(room))?.message.origin.schedule).toBe(id)
  })

  it('cancel of an agent target is handed out when the running turn ends', async () => {
    const { first } = await running({ overlap: 'cancel', agent: room.agent })
    expect(await claimFresh(room)).toBeNull()
    await end(room, first)
    expect(await claimFresh(room)).not.toBeNull()
  })

  it('allow of an agent target runs beside it', async () => {
    await running({ overlap: 'allow', agent: room.agent })
    expect(await claimFresh(room)).not.toBeNull()
  })

  it('S3-41 cancel does not stop the turn of a person that a prompt steered', async () => {
    const id = await idOf({ every: '5m', overlap: 'cancel' })
    await room.move(start + 4 * minute)
    await send('mine')
    const mine = await claim(room, room.session, true)
    for (let i = 5; i <= 10; i++) {
      await room.move(start + i * minute)
      const beat = await heartbeat(room.call(), mine!.turn!.id)
      expect(beat.cancelled).toBe(false)
    }
    await end(room, mine)
    await checkSchedule(room, id)
  })
})

describe('a turn that many prompts steered', () => {
  it('can be ended, and its lease can run out', async () => {
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await idOf({ every: '5m' }))
    await send('mine')
    const mine = await claim(room, room.session, true)
    for (let at = start + minute; at < start + 40 * minute; at += minute) {
      await room.move(at)
      await heartbeat(room.call(), mine!.turn!.id)
    }
    await end(room, mine)
    expect((await headOf(room, room.session)).turn).toBeNull()
    for (const id of ids.slice(0, 3)) await checkSchedule(room, id)
  })
})

describe('fresh sessions', () => {
  it('S2-17 each run has one, which is archived when its turn ends', async () => {
    const id = await idOf({ agent: room.agent })
    await room.move(start + hour)
    const claimed = await claimFresh(room)
    expect((await headOf(room, claimed!.turn!.session)).archivedAt).toBeNull()
    await end(room, claimed)
    expect((await headOf(room, claimed!.turn!.session)).archivedAt).not.toBeNull()
    await checkSchedule(room, id)
  })

  it('S2-18 the main session gets a short note of what the run did', async () => {
    await idOf({ agent: room.agent })
    await room.move(start + hour)
    await end(room, await claimFresh(room), { summary: 'Looked at it.' })
    await send('hello')
    expect((await claim(room))?.notes.map((n) => n.text)).toEqual(['Scheduled run: Review (ok): Looked at it.'])
  })

  it('S2-19 a run that finds nothing to do posts nothing', async () => {
    await idOf({ agent: room.agent })
    await room.move(start + hour)
    await end(room, await claimFresh(room), { outcome: 'nothing_to_do', answer: 'x', summary: 'y' })
    expect((await listMessages(room.call(), room.session, { limit: 10, after: null })).items).toEqual([])
  })

  it('one that waits is closed when its schedule is deleted', async () => {
    const id = await idOf({ agent: room.agent })
    await room.move(start + hour)
    const { session } = (await rowsOf(room, id))[0]!
    await removeSchedule(room.call(), id)
    expect((await headOf(room, session!)).archivedAt).not.toBeNull()
    expect(await claimFresh(room)).toBeNull()
    await checkSchedule(room, id)
    await checkSession(room, session!)
  })
})

describe('a prompt that waits for months', () => {
  it('is still handed out when its run row has expired', async () => {
    const id = await idOf({ at: '2026-03-01T01:00' })
    await room.move(start + hour)
    room.jump(start + 100 * 24 * hour)
    for (let slice = 0; slice < 10; slice++) room.table.expire(room.now(), 10_000)
    expect((await claim(room))?.message.origin.schedule).toBe(id)
  })
})

describe('the list of messages', () => {
  it('goes on to the last one however large they are', async () => {
    const answer = 'x'.repeat(90_000)
    for (let i = 0; i < 16; i++) {
      await send(`question ${i}`)
      room.jump(room.now() + second)
      await end(room, await claim(room), { answer })
      room.jump(room.now() + second)
    }
    const seen: string[] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listMessages>> = await listMessages(room.call(), room.session, {
        limit: 25,
        after,
      })
      seen.push(...page.items.map((m) => m.id))
      after = page.next
    } while (after !== null)
    expect(seen).toHaveLength(32)
    expect(new Set(seen).size).toBe(32)
  })

  it('has all that wait, however many, beside what was taken and what a schedule put', async () => {
    const id = await idOf()
    const sent: string[] = []
    for (let i = 0; i < 450; i++) {
      sent.push(`question ${i}`)
      await send(`question ${i}`)
      if (i % 50 === 0) await end(room, await claim(room), { answer: `answer ${i}` })
      // Several within one instant too.
      if (i % 3 === 0) room.jump(room.now() + second)
    }
    await room.move(start + hour)
    for (const limit of [1, 7, 100]) {
      const texts: string[] = []
      let after: string | null = null
      do {
        const page: Awaited<ReturnType<typeof listMessages>> = await listMessages(room.call(), room.session, {
          limit,
          after,
        })
        texts.push(...page.items.map(({ text }) => text))
        after = page.next
      } while (after !== null)
      expect(texts.filter((text) => text.startsWith('question'))).toEqual(sent)
      expect(texts.filter((text) => text.startsWith('answer'))).toHaveLength(9)
      expect(texts).toHaveLength(450 + 9 + 1)
    }
    await checkSchedule(room, id, new Set([start + hour]))
    expect((await viewSession(room.call(), room.session)).waiting).toBe(450 - 9 + 1)
  })

  it('has no empty last page', async () => {
    for (let i = 0; i < 4; i++) {
      await send(`question ${i}`)
      await end(room, await claim(room))
      room.jump(room.now() + second)
    }
    const one = await listMessages(room.call(), room.session, { limit: 2, after: null })
    const two = await listMessages(room.call(), room.session, { limit: 2, after: one.next })
    expect([one.items.length, two.items.length, two.next]).toEqual([2, 2, null])
  })
})

describe('a waiting prompt', () => {
  it('keeps its place when a look comes again', async () => {
    const other = await addSession(room)
    const id = await idOf({ session: other })
    room.jump(start + hour)
    for (let i = 0; i < 3; i++) await look(room.world, [id], room.now())
    expect((await cursorOf(room, id)).open).toHaveLength(1)
    expect(room.rings).toHaveLength(1)
  })
})
