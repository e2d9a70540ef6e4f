import { type Card, cardIdOf } from '../domain/card.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { Refused } from '../domain/refused.ts'
import { type Head, promptsSent } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { type Loaded, runIdOf } from './load.ts'
import type { Acting } from './reach.ts'
import { readCursor } from './rows.ts'
import { commit, keys, putCard, read } from './store.ts'

/**
 * Counts one prompt to another session where it comes from, in the commit that makes it: of many at once exactly as many pass
 * as are left. A conversation that was lately cleared or filled by another is a Conflict, and is decided anew.
 */
export const countPrompt = (head: Head): Op =>
  head.sends === undefined
    ? { patch: keys.head(head.conv), set: { sends: 1 }, guards: [{ attr: 'sends', is: 'absent' }] }
    : {
        patch: keys.head(head.conv),
        add: { sends: 1 },
        guards: [{ attr: 'sends', is: '<', value: limits.promptsToOthersMax }],
      }

const useGrant = (head: Head): Op => ({
  patch: keys.head(head.conv),
  add: { grants: -1, ...(head.sends === undefined ? {} : { sends: 1 }) },
  guards: [{ attr: 'grants', is: '>=', value: 1 }],
})

/** In these modes a person is asked before each prompt to another session (S0-23). */
export const asksFirst = (head: Head): boolean => head.mode === 'ask' || head.mode === 'plan'

/** What an agent wants to do toward another session, as its person will read it. */
export interface Wish {
  readonly title: string
  readonly body: string
}

/**
 * The write with which a prompt of an agent to another session is counted.
 *
 * @param acting  where the agent is; its conversation is asked and counted, nobody else's
 * @throws        Refused `approval_needed`, and then a card asks the person
 */
export async function promptOp(call: Call, acting: Acting, wish: Wish): Promise<Op> {
  const head = acting.head
  if (asksFirst(head)) {
    if ((head.grants ?? 0) > 0) return useGrant(head)
  } else if (promptsSent(head) < limits.promptsToOthersMax) {
    return countPrompt(head)
  }
  const card = await askPerson(call.world, head, wish, call.now)
  const why = asksFirst(head)
    ? `this session is in mode "${head.mode}", where a person allows each prompt to another session`
    : `this conversation has sent ${limits.promptsToOthersMax} prompts to other sessions since its person last wrote in it`
  throw new Refused(
    'approval_needed',
    `${why}; card ${card.id} asks for it. It was not kept: send it again after Allow, or when the person has written here`,
    [],
    { card: card.id },
  )
}

/** One card asks for a conversation, brought up again while it is open (decision 20). */
async function askPerson(world: World, head: Head, wish: Wish, now: number): Promise<Card> {
  return await retrying(async () => {
    const stored = await approvalOf(world, head)
    const card = approvalCard(head, stored?.item ?? null, { ...wish, schedule: null, run: null }, now)
    await commit(world, [putCard(card, stored?.version ?? 'absent')])
    return card
  })
}

export const approvalIdOf = (conv: string): string => cardIdOf(`approval|${conv}`)

/**
 * The approval card of a conversation. A run that has gone out meanwhile, or never will, it names no more: Deny must take the one
 * that waits.
 */
export async function approvalOf(world: World, head: Head): Promise<Stored<Card> | null> {
  const stored = await read<Card>(world, keys.card(head.owner, approvalIdOf(head.conv)))
  const { schedule, run } = stored?.item ?? { schedule: null, run: null }
  if (stored === null || schedule === null || run === null) return stored
  const held = (await readCursor(world, schedule))?.item.held ?? null
  if (held !== null && runIdOf(schedule, held.row) === run) return stored
  return { ...stored, item: { ...stored.item, schedule: null, run: null } }
}

/** The person has written: what the card asked for is answered by that. */
export async function closeApproval(world: World, head: Head, now: number): Promise<void> {
  await retrying(async () => {
    const stored = await read<Card>(world, keys.card(head.owner, approvalIdOf(head.conv)))
    if (stored === null || stored.item.kind !== 'approval' || stored.item.status !== 'open') return
    await commit(world, [putCard({ ...stored.item, status: 'closed', settledAt: now }, stored.version)])
  })
}

/** What an approval card carries on which a prompt was refused: Allow lets one pass where each is asked for. */
const askedPrompt = { prompt: true }

export const asksForPrompt = (card: Card): boolean => card.request !== null && 'prompt' in card.request

const alsoPrompt = '\n\nAllow also lets the next prompt pass that it sends to another session.'

/** The approval card of a conversation, as it asks now. */
export function approvalCard(
  head: Head,
  before: Card | null,
  asks: Wish & { readonly schedule: string | null; readonly run: string | null },
  now: number,
): Card {
  // Ids are a fast hash: what stands there may be somebody's post that was made to collide, and is no approval.
  const again = before !== null && before.kind === 'approval' && before.status === 'open'
  // What was asked first is decided first, and is what the person reads.
  const first = again && before.run !== null ? before : asks
  const request = asks.run === null ? askedPrompt : again ? before.request : null
  const also = request !== null && first.run !== null && asksFirst(head) && !first.body?.endsWith(alsoPrompt)
  return {
    id: approvalIdOf(head.conv),
    person: head.owner,
    kind: 'approval',
    title: onOneLine(first.title),
    body: also ? `${first.body ?? ''}${alsoPrompt}` : first.body,
    group: null,
    label: 'decide',
    loop: null,
    seen: again ? before.seen + 1 : 1,
    autoSendOn: null,
    reason: null,
    status: 'open',
    schedule: first.schedule,
    session: head.session,
    agent: head.agent,
    run: first.run,
    request,
    createdAt: again ? before.createdAt : now,
    at: now,
    settledAt: null,
  }
}

/** How a conversation is called where a person reads it. */
export const nameOfConversation = (head: Head): string => onOneLine(head.title ?? head.session)

/** The conversation whose word a held run waits for, also when it is gone. */
export const nameOfMaker = ({ maker, definition }: Pick<Loaded, 'maker' | 'definition'>): string =>
  maker === null ? onOneLine(definition.makerTitle ?? 'the conversation that made it') : nameOfConversation(maker)
