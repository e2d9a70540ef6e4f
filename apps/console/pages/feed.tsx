import { clock, session } from '../api.ts'
import { useLive, useLiveList } from '../live.ts'
import { Page } from '../parts/page.tsx'
import { Empty, More, Shown } from '../parts/states.tsx'
import { href, query } from '../router.ts'
import { ownZone, shownIn } from '../times.ts'
import { FeedCard } from './feed-card.tsx'
import { type Card, type Label, type LabelCounts, labels } from './feed-shapes.ts'

/** S2-70: a greeting, below it the newest group with a chip for each label, then what is older. */
export function FeedPage() {
  const { person } = session.value ?? {}
  const asked = query.value.get('label')
  const label = labels.find((one) => one === asked) ?? null
  const showsSettled = query.value.get('settled') === 'yes'
  const status = showsSettled ? 'status=all' : 'status=open'
  const list = useLiveList<Card>(`/v1/feed?${status}${label === null ? '' : `&label=${label}`}`)
  // One card more or less: what counts is what stands beside it.
  const counts = useLive<{ readonly labels: LabelCounts }>(`/v1/feed?${status}&limit=1`).data?.labels ?? {}
  const { day, time } = shownIn(new Date(clock.value).toISOString(), ownZone, clock.value)
  return (
    <Page
      class="feed"
      title={`${greeting(Number(time.slice(0, 2)))}${person == null ? '' : `, ${person.name}`}`}
      lead={
        <>
          {day} · {list.data === null ? 'your feed' : sum(list.data, list.more !== null, showsSettled)}
        </>
      }
      actions={
        <a class="button" href={href(feedPlace(label, !showsSettled))}>
          {showsSettled ? 'Only what is open' : 'Settled ones too'}
        </a>
      }
    >
      <Chips counts={counts} label={label} showsSettled={showsSettled} />
      <Shown of={list}>
        {(cards) =>
          cards.length === 0 ? (
            <Nothing label={label} showsSettled={showsSettled} />
          ) : (
            groupsOf(cards).map(({ group, key, cards }, i) => (
              <Group key={key} name={group} cards={cards} isNewest={i === 0} />
            ))
          )
        }
      </Shown>
      <More more={list.more} />
    </Page>
  )
}

function greeting(hour: number): string {
  if (hour < 5) return 'Good night'
  if (hour < 12) return 'Good morning'
  return hour < 18 ? 'Good afternoon' : 'Good evening'
}

function sum(cards: readonly Card[], hasMore: boolean, showsSettled: boolean): string {
  const open = cards.filter(({ status }) => status === 'open').length
  if (hasMore) return `more than ${cards.length} cards`
  if (showsSettled) return `${cards.length === 1 ? '1 card' : `${cards.length} cards`}, ${open} open`
  if (open === 0) return 'nothing waits for you'
  return open === 1 ? '1 card waits for you' : `${open} cards wait for you`
}

function feedPlace(label: Label | null, showsSettled: boolean): string {
  const params = new URLSearchParams({
    ...(label === null ? {} : { label }),
    ...(showsSettled ? { settled: 'yes' } : {}),
  })
  return params.size === 0 ? '/feed' : `/feed?${params}`
}

function Chips(o: { readonly counts: LabelCounts; readonly label: Label | null; readonly showsSettled: boolean }) {
  const there = labels.filter((label) => (o.counts[label] ?? 0) > 0 || label === o.label)
  if (there.length === 0) return null
  return (
    <nav class="filters" aria-label="Labels">
      <a
        class="button"
        href={href(feedPlace(null, o.showsSettled))}
        aria-current={o.label === null ? 'true' : undefined}
      >
        All
      </a>
      {there.map((label) => (
        <a
          key={label}
          class={`button label-${label}`}
          href={href(feedPlace(o.label === label ? null : label, o.showsSettled))}
          aria-current={o.label === label ? 'true' : undefined}
        >
          {label} <span class="number">{o.counts[label] ?? 0}</span>
        </a>
      ))}
    </nav>
  )
}

interface Grouped {
  /** Null: cards without a group that stand one after the other. */
  readonly group: string | null
  readonly key: string
  readonly cards: readonly Card[]
}

/** The feed comes in its order; what stands together is drawn together. */
function groupsOf(cards: readonly Card[]): readonly Grouped[] {
  const groups: { group: string | null; key: string; cards: Card[] }[] = []
  for (const card of cards) {
    const last = groups.at(-1)
    if (last !== undefined && last.group === card.group) last.cards.push(card)
    else groups.push({ group: card.group, key: card.group ?? `alone before ${groups.length}`, cards: [card] })
  }
  return groups
}

function Group(o: { readonly name: string | null; readonly cards: readonly Card[]; readonly isNewest: boolean }) {
  return (
    <section class={`group ${o.isNewest ? 'newest' : ''}`} aria-label={o.name ?? 'Without a group'}>
      {o.name === null ? null : (
        <header>
          <h2>{o.name}</h2>
          <span class="soft small">{o.cards.length === 1 ? '1 card' : `${o.cards.length} cards`}</span>
        </header>
      )}
      <ul class="cards">
        {o.cards.map((card) => (
          <li key={card.id}>
            <FeedCard of={card} level={o.name === null ? 2 : 3} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Nothing(o: { readonly label: Label | null; readonly showsSettled: boolean }) {
  if (o.label !== null)
    return (
      <Empty icon="feed" title={`Nothing under ${o.label}`}>
        <p>
          No card bears this label now. <a href={href(feedPlace(null, o.showsSettled))}>All cards</a>
        </p>
      </Empty>
    )
  return (
    <Empty icon="feed" title="All quiet">
      <p>
        Here stands what agents put before you, what they may not do without your word, and what should have run and did
        not.
      </p>
    </Empty>
  )
}
