import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, clock, page, ses } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().on('GET /v1/clock', clock).up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(['monitor', ...argv], { url: server.url })
const mon = 'mon_01JD0000000000000000000009'

const monitor = {
  id: mon,
  status: 'armed',
  reason: null,
  session: ses,
  agent: agt,
  note: 'Say how it went.',
  watch: { document: { path: 'builds/42' } },
  when: 'doc.done',
  depth: 1,
  armedAt: '2026-03-27T06:36:00.000Z',
  expiresAt: '2026-03-28T06:36:00.000Z',
  nextLookAt: '2026-03-28T06:36:00.000Z',
  failures: 0,
  error: null,
  firedAt: null,
  endedAt: null,
  message: null,
}

describe('monitor add', () => {
  const sent = () => server.to('POST /v1/monitors').at(-1)?.body
  const willArm = (over: object = {}) => server.on('POST /v1/monitors', { status: 201, body: { ...monitor, ...over } })

  test('each of the three is sent as the API takes it, and nothing that was not given', async () => {
    willArm()
    await call('add', '--note', 'n', '--document', 'builds/42', '--when', 'doc.done', '--expires-in', '2d')
    expect(sent()).toEqual({
      note: 'n',
      watch: { document: { path: 'builds/42' } },
      when: 'doc.done',
      expiresIn: '2d',
    })
    await call('add', '--note', 'n', '--in', '2h', '--session', ses)
    expect(sent()).toEqual({ note: 'n', session: ses, watch: { time: { in: '2h' } } })
    await call('add', '--note', 'n', '--at', '2026-03-27T09:00:00+01:00')
    expect(sent()).toEqual({ note: 'n', watch: { time: { at: '2026-03-27T09:00:00+01:00' } } })
    await call('add', '--note', 'n', '--tool', 'rate', '--args', '{"of":"eur"}', '--every', '1h')
    expect(sent()).toEqual({ note: 'n', watch: { tool: { name: 'rate', args: { of: 'eur' }, every: '1h' } } })
  })

  test('it says what is waited for and until when, or that it was true already', async () => {
    willArm()
    const armed = await call('add', '--note', 'n', '--document', 'builds/42')
    expect(armed).toMatchObject({ code: 0, stderr: '' })
    expect(armed.stdout).toMatch(new RegExp(`^Armed ${mon}: document builds/42\\. Expires in 2\\d h\\.\n$`))
    willArm({ status: 'fired' })
    expect((await call('add', '--note', 'n', '--document', 'builds/42')).stdout).toBe(
      `${mon} was true already and has fired.\n`,
    )
  })

  test.each([
    [['--note', 'n'], 'exactly one of'],
    [['--note', 'n', '--in', '1h', '--document', 'd'], 'exactly one of'],
    [['--note', 'n', '--in', '1h', '--at', '2026-03-27T09:00:00Z'], 'exactly one of'],
    [['--note', 'n', '--in', '1h', '--every', '1h'], 'go with --tool'],
    [['--note', 'n', '--tool', 'rate'], '--tool needs --every'],
    [['--note', 'n', '--tool', 'rate', '--every', '1h', '--args', '[1]'], 'expected a JSON object'],
    [['--document', 'd'], '--note'],
  ])('%j is a usage error', async (argv, said) => {
    const answer = await call('add', ...argv)
    expect(answer.code).toBe(2)
    expect(answer.stderr).toContain(said)
    expect(server.to('POST /v1/monitors')).toEqual([])
  })

  test('what is refused is told with its field', async () => {
    server.on('POST /v1/monitors', refusal(422, 'monitor_invalid', 'expiresIn: expected at most 7 days, got 8 days'))
    const said = await call('add', '--note', 'n', '--in', '1h', '--expires-in', '8d')
    expect(said.code).toBe(1)
    expect(said.stderr).toContain('expiresIn: expected at most 7 days')
  })
})

describe('monitor list, show and cancel', () => {
  test('a list shows what is watched and what became of it', async () => {
    const gone = { ...monitor, status: 'ended', reason: 'daily_limit', endedAt: '2026-03-27T06:00:00.000Z' }
    server.on('GET /v1/monitors', page(monitor, gone))
    const said = await call('list', '--status', 'armed', '--session', ses)
    expect(server.to('GET /v1/monitors')[0]?.query).toEqual({ status: 'armed', session: ses })
    expect(said.stdout).toContain('document builds/42')
    expect(said.stdout).toContain('ended, daily limit')
    expect((await call('list', '--status', 'gone')).code).toBe(2)
    server.on('GET /v1/monitors', page())
    expect((await call('list')).stdout).toContain('No monitors.')
  })

  test('one is shown with its note and its failures', async () => {
    server.on(`GET /v1/monitors/${mon}`, { body: { ...monitor, failures: 2, error: 'no such overload' } })
    const { stdout } = await call('show', mon)
    expect(stdout).toContain(`${mon} · armed`)
    for (const text of ['Say how it went.', 'doc.done', '2 in a row: no such overload', ses])
      expect(stdout).toContain(text)
  })

  test('cancelling says so', async () => {
    server.on(`DELETE /v1/monitors/${mon}`, { status: 204 })
    expect(await call('cancel', mon)).toMatchObject({ code: 0, stdout: `Cancelled ${mon}.\n` })
  })
})
