import { expect } from 'vitest'
import {
  type Actor,
  actor,
  agentWithSession,
  all,
  fresh,
  instant,
  letAgentsUseSessions,
  moveTo,
  now,
  schedule,
} from './actors.ts'
import type { Answer, CallOptions, Json, RouseNode } from './node.ts'

/** How many prompts to other sessions an agent has before a person is asked. */
export const promptsMax = 30

/** An agent at work, a session that its prompts go to, and one that its schedules fire in. */
export interface Desk {
  readonly who: Actor
  readonly sink: Json
  readonly target: Json
}

export async function desk(rouse: RouseNode, more: Json = {}): Promise<Desk> {
  await letAgentsUseSessions(rouse)
  const who = await actor(rouse, { title: fresh('Desk'), ...more })
  const { session: sink } = await agentWithSession(rouse)
  const { session: target } = await agentWithSession(rouse, { title: fresh('Target') })
  return { who, sink, target }
}

/** A prompt of the agent to another session. */
export function send(rouse: RouseNode, { who, sink }: Desk, to: Json = sink, o: CallOptions = who.as): Promise<Answer> {
  return rouse.call('POST', `/v1/sessions/${to.id}/messages`, { text: 'go on' }, o)
}

/** Sends so many prompts, all of which must pass. */
export async function spend(rouse: RouseNode, from: Desk, times: number, o?: CallOptions): Promise<void> {
  const answers = await Promise.all(Array.from({ length: times }, () => send(rouse, from, from.sink, o)))
  expect(answers.map(({ status }) => status)).toEqual(Array(times).fill(201))
}

export const refusal = ({ status, body }: Answer): string => `${status} ${body?.code ?? ''}`.trim()

/** How many prompts pass before the person is asked; each that passes is counted. */
export async function left(rouse: RouseNode, from: Desk): Promise<number> {
  for (let sent = 0; ; sent += 1) {
    const answer = await send(rouse, from)
    if (answer.status === 201) continue
    expect(refusal(answer)).toBe('403 approval_needed')
    return sent
  }
}

/** A schedule of the agent toward the target, every 5 minutes unless said, whose first run is held. */
export async function heldRun(
  rouse: RouseNode,
  more: Json = {},
  session: Json = {},
): Promise<Desk & { readonly made: Json; readonly start: string }> {
  const at = await desk(rouse, session)
  const start = await now(rouse)
  const made = await schedule(rouse, { session: at.target.id, every: '5m', name: fresh('Held'), ...more }, at.who.as)
  await spend(rouse, at, promptsMax - 1)
  await moveTo(rouse, instant(start, 5))
  return { ...at, made, start }
}

export function feed(rouse: RouseNode, o: CallOptions = {}): Promise<Json[]> {
  return all(rouse, '/v1/feed', o)
}

export function cardOf(rouse: RouseNode, id: string, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('GET', `/v1/feed/${id}`, undefined, o)
}

export function act(rouse: RouseNode, id: string, action: string, o: CallOptions = {}): Promise<Answer> {
  return rouse.call('POST', `/v1/feed/${id}/actions/${action}`, {}, o)
}

/** A person's Allow or Deny, which must be taken. */
export async function settle(rouse: RouseNode, id: string, action: 'allow' | 'deny'): Promise<void> {
  const answer = await act(rouse, id, action)
  if (answer.status !== 200) throw new Error(`${action} ${id} answered ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** The open cards on which a conversation asks its person. */
export async function asking(rouse: RouseNode, sessionId: string): Promise<Json[]> {
  return (await feed(rouse)).filter(
    ({ kind, status, session }) => kind === 'approval' && status === 'open' && session === sessionId,
  )
}

/** The one open card on which a conversation asks its person. */
export async function theCard(rouse: RouseNode, sessionId: string): Promise<Json> {
  const cards = await asking(rouse, sessionId)
  expect(cards).toHaveLength(1)
  return cards[0]
}
