import { type Cloud, hour, minute } from './cloud.ts'
import { acting, fresh, place } from './lives-people.ts'
import { looking, work } from './lives-schedules.ts'

export async function triggersAndMonitors(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  // Whoever has limits of their own has a day, which is one of their zone.
  await cloud.ask('PATCH', '/v1/budgets', { wakesPerDay: 1000 })
  const path = fresh('builds')
  const monitor = (watch: object, more: object = {}) =>
    cloud.ask('POST', '/v1/monitors', { session, note: 'Tell them.', watch, ...more })
  await monitor({ time: { in: '1h' } })
  await monitor({ document: { path } })
  await monitor({ document: { path } }, { when: 'doc.n > 2' })
  const gone = await monitor({ document: { path } })
  await looking(cloud, agent, 'look')
  await monitor({ tool: { name: 'look', every: '5m' } })
  await cloud.ask('GET', '/v1/monitors')
  await cloud.ask('GET', `/v1/monitors/${gone.id}`)
  await cloud.ask('DELETE', `/v1/monitors/${gone.id}`)
  const trigger = (on: object, more: object = {}) =>
    cloud.ask('POST', '/v1/triggers', { name: 'Builds', prompt: 'Look.', session, on, ...more })
  const followed = await trigger({ document: { prefix: 'builds' } }, { settle: '0s' })
  await trigger({ document: { path } }, { settle: '2m' })
  await trigger({ document: { path } }, { session: undefined, agent })
  const hook = await trigger({ webhook: true })
  await cloud.ask('POST', new URL(hook.url).pathname, { ref: 'main' }, { authorization: '' })
  await cloud.ask('GET', '/v1/triggers')
  await othersOfTheAgent(cloud, { agent, session }, path)
  for (let n = 1; n < 4; n++) {
    await cloud.ask('PUT', `/v1/documents/${path}`, { n })
    await cloud.pass(3 * minute)
    while (await work(cloud, session));
  }
  await cloud.ask('PATCH', `/v1/triggers/${followed.id}`, { prompt: 'Look again.' })
  await cloud.ask('POST', `/v1/triggers/${followed.id}/run`)
  await cloud.ask('GET', `/v1/triggers/${followed.id}/runs`)
  await cloud.ask('GET', `/v1/triggers/${followed.id}/why`)
  await cloud.pass(2 * hour)
  await cloud.ask('DELETE', `/v1/triggers/${followed.id}`)
  await cloud.ask('DELETE', `/v1/documents/${path}`)
  await cloud.settle()
  await cloud.ask('POST', `/v1/sessions/${session}/archive`)
  await cloud.ask('DELETE', `/v1/agents/${agent}`)
}

/** A trigger that waits long, one of an agent in another of its sessions, and one whose agent has left. */
async function othersOfTheAgent(
  cloud: Cloud,
  { agent, session }: { readonly agent: string; readonly session: string },
  path: string,
): Promise<void> {
  const other = async (): Promise<string> => (await cloud.ask('POST', '/v1/sessions', { agent, main: false })).id
  const trigger = (into: string, settle: string, as = {}) => {
    const on = { document: { path } }
    return cloud.ask('POST', '/v1/triggers', { name: 'Builds', prompt: 'Look.', session: into, on, settle }, as)
  }
  await cloud.ask('PATCH', '/v1/settings', { agentSessions: true })
  await trigger(await other(), '1h')
  await trigger(await other(), '0s', await acting(cloud, { agent, session }))
  const left = await other()
  await trigger(left, '0s')
  await cloud.ask('POST', `/v1/sessions/${left}/leave`)
}
