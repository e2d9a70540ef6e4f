import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clock, ses } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
let dir: string
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
  dir = mkdtempSync(join(tmpdir(), 'rouse-sleep-'))
})
afterEach(async () => {
  await server.down()
  rmSync(dir, { recursive: true, force: true })
})

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const armed = {
  state: 'armed',
  reason: null,
  nextAt: '2026-03-27T06:53:00.000Z',
  today: { ticks: 7, tokens: 12_345 },
  windowUntil: '2026-03-27T14:48:00.000Z',
}
const is = (view: object) => server.on('GET /v1/sessions/:id/ticks', { body: { ...armed, ...view } })

describe('rouse ticks', () => {
  test('it says when the next one comes, what today has used, and until when the window is open', async () => {
    is({})
    const said = await call('ticks', ses)
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(server.to('GET /v1/sessions/:id/ticks').map(({ path }) => path)).toEqual([`/v1/sessions/${ses}/ticks`])
    for (const text of ['armed', armed.nextAt, 'in 5 min', '7 ticks', '12345 tokens', armed.windowUntil])
      expect(said.stdout).toContain(text)
    expect(said.stdout).not.toMatch(/null|undefined/)
  })

  const reasons = {
    off: ['switch_off', 'disabled', 'session_archived', 'child_session', 'not_main'],
    parked: ['no_input', 'fork', 'cancelled', 'parked', 'idle_tick_limit', 'max_window'],
    waiting: [
      'turn_running',
      'paused',
      'agent_left',
      'queue',
      'pending_requests',
      'compacting',
      'goal',
      'schedule_soon',
      'permission_manual',
      'permission_yolo',
      'max_ticks_per_day',
      'max_tokens_per_day',
      'not_claimed',
      'next_turn',
    ],
  }
  for (const [state, all] of Object.entries(reasons))
    test.each(all)(`${state}, %s: it says why, in words of a person`, async (reason) => {
      is({ state, reason, nextAt: null, windowUntil: null })
      const { code, stdout } = await call('ticks', ses)
      const [, words] = new RegExp(`${state}: (.+)`).exec(stdout) ?? []
      expect([code, words]).toEqual([0, expect.any(String)])
      // Not just the code with its underscores taken out.
      expect(words).not.toBe(reason.replaceAll('_', ' '))
      expect(words).not.toContain('_')
      expect(stdout).not.toMatch(/null|undefined/)
    })

  test('a reason that is not known is shown all the same', async () => {
    is({ state: 'waiting', reason: 'wakes_of_agent' })
    expect((await call('ticks', ses)).stdout).toContain('waiting: wakes of agent')
  })

  test('--json prints the answer as it came', async () => {
    is({})
    expect(JSON.parse((await call('ticks', ses, '--json')).stdout)).toEqual(armed)
  })

  test('without a session it is a usage error', async () => {
    expect((await call('ticks')).code).toBe(2)
    expect(server.calls).toEqual([])
  })

  test('what is refused is told', async () => {
    server.on('GET /v1/sessions/:id/ticks', refusal(404, 'not_found', `no session ${ses}`))
    expect(await call('ticks', ses)).toMatchObject({ code: 1, stderr: expect.stringContaining(`no session ${ses}`) })
  })
})

describe('rouse ticks park', () => {
  test('it parks, and shows that it is parked', async () => {
    const parked = { ...armed, state: 'parked', reason: 'parked', nextAt: null }
    server.on('POST /v1/sessions/:id/ticks/park', { body: parked })
    const said = await call('ticks', 'park', ses)
    expect(said).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('parked') })
    expect(server.to('POST /v1/sessions/:id/ticks/park').map(({ path }) => path)).toEqual([
      `/v1/sessions/${ses}/ticks/park`,
    ])
  })

  test('its own options are its own: --json, --url and --key', async () => {
    const parked = { ...armed, state: 'parked', reason: 'parked', nextAt: null }
    server.on('POST /v1/sessions/:id/ticks/park', { body: parked })
    expect(JSON.parse((await call('ticks', 'park', ses, '--json')).stdout)).toEqual(parked)
    const elsewhere = { env: { ROUSE_URL: 'http://127.0.0.1:9', ROUSE_KEY: 'key-of-the-environment' } }
    const argv = ['ticks', 'park', ses, '--url', server.url, '--key', 'key-that-was-given']
    expect(await rouse(argv, elsewhere)).toMatchObject({ code: 0 })
    expect(server.to('POST /v1/sessions/:id/ticks/park').at(-1)?.headers.authorization).toBe(
      'Bearer key-that-was-given',
    )
  })

  test('where there is nothing to park it says so', async () => {
    server.on('POST /v1/sessions/:id/ticks/park', refusal(409, 'ticks_off', 'ticks are off in this session (disabled)'))
    expect(await call('ticks', 'park', ses)).toMatchObject({ code: 1, stderr: expect.stringContaining('(disabled)') })
  })
})

describe('rouse sleep', () => {
  const inTurn = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    rouse(['sleep', ...argv], {
      env: {
        ROUSE_URL: server.url,
        ROUSE_KEY: 'key-of-an-agent',
        ROUSE_SESSION: ses,
        ROUSE_TURN: 'trn_1',
        ROUSE_SLEEP: join(dir, 'sleep.json'),
        ...env,
      },
    })
  const asked = () => JSON.parse(readFileSync(join(dir, 'sleep.json'), 'utf8'))

  test('it leaves the wish for the end of the turn', async () => {
    is({ state: 'running', nextAt: null })
    const said = await inTurn(['600', '--reason', 'the build runs'])
    expect(said).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('600 s') })
    expect(asked()).toEqual({ seconds: 600, reason: 'the build runs' })
    // Nobody else on the machine reads what an agent waits for.
    expect(statSync(join(dir, 'sleep.json')).mode & 0o077).toBe(0)
    await inTurn(['30'])
    expect(asked()).toEqual({ seconds: 30 })
  })

  test.each(['parked', 'waiting', 'armed'])('it takes the wish while the planner is %s', async (state) => {
    is({ state, reason: state === 'armed' ? null : 'turn_running' })
    expect((await inTurn(['600'])).code).toBe(0)
    expect(asked()).toEqual({ seconds: 600 })
  })

  test('where ticks are off it is refused with ticks_off and the reason, and leaves nothing', async () => {
    is({ state: 'off', reason: 'disabled', nextAt: null })
    const said = await inTurn(['600'])
    expect(said.code).not.toBe(0)
    expect(said.stderr).toContain('ticks_off')
    expect(said.stderr).toContain('disabled')
    expect(existsSync(join(dir, 'sleep.json'))).toBe(false)
  })

  test.each([['-5'], ['1.5'], ['soon'], ['10m'], ['']])('%j is no number of seconds', async (seconds) => {
    is({})
    const said = await inTurn([seconds])
    expect(said.code).toBe(2)
    expect(existsSync(join(dir, 'sleep.json'))).toBe(false)
  })

  test.each([{ ROUSE_SLEEP: '' }, { ROUSE_SESSION: '' }])('outside a turn (%o) it says where it works', async (env) => {
    is({})
    const said = await inTurn(['600'], env)
    expect(said.code).toBe(2)
    expect(said.stderr).toContain('inside a turn')
    expect(existsSync(join(dir, 'sleep.json'))).toBe(false)
  })
})
