import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page, schedule } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
  server.on('GET /v1/agents', page({ id: agt, name: 'assistant' })).on('GET /v1/clock', clock)
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const flr = 'flr_01JD0000000000000000000009'
const running = {
  id: flr,
  flow: 'weekly-digest',
  status: 'running',
  step: 1,
  steps: 3,
  reason: null,
  detail: null,
  trace: null,
  createdAt: '2026-03-27T06:40:00.000Z',
}
const failed = {
  ...running,
  status: 'failed',
  step: 2,
  reason: 'step_failed',
  detail: 'step 2 (send): bank.test answered 500',
  trace: 'trc_01JD0000000000000000000008',
}
const at = 'POST /v1/agents/:id/flows/:name/run'

describe('rouse flow run', () => {
  test('S1-20 begins a run, and says where its end will show', async () => {
    server.on(at, { status: 202, body: { flowRun: running } })
    const said = await call('flow', 'run', 'assistant', 'weekly-digest', '--idempotency-key', 'k')
    expect(said).toEqual({
      code: 0,
      stderr: '',
      stdout: `Running weekly-digest: ${flr}. \`rouse flow runs assistant\` shows what became of it.\n`,
    })
    const [made] = server.to(at)
    expect([made?.path, made?.headers['idempotency-key']]).toEqual([`/v1/agents/${agt}/flows/weekly-digest/run`, 'k'])
  })

  test('with --wait follows it to its end, and fails when it does', async () => {
    let looks = 0
    server
      .on(at, { status: 202, body: { flowRun: running } })
      .on('GET /v1/flow-runs/:id', () => ({ body: ++looks < 2 ? { ...running, step: 2 } : failed }))
    const said = await call('flow', 'run', 'assistant', 'weekly-digest', '--wait')
    expect(said).toEqual({
      code: 1,
      stderr: '✗ the run of weekly-digest ended failed\n',
      stdout:
        'weekly-digest: failed, step_failed: step 2 (send): bank.test answered 500. Its trace: trc_01JD0000000000000000000008\n',
    })
    server.on('GET /v1/flow-runs/:id', { body: { ...running, status: 'ok', step: 3, trace: failed.trace } })
    const well = await call('flow', 'run', 'assistant', 'weekly-digest', '--wait')
    expect([well.code, well.stdout]).toEqual([0, `weekly-digest: ok, 3 steps. Its trace: ${failed.trace}\n`])
  })

  test("an agent's key is told to use a person's", async () => {
    server.on(at, refusal(403, 'person_only', "only a person's key may run a flow"))
    const said = await call('flow', 'run', 'assistant', 'weekly-digest')
    expect([said.code, said.stderr]).toEqual([
      1,
      "✗ only a person's key may run a flow (person_only). Use a person's key\n",
    ])
  })
})

describe('rouse flow runs', () => {
  test('shows each with its end, or where it stands', async () => {
    const waits = { ...running, step: null, steps: null }
    server.on('GET /v1/agents/:id/flow-runs', page(waits, running, failed, { ...running, status: 'ok', step: 3 }))
    const { code, stdout } = await call('flow', 'runs', 'assistant')
    expect(code).toBe(0)
    const flat = stdout.replaceAll(/\s+/g, ' ')
    for (const words of ['waits', 'running, step 1 of 3', 'failed, step_failed:', 'step 2 (send)', 'ok, 3 steps'])
      expect(flat).toContain(words)
    expect(flat).toContain('8 min ago')
  })

  test('says when there are none, and asks whose', async () => {
    server.on('GET /v1/agents/:id/flow-runs', page())
    expect((await call('flow', 'runs', '--agent', 'assistant')).stdout).toBe('No runs yet.\n')
    expect(await call('flow', 'runs')).toMatchObject({ code: 2, stderr: expect.stringContaining('expected an agent') })
  })
})

describe('rouse flow schedule', () => {
  beforeEach(() => {
    server.on('POST /v1/schedules', {
      status: 201,
      body: { ...schedule, kind: 'flow', flow: 'weekly-digest', prompt: null },
    })
  })
  const sent = () => server.to('POST /v1/schedules').at(-1)?.body

  test('S1-24 is a schedule without a prompt; --schedule and --cron mean the same', async () => {
    const said = await call(
      'flow',
      'schedule',
      'assistant',
      'weekly-digest',
      '--schedule',
      '0 8 * * 1',
      '--deliver',
      'telegram:123456789',
    )
    expect([said.code, said.stderr]).toEqual([0, ''])
    expect(said.stdout).toContain('flow')
    const body = {
      name: 'weekly-digest',
      flow: 'weekly-digest',
      agent: agt,
      cron: '0 8 * * 1',
      deliver: ['telegram:123456789'],
    }
    expect(sent()).toEqual(body)
    await call(
      'flow',
      'schedule',
      'assistant',
      'weekly-digest',
      '--cron',
      '0 8 * * 1',
      '--deliver',
      'telegram:123456789',
    )
    expect(sent()).toEqual(body)
  })

  test('takes what other schedules take: a zone, an interval, overlap, a name', async () => {
    await call(
      ...['flow', 'schedule', 'assistant', 'weekly-digest', '--every', '1m', '--tz', 'Europe/Amsterdam'],
      ...['--overlap', 'buffer', '--name', 'Digest', '--pause-after-failures', '3', '--max-runs', '5'],
    )
    expect(sent()).toEqual({
      name: 'Digest',
      flow: 'weekly-digest',
      agent: agt,
      every: '1m',
      tz: 'Europe/Amsterdam',
      overlap: 'buffer',
      pauseAfterFailures: 3,
      maxRuns: 5,
    })
  })

  test('both rules at once are an error, and nothing is called', async () => {
    const said = await call('flow', 'schedule', 'assistant', 'x', '--schedule', '0 8 * * 1', '--cron', '0 9 * * 1')
    expect([said.code, server.to('POST /v1/schedules')]).toEqual([2, []])
  })

  test('rouse schedule add and edit take --flow, too', async () => {
    await call('schedule', 'add', 'Digest', '--flow', 'weekly-digest', '--agent', 'assistant', '--every', '1h')
    expect(sent()).toEqual({ name: 'Digest', flow: 'weekly-digest', agent: agt, every: '1h' })
    server.on('PATCH /v1/schedules/:id', { body: { ...schedule, kind: 'flow', flow: 'other', prompt: null } })
    const said = await call('schedule', 'edit', schedule.id, '--flow', 'other')
    expect(server.to('PATCH /v1/schedules/:id')[0]?.body).toEqual({ flow: 'other' })
    expect(said.stdout).toMatch(/flow +other/)
  })
})

describe('rouse flow promote --shadow', () => {
  const shadow = {
    name: 'weekly-digest',
    agent: agt,
    steps: [{ tool: 'fetch', args: {} }],
    needsApproval: ['fetch'],
    from: [],
    createdAt: '2026-03-27T06:40:00.000Z',
    shadow: { agreed: 1, wanted: 3 },
  }

  test('keeps a flow that is none yet, and says what happens next', async () => {
    server.on('POST /v1/agents/:id/flows', { status: 201, body: shadow })
    const said = await call(
      'flow',
      'promote',
      'weekly-digest',
      '--agent',
      'assistant',
      '--from',
      'a,b',
      '--shadow',
      '3',
    )
    expect(said.stdout).toBe(
      'Kept weekly-digest (1 step), which runs nothing yet: the next 3 runs that begin with fetch are compared with it, and a card offers it when all did the same.\n',
    )
    expect(server.to('POST /v1/agents/:id/flows')[0]?.body).toEqual({
      name: 'weekly-digest',
      from: ['a', 'b'],
      shadow: 3,
    })
  })

  test('rouse flow shadows shows how far they are', async () => {
    server.on('GET /v1/agents/:id/flow-shadows', { body: { data: [shadow] } })
    expect((await call('flow', 'shadows', 'assistant')).stdout).toMatch(/weekly-digest +1 +1 of 3/)
    server.on('GET /v1/agents/:id/flow-shadows', { body: { data: [] } })
    expect((await call('flow', 'shadows', 'assistant')).stdout).toMatch(/^None\./)
  })
})
