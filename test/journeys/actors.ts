import type { Answer, CallOptions, Json, RouseNode } from './node.ts'

const minuteMs = 60_000

/** "2026-03-02T09:00:00.000Z", as instants go out, plus or minus so many minutes. */
export function instant(text: string, minutes = 0): string {
  return new Date(Date.parse(text) + minutes * minuteMs).toISOString()
}

let made = 0

/** A name nobody else has, also on a deployed Rouse that other runs have used. */
export function fresh(name: string): string {
  made += 1
  return `${name}-${process.pid.toString(36)}${Date.now().toString(36)}${made}`
}

export function agent(rouse: RouseNode, more: Json = {}, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('POST', '/v1/agents', { name: fresh('agent'), ...more }, o)
}

/** A key of the agent. */
export async function keyOf(rouse: RouseNode, agentId: string): Promise<string> {
  return (await rouse.ok('POST', `/v1/agents/${agentId}/keys`, {})).key
}

export function session(rouse: RouseNode, agentId: string, more: Json = {}, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('POST', '/v1/sessions', { agent: agentId, ...more }, o)
}

/** An agent with a session of its own. */
export async function agentWithSession(rouse: RouseNode, more: Json = {}): Promise<{ agent: Json; session: Json }> {
  const made = await agent(rouse)
  return { agent: made, session: await session(rouse, made.id, more) }
}

export interface Actor {
  readonly agent: Json
  readonly session: Json
  readonly key: string
  /** what a call of the agent from its session carries */
  readonly as: CallOptions
}

/** An agent that acts with its own key from its own session. */
export async function actor(rouse: RouseNode, more: Json = {}): Promise<Actor> {
  const { agent, session } = await agentWithSession(rouse, more)
  const key = await keyOf(rouse, agent.id)
  return { agent, session, key, as: { key, headers: { 'x-rouse-session': session.id } } }
}

/** The same agent, acting inside a turn. */
export function inTurn(who: Actor, turnId: string): CallOptions {
  return { key: who.key, headers: { 'x-rouse-session': who.session.id, 'x-rouse-turn': turnId } }
}

/** Asks to create a schedule; a prompt and a name are put in where they are missing. */
export function create(rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Answer> {
  return rouse.call('POST', '/v1/schedules', { name: 'Nightly review', prompt: 'Review the night.', ...body }, o)
}

/** Creates a schedule, which must be accepted. */
export async function schedule(rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Json> {
  const answer = await create(rouse, body, o)
  if (answer.status !== 201)
    throw new Error(
      `POST /v1/schedules ${JSON.stringify(body)} answered ${answer.status} ${JSON.stringify(answer.body)}`,
    )
  return answer.body
}

/** Everything a list has, over all its pages. */
export async function all(rouse: RouseNode, path: string, o: CallOptions = {}): Promise<Json[]> {
  const found: Json[] = []
  for (let cursor: string | null = null; ; ) {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = await rouse.ok('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${more}`, undefined, o)
    found.push(...page.data)
    cursor = page.nextCursor
    if (cursor === null) return found
  }
}

export function messages(rouse: RouseNode, sessionId: string, o: CallOptions = {}): Promise<Json[]> {
  return all(rouse, `/v1/sessions/${sessionId}/messages`, o)
}

/** The prompts of schedules in a session, oldest first. */
export async function prompts(rouse: RouseNode, sessionId: string): Promise<Json[]> {
  return (await messages(rouse, sessionId)).filter((message) => message.kind === 'schedule')
}

/** The runs of a schedule, oldest first (the API lists the newest first). */
export async function runs(rouse: RouseNode, scheduleId: string): Promise<Json[]> {
  return (await all(rouse, `/v1/schedules/${scheduleId}/runs`)).reverse()
}

export function read(rouse: RouseNode, scheduleId: string, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('GET', `/v1/schedules/${scheduleId}`, undefined, o)
}

export function say(rouse: RouseNode, sessionId: string, text: string, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('POST', `/v1/sessions/${sessionId}/messages`, { text }, o)
}

/** Takes the next message of a session and starts its turn; null when there is none. */
export async function claim(
  rouse: RouseNode,
  sessionId: string,
  body: Json = { leaseSeconds: 7200 },
  o: CallOptions = {},
): Promise<Json> {
  const answer = await rouse.call('POST', `/v1/sessions/${sessionId}/claim`, body, o)
  if (answer.status === 204) return null
  if (answer.status !== 200) throw new Error(`claim answered ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Claims, and fails when there was nothing to take. */
export async function turnOf(rouse: RouseNode, sessionId: string, o: CallOptions = {}): Promise<Json> {
  const claimed = await claim(rouse, sessionId, { leaseSeconds: 7200 }, o)
  if (claimed === null) throw new Error(`no message waits in ${sessionId}`)
  return claimed
}

export function end(rouse: RouseNode, turnId: string, body: Json = {}, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('POST', `/v1/turns/${turnId}/end`, { outcome: 'ok', ...body }, o)
}

export async function now(rouse: RouseNode): Promise<string> {
  return (await rouse.ok('GET', '/v1/clock')).now
}

export async function moveTo(rouse: RouseNode, to: string, o: { readonly down?: boolean } = {}): Promise<void> {
  await rouse.ok('POST', '/v1/clock', { to, ...o })
}

export async function moveBy(rouse: RouseNode, by: string, o: { readonly down?: boolean } = {}): Promise<void> {
  await rouse.ok('POST', '/v1/clock', { by, ...o })
}

/** Lets agents start and use sessions, which is off at first. */
export async function letAgentsUseSessions(rouse: RouseNode, agentSessions = true): Promise<void> {
  await rouse.ok('PATCH', '/v1/settings', { agentSessions })
}
