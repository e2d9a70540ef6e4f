import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFiles } from '../../shared/adapters/files.ts'
import { createApp } from '../../shared/api/app.ts'
import { inHouse } from './in-house.ts'

const origin = 'http://rouse.test:8787'
const own = { 'x-rouse-console': '1', origin, 'sec-fetch-site': 'same-origin' }
const dayMs = 86_400_000

let house: Awaited<ReturnType<typeof inHouse>>
let app: ReturnType<typeof createApp>
const dir = mkdtempSync(join(tmpdir(), 'rouse-pages-'))

beforeAll(async () => {
  house = await inHouse({ rate: null })
  mkdirSync(join(dir, 'assets'))
  writeFileSync(join(dir, 'index.html'), `<!doctype html><title>Rouse</title>${'<p>text</p>'.repeat(100)}`)
  writeFileSync(join(dir, 'assets/main-x1.js'), 'export {}')
  writeFileSync(join(dir, 'secret.txt'), 'not a page')
  app = createApp({
    world: house.world,
    settled: async () => {},
    rate: null,
    allowOrigins: ['https://console.example'],
    console: { files: openFiles(pathToFileURL(`${dir}/`)), refreshMs: 2000, standing: true },
  })
})
afterAll(async () => {
  await house.close()
  rmSync(dir, { recursive: true })
})

const ask = async (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  await app.request(origin + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const tableOf = ({ table }: typeof house.world) => ({
  get: table.get.bind(table),
  list: table.list.bind(table),
  find: table.find.bind(table),
})
const codeOf = async (answer: Response): Promise<[number, string | undefined]> => [
  answer.status,
  answer.ok ? undefined : ((await answer.json()) as { code: string }).code,
]
const signIn = async (key: string, headers: Record<string, string> = own) => {
  const answer = await ask('POST', '/console/sign-in', headers, { key })
  return { answer, cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0]! }
}

describe('a browser that is signed in', () => {
  let cookie = ''
  beforeAll(async () => {
    cookie = (await signIn(await house.keyOf(house.owner))).cookie
  })

  it('reads and changes as the person whose key was shown', async () => {
    expect(await codeOf(await ask('GET', '/v1/agents', { ...own, cookie }))).toEqual([200, undefined])
    expect(await codeOf(await ask('POST', '/v1/agents', { ...own, cookie }, { name: 'scout' }))).toEqual([
      201,
      undefined,
    ])
    const session = await ask('GET', '/console/session', { ...own, cookie })
    expect(await session.json()).toMatchObject({ person: { id: house.owner, admin: true }, standing: true })
  })

  const { origin: _, ...withoutOrigin } = own
  it.each([
    ['without the header that only its own page sends', { origin }, 401, 'unauthorized'],
    ['without an Origin', withoutOrigin, 403, 'origin_not_allowed'],
    ['from another origin', { ...own, origin: 'https://evil.example' }, 403, 'origin_not_allowed'],
    ['from an origin that hides', { ...own, origin: 'null' }, 403, 'origin_not_allowed'],
    ['from another port of this host', { ...own, origin: 'http://rouse.test:9999' }, 403, 'origin_not_allowed'],
    ['from another site, as the browser says', { ...own, 'sec-fetch-site': 'cross-site' }, 403, 'origin_not_allowed'],
    ['from beside it, as the browser says', { ...own, 'sec-fetch-site': 'same-site' }, 403, 'origin_not_allowed'],
  ])('changes nothing %s', async (_name, headers, status, code) => {
    const before = await (await ask('GET', '/v1/agents', { ...own, cookie })).text()
    const sent = { ...(headers as Record<string, string>), cookie }
    expect(await codeOf(await ask('POST', '/v1/agents', sent, { name: 'forged' }))).toEqual([status, code])
    expect(await codeOf(await ask('PATCH', '/v1/settings', sent, { agentSessions: true }))).toEqual([status, code])
    expect(await (await ask('GET', '/v1/agents', { ...own, cookie })).text()).toBe(before)
  })

  it('may be served under another name where the setting says so', async () => {
    const sent = { ...own, origin: 'https://console.example', cookie }
    expect(await codeOf(await ask('POST', '/v1/agents', sent, { name: 'elsewhere' }))).toEqual([201, undefined])
  })

  it('opens no door that takes keys only', async () => {
    const said = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const accept = 'application/json, text/event-stream'
    expect((await ask('POST', '/mcp', { ...own, cookie, accept }, said)).status).toBe(401)
    const secret = cookie.slice(cookie.indexOf('=') + 1)
    expect(await codeOf(await ask('GET', '/v1/agents', { authorization: `Bearer ${secret}` }))).toEqual([
      401,
      'unauthorized',
    ])
  })
})

describe('signing in', () => {
  it('hands out a cookie that scripts cannot read and other sites do not send', async () => {
    const { answer } = await signIn(await house.keyOf(house.owner))
    expect(answer.status).toBe(204)
    const [pair, ...marks] = answer.headers.get('set-cookie')!.split('; ')
    expect(pair).toMatch(/^rouse-8787=rsc_[\w-]{40,}$/)
    expect(marks).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict', 'Max-Age=2592000'])
  })

  it('over TLS binds it to this very host', async () => {
    const key = await house.keyOf(house.owner)
    const answer = await app.request('https://rouse.test/console/sign-in', {
      method: 'POST',
      headers: { ...own, origin: 'https://rouse.test', 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    })
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-rouse=rsc_.*; Secure$/)
  })

  it('is refused to a wrong key, to an agent’s, to a form and to a page from elsewhere', async () => {
    expect(await codeOf((await signIn('rsp_wrong')).answer)).toEqual([401, 'unauthorized'])
    const agent = (await house.call('POST', '/v1/agents', { body: { name: 'served' } })).body.id
    const { key } = (await house.call('POST', `/v1/agents/${agent}/keys`, { body: {} })).body
    expect(await codeOf((await signIn(key)).answer)).toEqual([403, 'person_only'])
    const mine = await house.keyOf(house.owner)
    const form = { ...own, 'content-type': 'text/plain' }
    expect(await codeOf((await signIn(mine, form)).answer)).toEqual([415, 'media_type'])
    const elsewhere = { ...own, origin: 'https://evil.example' }
    expect(await codeOf((await signIn(mine, elsewhere)).answer)).toEqual([403, 'origin_not_allowed'])
  })

  it('ends at sign-out, with its key, and after its time', async () => {
    const works = async (cookie: string) => (await ask('GET', '/v1/agents', { ...own, cookie })).status
    const out = (await signIn(await house.keyOf(house.owner))).cookie
    expect(await works(out)).toBe(200)
    const end = await ask('POST', '/console/sign-out', { ...own, cookie: out })
    expect(end.headers.get('set-cookie')).toMatch(/^rouse-8787=; .*Max-Age=0$/)
    expect(await works(out)).toBe(401)

    const key = await house.keyOf(house.owner)
    const revoked = (await signIn(key)).cookie
    const newest = (await house.call('GET', '/v1/keys?limit=100', { key })).body.data
    for (const { id, prefix } of newest)
      if (prefix === null || key.startsWith(prefix)) await house.call('DELETE', `/v1/keys/${id}`)
    expect(await works(revoked)).toBe(401)

    const old = (await signIn(await house.keyOf(house.owner))).cookie
    house.move(30 * dayMs - 1)
    expect(await works(old)).toBe(200)
    house.move(30 * dayMs)
    expect(await works(old)).toBe(401)
    house.move(0)
  })

  it('writes nothing for a call too many, and nothing for a cookie that was made up', async () => {
    const key = await house.keyOf(house.owner)
    let commits = 0
    const table = { ...tableOf(house.world), commit: counting }
    async function counting(...given: Parameters<typeof house.world.table.commit>) {
      commits++
      await house.world.table.commit(...given)
    }
    const limited = createApp({
      world: { ...house.world, table },
      settled: async () => {},
      rate: { perSecond: 1, burst: 1 },
      console: { files: () => null, refreshMs: 2000, standing: true },
    })
    const post = async (path: string, headers: Record<string, string>, body: unknown) =>
      await limited.request(origin + path, {
        method: 'POST',
        headers: { ...own, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    expect((await post('/console/sign-in', {}, { key })).status).toBe(204)
    const before = commits
    expect((await post('/console/sign-in', {}, { key })).status).toBe(429)
    const cookie = `rouse-8787=rsc_${'a'.repeat(43)}`
    expect((await post('/console/sign-out', { cookie }, {})).status).toBe(204)
    expect(commits).toBe(before)
  })
})

describe('the pages', () => {
  it('come under a policy that lets no inline script or style run, and no other page frame them', async () => {
    const answer = await ask('GET', '/console/schedules/sch_1', {})
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(answer.headers.get('cache-control')).toBe('no-cache')
  })

  it('are compressed, named by what is in them, and not sent twice', async () => {
    const plain = await ask('GET', '/console', {})
    const packed = await ask('GET', '/console', { 'accept-encoding': 'br, gzip' })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(await plain.text())
    const again = await ask('GET', '/console', { 'if-none-match': plain.headers.get('etag')! })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const script = await ask('GET', '/console/assets/main-x1.js', {})
    expect(script.headers.get('cache-control')).toContain('immutable')
  })

  it('are all that is served: no other file, none that is gone, nothing above', async () => {
    expect((await ask('GET', '/console/assets/main-x0.js', {})).status).toBe(404)
    for (const path of [
      '/console/secret.txt',
      '/console/..%2f..%2fpackage.json',
      '/console/%2e%2e/%2e%2e/etc/passwd',
    ]) {
      const text = await (await ask('GET', path, {})).text()
      expect([path, /not a page|"name"|root:/.test(text)]).toEqual([path, false])
    }
  })

  it('say how to build them where they are missing', async () => {
    const answer = await house.call('GET', '/console')
    expect([answer.status, answer.body.detail]).toEqual([404, expect.stringContaining('npm run build')])
  })
})
