import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../shared/domain/access.ts'
import type { Card } from '../../shared/domain/card.ts'
import { bare } from '../../shared/domain/ids.ts'
import { createAgent, editSettings } from '../../shared/engine/agents.ts'
import { allowCard, denyCard } from '../../shared/engine/approvals.ts'
import type { Call } from '../../shared/engine/call.ts'
import { loadFront } from '../../shared/engine/inbox.ts'
import { look } from '../../shared/engine/look.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { readCursor } from '../../shared/engine/rows.ts'
import { pauseSchedule, resumeSchedule } from '../../shared/engine/schedule-edit.ts'
import { createSchedule, removeSchedule, type ScheduleInput } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession, createSession, editSession } from '../../shared/engine/sessions.ts'
import { commit, keys, putHead } from '../../shared/engine/store.ts'
import { type Stored, Unavailable } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'
import { crashing } from './between.ts'
import { checkCounts, checkSchedule, checkSession, cursorOf, headOf, rowsOf } from './ledger.ts'
import { addSession, inRoom, keyOf, minute, openRoom, type Room, refusalOf, start } from './room.ts'

const most = 30

/** An agent at work in its session, and two sessions of another agent. */
interface Desk {
  readonly caller: Caller
  readonly from: string
  readonly target: string
  readonly sink: string
}

let room: Room
let desk: Desk

async function openDesk(room: Room): Promise<Desk> {
  await editSettings(room.call(), { agentSessions: true })
  const agent = await createAgent(room.call(), { name: 'worker' })
  const from = (await createSession(room.call(), { agent: agent.id, title: 'Desk' })).row.id
  return { caller: keyOf(agent), from, target: await addSession(room), sink: await addSession(room) }
}

beforeEach(async () => {
  room = await openRoom()
  desk = await openDesk(room)
})
afterEach(() => room.close())

interface Scene {
  readonly room: Room
  readonly at: Desk
  readonly id: string
}

const asAgent = (room: Room, { caller, from }: Desk, over: Partial<Call> = {}): Call =>
  room.call({ caller, session: from, ...over })
const send = (room: Room, at: Desk): Promise<string> => refusalOf(sendMessage(asAgent(room, at), at.sink, 'go on'))
const word = (room: Room, at: Desk, world: World = room.world) => sendMessage(room.call({ world }), at.from, 'go on')

async function spend(room: Room, at: Desk, times: number): Promise<void> {
  for (let n = 0; n < times; n++) expect(await send(room, at)).toBe('done')
}

const make = async (room: Room, at: Desk, input: Partial<ScheduleInput> = {}): Promise<string> => {
  const body = { name: 'Review', prompt: 'Look.', session: at.target, every: '5m', ...input }
  return (await createSchedule(asAgent(room, at), body)).cursor.item.id
}

/** So many schedules whose runs at 5 minutes are held. */
async function held(room: Room, at: Desk, count = 1, input: Partial<ScheduleInput> = {}): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await make(room, at, { name: `Review ${n}`, ...input }))
  await spend(room, at, most - count)
  await room.move(start + 5 * minute)
  for (const id of ids) expect(await outcomesOf(room, id)).toEqual(['held'])
  return ids
}

const outcomesOf = async (room: Room, id: string): Promise<string[]> => (await rowsOf(room, id)).map((r) => r.outcome)

async function cards(room: Room): Promise<Stored<Card>[]> {
  const { person } = room.ann as { person: string }
  const { items } = await room.table.list(`E#${bare(person)}`, { prefix: 'C#', limit: 100 })
  return items as readonly Stored<unknown>[] as Stored<Card>[]
}

async function theCard(room: Room): Promise<Stored<Card>> {
  const open = (await cards(room)).filter(({ item }) => item.kind === 'approval' && item.status === 'open')
  expect(open).toHaveLength(1)
  return open[0]!
}

const inbox = async (room: Room, session: string): Promise<string[]> =>
  (await loadFront(room.world, (await headOf(room, session)).conv))!.waiting.map((message) => message.id)

/** What nothing may break, whatever came between what. */
async function check(room: Room, at: Desk, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await checkSchedule(room, id)
    await checkCounts(room, id)
    const rows = await rowsOf(room, id)
    const { held } = await cursorOf(room, id)
    expect(rows.filter((r) => r.outcome === 'held').map((r) => r.row)).toEqual(held === null ? [] : [held.row])
  }
  for (const session of [at.from, at.target, at.sink]) await checkSession(room, session)
  expect((await headOf(room, at.from)).sends ?? 0).toBeLessThanOrEqual(most)
  expect(room.errors).toEqual([])
}

describe('a held run', () => {
  it('S0-30 is looked at again within a minute, and each minute after', async () => {
    const [id] = await held(room, desk, 1, { every: '1h', at: '2026-03-01T00:05' })
    for (let n = 5; n < 9; n++) {
      const { dueAt } = await cursorOf(room, id!)
      expect(dueAt).toBeGreaterThan(start + n * minute)
      expect(dueAt).toBeLessThanOrEqual(start + (n + 1) * minute)
      await room.move(start + (n + 1) * minute)
    }
    await check(room, desk, [id!])
  })

  it('goes out at the next look when the count was cleared in another way', async () => {
    const [id] = await held(room, desk, 1, { every: '1h', at: '2026-03-01T00:05' })
    await room.move(start + 7 * minute)
    const head = (await room.table.get([keys.head((await headOf(room, desk.from)).conv)]))[0]!
    const item = await headOf(room, desk.from)
    await commit(room.world, [putHead(room.world, { ...item, sends: 0 }, head.version, room.now())])
    expect(await outcomesOf(room, id!)).toEqual(['held'])
    await room.move(start + 8 * minute)
    expect(await outcomesOf(room, id!)).toEqual(['fired'])
    expect((await headOf(room, desk.from)).sends).toBe(1)
    await check(room, desk, [id!])
  })

  it('writes nothing while it goes on being held', async () => {
    const [id] = await held(room, desk, 1, { every: '1h', at: '2026-03-01T00:05' })
    await room.move(start + 6 * minute)
    const { version } = await theCard(room)
    await room.move(start + 30 * minute)
    expect((await theCard(room)).version).toBe(version)
    expect(await rowsOf(room, id!)).toHaveLength(1)
  })

  it('rings once when it goes out, and not before', async () => {
    const before = room.rings.length
    await held(room, desk)
    const sent = room.rings.length
    expect(room.rings.slice(before).filter(({ envelope }) => envelope.session === desk.target)).toEqual([])
    await word(room, desk)
    const rung = room.rings.slice(sent).filter(({ envelope }) => envelope.session === desk.target)
    expect(rung).toHaveLength(1)
  })

  it('goes out to the conversation as it is called now', async () => {
    const [id] = await held(room, desk)
    const next = (await compactSession(room.call(), desk.target)).row.id
    await word(room, desk)
    const [run] = await rowsOf(room, id!)
    expect(run).toMatchObject({ outcome: 'fired', session: next })
    await checkSchedule(room, id!)
  })
})

describe('at the same moment', () => {
  it('200 sends: exactly 30 pass', async () => {
    const codes = await Promise.all(Array.from({ length: 200 }, () => send(room, desk)))
    expect(codes.filter((code) => code === 'done')).toHaveLength(most)
    expect(codes.filter((code) => code === 'approval_needed')).toHaveLength(200 - most)
    expect((await headOf(room, desk.from)).sends).toBe(most)
    await theCard(room)
    await check(room, desk, [])
  })

  it('20 fires and 40 sends: what goes out is exactly what was left', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n++) ids.push(await make(room, desk))
    room.jump(start + 5 * minute)
    await room.table.catchUp()
    const fires = ids.map((id) => look(room.world, [id], room.now()))
    const [codes] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, () => send(room, desk))),
      look(room.world, ids, room.now()),
      ...fires,
    ])
    await room.settle()
    const outcomes = (await Promise.all(ids.map((id) => outcomesOf(room, id)))).flat()
    const fired = outcomes.filter((outcome) => outcome === 'fired').length
    expect(codes.filter((code) => code === 'done').length + fired).toBe(most - ids.length)
    expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(ids.length - fired)
    expect((await headOf(room, desk.from)).sends).toBe(most)
    await check(room, desk, ids)
  })

  it('fires, sends, creates and a word: never more than 30 since the word', async () => {
    const ids: string[] = []
    for (let n = 0; n < 10; n++) ids.push(await make(room, desk))
    await spend(room, desk, 15)
    room.jump(start + 5 * minute)
    await room.table.catchUp()
    const made: string[] = []
    await Promise.all([
      ...Array.from({ length: 40 }, () => send(room, desk)),
      ...ids.map((id) => look(room.world, [id], room.now())),
      ...Array.from({ length: 5 }, () =>
        make(room, desk).then(
          (id) => made.push(id),
          () => {},
        ),
      ),
      word(room, desk),
    ])
    await room.settle()
    await check(room, desk, [...ids, ...made])
  })

  it('two words, two Allows and two looks: each held run goes out once', async () => {
    const ids = await held(room, desk, 5)
    const card = await theCard(room)
    const codes = await Promise.all([
      refusalOf(word(room, desk)),
      refusalOf(allowCard(room.call(), card)),
      refusalOf(allowCard(room.call(), card)),
      look(room.world, ids, room.now()).then(() => 'done'),
      refusalOf(word(room, desk)),
    ])
    expect(codes.filter((code) => code === 'card_settled')).toHaveLength(1)
    for (const id of ids) expect(await outcomesOf(room, id)).toEqual(['fired'])
    expect(await inbox(room, desk.target)).toHaveLength(5)
    await check(room, desk, ids)
  })

  it('Allow and Deny: one of them settles the card, and the run is out or left out', async () => {
    for (let n = 0; n < 5; n++)
      await inRoom(async (room) => {
        const at = await openDesk(room)
        const ids = await held(room, at, 2)
        const card = await theCard(room)
        const codes = await Promise.all(
          (n % 2 ? [allowCard, denyCard] : [denyCard, allowCard]).map((act) => refusalOf(act(room.call(), card))),
        )
        expect(codes.sort()).toEqual(['card_settled', 'done'])
        await room.move(room.now() + minute)
        await check(room, at, ids)
        if ((await cards(room)).some(({ item }) => item.status === 'allowed'))
          expect((await Promise.all(ids.map((id) => outcomesOf(room, id)))).flat()).not.toContain('held')
      })
  })

  it('Deny and a word: the run is out or left out, not both and not neither', async () => {
    for (let n = 0; n < 5; n++)
      await inRoom(async (room) => {
        const at = await openDesk(room)
        const [id] = await held(room, at)
        const card = await theCard(room)
        // The word may come first: then it has answered the card, and Deny is told so.
        const [code] = await Promise.all([refusalOf(denyCard(room.call(), card)), word(room, at)])
        expect(['done', 'card_settled']).toContain(code)
        const [run] = await rowsOf(room, id!)
        expect(['fired', 'skipped']).toContain(run!.outcome)
        expect(await inbox(room, at.target)).toHaveLength(run!.outcome === 'fired' ? 1 : 0)
        await check(room, at, [id!])
      })
  })

  it.each([
    ['a delete', ({ id, room }: Scene) => removeSchedule(room.call(), id)],
    ['a pause', ({ id, room }: Scene) => pauseSchedule(room.call(), id, null)],
    ['an archive of where it goes', ({ at, room }: Scene) => archiveSession(room.call(), at.target)],
    ['an archive of where it comes from', ({ at, room }: Scene) => archiveSession(room.call(), at.from)],
    ['a compaction of where it comes from', ({ at, room }: Scene) => compactSession(room.call(), at.from)],
    ['a change of mode', ({ at, room }: Scene) => editSession(room.call(), at.from, { mode: 'ask' })],
  ] as const)('%s and a word, an Allow and a look leave all whole', async (_, act) => {
    for (const other of ['word', 'allow', 'look'] as const)
      await inRoom(async (room) => {
        const at = await openDesk(room)
        const ids = await held(room, at, 2)
        const card = await theCard(room)
        const release =
          other === 'word'
            ? word(room, at)
            : other === 'allow'
              ? allowCard(room.call(), card)
              : look(room.world, ids, room.now())
        await Promise.all([refusalOf(release), refusalOf(act({ room, at, id: ids[0]! }) as Promise<unknown>)])
        await room.settle()
        await room.move(room.now() + minute)
        for (const id of ids) {
          await checkSchedule(room, id)
          if (!(await cursorOf(room, id)).deleted) await checkCounts(room, id)
        }
        expect(room.errors).toEqual([])
      })
  })

  it('Allow and Deny of a schedule that was asked for: it is there when it was allowed, and only then', async () => {
    for (const acts of [
      [allowCard, denyCard],
      [denyCard, allowCard],
    ])
      await inRoom(async (room) => {
        const { settled, there } = await requested(room, async (card) => {
          const codes = await Promise.all(acts.map((act) => refusalOf(act(room.call(), card))))
          expect(codes.sort()).toEqual(['card_settled', 'done'])
        })
        expect([settled, there]).toEqual([settled, settled === 'allowed'])
      })
  })

  it('an Allow that dies leaves a card that can be allowed again, or denied, and then it is so', async () => {
    for (const act of [allowCard, denyCard])
      for (const when of ['before', 'after'] as const)
        for (const nth of [1, 2])
          await inRoom(async (room) => {
            const { settled, there } = await requested(room, async (card) => {
              const dying = crashing(room, nth, when)
              await allowCard(room.call({ world: dying.world }), card).catch(() => {})
              expect(dying.crashed()).toBe(true)
              const heard = nth === 2 && when === 'after'
              expect(await refusalOf(act(room.call(), card))).toBe(heard ? 'card_settled' : 'done')
            })
            expect([settled, there]).toEqual([settled, settled === 'allowed'])
          })
  })
})

/** An agent in mode ask that asks for a schedule; what became of it after the deed. */
async function requested(
  room: Room,
  deed: (card: Stored<Card>) => Promise<void>,
): Promise<{ readonly settled: string; readonly there: boolean }> {
  const at = await openDesk(room)
  await editSession(room.call(), at.from, { mode: 'ask' })
  expect(await refusalOf(make(room, at))).toBe('approval_needed')
  const card = await theCard(room)
  await deed(card)
  const cursor = await readCursor(room.world, (card.item.request as unknown as { id: string }).id)
  const settled = (await cards(room)).find(({ item }) => item.id === card.item.id)!.item.status
  return { settled, there: cursor !== null && cursor.item.status === 'active' && !cursor.item.deleted }
}

describe('whatever dies around a commit of what lets go', () => {
  const deeds: Record<string, (room: Room, at: Desk, world: World) => Promise<unknown>> = {
    'a word': (room, at, world) => word(room, at, world),
    'an Allow': async (room, _, world) => await allowCard(room.call({ world }), await theCard(room)),
    'a Deny': async (room, _, world) => await denyCard(room.call({ world }), await theCard(room)),
  }
  for (const [what, deed] of Object.entries(deeds))
    for (const when of ['before', 'after'] as const)
      it(`${what}, ${when} it is applied: the looks that follow leave all whole`, async () => {
        for (let nth = 1, more = true; more; nth++)
          more = await inRoom(async (room) => {
            const at = await openDesk(room)
            const ids = await held(room, at, 3)
            const dying = crashing(room, nth, when)
            await deed(room, at, dying.world).catch((error: unknown) => {
              if (!(error instanceof Unavailable)) throw error
            })
            await room.settle()
            await room.move(room.now() + minute)
            await check(room, at, ids)
            const outcomes = (await Promise.all(ids.map((id) => outcomesOf(room, id)))).flat()
            // A word or an Allow that was heard lets all of them go, at the latest within a minute.
            if (what !== 'a Deny' && ((await headOf(room, at.from)).sends ?? 0) < most)
              expect(outcomes).toEqual(['fired', 'fired', 'fired'])
            return dying.crashed()
          })
      })
})

describe('paused', () => {
  it('a held run goes out after it is resumed, in its place', async () => {
    const [id] = await held(room, desk)
    await pauseSchedule(room.call(), id!, null)
    await word(room, desk)
    await room.move(start + 12 * minute)
    await check(room, desk, [id!])
    await resumeSchedule(room.call(), id!)
    await room.move(start + 13 * minute)
    expect(await outcomesOf(room, id!)).toEqual(['fired'])
    await check(room, desk, [id!])
  })
})
