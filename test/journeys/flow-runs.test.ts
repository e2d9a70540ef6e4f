import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rouse as command } from '../cli/rouse.ts'
import { Folder } from '../worker/folder.ts'
import {
  type Actor,
  actor,
  agent,
  end,
  fresh,
  keyOf,
  letAgentsUseSessions,
  moveBy,
  read,
  runs,
  say,
  turnOf,
} from './actors.ts'
import { anywhere, type Json, onClock, type RouseNode } from './node.ts'
import { Worker } from './worker.ts'

interface Call {
  readonly tool: string
  readonly args: Json
}

/** Two turns that do the same, and the flow that they prove. */
async function promote(rouse: RouseNode, who: Actor, calls: readonly Call[], name = 'weekly-digest'): Promise<Json> {
  const from: string[] = []
  for (let n = 0; n < 2; n++) {
    await say(rouse, who.session.id, 'do it')
    const { turn } = await turnOf(rouse, who.session.id)
    const toolCalls = calls.map((call) => ({ ...call, status: 'ok', result: 'done' }))
    from.push((await end(rouse, turn.id, { toolCalls, tokens: 1_000 })).trace)
  }
  return await rouse.ok('POST', `/v1/agents/${who.agent.id}/flows`, { name, from, approve: true })
}

/** A run, once it is over. */
async function over(rouse: RouseNode, id: string): Promise<Json> {
  for (let n = 0; n < 500; n++) {
    const run = await rouse.ok('GET', `/v1/flow-runs/${id}`)
    if (run.status !== 'running') return run
    await sleep(20)
  }
  throw new Error(`flow run ${id} did not end: ${JSON.stringify(await rouse.ok('GET', `/v1/flow-runs/${id}`))}`)
}

const begin = async (rouse: RouseNode, agentId: string, name = 'weekly-digest'): Promise<Json> =>
  (await rouse.ok('POST', `/v1/agents/${agentId}/flows/${name}/run`)).flowRun

const document = (rouse: RouseNode, path: string) => rouse.call('GET', `/v1/documents/${path}`)

/** Puts its argument into a document: a step whose effect shows. */
const putNote = (rouse: RouseNode, agentId: string, steps: Json = null) =>
  rouse.ok('PUT', `/v1/agents/${agentId}/tools/note`, {
    description: 'Keeps a note.',
    parameters: { type: 'object', properties: { path: { type: 'string' }, text: { type: 'string' } } },
    readOnly: false,
    steps: steps ?? [{ document: { put: `\${args.path}`, body: `\${args.text}` } }],
  })
const note = (path: string, text: string): Call => ({ tool: 'note', args: { path, text } })

anywhere('flows', (rouse) => {
  test('S1-1 a flow does what the turns did, call for call, and nobody is woken', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    const [a, b] = [`${fresh('a')}`, `${fresh('b')}`]
    await promote(rouse, who, [note(a, 'one'), note(b, 'two')])
    const answer = await rouse.call('POST', `/v1/agents/${who.agent.id}/flows/weekly-digest/run`)
    expect([answer.status, answer.body.flowRun.flow]).toEqual([202, 'weekly-digest'])
    const run = await over(rouse, answer.body.flowRun.id)
    expect(run).toMatchObject({ status: 'ok', step: 2, steps: 2, reason: null, agent: who.agent.id })
    expect([(await document(rouse, a)).body, (await document(rouse, b)).body]).toEqual(['one', 'two'])
    expect((await rouse.ok('GET', `/v1/sessions/${who.session.id}`)).waiting).toBe(0)
  })

  test('S1-27 its trace reads like any other', async () => {
    const who = await actor(rouse, { project: 'acme' })
    await putNote(rouse, who.agent.id)
    await promote(rouse, who, [note(fresh('a'), 'one')])
    const { trace } = await over(rouse, (await begin(rouse, who.agent.id)).id)
    const shown = await rouse.ok('GET', `/v1/traces/${trace}`)
    expect(shown).toMatchObject({ source: 'flow', outcome: 'ok', tokens: 0, agent: who.agent.id })
    expect(shown.calls).toMatchObject([{ tool: 'note', status: 'ok', result: 'one' }])
    const { data } = await rouse.ok('GET', `/v1/traces?agent=${who.agent.id}`)
    expect(data.map((of: Json) => of.source)).toEqual(['flow', 'turn', 'turn'])
  })

  test('a call that is repeated under its Idempotency-Key begins one run', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    await promote(rouse, who, [note(fresh('a'), 'one')])
    const path = `/v1/agents/${who.agent.id}/flows/weekly-digest/run`
    const headers = { 'idempotency-key': fresh('key') }
    const [one, two] = [await rouse.ok('POST', path, {}, { headers }), await rouse.ok('POST', path, {}, { headers })]
    expect(two.flowRun.id).toBe(one.flowRun.id)
    await over(rouse, one.flowRun.id)
    expect((await rouse.ok('GET', `/v1/agents/${who.agent.id}/flow-runs`)).data).toHaveLength(1)
  })

  test('only people run flows, and only those who can talk to the agent see the runs', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    await promote(rouse, who, [note(fresh('a'), 'one')])
    const path = `/v1/agents/${who.agent.id}/flows/weekly-digest/run`
    expect((await rouse.call('POST', path, {}, { key: who.key })).body).toMatchObject({
      status: 403,
      code: 'person_only',
    })
    const run = await begin(rouse, who.agent.id)
    await over(rouse, run.id)
    expect((await rouse.call('GET', `/v1/flow-runs/${run.id}`, undefined, { key: who.key })).status).toBe(200)
    const stranger = await keyOf(rouse, (await agent(rouse)).id)
    expect((await rouse.call('GET', `/v1/flow-runs/${run.id}`, undefined, { key: stranger })).status).toBe(404)
    expect((await rouse.call('POST', path.replace('weekly-digest', 'other'))).status).toBe(404)
  })

  test('a tool that was changed since stops the run at its step, and says so', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    await promote(rouse, who, [note(fresh('a'), 'one')])
    await putNote(rouse, who.agent.id, [{ document: { put: 'elsewhere', body: 'x' } }])
    expect(await over(rouse, (await begin(rouse, who.agent.id)).id)).toMatchObject({
      status: 'failed',
      reason: 'tool_changed',
      step: 1,
    })
    expect((await document(rouse, 'elsewhere')).status).toBe(404)
  })
})

anywhere('flows whose steps an attached worker does', (rouse) => {
  let folder: Folder
  const workers: Worker[] = []
  beforeEach(() => {
    folder = new Folder()
  })
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()))
    folder.remove()
  })
  const attach = async (who: Actor) => {
    folder.write(
      'tools.mjs',
      `import { appendFileSync, readFileSync } from 'node:fs'
       export const tools = {
         read: async ({ file }) => readFileSync(file, 'utf8'),
         append: async ({ file, text }, { idempotencyKey }) => {
           appendFileSync(file, text)
           appendFileSync('keys', idempotencyKey + '\\n')
           return text.length
         },
         broken: async () => { throw new Error('the shelf is gone') },
       }`,
    )
    const flags = ['--cwd', folder.dir, '--tools', `${folder.dir}/tools.mjs`]
    workers.push(await Worker.attach(rouse, who.key, [who.session.id, ...flags, '--', 'cat']))
  }

  test('S1-17 relative paths of its steps are those of the folder of its agent', async () => {
    folder.write('in/list.txt', 'bread')
    const who = await actor(rouse)
    await promote(rouse, who, [
      { tool: 'read', args: { file: 'in/list.txt' } },
      { tool: 'append', args: { file: 'out.txt', text: 'milk' } },
      { tool: 'append', args: { file: 'out.txt', text: ' and tea' } },
    ])
    await attach(who)
    const begun = await begin(rouse, who.agent.id)
    const run = await over(rouse, begun.id)
    expect(run).toMatchObject({ status: 'ok', step: 3 })
    expect(folder.read('out.txt')).toBe('milk and tea')
    expect(existsSync('out.txt')).toBe(false)
    const { calls } = await rouse.ok('GET', `/v1/traces/${run.trace}`)
    expect(calls.map((call: Json) => call.result)).toEqual(['bread', 4, 8])
    expect(folder.read('keys')).toBe(`${begun.id}:2\n${begun.id}:3\n`)
  })

  test('a step of Rouse between two of the worker', async () => {
    folder.write('list.txt', 'bread')
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    const path = fresh('note')
    const step = { tool: 'append', args: { file: 'out.txt', text: 'x' } }
    await promote(rouse, who, [step, note(path, 'kept'), step])
    await attach(who)
    expect(await over(rouse, (await begin(rouse, who.agent.id)).id)).toMatchObject({ status: 'ok' })
    expect([folder.read('out.txt'), (await document(rouse, path)).body]).toEqual(['xx', 'kept'])
  })

  test('the first step that fails stops it, with the words of the worker; one that it does not know, too', async () => {
    const who = await actor(rouse)
    await promote(rouse, who, [
      { tool: 'broken', args: {} },
      { tool: 'append', args: { file: 'out.txt', text: 'x' } },
    ])
    await promote(rouse, who, [{ tool: 'nothing', args: {} }], 'unknown')
    await attach(who)
    const run = await over(rouse, (await begin(rouse, who.agent.id)).id)
    expect(run).toMatchObject({ status: 'failed', reason: 'step_failed', step: 1 })
    expect(run.detail).toContain('the shelf is gone')
    expect(existsSync(`${folder.dir}/out.txt`)).toBe(false)
    expect(await over(rouse, (await begin(rouse, who.agent.id, 'unknown')).id)).toMatchObject({
      status: 'failed',
      reason: 'unknown_tool',
    })
  })

  test('without a worker it is blocked, and says what to do', async () => {
    const who = await actor(rouse)
    await promote(rouse, who, [{ tool: 'read', args: { file: 'x' } }])
    const run = await over(rouse, (await begin(rouse, who.agent.id)).id)
    expect(run).toMatchObject({ status: 'blocked', reason: 'no_worker', step: 1 })
    expect(run.detail).toContain('rouse attach --tools')
  })
})

onClock('flows on schedules', '2026-03-02T06:00:00Z', (rouse) => {
  const say = (...argv: string[]) => command(argv, { env: { ROUSE_URL: rouse.url, ROUSE_KEY: rouse.key } })

  test('S1-24 rouse flow schedule makes it recurring, and rouse flow run runs it now', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    const path = fresh('note')
    await promote(rouse, who, [note(path, 'digest')])
    const { name } = who.agent
    const added = await say(
      'flow',
      'schedule',
      name,
      'weekly-digest',
      '--schedule',
      '0 8 * * 1',
      '--tz',
      'Europe/Amsterdam',
      '--deliver',
      `session:${who.session.id}`,
    )
    expect([added.code, added.stderr]).toEqual([0, ''])
    expect(added.stdout).toMatch(/^Added weekly-digest\.\n/)
    expect(added.stdout).toContain('Mon 2026-03-02 08:00 +01:00')
    const id = /sch_\w{26}/.exec(added.stdout)![0]
    expect(await read(rouse, id)).toMatchObject({
      kind: 'flow',
      flow: 'weekly-digest',
      prompt: null,
      session: null,
      cron: '0 8 * * 1',
      overlap: 'skip',
    })
    await rouse.ok('POST', '/v1/clock', { to: '2026-03-09T07:00:00Z' })
    const all = await runs(rouse, id)
    expect(all.map(({ outcome, result, message, turn }: Json) => [outcome, result, message, turn])).toEqual([
      ['fired', 'ok', null, null],
      ['fired', 'ok', null, null],
    ])
    expect(await rouse.ok('GET', `/v1/flow-runs/${all[0].flowRun}`)).toMatchObject({
      status: 'ok',
      schedule: id,
      run: all[0].id,
      trace: all[0].trace,
    })
    expect((await document(rouse, path)).body).toBe('digest')
    const { data } = await rouse.ok('GET', `/v1/sessions/${who.session.id}/messages`)
    expect(data.at(-1)).toMatchObject({ kind: 'note', text: 'Scheduled run: weekly-digest (ok)\n\ndigest' })

    const ran = await say('flow', 'run', name, 'weekly-digest', '--wait')
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^weekly-digest: ok, 1 step\. Its trace: trc_/)])
    const listed = await say('flow', 'runs', name)
    expect(listed.stdout.match(/flr_\w{26}/g)).toHaveLength(3)
  })

  test('S1-26 the previous run still goes: as for any schedule', async () => {
    const who = await actor(rouse)
    await promote(rouse, who, [{ tool: 'host', args: {} }])
    await rouse.ok('PATCH', `/v1/sessions/${who.session.id}`, { checks: true, workerConnected: true })
    const { id } = await rouse.ok('POST', '/v1/schedules', {
      name: 'Digest',
      flow: 'weekly-digest',
      agent: who.agent.id,
      every: '1m',
    })
    await moveBy(rouse, '3m')
    expect((await runs(rouse, id)).map(({ outcome, reason }: Json) => [outcome, reason])).toEqual([
      ['fired', null],
      ['skipped', 'previous_running'],
      ['skipped', 'previous_running'],
    ])
  })

  test('a flow that is removed under its schedule: the run fails, the schedule stays, and its person has the card', async () => {
    const who = await actor(rouse)
    await putNote(rouse, who.agent.id)
    await promote(rouse, who, [note(fresh('a'), 'x')])
    const { id } = await rouse.ok('POST', '/v1/schedules', {
      name: fresh('Digest'),
      flow: 'weekly-digest',
      agent: who.agent.id,
      every: '1h',
    })
    await rouse.ok('DELETE', `/v1/agents/${who.agent.id}/flows/weekly-digest`)
    await moveBy(rouse, '1h')
    expect((await runs(rouse, id)).at(-1)).toMatchObject({ outcome: 'fired', result: 'failed', reason: 'unknown_flow' })
    expect((await read(rouse, id)).status).toBe('active')
    const { data } = await rouse.ok('GET', '/v1/feed')
    const card = data.find((of: Json) => of.schedule === id)
    expect([card.reason, card.actions]).toEqual(['unknown_flow', ['run-now', 'dismiss']])
    expect(card.body).toContain('no flow named "weekly-digest"')
  })
})

onClock('a flow on a trigger', '2026-03-02T08:00:00Z', (rouse) => {
  const note = (path: string): Json => ({
    description: 'Keeps a note.',
    parameters: { type: 'object' },
    readOnly: false,
    steps: [{ document: { put: path, body: 'seen' } }],
  })

  test('it is replayed when what it follows has settled, a minute at least, and cannot feed itself faster', async () => {
    const who = await actor(rouse)
    const path = fresh('loop')
    await rouse.ok('PUT', `/v1/agents/${who.agent.id}/tools/note`, note(path))
    await promote(rouse, who, [{ tool: 'note', args: {} }])
    const on = { document: { path } }
    const made = await rouse.ok('POST', '/v1/triggers', {
      name: 'Loop',
      agent: who.agent.id,
      flow: 'weekly-digest',
      on,
    })
    expect(made).toMatchObject({ kind: 'flow', flow: 'weekly-digest', prompt: null, settle: '1m', session: null })
    await rouse.ok('PUT', `/v1/documents/${path}`, 'changed')
    await moveBy(rouse, '59s')
    expect((await rouse.ok('GET', `/v1/triggers/${made.id}/runs`)).data).toEqual([])
    await moveBy(rouse, '1s')
    const rows = (await rouse.ok('GET', `/v1/triggers/${made.id}/runs`)).data
    expect(rows).toMatchObject([{ trigger: 'event', outcome: 'fired', message: null }])
    await over(rouse, rows[0].flowRun)
    expect((await document(rouse, path)).body).toBe('seen')
    // Its own write is a change like any other: once a minute, and no more often.
    await moveBy(rouse, '5m')
    expect((await rouse.ok('GET', `/v1/triggers/${made.id}/runs`)).data).toHaveLength(6)
    await rouse.ok('DELETE', `/v1/triggers/${made.id}`)
  })

  test('only a person puts a flow on a trigger, with either a flow or a prompt, and a minute to settle', async () => {
    await letAgentsUseSessions(rouse)
    const who = await actor(rouse)
    await promote(rouse, who, [{ tool: 'send', args: {} }])
    const ask = (body: Json, o = {}) =>
      rouse.call(
        'POST',
        '/v1/triggers',
        { name: 'F', agent: who.agent.id, on: { document: { path: 'x' } }, ...body },
        o,
      )
    const answers = await Promise.all([
      ask({ flow: 'weekly-digest' }, who.as),
      ask({ flow: 'weekly-digest', prompt: 'both' }),
      ask({}),
      ask({ flow: 'none' }),
      ask({ flow: 'weekly-digest', settle: '30s' }),
    ])
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [403, 'person_only'],
      ...Array(4).fill([422, 'body_invalid']),
    ])
  })
})
