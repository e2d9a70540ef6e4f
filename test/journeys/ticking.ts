import { expect } from 'vitest'
import { agent, claim, end, keyOf, messages, moveTo, now, say, session, turnOf } from './actors.ts'
import type { CallOptions, Json, RouseNode } from './node.ts'

const secondMs = 1000

/** "2026-03-02T09:05:00.000Z": so many seconds after an instant. */
export const after = (from: string, seconds: number): string =>
  new Date(Date.parse(from) + seconds * secondMs).toISOString()

export const ticks = (rouse: RouseNode, sessionId: string, o: CallOptions = {}): Promise<Json> =>
  rouse.ok('GET', `/v1/sessions/${sessionId}/ticks`, undefined, o)

/** The ticks that were ever put into a session, oldest first. */
export const tickMessages = async (rouse: RouseNode, sessionId: string): Promise<Json[]> =>
  (await messages(rouse, sessionId)).filter(({ kind }) => kind === 'tick')

export interface Begun {
  readonly agent: Json
  readonly session: Json
  /** when the turn of the person's word ended: what the first tick counts from */
  readonly at: string
}

/** A person writes and the turn of it ends: from here on the planner plans. */
export async function speak(rouse: RouseNode, sessionId: string, how: Json = {}): Promise<string> {
  await say(rouse, sessionId, 'hello')
  await end(rouse, (await turnOf(rouse, sessionId)).turn.id, { answer: 'hi', ...how })
  return now(rouse)
}

/** An agent whose main session has had its first word. */
export async function begun(
  rouse: RouseNode,
  proactive: Json = {},
  more: { readonly agent?: Json; readonly session?: Json } = {},
): Promise<Begun> {
  const made = await agent(rouse, { proactive, ...more.agent })
  const own = await session(rouse, made.id, more.session ?? {})
  return { agent: made, session: own, at: await speak(rouse, own.id) }
}

/** The same with a key of the agent, as `actor` has it. */
export async function begunActor(rouse: RouseNode, proactive: Json = {}) {
  const who = await begun(rouse, proactive)
  const key = await keyOf(rouse, who.agent.id)
  return { ...who, key, as: { key, headers: { 'x-rouse-session': who.session.id } } satisfies CallOptions }
}

/** Moves to the moment of the next tick, and takes it. */
export async function nextTick(rouse: RouseNode, sessionId: string): Promise<Json> {
  const { nextAt, state, reason } = await ticks(rouse, sessionId)
  if (nextAt === null) throw new Error(`no tick is planned: ${state} ${reason}`)
  await moveTo(rouse, nextAt)
  const taken = await claim(rouse, sessionId)
  expect([state, reason, taken?.message.kind]).toEqual([state, reason, 'tick'])
  return taken
}

/** A tick comes, its turn ends in that way; answers what is planned then. */
export async function tickThat(rouse: RouseNode, sessionId: string, how: Json = {}): Promise<Json> {
  await end(rouse, (await nextTick(rouse, sessionId)).turn.id, how)
  return ticks(rouse, sessionId)
}

export const sleeps = (seconds: number): Json => ({ sleep: { seconds } })

export const patchAgent = (rouse: RouseNode, agentId: string, proactive: Json): Promise<Json> =>
  rouse.ok('PATCH', `/v1/agents/${agentId}`, { proactive })

export const patchSession = (rouse: RouseNode, sessionId: string, body: Json): Promise<Json> =>
  rouse.ok('PATCH', `/v1/sessions/${sessionId}`, body)

/** Moves to an instant and expects that no tick was put on the way. */
export async function quietUntil(rouse: RouseNode, sessionId: string, to: string): Promise<void> {
  const before = (await tickMessages(rouse, sessionId)).length
  await moveTo(rouse, to)
  expect(await tickMessages(rouse, sessionId)).toHaveLength(before)
}
