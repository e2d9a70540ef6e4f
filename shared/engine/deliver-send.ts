import { createHmac } from 'node:crypto'
import { canTalk } from '../domain/access.ts'
import type { Card } from '../domain/card.ts'
import type { Target } from '../domain/deliver.ts'
import {
  deliveryIdOf,
  eventOf,
  judged,
  type Outgoing,
  retryAfterMs,
  saidOf,
  type Tried,
  textOf,
} from '../domain/delivery.ts'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import type { Message } from '../domain/message.ts'
import { onOneLine } from '../domain/names.ts'
import type { Origin } from '../domain/provenance.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { OutboundAnswer, OutboundFailure, World } from '../ports/world.ts'
import { type Agent, headUnchanged, keys, putCard, putWaiting, read, type SessionRow } from './store.ts'

/** One thing to be sent, with the answer read. */
export interface Parcel {
  readonly out: Outgoing
  readonly to: string
  readonly answer: string | null
}

/** Where a delivery goes: to others, by the port, or into the table, in one commit with its record. */
export type Outside = Extract<Target, { kind: 'webhook' | 'telegram' | 'sns' }>
export type Inside = Exclude<Target, Outside>
export const isOutside = (target: Target): target is Outside =>
  target.kind === 'webhook' || target.kind === 'telegram' || target.kind === 'sns'

const lost = (error: string, retry: boolean): Tried => ({ kind: 'failed', error, retry, retryAfterMs: null })
const sent: Tried = { kind: 'sent' }

/** Sends to a target outside. Never throws. What it says of a failure names no path, no secret and no body. */
export async function sendOutside(world: World, target: Outside, parcel: Parcel): Promise<Tried> {
  switch (target.kind) {
    case 'webhook':
      return await sendWebhook(world, target.url, parcel)
    case 'telegram':
      return await sendTelegram(world, target.chat, parcel)
    case 'sns':
      return await sendTopic(world, target.topic, parcel)
  }
}

/** Standard Webhooks 1.0: the id of the delivery, the time of this try, and both with the body under the principal's secret. */
async function sendWebhook(world: World, url: string, parcel: Parcel): Promise<Tried> {
  const id = deliveryIdOf(parcel.out, parcel.to)
  const secret = await secretOf(world, parcel.out.principal, 'WEBHOOK_SECRET')
  if ('failed' in secret) return secret.failed
  const body = JSON.stringify(eventOf(parcel.out, parcel.answer))
  const timestamp = String(Math.floor(world.clock.now() / 1000))
  const signature = secret.value === null ? null : signatureOf(secret.value, `${id}.${timestamp}.${body}`)
  if (signature === undefined)
    return lost('the secret WEBHOOK_SECRET is none of Standard Webhooks: expected "whsec_" and base64', false)
  const answer = await world.outbound.request({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(signature === null ? {} : { 'webhook-signature': signature }),
    },
    body,
    timeoutMs: limits.deliverTimeoutMs,
    bytesMax: 16_384,
    rest: 'cut',
  })
  return answeredBy(answer, new URL(url).host, world)
}

/** @returns undefined when the secret cannot be one */
function signatureOf(secret: string, signed: string): string | undefined {
  const base64 = secret.startsWith('whsec_') ? secret.slice(6) : secret
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(base64) || base64.replace(/=+$/, '').length % 4 === 1) return undefined
  return `v1,${createHmac('sha256', Buffer.from(base64, 'base64')).update(signed).digest('base64')}`
}

/** The token stands in the path, which no error of ours shows; Telegram's own words do not quote it, and are checked all the same. */
async function sendTelegram(world: World, chat: string, { out, answer }: Parcel): Promise<Tried> {
  const secret = await secretOf(world, out.principal, 'TELEGRAM_BOT_TOKEN')
  if ('failed' in secret) return secret.failed
  const token = secret.value
  if (token === null)
    return lost('there is no secret TELEGRAM_BOT_TOKEN: PUT /v1/secrets/TELEGRAM_BOT_TOKEN, then send it again', false)
  if (!/^[\w:-]{10,200}$/.test(token)) return lost("the secret TELEGRAM_BOT_TOKEN is no bot's token", false)
  const got = await world.outbound.request({
    method: 'POST',
    url: `${world.outbound.telegramApi}/bot${token}/sendMessage`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: /^-?\d+$/.test(chat) ? Number(chat) : chat,
      text: textOf(out, answer, limits.telegramCharsMax),
    }),
    timeoutMs: limits.deliverTimeoutMs,
    bytesMax: 16_384,
    rest: 'cut',
  })
  const tried = answeredBy(got, 'Telegram', world)
  if (!got.ok || tried.kind === 'sent') return tried
  const { description, parameters } = telegramSays(got.body)
  const why = description === null || description.includes(token) ? '' : `: ${description}`
  const waitMs = typeof parameters?.retry_after === 'number' ? parameters.retry_after * 1000 : tried.retryAfterMs
  return { ...tried, error: `${tried.error}${why}`, retryAfterMs: waitMs }
}

function telegramSays(body: string): { description: string | null; parameters: { retry_after?: unknown } | null } {
  try {
    const said = JSON.parse(body) as { description?: unknown; parameters?: { retry_after?: unknown } | null }
    const text = typeof said.description === 'string' ? onOneLine(said.description.replace(/\p{Cc}/gu, ' ')) : ''
    return { description: text === '' ? null : text.slice(0, 120), parameters: said.parameters ?? null }
  } catch {
    return { description: null, parameters: null }
  }
}

async function sendTopic(world: World, topic: string, parcel: Parcel): Promise<Tried> {
  const { out, answer } = parcel
  const short =
    answer !== null && answer.length > limits.topicAnswerCharsMax
      ? `${answer.slice(0, limits.topicAnswerCharsMax - 1)}…`
      : answer
  const id = deliveryIdOf(out, parcel.to)
  const failed = await world.outbound.publish({
    topic,
    id,
    group: out.schedule,
    body: JSON.stringify({ id, ...eventOf(out, short) }),
  })
  return failed === null ? sent : failedTo(failed)
}

const failedTo = ({ error, retry }: OutboundFailure): Tried => lost(error, retry)

const answeredBy = (answer: OutboundAnswer, host: string, world: World): Tried =>
  answer.ok
    ? judged(answer.status, host, retryAfterMs(answer.headers['retry-after'], world.clock.now()))
    : failedTo(answer)

async function secretOf(
  world: World,
  owner: string,
  name: string,
): Promise<{ readonly value: string | null } | { readonly failed: Tried }> {
  try {
    return { value: await world.secrets.get(owner, name) }
  } catch {
    // Whatever it says is about a secret.
    return { failed: lost(`the secret ${name} could not be read`, true) }
  }
}

/** What a delivery inside writes, or why it goes nowhere. `held`: heads that the same commit guards already. */
export async function placeInside(
  world: World,
  target: Inside,
  parcel: Parcel,
  o: { readonly now: number; readonly held: Set<string> },
): Promise<{ readonly ops: Op[]; readonly tried: Tried }> {
  switch (target.kind) {
    case 'feed':
      return { ops: [putCard(cardOf(world, parcel, target.group, o.now), 'any')], tried: sent }
    case 'session':
      return await noteOps(world, target.session, parcel, o)
  }
}

function cardOf(world: World, { out, to, answer }: Parcel, group: string | null, now: number): Card {
  const said = saidOf(out, answer)
  return {
    id: `crd_${bare(deliveryIdOf(out, to))}`,
    person: out.principal,
    kind: 'post',
    title: textOf({ ...out, summary: null }, null, limits.cardTitleCharsMax),
    body: said === '' ? null : said.slice(0, limits.cardBodyCharsMax),
    group,
    label: 'fyi',
    loop: null,
    seen: 1,
    autoSendOn: null,
    reason: out.reason,
    status: 'open',
    schedule: out.schedule,
    session: out.session,
    agent: out.agent,
    run: out.run,
    request: null,
    createdAt: now,
    at: now,
    order: world.ids.ulid(now),
    settledAt: null,
  }
}

/** A note to a session that took over from the one named too, if it is still open and the principal can still talk to its agent. */
async function noteOps(
  world: World,
  session: string,
  { out, to, answer }: Parcel,
  o: { readonly now: number; readonly held: Set<string> },
): Promise<{ readonly ops: Op[]; readonly tried: Tried }> {
  const row = await read<SessionRow>(world, keys.session(session))
  const head = row === null ? null : await read<Head>(world, keys.head(row.item.conv))
  const agent = row === null ? null : await read<Agent>(world, keys.agent(row.item.agent))
  if (!isOpenTo(out.principal, head, agent))
    return { ops: [], tried: lost('the session is gone, or its agent is none that you can talk to any more', false) }
  const origin: Origin = {
    kind: 'schedule',
    principal: out.principal,
    agent: null,
    session: out.session,
    schedule: out.schedule,
    run: out.run,
    hops: 0,
    depth: 0,
  }
  const note: Message = {
    id: `msg_${bare(deliveryIdOf(out, to))}`,
    kind: 'note',
    text: textOf(out, answer, limits.deliveredNoteCharsMax),
    origin,
    automated: true,
    status: 'waiting',
    replyTo: null,
    at: o.now,
  }
  const { conv } = head!.item
  const guard = o.held.has(conv) ? [] : [headUnchanged(head!)]
  o.held.add(conv)
  return { ops: [...guard, putWaiting(conv, note)], tried: sent }
}

const isOpenTo = (person: string, head: Stored<Head> | null, agent: Stored<Agent> | null): boolean =>
  head !== null &&
  head.item.archivedAt === null &&
  head.item.deletedAt === null &&
  agent !== null &&
  agent.item.deletedAt === null &&
  canTalk(person, agent.item)
