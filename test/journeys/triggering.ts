import { agentWithSession, all, fresh } from './actors.ts'
import type { Answer, CallOptions, Json, RouseNode } from './node.ts'

/** Asks to create a trigger; a prompt and a name are put in where they are missing. */
export function createTrigger(rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Answer> {
  return rouse.call('POST', '/v1/triggers', { name: 'New picks', prompt: 'Look at the picks.', ...body }, o)
}

/** Creates a trigger, which must be accepted. */
export async function trigger(rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Json> {
  const answer = await createTrigger(rouse, body, o)
  if (answer.status !== 201)
    throw new Error(
      `POST /v1/triggers ${JSON.stringify(body)} answered ${answer.status} ${JSON.stringify(answer.body)}`,
    )
  return answer.body
}

export interface Watch {
  readonly agent: Json
  readonly session: Json
  readonly path: string
  readonly made: Json
  /** Puts the document that it follows. */
  put(value: Json): Promise<Json>
}

/** A trigger on a document of its own, in a session of its own. */
export async function watch(rouse: RouseNode, more: Json = {}): Promise<Watch> {
  const { agent, session } = await agentWithSession(rouse)
  const path = fresh('picks')
  const target = more.agent === true ? { agent: agent.id } : { session: session.id }
  const made = await trigger(rouse, { on: { document: { path } }, ...more, ...target })
  return { agent, session, path, made, put: (value) => put(rouse, path, value) }
}

export function put(rouse: RouseNode, path: string, value: Json, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('PUT', `/v1/documents/${path}`, value, o)
}

/** The runs of a trigger, oldest first. */
export async function events(rouse: RouseNode, id: string, o: CallOptions = {}): Promise<Json[]> {
  return (await all(rouse, `/v1/triggers/${id}/runs`, o)).reverse()
}

/** What became of each run of a trigger, oldest first. */
export async function fates(rouse: RouseNode, id: string): Promise<[string, string | null][]> {
  return (await events(rouse, id)).map(({ outcome, reason }) => [outcome, reason])
}

export function readTrigger(rouse: RouseNode, id: string, o: CallOptions = {}): Promise<Json> {
  return rouse.ok('GET', `/v1/triggers/${id}`, undefined, o)
}

/** Deletes what a test left behind: it would take its events through all that follow. */
export async function retireTriggers(rouse: RouseNode): Promise<void> {
  for (const { id } of await all(rouse, '/v1/triggers?status=active')) await rouse.ok('DELETE', `/v1/triggers/${id}`)
}
