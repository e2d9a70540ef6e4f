import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../../apps/cli/main.ts'
import { agt, page } from './examples.ts'
import { FakeRouse } from './fake-rouse.ts'
import { collecting, rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const id = 'key_01K8ZZZZZZZZZZZZZZZZZZZZZZ'

describe('rouse key', () => {
  const shown = {
    id,
    prefix: 'rsa_Ab3d',
    createdAt: '2026-11-02T08:00:00.000Z',
    lastUsedAt: null,
    expiresAt: '2026-11-03T08:00:00.000Z',
  }

  test('list shows what keys begin with, one’s own or those of an agent', async () => {
    server.on('GET /v1/keys', page(shown)).on('GET /v1/agents/:id/keys', page(shown))
    const said = await call('key', 'list')
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout.split('\n')[1]).toBe(`${id}  rsa_Ab3d…  2026-11-02 08:00Z  never      2026-11-03 08:00Z`)
    await call('key', 'list', '--agent', agt)
    expect(server.to('GET /v1/agents/:id/keys')[0]?.path).toBe(`/v1/agents/${agt}/keys`)
  })

  test('rotate shows the new key once and passes the grace time on', async () => {
    server.on('POST /v1/keys/:id/rotate', { status: 201, body: { id, key: 'rsa_new' } })
    const said = await call('key', 'rotate', id, '--grace-seconds', '600')
    expect(said.stdout).toContain('rsa_new')
    await call('key', 'rotate', id)
    expect(server.to('POST /v1/keys/:id/rotate').map(({ path, body }) => [path, body])).toEqual([
      [`/v1/keys/${id}/rotate`, { graceSeconds: 600 }],
      [`/v1/keys/${id}/rotate`, {}],
    ])
  })

  test('revoke', async () => {
    server.on('DELETE /v1/keys/:id', { status: 204 })
    expect((await call('key', 'revoke', id)).stdout).toBe(`Revoked ${id}.\n`)
  })
})

describe('rouse secret', () => {
  test('S2-16 set takes the value from the standard input, without its last line break', async () => {
    server.on('PUT /v1/secrets/:name', { status: 204 })
    const said = await rouse(['secret', 'set', 'github'], { url: server.url, stdin: 'open\nsesame\n' })
    expect(said).toMatchObject({ code: 0, stdout: 'Kept github.\n', stderr: '' })
    const [{ path, body }] = server.calls as [(typeof server.calls)[number]]
    expect([path, body]).toEqual(['/v1/secrets/github', { value: 'open\nsesame' }])
  })

  test('a value on the command line is refused and not repeated', async () => {
    const said = await call('secret', 'set', 'github', 'hunter2')
    expect([said.code, server.calls]).toEqual([2, []])
    expect(said.stdout + said.stderr).not.toContain('hunter2')
  })

  test('nothing piped in is wrong usage', async () => {
    expect(await call('secret', 'set', 'github')).toMatchObject({ code: 2 })
    expect(server.calls).toEqual([])
  })

  test('on a terminal the value is asked for and not shown', async () => {
    server.on('PUT /v1/secrets/:name', { status: 204 })
    const [stdout, stderr] = [collecting(), collecting()]
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'key-of-a-person' }
    const running = run(['secret', 'set', 'github'], { stdout: stdout.stream, stderr: stderr.stream, stdin, env })
    stdin.write('hunterX\u007f2\r')
    expect(await running).toBe(0)
    expect(server.calls[0]?.body).toEqual({ value: 'hunter2' })
    expect(stderr.text()).toBe('Value of github (not shown): \n')
    expect(stdout.text()).toBe('Kept github.\n')
  })

  test('on a terminal Ctrl-C sends nothing', async () => {
    const [stdout, stderr] = [collecting(), collecting()]
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
    const env = { ROUSE_URL: server.url, ROUSE_KEY: 'key-of-a-person' }
    const running = run(['secret', 'set', 'github'], { stdout: stdout.stream, stderr: stderr.stream, stdin, env })
    stdin.write('hunter\u0003')
    expect([await running, server.calls]).toEqual([2, []])
    expect(stdout.text() + stderr.text()).not.toContain('hunter')
  })

  test('list and remove', async () => {
    server.on('GET /v1/secrets', page({ name: 'github' })).on('DELETE /v1/secrets/:name', { status: 204 })
    expect((await call('secret', 'list')).stdout).toBe('NAME\ngithub\n')
    expect((await call('secret', 'remove', 'github')).stdout).toBe('Removed github.\n')
  })
})

test.each([
  ['ROUSE_RATE_LIMIT', 'fast'],
  ['ROUSE_OIDC_ISSUER', 'https://id.example'],
])('rouse serve does not start with a %s that does not fit', async (name, value) => {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-serve-'))
  const said = await rouse(['serve', '--port', '0', '--data', dir], { env: { [name]: value } })
  expect([said.code, said.stdout]).toEqual([2, ''])
  expect(said.stderr).toMatch(new RegExp(`^rouse serve: ${name}.*expected`))
})

test('rouse audit shows who did what', async () => {
  server.on(
    'GET /v1/audit',
    page({
      at: '2026-11-02T08:00:05.123Z',
      by: { kind: 'agent', id: agt },
      operation: 'createSchedule',
      targets: ['sch_1'],
    }),
  )
  const said = await call('audit')
  expect(said.stdout.split('\n')[1]).toBe(`2026-11-02 08:00:05Z  createSchedule  ${agt}  sch_1`)
})
