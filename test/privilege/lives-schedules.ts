import { type Cloud, hour, minute } from './cloud.ts'
import { acting, fresh, place } from './lives-people.ts'
import { topic } from './stack.ts'

/** Takes what waits in a session, and ends its turn so. @returns whether there was something */
export async function work(cloud: Cloud, session: string, how: object = {}): Promise<boolean> {
  const taken = await cloud.ask('POST', `/v1/sessions/${session}/claim`, { leaseSeconds: 7200 })
  if (!taken) return false
  await cloud.ask('POST', `/v1/turns/${taken.turn.id}/end`, { outcome: 'ok', answer: 'Done.', ...how })
  return true
}

const schedule = (cloud: Cloud, more: object) =>
  cloud.ask('POST', '/v1/schedules', { name: 'Review', prompt: 'Look.', every: '1h', ...more })

export async function schedules(cloud: Cloud): Promise<void> {
  await firing(cloud)
  await failing(cloud)
  await nobodyThere(cloud)
  await checked(cloud)
  await cards(cloud)
  await ticks(cloud)
}

async function firing(cloud: Cloud): Promise<void> {
  const ask = cloud.ask.bind(cloud)
  const { agent, session } = await place(cloud)
  const heard = (await ask('POST', '/v1/sessions', { agent, main: false })).id
  const limited = await place(cloud, { budget: { wakesPerDay: 3 } })
  const { id } = await schedule(cloud, {
    session,
    deliver: ['feed:', `sns:${topic}`, `webhook:${cloud.door.address}/heard`, `session:${heard}`],
  })
  await schedule(cloud, { agent })
  await schedule(cloud, { agent: (await place(cloud, { budget: { wakesPerDay: 3 } })).agent })
  const few = await schedule(cloud, { session: limited.session })
  for (let n = 0; n < 2; n++) {
    await ask('POST', `/v1/schedules/${few.id}/run`)
    while (await work(cloud, limited.session));
  }
  const once = await schedule(cloud, { session, every: undefined, at: '2099-11-30T09:00', tz: 'UTC' })
  await ask('POST', '/v1/schedules/preview', { every: '1h' })
  await ask('GET', '/v1/schedules')
  await ask('GET', `/v1/schedules?agent=${agent}`)
  await ask('PATCH', `/v1/schedules/${id}`, { prompt: 'Look again.' })
  await cloud.pass(hour)
  await work(cloud, session)
  await cloud.pass(2 * minute)
  await ask('GET', `/v1/schedules/${id}/runs`)
  await ask('GET', `/v1/schedules/${id}/why`)
  const { data } = await ask('GET', `/v1/schedules/${id}/deliveries`)
  for (const one of data)
    if (one.status === 'failed') await ask('POST', `/v1/schedules/${id}/deliveries/${one.id}/retry`)
  await ask('POST', `/v1/schedules/${id}/pause`)
  await ask('POST', `/v1/schedules/${id}/resume`)
  await ask('POST', `/v1/schedules/${id}/run`)
  await ask('POST', `/v1/schedules/${id}/backfill`, { from: '2026-11-30T00:00:00Z', to: '2026-11-30T03:00:00Z' })
  await cloud.pass(2 * hour)
  await ask('POST', `/v1/sessions/${session}/compact`)
  await ask('DELETE', `/v1/schedules/${once.id}`)
  await cloud.pass(hour)
  await ask('POST', `/v1/sessions/${session}/archive`).catch(() => null)
  await ask('DELETE', `/v1/agents/${agent}`)
}

/** Turns that lapse, that fail again and again, and deliveries that nobody takes. */
async function failing(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  await schedule(cloud, { session, onUnknown: 'retry', every: '10m' })
  await schedule(cloud, { agent, every: '10m', deliver: ['webhook:https://nobody.invalid/x'] })
  for (let n = 0; n < 8; n++) {
    await cloud.pass(10 * minute)
    await work(cloud, session, { outcome: 'failed' })
  }
  await cloud.pass(10 * minute)
  await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
  await cloud.pass(20 * minute)
  const fresh = await schedule(cloud, { agent, every: '10m' })
  await cloud.pass(10 * minute)
  const taken = await cloud.ask('POST', `/v1/agents/${agent}/claim`, {})
  if (taken) await cloud.pass(30 * minute)
  await cloud.ask('DELETE', `/v1/schedules/${fresh.id}`)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** Prompts that wait, and give way to the next; and a wish for a script that no worker hears. */
async function nobodyThere(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const as = await acting(cloud, { agent, session })
  await cloud.ask('POST', `/v1/agents/${agent}/queue`)
  await schedule(cloud, { agent, every: '10m', overlap: 'cancel' })
  await cloud.ask('PATCH', `/v1/sessions/${session}`, { checks: true }, as)
  await schedule(cloud, { session, every: '10m', check: { script: 'checks/never.sh' } })
  await cloud.pass(2 * hour)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** A script that a worker runs, and a tool that is asked, before a schedule fires. */
async function checked(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const as = await acting(cloud, { agent, session })
  await cloud.ask('PATCH', `/v1/sessions/${session}`, { checks: true }, as)
  await looking(cloud, agent, 'calls')
  await schedule(cloud, { session, every: '10m', check: { tool: 'calls' } })
  await schedule(cloud, { session, every: '10m', check: { script: 'checks/new.sh' } })
  for (const exit of [0, 1, 2, 2, 2]) {
    await cloud.pass(10 * minute)
    const taken = await cloud.ask('POST', `/v1/sessions/${session}/claim`, { jobs: 'only' }, as)
    if (taken) await cloud.ask('POST', `/v1/jobs/${taken.job.id}/end`, { exit, output: 'new' }, as)
  }
  // One that nobody answers.
  await cloud.pass(10 * minute)
  await cloud.ask('POST', `/v1/sessions/${session}/claim`, { jobs: 'only' }, as)
  await cloud.pass(hour)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** A tool that reads a document of its owner. */
export async function reading(cloud: Cloud, agent: string, name: string, more: object = {}): Promise<string> {
  const path = fresh('read')
  await cloud.ask('PUT', `/v1/documents/${path}`, { n: 1 })
  await cloud.ask('PUT', `/v1/agents/${agent}/tools/${name}`, {
    description: 'Reads.',
    parameters: { type: 'object' },
    readOnly: true,
    steps: [{ document: { get: path } }],
    ...more,
  })
  return path
}

/** A tool that looks at something outside, with a secret of its owner. */
export async function looking(cloud: Cloud, agent: string, name: string): Promise<void> {
  await cloud.ask('PUT', '/v1/secrets/TOKEN', { value: 'hush' })
  await cloud.ask('PUT', `/v1/agents/${agent}/tools/${name}`, {
    description: 'Looks.',
    parameters: { type: 'object' },
    readOnly: true,
    steps: [{ http: { method: 'GET', url: `${cloud.door.address}/x`, headers: { 'x-token': `\${secrets.TOKEN}` } } }],
  })
}

/** Cards, and what people do with them. */
async function cards(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const as = await acting(cloud, { agent, session })
  const post = (more: object) => cloud.ask('POST', '/v1/feed', { title: fresh('card'), group: 'work', ...more }, as)
  const act = (id: string, action: string) => cloud.ask('POST', `/v1/feed/${id}/actions/${action}`)
  const { id } = await post({ loop: 'calls' })
  await cloud.ask('GET', `/v1/feed/${id}`)
  await post({ loop: 'calls' })
  const sending = await post({ autoSendOn: new Date(Date.now() + 50 * hour).toISOString().slice(0, 10) })
  await act(sending.id, 'stop')
  await act(id, 'dismiss')
  await cloud.ask('GET', '/v1/feed')
  await cloud.ask('GET', '/v1/feed?group=work')
  await cloud.ask('GET', '/v1/feed/groups/work/summary')
}

async function ticks(cloud: Cloud): Promise<void> {
  const agent = (await cloud.ask('POST', '/v1/agents', { name: fresh('scout'), proactive: { tickSeconds: 60 } })).id
  const session = (await cloud.ask('POST', '/v1/sessions', { agent })).id
  await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Go on.' })
  await work(cloud, session)
  await cloud.pass(5 * minute)
  await work(cloud, session, { sleep: { seconds: 60 } })
  await cloud.ask('GET', `/v1/sessions/${session}/ticks`)
  await cloud.pass(5 * minute)
  await cloud.ask('POST', `/v1/sessions/${session}/ticks/park`).catch(() => null)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}
