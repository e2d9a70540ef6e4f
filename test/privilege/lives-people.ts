import type { Cloud } from './cloud.ts'

let made = 0
/** A name that nobody has yet. */
export const fresh = (name: string): string => `${name}-${++made}`

/** An agent with a session, which is not its main one unless that is wanted. */
export async function place(
  cloud: Cloud,
  more: object = {},
): Promise<{ readonly agent: string; readonly session: string }> {
  const agent = (await cloud.ask('POST', '/v1/agents', { name: fresh('assistant'), ...more })).id
  const session = (await cloud.ask('POST', '/v1/sessions', { agent, main: false })).id
  return { agent, session }
}

/** A key of the agent, acting from the session. */
export async function acting(cloud: Cloud, { agent, session }: { readonly agent: string; readonly session: string }) {
  const { key } = await cloud.ask('POST', `/v1/agents/${agent}/keys`, {})
  return { authorization: `Bearer ${key}`, 'x-rouse-session': session }
}

/** Every call that asks for nothing to happen later. */
export async function callsOfPeople(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const ask = cloud.ask.bind(cloud)
  const person = await ask('POST', '/v1/people', { name: fresh('Bea') })
  await ask('GET', '/v1/settings')
  await ask('PATCH', '/v1/settings', { agentSessions: true })
  await ask('GET', '/v1/agents')
  await ask('GET', `/v1/agents/${agent}`)
  await ask('PATCH', `/v1/agents/${agent}`, { budget: { wakesPerDay: 100 } })
  await ask('PATCH', '/v1/budgets', { wakesPerDay: 1000 })
  await ask('GET', '/v1/budgets')
  await ask('GET', '/v1/audit')
  const key = await ask('POST', `/v1/agents/${agent}/keys`, {})
  await ask('GET', `/v1/agents/${agent}/keys`)
  const rotated = await ask('POST', `/v1/keys/${key.id}/rotate`)
  await ask('DELETE', `/v1/keys/${rotated.id}`)
  const calendar = await ask('POST', '/v1/calendar-tokens', {})
  await ask('GET', '/v1/calendar-tokens')
  await ask('GET', `/v1/calendar.ics${new URL(calendar.url).search}`, undefined, { authorization: '' })
  await ask('DELETE', `/v1/calendar-tokens/${calendar.id}`)
  await ask('GET', '/v1/agenda?hours=48')
  await ask('PUT', '/v1/secrets/TOKEN', { value: 'hush' })
  await ask('GET', '/v1/secrets')
  await ask('DELETE', '/v1/secrets/TOKEN')
  await documents(cloud)
  await sessions(cloud, { agent, session })
  await ask('DELETE', `/v1/agents/${agent}`)
  await ask('GET', '/v1/sessions', undefined, { authorization: `Bearer ${person.key}` })
}

async function documents(cloud: Cloud): Promise<void> {
  const path = fresh('notes')
  await cloud.ask('PUT', `/v1/documents/${path}`, { n: 1 })
  // Of more than one part.
  await cloud.ask('PUT', `/v1/documents/${path}`, 'x'.repeat(290_000))
  await cloud.ask('PUT', `/v1/documents/${path}`, { n: 2 })
  await cloud.ask('GET', `/v1/documents/${path}`)
  await cloud.ask('GET', '/v1/documents')
  await cloud.ask('DELETE', `/v1/documents/${path}`)
  await cloud.settle()
}

async function sessions(cloud: Cloud, { agent, session }: { readonly agent: string; readonly session: string }) {
  const ask = cloud.ask.bind(cloud)
  await ask('GET', '/v1/sessions')
  await ask('PATCH', `/v1/sessions/${session}`, { title: 'Work' })
  const said = await ask(
    'POST',
    `/v1/sessions/${session}/messages`,
    { text: 'Hello.' },
    { 'idempotency-key': fresh('once') },
  )
  await ask('GET', `/v1/sessions/${session}/messages`)
  const { turn } = await ask('POST', `/v1/sessions/${session}/claim`, {})
  await ask('POST', `/v1/turns/${turn.id}/heartbeat`, {})
  await ask('POST', `/v1/turns/${turn.id}/cancel`)
  const toolCalls = [{ tool: 'shell', args: { cmd: said.id }, status: 'ok', result: 'y'.repeat(90_000) }]
  await ask('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: 'Done.', toolCalls })
  await ask('GET', '/v1/traces?limit=10')
  const trace = await ask('POST', '/v1/traces', { agent, outcome: 'ok', calls: toolCalls })
  await ask('GET', `/v1/traces/${trace.id}`)
  await ask('POST', `/v1/sessions/${session}/leave`)
  await ask('POST', `/v1/sessions/${session}/join`)
  const next = (await ask('POST', `/v1/sessions/${session}/compact`)).id
  const forked = (await ask('POST', `/v1/sessions/${next}/fork`)).id
  await ask('POST', `/v1/sessions/${forked}/messages`, { text: 'Hello.' })
  await ask('POST', `/v1/sessions/${forked}/archive`)
  await ask('DELETE', `/v1/sessions/${forked}`)
}
