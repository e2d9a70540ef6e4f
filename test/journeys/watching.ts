import type { Actor } from './actors.ts'
import { messages } from './actors.ts'
import type { Answer, CallOptions, Json, RouseNode } from './node.ts'

/** Asks to arm a monitor; a note is put in where it is missing. */
export const armed = (rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Answer> =>
  rouse.call('POST', '/v1/monitors', { note: 'Tell them how it went.', ...body }, o)

/** Arms a monitor, which must be accepted. */
export async function monitor(rouse: RouseNode, body: Json, o: CallOptions = {}): Promise<Json> {
  const answer = await armed(rouse, body, o)
  if (answer.status !== 201)
    throw new Error(
      `POST /v1/monitors ${JSON.stringify(body)} answered ${answer.status} ${JSON.stringify(answer.body)}`,
    )
  return answer.body
}

export const readMonitor = (rouse: RouseNode, id: string, o: CallOptions = {}): Promise<Json> =>
  rouse.ok('GET', `/v1/monitors/${id}`, undefined, o)

export const put = (rouse: RouseNode, path: string, body: Json, o: CallOptions = {}): Promise<Json> =>
  rouse.ok('PUT', `/v1/documents/${path}`, body, o)

/** The events of monitors in a session, oldest first. */
export async function events(rouse: RouseNode, session: string): Promise<Json[]> {
  return (await messages(rouse, session)).filter(({ kind }) => kind === 'monitor')
}

/** Registers a tool of the actor's agent. */
export const tool = (rouse: RouseNode, who: Pick<Actor, 'agent'>, name: string, more: Json): Promise<Json> =>
  rouse.ok('PUT', `/v1/agents/${who.agent.id}/tools/${name}`, {
    description: 'Reads.',
    parameters: { type: 'object', additionalProperties: false },
    readOnly: true,
    ...more,
  })
