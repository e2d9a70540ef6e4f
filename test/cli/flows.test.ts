import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, page } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
  server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const flow = {
  name: 'weekly-digest',
  agent: agt,
  steps: [
    { tool: 'fetch', args: { url: 'https://example.com' }, hash: null },
    { tool: 'send', args: { to: 'team' }, hash: null },
  ],
  needsApproval: [] as string[],
  from: ['trc_a', 'trc_b'],
  createdAt: '2026-11-02T08:00:05.000Z',
}

describe('rouse flow', () => {
  test('S1-4 promotes the named traces, ids with commas between them', async () => {
    server.on('POST /v1/agents/:id/flows', { status: 201, body: flow })
    const said = await call('flow', 'promote', 'weekly-digest', '--agent', 'assistant', '--from', 'trc_a,trc_b')
    expect(said).toEqual({ code: 0, stderr: '', stdout: 'Promoted weekly-digest: 2 steps, no model call.\n' })
    const [made] = server.to('POST /v1/agents/:id/flows')
    expect([made?.path, made?.body]).toEqual([
      `/v1/agents/${agt}/flows`,
      { name: 'weekly-digest', from: ['trc_a', 'trc_b'] },
    ])
  })

  test('promote takes --from again and again, finds the agent by the first trace, and passes the rest on', async () => {
    server
      .on('GET /v1/traces/:id', { body: { id: 'trc_a', agent: agt } })
      .on('POST /v1/agents/:id/flows', { status: 201, body: { ...flow, needsApproval: ['send'] } })
    const said = await call(
      'flow',
      'promote',
      'd',
      '--from',
      'trc_a',
      '--from',
      'trc_b, trc_c',
      '--overwrite',
      '--approve',
    )
    expect(said.stdout).toContain('may not call unasked: send')
    expect(server.to('POST /v1/agents/:id/flows')[0]?.body).toEqual({
      name: 'd',
      from: ['trc_a', 'trc_b', 'trc_c'],
      overwrite: true,
      approve: true,
    })
    expect((await call('flow', 'promote', 'd', '--from', ',')).code).toBe(2)
    expect((await call('flow', 'promote', 'd')).code).toBe(2)
  })

  test('S1-10 a refusal stands there word for word, behind a cross', async () => {
    const words =
      "could not promote: those traces didn't make the exact same tool calls, in the same order, with the same arguments - flows only replay identical sequences"
    server.on('POST /v1/agents/:id/flows', refusal(422, 'flow_traces_differ', `${words}: trace trc_b differs`))
    const said = await call('flow', 'promote', 'd', '--agent', agt, '--from', 'trc_a,trc_b')
    expect([said.code, said.stdout]).toEqual([1, ''])
    expect(said.stderr).toBe(`✗ ${words}: trace trc_b differs (flow_traces_differ)\n`)
  })

  test('S1-18 lists all flows of an agent', async () => {
    server.on('GET /v1/agents/:id/flows', page({ ...flow, needsApproval: ['send'] }))
    for (const argv of [['--agent', 'assistant'], ['assistant']]) {
      const said = await call('flow', 'list', ...argv)
      expect(said.stdout.split('\n')[1]).toBe('weekly-digest  2      2026-11-02 08:00Z  send')
    }
    expect((await call('flow', 'list')).code).toBe(2)
  })

  test('S1-19 shows the exact steps that it replays', async () => {
    server.on('GET /v1/agents/:id/flows/weekly-digest', { body: flow })
    const said = await call('flow', 'show', 'assistant', 'weekly-digest')
    expect(said.stdout.split('\n').slice(-3, -1)).toEqual([
      '1     fetch  {"url":"https://example.com"}',
      '2     send   {"to":"team"}',
    ])
  })

  test('S1-21 removes a flow', async () => {
    server.on('DELETE /v1/agents/:id/flows/weekly-digest', { status: 204 })
    for (const word of ['remove', 'rm'])
      expect((await call('flow', word, 'assistant', 'weekly-digest')).stdout).toBe('Removed weekly-digest.\n')
  })

  test('suggest shows what was done again and again, what it cost and how to promote it', async () => {
    const suggestion = { count: 3, tokens: 12_000, usd: 0.5, traces: ['trc_a', 'trc_b', 'trc_c'], steps: flow.steps }
    server.on('GET /v1/agents/:id/flow-suggestions', { body: { data: [suggestion] } })
    const said = await call('flow', 'suggest', 'assistant')
    expect(said.stdout).toContain('3 traces did the same, for 12,000 tokens and 0.50 USD:')
    expect(said.stdout).toContain(`rouse flow promote <name> --agent ${agt} --from trc_a,trc_b`)
    server.on('GET /v1/agents/:id/flow-suggestions', { body: { data: [] } })
    expect((await call('flow', 'suggest', '--agent', 'assistant')).stdout).toMatch(/^Nothing yet/)
  })
})
