import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../shared/domain/access.ts'
import { cardIdOf } from '../../shared/domain/card.ts'
import { createAgent } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { actOnCard, getCard, postCard } from '../../shared/engine/feed.ts'
import { groupSummary, listCards } from '../../shared/engine/feed-list.ts'
import { listRuns } from '../../shared/engine/runs.ts'
import { commit, keys, type Person, read } from '../../shared/engine/store.ts'
import { crashing, interrupted } from './between.ts'
import { everything, personOf, plain, post, put, titles } from './cards.ts'
import { addSchedule, hour, keyOf, minute, newPerson, openRoom, type Room, refusalOf } from './room.ts'

let room: Room
let agent: Caller
beforeEach(async () => {
  room = await openRoom()
  agent = keyOf(await createAgent(room.call(), { name: 'scout' }))
})
afterEach(() => room.close())

describe('a card under a loop key', () => {
  it('moves to the new group with what is new, and counts', async () => {
    const first = await post(room, { title: 'Lease', body: 'old', group: 'Mon', label: 'decide', loop: 'lease' })
    room.jump(room.now() + 24 * hour)
    const again = await post(room, { title: 'Lease, still', group: 'Tue', label: 'nudge', loop: 'lease' })
    expect(again).toMatchObject({
      id: first.id,
      title: 'Lease, still',
      body: null,
      group: 'Tue',
      label: 'nudge',
      seen: 2,
    })
    expect([again.createdAt, again.at]).toEqual([first.createdAt, room.now()])
    expect(await titles(room, { group: 'Mon' })).toEqual([])
    expect(await titles(room)).toEqual(['Lease, still'])
  })

  it('is open again when it was dismissed', async () => {
    const { id } = await post(room, { title: 'Lease', loop: 'lease' })
    await actOnCard(room.call(), id, 'dismiss')
    expect(await titles(room)).toEqual([])
    expect(await post(room, { title: 'Lease', loop: 'lease' })).toMatchObject({
      status: 'open',
      seen: 2,
      settledAt: null,
    })
    expect(await titles(room)).toEqual(['Lease'])
  })

  it('posted 20 times at once is one card, seen 20 times', async () => {
    const posts = Array.from({ length: 20 }, (_, i) => post(room, { title: 'Lease', group: `G${i}`, loop: 'lease' }))
    const seen = (await Promise.all(posts)).map((card) => card.seen)
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    const { items } = await listCards(room.call(), everything, { limit: 100, after: null })
    expect(items.map(({ card }) => card.seen)).toEqual([20])
  })

  it('dismissed while it is posted again: both happen, one after the other', async () => {
    const { id } = await post(room, { title: 'Lease', loop: 'lease' })
    const world = interrupted(room, 1, () => post(room, { title: 'Lease', loop: 'lease' }))
    await actOnCard(room.call({ world }), id, 'dismiss')
    expect((await getCard(room.call(), id)).card).toMatchObject({ status: 'dismissed', seen: 2 })
  })

  it('is another card for another person', async () => {
    const eve = await newPerson(room)
    const [mine, hers] = [
      await post(room, { title: 'Lease', loop: 'lease' }),
      await post(room, { title: 'Lease', loop: 'lease' }, { caller: eve }),
    ]
    expect(mine.id).not.toBe(hers.id)
    expect([mine.seen, hers.seen]).toEqual([1, 1])
  })

  it('cannot take the place of a card of another kind or another key', async () => {
    const id = cardIdOf(`loop|${personOf(room)}|lease`)
    const approval = await put(room, { id, kind: 'approval', title: 'may I' })
    expect(await refusalOf(post(room, { title: 'Lease', loop: 'lease' }, { caller: agent }))).toBe('body_invalid')
    expect((await getCard(room.call(), id)).card).toEqual(approval)
  })

  it.each([null, 'lease'])('under loop %s, a call repeated after a crash counts once', async (loop) => {
    await post(room, { title: 'Lease', loop })
    const ids = new Map<string, string>()
    const newId = ((prefix: string) =>
      ids.get(prefix) ?? ids.set(prefix, room.call().newId('crd')).get(prefix)) as Call['newId']
    const { world } = crashing(room, 1, 'after')
    const input = { ...plain, title: 'Rent', loop }
    await expect(postCard(room.call({ world, newId, repeatable: true }), input)).rejects.toThrow('died')
    // Somebody else counts in between.
    if (loop !== null) await post(room, { title: 'Lease', loop })
    const { card } = await postCard(room.call({ newId, repeatable: true }), input)
    expect(card.seen).toBe(loop === null ? 1 : 3)
    expect(await titles(room)).toHaveLength(loop === null ? 2 : 1)
  })
})

describe('a countdown', () => {
  it("counts days by the person's calendar, and past days are refused by it", async () => {
    const stored = await read<Person>(room.world, keys.person(personOf(room)))
    // 2026-03-01T00:00Z is still February in New York.
    const item = { ...stored!.item, tz: 'America/New_York' }
    await commit(room.world, [{ put: keys.person(personOf(room)), item, expect: stored!.version }])
    const input = { ...plain, title: 'Reply' }
    expect((await postCard(room.call(), { ...input, autoSendOn: '2026-03-02' })).daysLeft).toBe(2)
    const today = await postCard(room.call(), { ...input, autoSendOn: '2026-02-28' })
    expect(today.daysLeft).toBe(0)
    expect(await refusalOf(post(room, { title: 'Reply', autoSendOn: '2026-02-27' }))).toBe('body_invalid')
    room.jump(room.now() + 5 * hour)
    expect((await getCard(room.call(), today.card.id)).daysLeft).toBe(-1)
  })

  it('is stopped once, and begins again with the next post', async () => {
    const { id } = await post(room, { title: 'Reply', loop: 'kim', autoSendOn: '2026-03-04' })
    expect(await actOnCard(room.call(), id, 'stop')).toMatchObject({
      card: { autoSendOn: null, status: 'open' },
      daysLeft: null,
    })
    expect(await refusalOf(actOnCard(room.call(), id, 'stop'))).toBe('card_settled')
    expect(await post(room, { title: 'Reply', loop: 'kim', autoSendOn: '2026-03-05' })).toMatchObject({
      autoSendOn: '2026-03-05',
    })
  })
})

describe('acting on a card', () => {
  it('two dismissals at once: one is told that it was settled', async () => {
    const { id } = await post(room, { title: 'Lease' })
    const codes = await Promise.all([1, 2].map(() => refusalOf(actOnCard(room.call(), id, 'dismiss'))))
    expect(codes.sort()).toEqual(['card_settled', 'done'])
  })

  it('says what the card was and what it takes', async () => {
    const { id } = await post(room, { title: 'Lease' })
    await expect(actOnCard(room.call(), id, 'allow')).rejects.toThrow(
      /is an open post and does not take "allow"; it takes dismiss/,
    )
    await actOnCard(room.call(), id, 'dismiss')
    await expect(actOnCard(room.call(), id, 'dismiss')).rejects.toThrow(
      /was dismissed at 2026-03-01T00:00:00.000Z .* no action any more/,
    )
    const incident = await put(room, { kind: 'incident' })
    expect(await refusalOf(actOnCard(room.call(), incident.id, 'run-now'))).toBe('card_settled')
  })

  it('run-now on an incident runs its schedule once, also when the incident is closed', async () => {
    const schedule = (await addSchedule(room)).cursor.item.id
    const open = await put(room, { kind: 'incident', schedule })
    const closed = await put(room, { kind: 'incident', schedule, status: 'closed', settledAt: room.now() })
    const first = await actOnCard(room.call(), open.id, 'run-now')
    room.jump(room.now() + minute)
    const second = await actOnCard(room.call(), closed.id, 'run-now')
    const { items } = await listRuns(room.call(), schedule, { limit: 10, before: null })
    expect(items.map(({ id, trigger }) => [id, trigger])).toEqual([
      [second.run, 'manual'],
      [first.run, 'manual'],
    ])
  })

  it('run-now on an incident of a schedule that is gone is refused and changes nothing', async () => {
    const card = await put(room, { kind: 'incident', schedule: `sch_${room.world.ids.ulid(room.now())}` })
    expect(await refusalOf(actOnCard(room.call(), card.id, 'run-now'))).toBe('not_found')
    expect((await getCard(room.call(), card.id)).card).toEqual(card)
  })

  it('an approval is allowed or denied once', async () => {
    const one = await put(room, { kind: 'approval', title: 'may I' })
    const two = await put(room, { kind: 'approval', title: 'may I too' })
    expect(await refusalOf(actOnCard(room.call(), one.id, 'dismiss'))).toBe('card_settled')
    expect((await actOnCard(room.call(), one.id, 'allow')).card.status).toBe('allowed')
    expect((await actOnCard(room.call(), two.id, 'deny')).card.status).toBe('denied')
    expect(await refusalOf(actOnCard(room.call(), two.id, 'allow'))).toBe('card_settled')
  })
})

describe('who sees a card', () => {
  it('an agent posts into the feed of its owner, sees it but for approvals, and acts on nothing', async () => {
    const posted = await post(room, { title: 'found', group: 'A' }, { caller: agent })
    expect(posted).toMatchObject({ person: personOf(room), agent: (agent as { agent: string }).agent, session: null })
    const approval = await put(room, { kind: 'approval', title: 'may I', group: 'A' })
    const by = { caller: agent }
    expect(await titles(room, {}, by)).toEqual(['found'])
    expect(await titles(room, { status: 'all', group: 'A' }, by)).toEqual(['found'])
    expect((await groupSummary(room.call(by), 'A')).open).toBe(1)
    expect((await groupSummary(room.call(), 'A')).open).toBe(2)
    expect(await refusalOf(getCard(room.call(by), approval.id))).toBe('not_found')
    expect(await refusalOf(actOnCard(room.call(by), approval.id, 'allow'))).toBe('not_found')
    expect(await refusalOf(actOnCard(room.call(by), posted.id, 'dismiss'))).toBe('person_only')
    expect((await getCard(room.call(), approval.id)).card.status).toBe('open')
  })

  it('an agent in a session names it; a session that is not its own is none', async () => {
    const own = keyOf({ id: room.agent, owner: personOf(room) } as never)
    expect(await post(room, { title: 'found' }, { caller: own, session: room.session })).toMatchObject({
      session: room.session,
    })
    expect(await refusalOf(post(room, { title: 'found' }, { caller: agent, session: room.session }))).toBe('not_found')
    expect(await titles(room)).toEqual(['found'])
  })

  it('another person finds nothing, by list, id or action', async () => {
    const { id } = await post(room, { title: 'mine', group: 'A' })
    const by = { caller: await newPerson(room) }
    expect(await titles(room, { status: 'all' }, by)).toEqual([])
    expect(await refusalOf(getCard(room.call(by), id))).toBe('not_found')
    expect(await refusalOf(actOnCard(room.call(by), id, 'dismiss'))).toBe('not_found')
    expect(await groupSummary(room.call(by), 'A')).toMatchObject({ open: 0, at: null, cards: [] })
  })
})
