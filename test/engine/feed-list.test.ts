import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../shared/domain/limits.ts'
import { actOnCard } from '../../shared/engine/feed.ts'
import { type FeedPlace, groupSummary, listCards } from '../../shared/engine/feed-list.ts'
import { everything, post, put, titles } from './cards.ts'
import { openRoom, type Room } from './room.ts'

let room: Room
beforeEach(async () => {
  room = await openRoom()
})
afterEach(() => room.close())

describe('the list', () => {
  it('has the newest group first and the newest card first in it, also within one millisecond', async () => {
    await post(room, { title: 'a1', group: 'A' })
    await post(room, { title: 'b1', group: 'B' })
    await post(room, { title: 'alone' })
    await post(room, { title: 'c1', group: 'C', loop: 'c' })
    await post(room, { title: 'a2', group: 'A' })
    expect(await titles(room)).toEqual(['a2', 'a1', 'c1', 'alone', 'b1'])
    await post(room, { title: 'c2', group: 'B', loop: 'c' })
    expect(await titles(room)).toEqual(['c2', 'b1', 'a2', 'a1', 'alone'])
  })

  it('filters by group and label without another order, and counts the labels that there are', async () => {
    await post(room, { title: 'a1', group: 'A', label: 'fyi' })
    await post(room, { title: 'b1', group: 'B', label: 'fyi' })
    await post(room, { title: 'b2', group: 'B', label: 'money' })
    await post(room, { title: 'a2', group: 'A', label: 'risk' })
    expect(await titles(room, { label: 'fyi' })).toEqual(['a1', 'b1'])
    expect(await titles(room, { group: 'B' })).toEqual(['b2', 'b1'])
    expect(await titles(room, { group: 'B', label: 'risk' })).toEqual([])
    const { labels } = await listCards(room.call(), { ...everything, label: 'fyi' }, { limit: 1, after: null })
    expect(Object.entries(labels)).toEqual([
      ['money', 1],
      ['risk', 1],
      ['fyi', 2],
    ])
  })

  it('tells how cards were settled, and leaves dismissed ones out unless they are asked for', async () => {
    await put(room, { title: 'allowed', kind: 'approval', status: 'allowed', settledAt: room.now() })
    await put(room, { title: 'closed', kind: 'incident', status: 'closed', settledAt: room.now() })
    const { id } = await post(room, { title: 'away' })
    await post(room, { title: 'open' })
    await actOnCard(room.call(), id, 'dismiss')
    expect((await titles(room)).sort()).toEqual(['allowed', 'closed', 'open'])
    expect(await titles(room, { status: 'dismissed' })).toEqual(['away'])
    expect(await titles(room, { status: 'closed' })).toEqual(['closed'])
    expect(await titles(room, { status: 'all' })).toHaveLength(4)
  })

  /** All pages of two cards, with something that happens after each. */
  async function paged(after: (page: number) => Promise<unknown>): Promise<string[]> {
    const seen: string[] = []
    let place: FeedPlace | null = null
    for (let page = 1; page < 50; page++) {
      const { items, next }: Awaited<ReturnType<typeof listCards>> = await listCards(room.call(), everything, {
        limit: 2,
        after: place,
      })
      seen.push(...items.map(({ card }) => card.title))
      if (next === null) return seen
      place = next
      await after(page)
    }
    throw new Error('the list has no end')
  }

  async function groups(): Promise<void> {
    for (const group of ['A', 'B', 'C']) {
      for (const nth of [1, 2]) await post(room, { title: `${group}${nth}`, group })
      await post(room, { title: `${group}-loop`, group, loop: group })
    }
    await post(room, { title: 'alone' })
  }
  const whole = ['alone', 'C-loop', 'C2', 'C1', 'B-loop', 'B2', 'B1', 'A-loop', 'A2', 'A1']

  it('is paged without a gap and without a repeat', async () => {
    await groups()
    expect(await paged(async () => {})).toEqual(whole)
  })

  it('shows each card that does not move once, while others are posted, move and are dismissed', async () => {
    await groups()
    const seen = await paged(async (page) => {
      // Below, the group whose latest card leaves it; above, one that comes up with a new card; each twice.
      if (page <= 2) await post(room, { title: 'C-loop', group: 'B', loop: 'C' })
      if (page <= 2) await post(room, { title: 'new', group: 'A' })
      if (page === 3) await post(room, { title: 'A-loop', group: 'Z', loop: 'A' })
      if (page === 3)
        await actOnCard(room.call(), (await post(room, { title: 'B-loop', group: 'B', loop: 'B' })).id, 'dismiss')
    })
    expect(seen).toEqual(whole.filter((title) => title !== 'A-loop'))
    expect(await titles(room, { group: 'Z' })).toEqual(['A-loop'])
  })

  it('reads cards of other writers, which keep no order within a millisecond', async () => {
    await put(room, { title: 'first' })
    room.jump(room.now() + 1)
    await put(room, { title: 'incident', id: 'crd_0000000000ZZZZZZZZZZZZZZZZ', kind: 'incident' })
    await post(room, { title: 'post' })
    expect(await titles(room)).toEqual(['post', 'incident', 'first'])
    expect(await paged(async () => {})).toEqual(['post', 'incident', 'first'])
  })
})

describe('the summary of a group', () => {
  it('holds what is open, newest first, with counts per label and of what is settled', async () => {
    const { id } = await post(room, { title: 'done', group: 'A', label: 'money' })
    await actOnCard(room.call(), id, 'dismiss')
    await post(room, { title: 'one', body: 'long', group: 'A', label: 'risk', loop: 'one' })
    await post(room, { title: 'two', group: 'A', autoSendOn: '2026-03-03' })
    await post(room, { title: 'other', group: 'B' })
    const summary = await groupSummary(room.call(), 'A')
    expect(summary).toMatchObject({ group: 'A', open: 2, settled: 1, labels: { risk: 1 }, at: room.now() })
    expect(summary.cards.map(({ card, daysLeft }) => [card.title, daysLeft])).toEqual([
      ['two', 2],
      ['one', null],
    ])
  })

  it('shows so many cards and counts the rest', async () => {
    for (let i = 0; i < limits.groupSummaryCardsMax + 3; i++) await post(room, { title: `card ${i}`, group: 'A' })
    const { open, cards } = await groupSummary(room.call(), 'A')
    expect([open, cards.length]).toEqual([limits.groupSummaryCardsMax + 3, limits.groupSummaryCardsMax])
  })
})
