import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page, schedule, ses, session } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const nowhere = 'http://127.0.0.1:1'

function folderWith(credentials: unknown): string {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-'))
  writeFileSync(join(dir, 'credentials.json'), JSON.stringify(credentials))
  return dir
}

describe('who calls', () => {
  beforeEach(() => {
    server.on('GET /v1/schedules', page())
  })
  const authorization = () => server.to('GET /v1/schedules').at(-1)?.headers.authorization

  test('S2-56 people and agents use the same command, each with its own key', async () => {
    await rouse(['schedule', 'list'], { env: { ROUSE_URL: server.url, ROUSE_KEY: 'of-a-person' } })
    expect(authorization()).toBe('Bearer of-a-person')
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'of-an-agent', ROUSE_SESSION: ses, ROUSE_TURN: 'trn_1' }
    await rouse(['schedule', 'list'], { env })
    expect(authorization()).toBe('Bearer of-an-agent')
    const { headers } = server.to('GET /v1/schedules')[1]!
    expect(headers).toMatchObject({ 'x-rouse-session': ses, 'x-rouse-turn': 'trn_1' })
    expect(server.to('GET /v1/schedules')[0]?.headers).not.toHaveProperty('x-rouse-session')
  })

  test('a flag goes before the environment, the environment before the stored credentials', async () => {
    const dir = folderWith({ url: server.url, key: 'stored' })
    await rouse(['schedule', 'list', '--data', dir], { env: {} })
    expect(authorization()).toBe('Bearer stored')
    await rouse(['schedule', 'list'], { env: { ROUSE_DATA: dir, ROUSE_KEY: 'named' } })
    expect(authorization()).toBe('Bearer named')
    await rouse(['schedule', 'list', '--key', 'flagged', '--url', server.url], {
      env: { ROUSE_URL: nowhere, ROUSE_KEY: 'named' },
    })
    expect(authorization()).toBe('Bearer flagged')
  })

  test('a stored key goes to its own Rouse or another port of this machine, never elsewhere', async () => {
    const dir = folderWith({ url: 'http://127.0.0.1:4750', key: 'stored' })
    await rouse(['schedule', 'list', '--data', dir, '--url', server.url], { env: {} })
    expect(authorization()).toBe('Bearer stored')
    const said = await rouse(['schedule', 'list', '--data', dir, '--url', 'https://rouse.example'], { env: {} })
    expect(said).toMatchObject({ code: 2 })
    expect(said.stderr).toContain('is for http://127.0.0.1:4750, not for https://rouse.example')
    expect(said.stderr).not.toContain('stored')
  })

  test('a key that no header can hold is refused without being shown', async () => {
    const said = await rouse(['schedule', 'list'], { env: { ROUSE_URL: server.url, ROUSE_KEY: 'secret\nkey' } })
    expect(said).toMatchObject({ code: 2 })
    expect(said.stderr).not.toContain('secret')
  })
})

describe('what went wrong', () => {
  test('a refusal exits with 1 and says what, which code, what next, and lists the fields', async () => {
    const errors = [{ path: 'name', message: 'expected 1 to 120 characters, got 0' }]
    server.on('POST /v1/schedules', refusal(422, 'body_invalid', 'the body does not fit', { errors }))
    const said = await call('schedule', 'add', '', '--prompt', 'x')
    expect(said).toMatchObject({ code: 1, stdout: '' })
    expect(said.stderr).toBe('✗ the body does not fit (body_invalid)\n  name: expected 1 to 120 characters, got 0\n')
  })

  test('with --json the refusal is on standard output as it came', async () => {
    server.on('GET /v1/schedules', refusal(401, 'unauthorized', 'this key does not hold'))
    const said = await call('schedule', 'list', '--json')
    expect(said.code).toBe(1)
    expect(JSON.parse(said.stdout)).toMatchObject({ code: 'unauthorized', status: 401 })
    expect(said.stderr).toContain('Check --key, ROUSE_KEY')
  })

  test('an approval that is needed names the card', async () => {
    server.on(
      `POST /v1/sessions/${ses}/messages`,
      refusal(403, 'approval_needed', '30 prompts are sent', { card: 'crd_1' }),
    )
    expect((await call('send', ses, 'hello')).stderr).toContain('A person has to allow card crd_1')
  })

  test('no Rouse there exits with 3 and says how to start one', async () => {
    const absent = await new FakeRouse().up()
    await absent.down()
    const said = await rouse(['schedule', 'list'], { url: absent.url })
    expect(said).toMatchObject({ code: 3, stdout: '' })
    expect(said.stderr).toMatch(
      /^✗ no answer from http:\/\/127\.0\.0\.1:\d+: nothing listens there\. .*`rouse serve`, or set ROUSE_URL/,
    )
    const unset = await rouse(['schedule', 'list'], { env: { ROUSE_DATA: '/nowhere' } })
    expect(unset).toMatchObject({ code: 3 })
    expect(unset.stderr).toContain('`npm start`')
  })

  test('another program on that port exits with 3 when it answers, with 1 when it refuses', async () => {
    server.on('GET /v1/settings', { body: '<html>' })
    expect(await call('settings')).toMatchObject({ code: 3 })
    server.on('GET /v1/settings', { status: 502, body: '<html>' })
    expect(await call('settings')).toMatchObject({ code: 1, stderr: expect.stringContaining('(http_502)') })
    server.on('GET /v1/settings', { status: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect(await call('settings')).toMatchObject({ code: 3 })
  })

  test.each([
    [['schedul'], 'Did you mean schedule?'],
    [['schedule', 'ad'], 'Did you mean add?'],
    [['schedule', 'add', 'x', '--promt', 'y'], 'Did you mean --prompt?'],
    [['schedule', 'add'], "missing required argument 'name'"],
    [['schedule', 'add', 'x', '--max-runs', 'many'], 'Expected a whole number'],
    [['schedule', 'pause', 'sch_1', 'sch_2'], 'too many arguments'],
    [['settings', '--agent-sessions', 'yes'], 'Expected on or off'],
    [['serve', '--port', '70000'], 'Expected a port'],
    [['clock', '--down'], '--down says how to move'],
    [['attach', 'ses_1'], 'expected a command after --'],
    [['attach', '--agent', 'x', 'ses_1', '--', 'cat'], 'expected a session or --agent, got both'],
    [['attach', 'ses_1', '--lease', '5', '--', 'cat'], 'Expected 30 to 7200 seconds'],
    [['attach', 'ses_1', '--cwd', '/nowhere', '--', 'cat'], 'is not a folder'],
    [['schedule'], 'Usage: rouse schedule'],
    [[], 'Usage: rouse'],
  ])('wrong usage exits with 2 and calls nothing: %j', async (argv, words) => {
    const said = await call(...argv)
    expect(said).toMatchObject({ code: 2, stdout: '' })
    expect(said.stderr).toContain(words)
    expect(server.calls).toEqual([])
  })
})

describe('what is printed', () => {
  test('--json prints the answer as is, and null for an answer without a body', async () => {
    server.on('GET /v1/schedules', page(schedule)).on('DELETE /v1/schedules/:id', { status: 204 })
    expect(JSON.parse((await call('schedule', 'list', '--json')).stdout)).toEqual(page(schedule).body)
    expect((await call('schedule', 'remove', 'sch_1', '--json')).stdout).toBe('null\n')
  })

  test('a pipe gets no escapes, a terminal gets a little weight, NO_COLOR takes it away', async () => {
    server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'k' }
    expect((await rouse(['agent', 'list'], { env })).stdout).not.toContain('\u001b')
    expect((await rouse(['agent', 'list'], { env, columns: 100 })).stdout).toContain('\u001b[2m')
    expect((await rouse(['agent', 'list'], { env: { ...env, NO_COLOR: '1' }, columns: 100 })).stdout).not.toContain(
      '\u001b',
    )
  })

  test("other people's text cannot steer the terminal", async () => {
    const text = 'red \u001b[31m, cleared \u001b[2J, titled \u001b]0;x\u0007, turned \u202e, back\rhome\nnext line'
    server.on(
      `GET /v1/sessions/${ses}/messages`,
      page({ id: 'msg_1', kind: 'user', text, status: 'waiting', replyTo: null, at: clock.body.now }),
    )
    const { stdout } = await call('inbox', ses)
    expect(stdout).toContain('  red [31m, cleared [2J, titled ]0;x, turned , backhome\n  next line\n')
  })

  test('an id cannot leave its place in the path', async () => {
    await call('session', 'show', '../agents?x=1')
    expect(server.calls.map(({ path }) => path)).toContain('/v1/sessions/../agents?x=1')
  })

  test.each([
    ['--help', 'Exit codes'],
    ['schedule add --help', '$ rouse schedule add "Morning brief"'],
    ['attach --help', '$ rouse attach --agent assistant -- claude -p'],
    ['help schedule', 'Usage: rouse schedule'],
  ])('rouse %s exits with 0 and shows an example or the commands', async (argv, words) => {
    const said = await rouse(argv.split(' '), { env: {} })
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout).toContain(words)
  })

  test('the version is that of the package', async () => {
    expect((await rouse(['--version'], { env: {} })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('agents, people, sessions, settings, the clock', () => {
  test('an agent is added, changed, given a key, and removed', async () => {
    server.on('POST /v1/agents', { status: 201, body: { id: agt, name: 'assistant' } })
    server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
    server.on(`GET /v1/agents/${agt}`, {
      body: { id: agt, name: 'assistant', proactive: { enabled: true, tickSeconds: 300 }, budget: null },
    })
    server.on(`PATCH /v1/agents/${agt}`, { body: { id: agt, name: 'assistant' } })
    server.on(`POST /v1/agents/${agt}/keys`, { status: 201, body: { id: 'key_1', key: 'rk_secret' } })
    server.on('DELETE /v1/keys/key_1', { status: 204 }).on(`DELETE /v1/agents/${agt}`, { status: 204 })
    expect((await call('agent', 'add', 'assistant', '--team', '--share', 'per_1', '--auto-approve', 'mail')).code).toBe(
      0,
    )
    expect(server.to('POST /v1/agents')[0]?.body).toEqual({
      name: 'assistant',
      team: true,
      sharedWith: ['per_1'],
      autoApprove: ['mail'],
    })
    expect((await call('agent', 'show', 'assistant')).stdout).toContain('enabled: true, tickSeconds: 300')
    await call('agent', 'edit', 'assistant', '--proactive', 'off', '--no-team')
    expect(server.to(`PATCH /v1/agents/${agt}`)[0]?.body).toEqual({ team: false, proactive: { enabled: false } })
    expect((await call('agent', 'key', 'assistant')).stdout).toContain('rk_secret')
    expect((await call('agent', 'revoke-key', 'key_1')).code).toBe(0)
    expect((await call('agent', 'remove', agt)).stdout).toBe(`Removed ${agt}.\n`)
  })

  test('a person is added and their key shown', async () => {
    server.on('POST /v1/people', { status: 201, body: { id: 'per_1', name: 'colleague', key: 'rk_person' } })
    expect((await call('person', 'add', 'colleague', '--tz', 'Europe/Amsterdam', '--admin')).stdout).toContain(
      'rk_person',
    )
    expect(server.to('POST /v1/people')[0]?.body).toEqual({ name: 'colleague', tz: 'Europe/Amsterdam', admin: true })
  })

  test('a session is begun, listed, changed, and left', async () => {
    const child = { ...session, id: `${ses.slice(0, -1)}9`, main: false, title: 'Child' }
    server.on('POST /v1/sessions', { status: 201, body: session }).on('GET /v1/sessions', page(session, child))
    server.on('GET /v1/agents', page({ id: agt, name: 'assistant' }))
    server.on(`PATCH /v1/sessions/${ses}`, { body: { ...session, mode: 'plan' } })
    for (const verb of ['archive', 'leave', 'join', 'compact', 'fork'])
      server.on(`POST /v1/sessions/${ses}/${verb}`, { body: child })
    await call('session', 'add', '--agent', 'assistant', '--title', 'Daily work', '--mode', 'ask')
    await call('session', 'add', '--agent', 'assistant', '--parent', ses, '--no-main')
    expect(server.to('POST /v1/sessions').map(({ body }) => body)).toEqual([
      { agent: agt, title: 'Daily work', mode: 'ask' },
      { agent: agt, parent: ses, main: false },
    ])
    const { stdout } = await call('session', 'list')
    expect(stdout.replace(/\s+/g, ' ')).toContain(`${ses} main assistant idle 0 2, next in 12 min`)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(
      (await call('session', 'edit', ses, '--mode', 'plan', '--paused', 'on', '--clear', 'goal')).stdout,
    ).toContain('plan')
    expect(server.to(`PATCH /v1/sessions/${ses}`)[0]?.body).toEqual({ mode: 'plan', paused: true, goal: null })
    expect((await call('session', 'compact', ses)).stdout).toBe(`Goes on in ${child.id}.\n`)
    expect((await call('session', 'leave', ses)).stdout).toBe(`The agent has left ${ses}.\n`)
  })

  test('a message is sent from the command line or the standard input', async () => {
    server.on(`POST /v1/sessions/${ses}/messages`, { status: 201, body: { id: 'msg_1' } })
    expect((await call('send', ses, 'hello')).stdout).toContain('Sent msg_1')
    await rouse(['send', ses, '-'], { url: server.url, stdin: 'piped\n' })
    await call('send', ses, '--', '--not-a-flag')
    expect(server.to(`POST /v1/sessions/${ses}/messages`).map(({ body }) => body.text)).toEqual([
      'hello',
      'piped',
      '--not-a-flag',
    ])
  })

  test('the setting is shown and changed', async () => {
    server.on('GET /v1/settings', { body: { agentSessions: false } })
    server.on('PATCH /v1/settings', { body: { agentSessions: true } })
    expect((await call('settings')).stdout).toContain('off')
    expect((await call('settings', '--agent-sessions', 'on')).stdout).toMatch(/on\n$/)
    expect(server.to('PATCH /v1/settings')[0]?.body).toEqual({ agentSessions: true })
  })

  test('the clock is shown and moved, where it can be', async () => {
    server.on('POST /v1/clock', { body: { now: '2026-03-28T00:00:00.000Z' } })
    expect((await call('clock')).stdout).toBe('2026-03-27T06:48:00.000Z\n')
    expect((await call('clock', '--by', '1d', '--down')).stdout).toBe('2026-03-28T00:00:00.000Z\n')
    expect(server.to('POST /v1/clock')[0]?.body).toEqual({ by: '1d', down: true })
    server.on('GET /v1/clock', refusal(404, 'not_found', 'no'))
    expect(await call('clock')).toMatchObject({ code: 1, stderr: expect.stringContaining('goes by the real time') })
  })
})
