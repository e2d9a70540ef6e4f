import type { Card, CardStatus, Label } from '../domain/card.ts'
import { inOrder, isBelow, labelCounts, type Mark, orderOf, type Placed } from '../domain/feed.ts'
import { timePart } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import type { Range, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import type { Call } from './call.ts'
import { type CardView, feedOf, isSeenBy, shown, todayOf } from './feed.ts'
import { principal } from './reach.ts'

export interface FeedFilter {
  readonly group: string | null
  readonly label: Label | null
  /** Null: all but the dismissed ones. */
  readonly status: CardStatus | 'all' | null
}

/** The last card of a page, and when its list began. */
export interface FeedPlace {
  readonly asOf: string
  readonly groupOrder: string
  readonly order: string
}

export interface FeedPage {
  readonly items: readonly CardView[]
  readonly next: FeedPlace | null
  /** The filter chips: how many cards of the list bear each label, whatever label is asked for. */
  readonly labels: ReturnType<typeof labelCounts>
}

/** The feed of the caller's person: newest group first, within a group newest first; a card without a group stands for itself. */
export async function listCards(
  call: Call,
  filter: FeedFilter,
  page: { readonly limit: number; readonly after: FeedPlace | null },
): Promise<FeedPage> {
  const { after } = page
  const feed = feedOf(principal(call))
  const [cards, marks, today] = await Promise.all([
    allCards(call.world, feed),
    after === null ? [] : everyItem<Mark>(call.world, feed, { from: `M#${after.asOf}`, to: 'M#~' }),
    todayOf(call),
  ])
  const listed = inOrder(cards, marks, after?.asOf ?? null).filter(
    ({ card }) =>
      isSeenBy(call, card) && hasStatus(card, filter.status) && (filter.group === null || card.group === filter.group),
  )
  const rest = listed.filter(
    (placed) =>
      (filter.label === null || placed.card.label === filter.label) && (after === null || isBelow(placed, after)),
  )
  const items = rest.slice(0, page.limit)
  const last = items.at(-1)
  const next =
    last === undefined || rest.length <= page.limit
      ? null
      : { asOf: after?.asOf ?? latestOf(call, cards), groupOrder: last.groupOrder, order: last.order }
  return { items: items.map(({ card }) => shown(card, today)), next, labels: labelCounts(listed.map(cardOf)) }
}

const hasStatus = (card: Card, status: FeedFilter['status']): boolean =>
  status === 'all' || (status === null ? card.status !== 'dismissed' : card.status === status)

const cardOf = (placed: Placed): Card => placed.card

/** A place above all that has been read, and below all that comes. */
function latestOf(call: Call, cards: readonly Card[]): string {
  let latest = call.world.ids.ulid(call.now)
  for (const card of cards) if (orderOf(card) > latest) latest = orderOf(card)
  return latest
}

export interface GroupSummary {
  readonly group: string
  /** When a card of it was last brought up, epoch ms; null when it has none. */
  readonly at: number | null
  readonly open: number
  /** Those a person or a good run has settled. */
  readonly settled: number
  /** Of the open ones. */
  readonly labels: ReturnType<typeof labelCounts>
  /** The open ones, newest first, at most `limits.groupSummaryCardsMax`. */
  readonly cards: readonly CardView[]
}

/**
 * What an agent that writes a brief has to know of a group, and a person sees at a glance: what is open under which label, how
 * often each came up and what counts down, without the bodies. A group is a name on cards: one that no card bears is empty, not missing.
 */
export async function groupSummary(call: Call, group: string): Promise<GroupSummary> {
  const [all, today] = await Promise.all([allCards(call.world, feedOf(principal(call))), todayOf(call)])
  const cards = inOrder(
    all.filter((card) => card.group === group && isSeenBy(call, card)),
    [],
    null,
  ).map(cardOf)
  const open = cards.filter((card) => card.status === 'open')
  return {
    group,
    at: cards[0]?.at ?? null,
    open: open.length,
    settled: cards.length - open.length,
    labels: labelCounts(open),
    cards: open.slice(0, limits.groupSummaryCardsMax).map((card) => shown(card, today)),
  }
}

/**
 * The cards of a feed. Where a group stands depends on all its cards, and cards move, so that no index could page for us. Cards that
 * can come up again have ids of time 0; the others lie in the order they were made, and the newest are read.
 */
async function allCards(world: World, feed: string): Promise<Card[]> {
  const recurring = `C#${timePart(0)}`
  const parts = await Promise.all([
    everyItem<Card>(world, feed, { from: 'C#', to: `${recurring}~` }),
    everyItem<Card>(world, feed, { from: `${recurring}~`, to: 'C#~', descending: true }),
  ])
  return parts.flat()
}

async function everyItem<T>(world: World, feed: string, range: Range): Promise<T[]> {
  const items: T[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['list']>> = await world.table.list(feed, {
      ...range,
      limit: 1000,
      ...(after === null ? {} : { after }),
    })
    for (const { item } of page.items as readonly Stored<unknown>[] as readonly Stored<T>[]) items.push(item)
    after = page.next
  } while (after !== null && items.length < limits.feedCardsMax)
  return items
}
