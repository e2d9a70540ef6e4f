import { type Card, type Label, labels } from './card.ts'
import { bare, timePart } from './ids.ts'

/**
 * That a group was brought up by a card which has moved on since.
 *
 * Written by a post that moves a card; read by the later pages of lists that began before it; deleted by TTL after a day.
 */
export interface Mark {
  readonly group: string
  /** The card's place before it moved. */
  readonly order: string
}

/** A card in its place: groups by their latest card, newest first, and within a group newest first. */
export interface Placed {
  readonly card: Card
  /** The `order` of the latest card of its group; its own when it has no group. */
  readonly groupOrder: string
  readonly order: string
}

/**
 * The feed in its order, as it was at `asOf`: what was brought up later stands on a fresh first page. A list that is paged through
 * shows each card that does not move exactly once, since neither filters nor cards that move away or are dismissed reorder groups.
 *
 * @param cards  all of them, whatever their status
 * @param marks  of the cards that moved after `asOf`
 * @param asOf   null: now
 */
export function inOrder(cards: readonly Card[], marks: readonly Mark[], asOf: string | null): Placed[] {
  const present = cards
    .map((card) => ({ card, order: orderOf(card) }))
    .filter(({ order }) => asOf === null || order <= asOf)
  const latest = new Map<string, string>()
  const raise = (group: string, order: string): void => {
    if (order > (latest.get(group) ?? '')) latest.set(group, order)
  }
  for (const { card, order } of present) if (card.group !== null) raise(card.group, order)
  for (const { group, order } of marks) if (asOf === null || order <= asOf) raise(group, order)
  return present
    .map(({ card, order }) => ({ card, order, groupOrder: card.group === null ? order : latest.get(card.group)! }))
    .sort((a, b) => (isBelow(a, b) ? 1 : -1))
}

type Place = Pick<Placed, 'groupOrder' | 'order'>

/** True when `a` comes later in the feed than `b`. */
export const isBelow = (a: Place, b: Place): boolean =>
  a.groupOrder < b.groupOrder || (a.groupOrder === b.groupOrder && a.order < b.order)

/** A card without an order of its own goes below those of the same millisecond that have one. */
export const orderOf = (card: Card): string => card.order ?? `${timePart(card.at)}000${bare(card.id).slice(-13)}`

/** How many cards bear each label: the filter chips. In the order of the labels, only those that occur. */
export function labelCounts(cards: readonly Card[]): { [label in Label]?: number } {
  const counts: { [label in Label]?: number } = {}
  for (const label of labels) {
    const count = cards.filter((card) => card.label === label).length
    if (count > 0) counts[label] = count
  }
  return counts
}

/** True for a `YYYY-MM-DD` that the calendar has. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** Whole days from one `YYYY-MM-DD` to another; negative when that is past. */
export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000
