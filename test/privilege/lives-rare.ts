import { type Cloud, hour, minute } from './cloud.ts'
import { acting, fresh, place } from './lives-people.ts'
import { looking, work } from './lives-schedules.ts'

/** What happens seldom and must be allowed all the same. */
export async function rare(cloud: Cloud): Promise<void> {
  await prompts(cloud)
  await cutOff(cloud)
  await flowsInEachOthersWay(cloud)
  await hostSteps(cloud)
  await signedHook(cloud)
  await expiring(cloud)
}

/** An agent writes to another of its sessions, until somebody has to be asked. */
async function prompts(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const other = (await cloud.ask('POST', '/v1/sessions', { agent, main: false, project: 'acme' })).id
  const as = await acting(cloud, { agent, session })
  await cloud.ask('PATCH', '/v1/settings', { agentSessions: true })
  await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
  for (let n = 0; n < 6; n++)
    await cloud.ask('POST', `/v1/sessions/${other}/messages`, { text: 'And you.' }, as).catch(() => null)
  await cloud.ask('POST', '/v1/schedules', { name: 'Ask', prompt: 'Ask.', session: other, every: '1h' }, as)
  await cloud.pass(3 * hour)
  while (await work(cloud, other));
  const { data } = await cloud.ask('GET', '/v1/feed')
  for (const card of data)
    if (card.actions.includes('allow')) await cloud.ask('POST', `/v1/feed/${card.id}/actions/allow`)
  await cloud.ask('GET', `/v1/traces?agent=${agent}&project=acme`)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** The api function dies while it closes a session: whoever finds that goes on. */
async function cutOff(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  await cloud.ask('POST', '/v1/schedules', { name: 'Review', prompt: 'Look.', session, every: '1h' })
  const watch = { document: { path: fresh('never') } }
  await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch })
  for (let n = 0; n < 3; n++) await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
  // Its turn runs, and lapses: that alarm finds what is left.
  await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
  cloud.door.refuses = (operation, input) => operation === 'TransactWriteItems' && /"(W|N)#/.test(JSON.stringify(input))
  await cloud.ask('POST', `/v1/sessions/${session}/archive`).catch(() => null)
  cloud.door.refuses = null
  await cloud.pass(hour)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

const flowOf = async (cloud: Cloud, agent: string, name: string, calls: readonly object[]): Promise<void> => {
  const from: string[] = []
  for (let n = 0; n < 2; n++) from.push((await cloud.ask('POST', '/v1/traces', { agent, outcome: 'ok', calls })).id)
  await cloud.ask('POST', `/v1/agents/${agent}/flows`, { name, from, approve: true })
}

/** A run is due while the one before it still waits for the agent's machine. */
async function flowsInEachOthersWay(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  await connected(cloud, { agent, session })
  const path = fresh('flow')
  await flowOf(cloud, agent, 'shell', [{ tool: 'shell', args: { cmd: 'ls' }, status: 'ok', result: 'x' }])
  const flow = (more: object) => cloud.ask('POST', '/v1/schedules', { name: 'Flow', flow: 'shell', agent, ...more })
  await flow({ every: '10m', overlap: 'buffer' })
  await flow({ every: '10m', overlap: 'cancel' })
  const paused = await flow({ every: '10m', overlap: 'buffer' })
  const on = { document: { path } }
  await cloud.ask('POST', '/v1/triggers', { name: 'Flow', flow: 'shell', agent, on, settle: '1m' })
  await cloud.ask('POST', '/v1/triggers', {
    name: 'Flow too',
    flow: 'shell',
    agent,
    on,
    settle: '1m',
  })
  for (let n = 0; n < 4; n++) {
    await cloud.ask('PUT', `/v1/documents/${path}`, { n })
    await cloud.pass(10 * minute)
  }
  await cloud.ask('DELETE', `/v1/schedules/${paused.id}`)
  await cloud.pass(2 * hour)
  await cloud.ask('POST', `/v1/sessions/${session}/archive`)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** A worker of the agent says that it is there. */
async function connected(cloud: Cloud, at: { readonly agent: string; readonly session: string }) {
  const as = await acting(cloud, at)
  await cloud.ask('PATCH', `/v1/sessions/${at.session}`, { checks: true, workerConnected: true }, as)
  return as
}

/** Steps that the agent's own machine does. */
async function hostSteps(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const as = await connected(cloud, { agent, session })
  await flowOf(cloud, agent, 'shell', [{ tool: 'shell', args: { cmd: 'ls' }, status: 'ok', result: 'x' }])
  await cloud.ask('POST', '/v1/schedules', { name: 'Flow', flow: 'shell', agent, every: '20m', overlap: 'buffer' })
  for (let n = 0; n < 4; n++) {
    await cloud.ask('POST', `/v1/agents/${agent}/flows/shell/run`)
    await cloud.pass(2 * minute)
    const taken = await cloud.ask('POST', `/v1/agents/${agent}/claim`, { jobs: 'only' }, as)
    if (n === 0) await cloud.pass(hour)
    else if (taken?.job) await cloud.ask('POST', `/v1/jobs/${taken.job.id}/end`, { exit: 0, output: 'x' }, as)
    await cloud.pass(20 * minute)
  }
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

async function signedHook(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const on = { webhook: { signed: true } }
  const { url, id } = await cloud.ask('POST', '/v1/triggers', { name: 'Hook', prompt: 'Look.', session, on })
  const said = await cloud.ask('POST', new URL(url).pathname, {}, { authorization: '' }).catch((error) => String(error))
  if (!said.includes('401')) throw new Error(`a call without a signature was not turned away: ${said}`)
  await cloud.ask('DELETE', `/v1/triggers/${id}`)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** Monitors that nobody meets in time. */
async function expiring(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  await looking(cloud, agent, 'look')
  const monitor = (watch: object) =>
    cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch, expiresIn: '1h', when: 'false' })
  await monitor({ document: { path: fresh('never') } })
  await monitor({ tool: { name: 'look', every: '5m' } })
  await cloud.pass(2 * hour)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** Stored items that cannot be understood are set aside, each by whoever meets it. */
export async function spoilt(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  const path = fresh('spoilt')
  const { id } = await cloud.ask('POST', '/v1/schedules', { name: 'Review', prompt: 'Look.', session, every: '10m' })
  const timed = await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch: { time: { in: '10m' } } })
  const on = { document: { path } }
  const watching = await cloud.ask('POST', '/v1/monitors', { session, note: 'Tell.', watch: on })
  const trigger = await cloud.ask('POST', '/v1/triggers', { name: 'T', prompt: 'Look.', session, on, settle: '0s' })
  await cloud.ask('POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' })
  await cloud.ask('POST', `/v1/sessions/${session}/claim`, {})
  await looking(cloud, agent, 'look')
  const looks = await cloud.ask('POST', '/v1/monitors', {
    session,
    note: 'Tell.',
    watch: { tool: { name: 'look', every: '5m' } },
  })
  cloud.isSpoilt = true
  for (const one of [looks.id, timed.id]) cloud.spoil(one, 'all but numbers')
  // Their session can still be understood then.
  await cloud.pass(20 * minute)
  for (const one of [id, watching.id, trigger.id, session]) cloud.spoil(one)
  await cloud.ask('PUT', `/v1/documents/${path}`, { n: 1 })
  await cloud.pass(20 * minute)
  await flowOf(cloud, agent, 'shell', [{ tool: 'shell', args: { cmd: 'ls' }, status: 'ok', result: 'x' }])
  const { flowRun } = await cloud.ask('POST', `/v1/agents/${agent}/flows/shell/run`)
  cloud.spoil(flowRun.id)
  await cloud.pass(20 * minute)
}
