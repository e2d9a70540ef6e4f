import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../shared/api/app.ts'
import { type Attempt, attempts, call, type Json, openVictim, seen, type Victim } from './victim.ts'

let victim: Victim
let all: Attempt[]
let headers: Record<string, string>
beforeAll(async () => {
  victim = await openVictim()
  all = attempts(victim)
  headers = { authorization: `Bearer ${victim.key}` }
})
afterAll(() => victim.house.close())

/** What takes a body, with something that is sent in its place. */
const takers = (): Attempt[] => all.filter(({ body }) => body !== undefined)
const maxOf = (name: string): number => operations.find((op) => op.name === name)!.bodyBytesMax

/** Operations that answered with a fault of ours or took what they must not; one that holds up everybody meets the limit of the test. */
async function sendAll(body: (one: Attempt) => string, but = ''): Promise<string[]> {
  const found: string[] = []
  for (const one of takers().filter(({ name }) => name !== but)) {
    const said = await call(victim.house, one.method, one.path, body(one), headers)
    if (said.status < 400 || said.status >= 500) found.push(`${one.name}: ${said.status}`)
  }
  return found
}

describe('a body', () => {
  test('that is larger than an operation takes is 413, and nothing changes', async () => {
    const before = await seen(victim)
    expect(await sendAll(({ name }) => JSON.stringify({ text: 'x'.repeat(maxOf(name)) }))).toEqual([])
    expect(await seen(victim)).toEqual(before)
  })

  test('that is nested without end is refused by every operation, but as a document, which nobody looks into', async () => {
    const lists = ({ name }: Attempt) => Math.min(30_000, Math.floor(maxOf(name) / 2) - 20)
    const objects = ({ name }: Attempt) => Math.min(10_000, Math.floor(maxOf(name) / 6) - 20)
    const forms = [
      (one: Attempt) => `{"x":${'['.repeat(lists(one))}${']'.repeat(lists(one))}}`,
      (one: Attempt) => `${'{"a":'.repeat(objects(one))}1${'}'.repeat(objects(one))}`,
    ]
    for (const form of forms) {
      expect(await sendAll(form, 'putDocument')).toEqual([])
      const put = all.find(({ name }) => name === 'putDocument')!
      const said = await call(victim.house, 'PUT', '/v1/documents/deep', form(put), headers)
      expect(said.status).toBeLessThan(300)
    }
    expect((await call(victim.house, 'DELETE', '/v1/documents/deep', undefined, headers)).status).toBe(204)
  })

  test('whose names belong to every object changes no object', async () => {
    const polluted = ['__proto__', 'constructor', 'prototype'].map((name) => `"${name}":{"admin":true,"polluted":1}`)
    await sendAll(({ body }) => `{${[...polluted, JSON.stringify(body).slice(1, -1)].filter(Boolean).join()}}`)
    expect(({} as Json).polluted).toBeUndefined()
    expect((await call(victim.house, 'GET', '/metrics', undefined, headers)).body.code).toBe('admin_only')
  })

  test('with numbers beyond all bounds is refused or taken, and no fault of ours', async () => {
    for (const value of ['1e400', '-1e400', '9007199254740993', '1e-400', `${'9'.repeat(2000)}`]) {
      const bad: string[] = []
      for (const one of takers()) {
        const fields = Object.keys(one.body as object)
        const body = `{${fields.map((name) => `"${name}":${value}`).join()}}`
        const said = await call(victim.house, one.method, one.path, body, headers)
        if (said.status >= 500) bad.push(`${one.name} ${value}: ${said.status}`)
      }
      expect(bad).toEqual([])
    }
  })

  test('that is packed is not unpacked: what is small outside stays small inside', async () => {
    const { house } = victim
    const bomb = gzipSync(Buffer.alloc(20_000_000, 0x20))
    expect(bomb.byteLength).toBeLessThan(60_000)
    for (const one of takers()) {
      const sent = { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' }
      const answer = await house.request(one.path, { method: one.method, headers: sent, body: bomb })
      expect([one.name, answer.status >= 400 && answer.status < 500]).toEqual([one.name, true])
    }
  })
})

describe('a path', () => {
  const nasty = [
    ...['..%2f..%2fetc%2fpasswd', '%2e%2e%2f', '%00', 'a%00b', '%0d%0aset-cookie:a=b', '%E2%80%AE', '%F0%9F%92%A9'],
    ...[
      "'%20OR%201=1--",
      '%22%5D',
      '%3Cscript%3E',
      '$ne',
      '__proto__',
      'constructor',
      '%ff%fe',
      'C%23x',
      'x'.repeat(8000),
    ],
    ...['sch_01J', `sch_${'Z'.repeat(26)}`, '*', '%25%30%30', 'S%23AAAA%23R', '\u2028'],
  ]
  test('with anything in the place of an id or a name is answered as what is not there, and never as a fault', async () => {
    const bad: string[] = []
    const before = await seen(victim)
    const aimed = operations.filter(({ path, name }) => path.includes('{') && name !== 'putDocument')
    // A third of them each, in turn: what reads an id reads it the same way everywhere.
    for (const [place, op] of aimed.entries())
      for (const part of nasty.filter((_, n) => (n + place) % 3 === 0)) {
        const path = op.path.replaceAll(/\{(\w+)\+?\}/g, part.replaceAll('$', '$$$$'))
        const body = op.body === null ? undefined : all.find(({ name }) => name === op.name)!.body
        const { status, body: said } = await call(victim.house, op.method.toUpperCase(), path, body, headers)
        if (status >= 500) bad.push(`${op.name} ${part.slice(0, 30)}: ${status} ${said?.detail}`)
      }
    expect(bad).toEqual([])
    const after = await seen(victim)
    // Names of one's own may be any: a secret or a tool may be called `constructor`.
    for (const path of Object.keys(before).filter((one) => !/secrets|tools|feed/.test(one)))
      expect([path, after[path]]).toEqual([path, before[path]])
  })
})

describe('a header', () => {
  /** What fetch would not send. */
  const raw = (port: number, path: string, sent: Record<string, string | string[]>, method = 'GET', body = '') =>
    new Promise<{ status: number; headers: Json }>((done, failed) => {
      const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers: sent }, (incoming) => {
        incoming.resume()
        incoming.on('end', () => done({ status: incoming.statusCode!, headers: incoming.headers }))
      })
      outgoing.on('error', failed)
      outgoing.end(body)
    })
  let port = 0
  let close = () => {}
  beforeAll(async () => {
    const { serve } = await import('@hono/node-server')
    const server = serve({ fetch: (request) => victim.house.request(request), port: 0, hostname: '127.0.0.1' })
    await new Promise((done) => server.once('listening', done))
    port = (server.address() as { port: number }).port
    close = () => server.close()
  })
  afterAll(() => close())

  test.each<[string, Record<string, string | string[]>]>([
    ['an id of a call that holds bytes beyond ASCII', { 'x-request-id': 'abcdefgh\u0085x' }],
    ['an id of a call that is a key', { 'x-request-id': `rsp_${'a'.repeat(43)}` }],
    ['an Origin that holds markup', { origin: 'https://a"><script>' }],
    ['two sessions', { 'x-rouse-session': ['ses_1', 'ses_2'] }],
    ['a forwarded address', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }],
    ['an Idempotency-Key that holds bytes beyond ASCII', { 'idempotency-key': 'a\u0085b' }],
    ['a media type of another kind', { 'content-type': 'text/html; charset="a\\"b"' }],
  ])('%s comes back in none', async (_, sent) => {
    const { headers: got, status } = await raw(port, '/v1/agents', { ...headers, ...sent }, 'POST', '{"name":"x"}')
    expect(status).toBeLessThan(500)
    for (const value of Object.values(sent).flat()) expect(JSON.stringify(got)).not.toContain(value)
    expect(Object.keys(got)).not.toContain('set-cookie')
  })

  test('of a length that does not come ends in an error, not in a call', async () => {
    const { status } = await raw(
      port,
      '/v1/agents',
      { ...headers, 'content-type': 'application/json', 'content-length': '0' },
      'POST',
    )
    expect(status).toBe(400)
  })

  test('what a document was called goes out as nothing that a browser would run', async () => {
    const { house } = victim
    for (const type of ['text/html', 'text/xml', 'text/javascript', 'image/svg+xml', 'text/html;charset=utf-8']) {
      const put = await house.request('/v1/documents/page', {
        method: 'PUT',
        headers: { ...headers, 'content-type': type },
        body: '<script>alert(1)</script>',
      })
      expect([type, put.status]).toEqual([type, type.startsWith('text/') ? 200 : 415])
      if (put.status === 415) continue
      const got = await house.request('/v1/documents/page', { headers })
      expect([type, got.headers.get('x-content-type-options'), got.headers.get('content-security-policy')]).toEqual([
        type,
        'nosniff',
        "default-src 'none'; sandbox",
      ])
    }
    // A browser that follows a link is nobody here, whatever it is signed in as.
    expect((await house.request('/v1/documents/page', { headers: { cookie: 'rouse-80=rsc_a' } })).status).toBe(401)
  })
})
