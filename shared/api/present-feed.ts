import { actionsOf } from '../domain/card.ts'
import type { Acted, CardView } from '../engine/feed.ts'
import type { FeedPlace, GroupSummary } from '../engine/feed-list.ts'
import { formatInstant } from '../time/index.ts'

export function card({ card: c, daysLeft }: CardView) {
  return {
    id: c.id,
    kind: c.kind,
    title: c.title,
    body: c.body,
    group: c.group,
    label: c.label,
    loop: c.loop,
    seen: c.seen,
    autoSendOn: c.autoSendOn,
    daysLeft,
    actions: actionsOf(c),
    status: c.status,
    reason: c.reason,
    schedule: c.schedule,
    session: c.session,
    agent: c.agent,
    run: c.run,
    at: formatInstant(c.at),
    createdAt: formatInstant(c.createdAt),
    settledAt: c.settledAt === null ? null : formatInstant(c.settledAt),
  }
}

/** After `run-now`, `run` is the run that it made. */
export const acted = (a: Acted) => ({ ...card(a), run: a.run ?? a.card.run })

export function summary(s: GroupSummary) {
  return {
    group: s.group,
    at: s.at === null ? null : formatInstant(s.at),
    open: s.open,
    settled: s.settled,
    labels: s.labels,
    cards: s.cards.map(({ card: c, daysLeft }) => ({
      id: c.id,
      kind: c.kind,
      title: c.title,
      label: c.label,
      loop: c.loop,
      seen: c.seen,
      autoSendOn: c.autoSendOn,
      daysLeft,
      agent: c.agent,
      at: formatInstant(c.at),
    })),
    more: s.open - s.cards.length,
  }
}

const ulid = '[0-9A-Z]{26}'
/** A position in the feed: when the list began, the group, the card. */
export const feedShape = new RegExp(`^${ulid}(\\.${ulid}){2}$`)

export const placeOut = (place: FeedPlace | null): string | null =>
  place === null ? null : `${place.asOf}.${place.groupOrder}.${place.order}`

export function placeIn(position: string | null): FeedPlace | null {
  if (position === null) return null
  const [asOf, groupOrder, order] = position.split('.') as [string, string, string]
  return { asOf, groupOrder, order }
}
