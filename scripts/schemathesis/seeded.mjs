/**
 * Makes something of each kind, so that addresses lead somewhere, and says where.
 *
 * @param call  `(method, path, body) => answer's JSON`
 * @returns     for each path of openapi.json, by its first part: values of its parameters. What a call deletes is deleted once, and not found after
 */
export async function seeded(call) {
  const post = (path, body) => call('POST', path, body)
  const agent = await post('/v1/agents', { name: 'assistant', proactive: { enabled: true } })
  const scout = await post('/v1/agents', { name: 'scout' })
  const gone = await post('/v1/agents', { name: 'gone' })
  const main = await post('/v1/sessions', { agent: agent.id, title: 'Inbox', main: true })
  const session = await post('/v1/sessions', { agent: agent.id, title: 'Invoices' })
  const goneSession = await post('/v1/sessions', { agent: agent.id, title: 'Gone' })
  const archived = await post('/v1/sessions', { agent: agent.id, title: 'Archive' })
  for (let i = 0; i < 40; i++) await post(`/v1/sessions/${session.id}/messages`, { text: `What is open? ${i}` })
  const rule = { prompt: 'Write the brief.', cron: '0 8 * * 1-5', tz: 'Europe/Amsterdam' }
  const schedule = await post('/v1/schedules', { name: 'Morning brief', session: session.id, ...rule })
  const goneSchedule = await post('/v1/schedules', { name: 'Gone', agent: agent.id, ...rule })
  for (let i = 0; i < 3; i++) await post(`/v1/schedules/${schedule.id}/run`, {})
  const on = { document: { prefix: 'orders/' } }
  const trigger = await post('/v1/triggers', { name: 'New order', agent: agent.id, prompt: 'Look at the order.', on })
  const goneTrigger = await post('/v1/triggers', { name: 'Gone', agent: agent.id, prompt: 'Look.', on })
  const hook = await post('/v1/triggers', { name: 'Hook', agent: agent.id, prompt: 'Look.', on: { webhook: true } })
  const monitor = await post('/v1/monitors', {
    session: session.id,
    note: 'The build is done.',
    watch: { document: { path: 'builds/42' } },
  })
  await call('PUT', '/v1/documents/briefs/today', { status: 'done' })
  await call('PUT', '/v1/documents/briefs/gone', { status: 'done' })
  await call('PUT', '/v1/secrets/rates', { value: 'correct horse battery staple' })
  for (const name of ['get_brief', 'gone'])
    await call('PUT', `/v1/agents/${agent.id}/tools/${name}`, {
      description: 'Reads the brief',
      parameters: { type: 'object', properties: {} },
      readOnly: true,
      steps: [{ document: { get: 'briefs/today' } }],
    })
  const calls = [{ tool: 'get_brief', args: {}, status: 'ok', result: { status: 'done' } }]
  const traces = []
  for (let i = 0; i < 3; i++) traces.push(await post('/v1/traces', { agent: agent.id, outcome: 'ok', calls }))
  const from = traces.map(({ id }) => id).slice(0, 2)
  for (const name of ['daily', 'gone'])
    await post(`/v1/agents/${agent.id}/flows`, { name, from, approve: true, overwrite: true })
  const { flowRun } = await post(`/v1/agents/${agent.id}/flows/daily/run`, {})
  const card = await post('/v1/feed', { title: 'Invoice 1207 is overdue', label: 'money', group: 'Morning' })
  const key = await post(`/v1/agents/${scout.id}/keys`, {})
  const calendar = await post('/v1/calendar-tokens', {})
  const claimed = await post(`/v1/sessions/${session.id}/claim`, {})
  return [
    ['DELETE', '/v1/agents/{id}', { id: gone.id }],
    ['DELETE', '/v1/agents/{id}/tools/{name}', { id: agent.id, name: 'gone' }],
    ['DELETE', '/v1/agents/{id}/flows/{name}', { id: agent.id, name: 'gone' }],
    ['', '/v1/agents/{id}/tools/{name}*', { id: agent.id, name: 'get_brief' }],
    ['', '/v1/agents/{id}/flows/{name}*', { id: agent.id, name: 'daily' }],
    ['', '/v1/agents/{id}*', { id: agent.id }],
    ['DELETE', '/v1/sessions/{id}', { id: goneSession.id }],
    ['POST', '/v1/sessions/{id}/archive', { id: archived.id }],
    ['POST', '/v1/sessions/{id}/compact', { id: archived.id }],
    ['', '/v1/sessions/{id}/ticks*', { id: main.id }],
    ['', '/v1/sessions/{id}*', { id: session.id }],
    ['', '/v1/turns/{id}*', { id: claimed.turn.id }],
    ['DELETE', '/v1/schedules/{id}', { id: goneSchedule.id }],
    ['', '/v1/schedules/{id}*', { id: schedule.id }],
    ['DELETE', '/v1/triggers/{id}', { id: goneTrigger.id }],
    ['', '/v1/triggers/{id}*', { id: trigger.id }],
    ['', '/v1/monitors/{id}', { id: monitor.id }],
    ['DELETE', '/v1/documents/{path}', { path: 'briefs/gone' }],
    ['', '/v1/documents/{path}', { path: 'briefs/today' }],
    ['', '/v1/secrets/{name}', { name: 'rates' }],
    ['', '/v1/traces/{id}', { id: traces[0].id }],
    ['', '/v1/flow-runs/{id}', { id: flowRun.id }],
    ['', '/v1/feed/{id}*', { id: card.id }],
    ['', '/v1/feed/groups/{group}*', { group: 'Morning' }],
    ['', '/v1/keys/{id}*', { id: key.id }],
    ['', '/v1/calendar-tokens/{id}', { id: calendar.id }],
    ['', '/v1/hooks/{token}', { token: hook.url.split('/').at(-1) }],
    ['', '/v1/calendar.ics', { token: new URL(calendar.url).searchParams.get('token') }],
  ]
}
