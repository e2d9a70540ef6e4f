import { type Cloud, hour, minute } from './cloud.ts'
import { fresh, place } from './lives-people.ts'
import { reading, work } from './lives-schedules.ts'
import { called } from './stack.ts'

export async function tools(cloud: Cloud): Promise<void> {
  const { agent } = await place(cloud)
  const ask = cloud.ask.bind(cloud)
  await reading(cloud, agent, 'look')
  await ask('PUT', '/v1/secrets/TOKEN', { value: 'hush' })
  await ask('PUT', `/v1/agents/${agent}/tools/start`, {
    description: 'Starts.',
    parameters: { type: 'object' },
    readOnly: false,
    steps: [{ lambda: { arn: called } }],
  })
  await ask('PUT', `/v1/agents/${agent}/tools/send`, {
    description: 'Sends.',
    parameters: { type: 'object' },
    readOnly: false,
    steps: [{ http: { method: 'POST', url: `${cloud.door.address}/x`, headers: { 'x-token': `\${secrets.TOKEN}` } } }],
  })
  await ask('GET', `/v1/agents/${agent}/tools`)
  await ask('GET', `/v1/agents/${agent}/tools/look`)
  for (const name of ['look', 'start', 'send'])
    await ask('POST', `/v1/agents/${agent}/tools/${name}/call`, { args: {} })
  await ask('DELETE', `/v1/agents/${agent}/tools/look`)
  await ask('DELETE', '/v1/secrets/TOKEN')
  await ask('DELETE', `/v1/agents/${agent}`)
}

export async function flows(cloud: Cloud): Promise<void> {
  const { agent, session } = await place(cloud)
  // Whoever has limits of their own has a day, which is one of their zone.
  await cloud.ask('PATCH', '/v1/budgets', { wakesPerDay: 1000 })
  const ask = cloud.ask.bind(cloud)
  const path = fresh('kept')
  // What the flow writes over: a document of several parts once, and one that was deleted.
  await ask('PUT', `/v1/documents/${path}`, 'x'.repeat(290_000))
  await ask('PUT', '/v1/secrets/TOKEN', { value: 'hush' })
  const tool = (name: string, step: object) =>
    ask('PUT', `/v1/agents/${agent}/tools/${name}`, {
      description: 'A step.',
      parameters: { type: 'object' },
      readOnly: false,
      steps: [step],
    })
  await tool('note', { document: { put: path, body: `\${args.text}` } })
  await tool('start', { lambda: { arn: called } })
  await tool('send', {
    http: { method: 'POST', url: `${cloud.door.address}/x`, headers: { 'x-token': `\${secrets.TOKEN}` } },
  })
  const calls = [
    { tool: 'note', args: { text: 'one' }, status: 'ok' },
    { tool: 'start', args: {}, status: 'ok' },
    { tool: 'send', args: {}, status: 'ok' },
  ]
  const from: string[] = []
  for (let n = 0; n < 2; n++) {
    await ask('POST', `/v1/sessions/${session}/messages`, { text: 'Do it.' })
    const { turn } = await ask('POST', `/v1/sessions/${session}/claim`, {})
    from.push(
      (await ask('POST', `/v1/turns/${turn.id}/end`, { outcome: 'ok', answer: 'Done.', toolCalls: calls })).trace,
    )
  }
  await ask('GET', `/v1/agents/${agent}/flow-suggestions`)
  await ask('POST', `/v1/agents/${agent}/flows`, { name: 'notes', from })
  await ask('POST', `/v1/agents/${agent}/flows`, { name: 'shopping', from, approve: true })
  await ask('GET', `/v1/agents/${agent}/flows`)
  await ask('GET', `/v1/agents/${agent}/flows/shopping`)
  await ask('POST', `/v1/agents/${agent}/flows/shopping/run`)
  await cloud.pass(2 * minute)
  await ask('DELETE', `/v1/documents/${path}`)
  await ask('POST', `/v1/agents/${agent}/flows/shopping/run`)
  await cloud.pass(2 * minute)
  const { data } = await ask('GET', `/v1/agents/${agent}/flow-runs`)
  await ask('GET', `/v1/flow-runs/${data[0].id}`)
  await ask('GET', `/v1/agents/${agent}/flow-shadows`)
  await ask('POST', '/v1/schedules', { name: 'Shop', flow: 'shopping', agent, every: '1h', deliver: ['feed:'] })
  await cloud.pass(hour + 2 * minute)
  while (await work(cloud, session));
  await ask('DELETE', `/v1/agents/${agent}/flows/shopping`)
  await cloud.pass(hour + 2 * minute)
  await ask('DELETE', `/v1/agents/${agent}`)
}
