import type { Card } from '../../shared/domain/card.ts'
import type { Call } from '../../shared/engine/call.ts'
import { type CardInput, postCard } from '../../shared/engine/feed.ts'
import { type FeedFilter, listCards } from '../../shared/engine/feed-list.ts'
import { commit, putCard } from '../../shared/engine/store.ts'
import type { Room } from './room.ts'

export const plain = { body: null, group: null, label: null, loop: null, autoSendOn: null }
export const everything: FeedFilter = { group: null, label: null, status: null }

export const personOf = (room: Room): string => (room.ann as { person: string }).person

export async function post(
  room: Room,
  input: Partial<CardInput> & { title: string },
  over: Partial<Call> = {},
): Promise<Card> {
  return (await postCard(room.call(over), { ...plain, ...input })).card
}

/** The titles of the feed, in its order. */
export async function titles(
  room: Room,
  filter: Partial<FeedFilter> = {},
  over: Partial<Call> = {},
): Promise<string[]> {
  const { items } = await listCards(room.call(over), { ...everything, ...filter }, { limit: 100, after: null })
  return items.map(({ card }) => card.title)
}

/** A card as the engine's other writers put it there. */
export async function put(room: Room, over: Partial<Card>): Promise<Card> {
  const card: Card = {
    ...plain,
    id: `crd_${room.world.ids.ulid(room.now())}`,
    person: personOf(room),
    kind: 'notice',
    title: 'told once',
    seen: 1,
    reason: null,
    status: 'open',
    schedule: null,
    session: null,
    agent: null,
    run: null,
    request: null,
    createdAt: room.now(),
    at: room.now(),
    settledAt: null,
    ...over,
  }
  await commit(room.world, [putCard(card, 'absent')])
  return card
}
