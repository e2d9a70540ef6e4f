import { actionsOf, type Card, type CardAction, cardIdOf, type Label } from '../domain/card.ts'
import { bodyFault } from '../domain/define.ts'
import { daysBetween, type Mark, orderOf } from '../domain/feed.ts'
import { bare, isId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import type { Key, Op, Stored, Version } from '../ports/table.ts'
import { dayOf, formatInstant } from '../time/index.ts'
import { allowCard, denyCard } from './approvals.ts'
import { type Call, retrying } from './call.ts'
import { actingIn, assertPerson, principal } from './reach.ts'
import { runNow } from './runs.ts'
import { asItem, commit, keys, type Person, read, readAll, ttlAfter } from './store.ts'

export interface CardInput {
  readonly title: string
  readonly body: string | null
  readonly group: string | null
  readonly label: Label | null
  readonly loop: string | null
  readonly autoSendOn: string | null
}

/** A card as it is shown. */
export interface CardView {
  readonly card: Card
  /** Until `autoSendOn`, by the person's calendar: 0 on the day, negative when it is past; null: nothing counts down. */
  readonly daysLeft: number | null
}

/** A card that was acted on, with the run that a `run-now` made. */
export interface Acted extends CardView {
  readonly run: string | null
}

/**
 * Puts a card into the feed of the caller's person: the agent's owner, for an agent's key. Under a `loop` key posted before, the
 * same card moves to where it is put now, open again, and counts (S2-75).
 */
export async function postCard(call: Call, input: CardInput): Promise<CardView> {
  const { world, caller } = call
  const acting = await actingIn(call)
  const person = principal(call)
  const today = await todayOf(call)
  if (input.autoSendOn !== null && input.autoSendOn < today)
    throw bodyFault('autoSendOn', `expected today (${today}) or a later day, got ${input.autoSendOn}`)
  const made = call.newId('crd')
  const id = input.loop === null ? made : cardIdOf(`loop|${person}|${input.loop}`)
  const counted = countedKey(person, made)
  return await retrying(async () => {
    const [stored, before] = (await readAll<unknown>(world, [keys.card(person, id), counted])) as [
      Stored<Card> | null,
      Stored | null,
    ]
    // A call repeated after a crash finds the card it made, or that it has been counted already.
    if (call.repeatable && stored !== null && (input.loop === null || before !== null)) return shown(stored.item, today)
    const old = stored?.item ?? null
    // The id is a fast hash: a key made to hit the card of something else, an approval say, must not turn it into a post.
    if (old !== null && (old.kind !== 'post' || old.loop !== input.loop))
      throw bodyFault('loop', 'cannot be used; choose another key')
    const at = Math.max(call.now, old?.at ?? 0)
    const origin = acting?.head.turn?.origin ?? null
    const card: Card = {
      ...input,
      id,
      person,
      kind: 'post',
      seen: (old?.seen ?? 0) + 1,
      reason: null,
      status: 'open',
      schedule: origin?.schedule ?? null,
      session: acting?.head.session ?? null,
      agent: caller.kind === 'agent' ? caller.agent : null,
      run: origin?.run ?? null,
      request: null,
      createdAt: old?.createdAt ?? call.now,
      at,
      order: world.ids.ulid(at),
      settledAt: null,
    }
    await commit(world, [
      putPost(card, stored?.version ?? 'absent'),
      ...markOps(card, old),
      ...(call.repeatable && input.loop !== null ? [putCounted(counted, call.now)] : []),
    ])
    return shown(card, today)
  })
}

/** A person settles a card, or sets in motion what it offers. @throws Refused `person_only`, `card_settled` */
export async function actOnCard(call: Call, id: string, action: CardAction): Promise<Acted> {
  const found = await cardFor(call, id)
  assertPerson(call, 'act on a card')
  assertTakes(found.item, action)
  let run: string | null = null
  switch (action) {
    case 'allow':
      await allowCard(call, found)
      break
    case 'deny':
      await denyCard(call, found)
      break
    case 'run-now':
      run = (await runNow(call, found.item.schedule!)).id
      break
    case 'stop':
      await change(call, id, action, { autoSendOn: null })
      break
    case 'dismiss':
      await change(call, id, action, { status: 'dismissed', settledAt: call.now })
      break
    default:
      action satisfies never
  }
  return { ...(await getCard(call, id)), run }
}

async function change(call: Call, id: string, action: CardAction, to: Partial<Card>): Promise<void> {
  await retrying(async () => {
    const stored = await cardFor(call, id)
    assertTakes(stored.item, action)
    await commit(call.world, [putPost({ ...stored.item, ...to }, stored.version)])
  })
}

export async function getCard(call: Call, id: string): Promise<CardView> {
  return shown((await cardFor(call, id)).item, await todayOf(call))
}

/** A card of the caller's person. Agents never see one that asks for a person's word on them. @throws Refused `not_found` */
async function cardFor(call: Call, id: string): Promise<Stored<Card>> {
  const stored = isId('crd', id) ? await read<Card>(call.world, keys.card(principal(call), id)) : null
  if (stored === null || !isSeenBy(call, stored.item)) throw notFound('card', id)
  return stored
}

export const isSeenBy = (call: Call, card: Card): boolean => call.caller.kind === 'person' || card.kind !== 'approval'

/** @throws Refused `card_settled` */
function assertTakes(card: Card, action: CardAction): void {
  const takes = actionsOf(card)
  if (takes.includes(action)) return
  const was =
    card.status === 'open'
      ? `is an open ${card.kind}${card.autoSendOn === null ? '' : ` that is sent on ${card.autoSendOn}`}`
      : `was ${card.status}${card.settledAt === null ? '' : ` at ${formatInstant(card.settledAt)}`}`
  throw new Refused(
    'card_settled',
    `card ${card.id} ${was} and does not take "${action}"; it takes ${takes.length === 0 ? 'no action any more' : takes.join(', ')}`,
  )
}

export const shown = (card: Card, today: string): CardView => ({
  card,
  daysLeft: card.autoSendOn === null ? null : daysBetween(today, card.autoSendOn),
})

/** The day that it is for the caller's person: `YYYY-MM-DD`. */
export async function todayOf(call: Call): Promise<string> {
  const person = await read<Person>(call.world, keys.person(principal(call)))
  return dayOf(call.now, person?.item.tz ?? 'UTC').day
}

/** A card stays as long as what it counts down to. */
const putPost = (card: Card, expect: Version | 'absent'): Op => ({
  put: keys.card(card.person, card.id),
  item: asItem(card),
  expect,
  ttl: ttlAfter(Math.max(card.at, card.autoSendOn === null ? 0 : Date.parse(card.autoSendOn))),
})

/** The partition of a person's feed. */
export const feedOf = (person: string): string => `E#${bare(person)}`

/** What moves leaves a mark, so that a list under way does not see the groups change places (domain/feed.ts). */
function markOps(card: Card, old: Card | null): Op[] {
  if (old === null || old.group === null) return []
  const mark: Mark = { group: old.group, order: orderOf(old) }
  const ttl = Math.ceil((card.at + limits.feedMarksMs) / 1000)
  return [{ put: [feedOf(card.person), `M#${orderOf(card)}`], item: asItem(mark), expect: 'absent', ttl }]
}

/** Under an Idempotency-Key, that a post under a loop key has been counted. Read by the call repeated; deleted by TTL with the key. */
const countedKey = (person: string, made: string): Key => [feedOf(person), `P#${bare(made)}`]
const putCounted = (key: Key, now: number): Op => ({
  put: key,
  item: { at: now },
  expect: 'absent',
  ttl: Math.ceil((now + limits.idempotencyMs) / 1000),
})
