import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isToken, personId, providerFromEnv } from '../../shared/api/identity.ts'
import { inHouse } from './in-house.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>
type House = Awaited<ReturnType<typeof inHouse>>

const at = '2026-03-02T09:00:00Z'
const now = Date.parse(at) / 1000
const audience = 'rouse'

let server: Server
let issuer = ''
/** What the provider publishes, and how often it was asked. */
let published: JWK[] = []
let asked = 0
let down = false
let signing: Keys
let house: House

const jwkOf = async (keys: Keys, kid: string, alg = 'ES256'): Promise<JWK> => ({
  ...(await exportJWK(keys.publicKey)),
  kid,
  alg,
})

beforeAll(async () => {
  server = createServer((request, response) => {
    if (down) return void response.writeHead(503).end()
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
      '/keys': { keys: published },
    }
    if (request.url === '/keys') asked += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(documents[request.url ?? '']))
  })
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  signing = await generateKeyPair('ES256')
})
afterAll(() => server.close())
beforeEach(async () => {
  published = [await jwkOf(signing, 'one')]
  asked = 0
  down = false
  house = await inHouse({ at, provider: { issuer, audience, jwksUri: `${issuer}/keys` } })
})
afterEach(async () => {
  vi.useRealTimers()
  await house.close()
})

const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  aud: audience,
  sub: 'ann',
  exp: now + 600,
  ...more,
})
const token = (
  given: JWTPayload = claims(),
  header: { alg: string; kid?: string } = { alg: 'ES256', kid: 'one' },
  key: Parameters<SignJWT['sign']>[0] = signing.privateKey,
): Promise<string> => new SignJWT(given).setProtectedHeader(header).sign(key)
const without = (claim: string): JWTPayload =>
  Object.fromEntries(Object.entries(claims()).filter(([name]) => name !== claim))
const tried = async (bearer: string) => {
  const { status, body } = await house.call('GET', '/v1/agents', { key: bearer })
  return [status, body.code ?? null]
}
const refused = [401, 'unauthorized']

describe('a bearer token', () => {
  it('speaks for the person of its subject, who is made at first sight and the same afterwards', async () => {
    const first = await token(claims({ name: 'Ann', zoneinfo: 'Europe/Amsterdam' }))
    const made = await house.call('POST', '/v1/agents', { key: first, body: { name: 'mine' } })
    expect([made.status, made.body.owner]).toEqual([201, personId(issuer, 'ann')])
    const later = await token(claims({ name: 'Somebody Else' }))
    const seen = await house.call('GET', '/v1/agents', { key: later })
    expect(seen.body.data.map(({ id }: { id: string }) => id)).toEqual([made.body.id])
    const person = (await house.world.table.get([[`P#${personId(issuer, 'ann').slice(4)}`, 'A']]))[0]
    expect(person?.item).toMatchObject({ name: 'Ann', tz: 'Europe/Amsterdam', admin: false })
  })

  it('of another subject is another person, who sees nothing of the first', async () => {
    await house.call('POST', '/v1/agents', { key: await token(), body: { name: 'mine' } })
    const other = await house.call('GET', '/v1/agents', { key: await token(claims({ sub: 'bob' })) })
    expect([other.status, other.body.data]).toEqual([200, []])
    expect(personId(issuer, 'ann')).toMatch(/^per_0{10}[0-9A-HJKMNP-TV-Z]{16}$/)
    expect(new Set([personId(issuer, 'ann'), personId(issuer, 'bob'), personId(`${issuer}/`, 'ann')]).size).toBe(3)
  })

  it('makes one person when many first calls come at once', async () => {
    const bearer = await token()
    const answers = await Promise.all(Array.from({ length: 20 }, () => tried(bearer)))
    expect(answers.every(([status]) => status === 200)).toBe(true)
    expect(house.logged.filter((what) => what.startsWith('person made'))).toHaveLength(1)
  })

  it('makes nobody an admin, whatever it says', async () => {
    const bearer = await token(claims({ admin: true, roles: ['admin'] }))
    const answer = await house.call('POST', '/v1/people', { key: bearer, body: { name: 'x' } })
    expect([answer.status, answer.body.code]).toEqual([403, 'admin_only'])
  })

  it('is one caller in rate limits, Idempotency-Key and the audit trail, whichever token it is', async () => {
    const call = async (more: JWTPayload) =>
      house.call('POST', '/v1/agents', {
        key: await token(claims(more)),
        body: { name: 'once' },
        headers: { 'idempotency-key': 'k' },
      })
    expect((await call({ jti: 'b' })).body.id).toBe((await call({ jti: 'a' })).body.id)
    const { data } = (await house.call('GET', '/v1/audit', { key: await token() })).body
    expect(data.map(({ operation, by }: { operation: string; by: { id: string } }) => [operation, by.id])).toEqual([
      ['createAgent', personId(issuer, 'ann')],
    ])
  })

  it('keys go on working beside it', async () => {
    expect((await house.call('GET', '/v1/agents')).status).toBe(200)
    expect(asked).toBe(0)
  })
})

describe('a token that does not hold is 401', () => {
  it.each([
    ['for another audience', () => token(claims({ aud: 'other' }))],
    ['for no audience', () => token(without('aud'))],
    ['of another issuer', () => token(claims({ iss: 'https://other.example' }))],
    ['of no issuer', () => token(without('iss'))],
    ['without an end', () => token(without('exp'))],
    ['without a subject', () => token(without('sub'))],
    ['with an empty subject', () => token(claims({ sub: '' }))],
    ['that ended more than a minute ago', () => token(claims({ exp: now - 61 }))],
    ['that begins in more than a minute', () => token(claims({ nbf: now + 61 }))],
    ['with alg none', async () => new UnsecuredJWT(claims()).encode()],
    [
      'with HS256 and the public key as the secret',
      async () =>
        token(claims(), { alg: 'HS256', kid: 'one' }, new TextEncoder().encode(await exportSPKI(signing.publicKey))),
    ],
    ['of an unknown key', () => token(claims(), { alg: 'ES256', kid: 'two' })],
    [
      'signed by another key of the same name',
      async () => token(claims(), undefined, (await generateKeyPair('ES256')).privateKey),
    ],
    [
      'whose claims were changed',
      async () => {
        const [header, , signature] = (await token()).split('.')
        return `${header}.${Buffer.from(JSON.stringify(claims({ sub: 'root' }))).toString('base64url')}.${signature}`
      },
    ],
  ])('%s', async (_what, bearer) => {
    expect(await tried(await bearer())).toEqual(refused)
  })

  it('within the minute that clocks may differ it holds', async () => {
    expect((await tried(await token(claims({ exp: now - 59 }))))[0]).toBe(200)
    expect((await tried(await token(claims({ nbf: now + 59 }))))[0]).toBe(200)
  })

  it('the detail says what is wrong, and nothing of the token', async () => {
    const bearer = await token(claims({ exp: now - 3600 }))
    const { body } = await house.call('GET', '/v1/agents', { key: bearer })
    expect(body.detail).toBe('this token is not valid: it has expired')
  })

  it('where no provider is configured a token is a wrong key', async () => {
    const plain = await inHouse({ at })
    expect((await plain.call('GET', '/v1/agents', { key: await token() })).status).toBe(401)
    await plain.close()
  })
})

describe('the keys of the provider', () => {
  it('are asked for once', async () => {
    for (let i = 0; i < 5; i++) await tried(await token())
    expect(asked).toBe(1)
  })

  it('may change: a new one is looked up, an old one that is gone holds no more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    expect((await tried(await token()))[0]).toBe(200)
    const next = await generateKeyPair('RS256')
    published = [await jwkOf(next, 'two', 'RS256')]
    vi.setSystemTime(Date.now() + 31_000)
    const signed = await token(claims(), { alg: 'RS256', kid: 'two' }, next.privateKey)
    expect((await tried(signed))[0]).toBe(200)
    expect(await tried(await token())).toEqual(refused)
  })

  it('unknown keys do not make us ask without end', async () => {
    for (let i = 0; i < 20; i++) await tried(await token(claims(), { alg: 'ES256', kid: `made-up-${i}` }))
    expect(asked).toBe(1)
  })

  it('that cannot be had are 503, and are asked for again', async () => {
    down = true
    expect(await tried(await token())).toEqual([503, 'unavailable'])
    down = false
    expect((await tried(await token()))[0]).toBe(200)
  })

  it('are found by discovery when no address is given, which must be of that issuer', async () => {
    const found = await inHouse({ at, provider: { issuer, audience, jwksUri: null } })
    down = true
    expect((await found.call('GET', '/v1/agents', { key: await token() })).status).toBe(503)
    down = false
    expect((await found.call('GET', '/v1/agents', { key: await token() })).status).toBe(200)
    await found.close()
    const other = await inHouse({ at, provider: { issuer: `${issuer}/`, audience, jwksUri: null } })
    expect((await other.call('GET', '/v1/agents', { key: await token() })).status).toBe(503)
    await other.close()
  })
})

describe('the setting', () => {
  it('names issuer and audience, both or neither, over https or on this machine', () => {
    expect(providerFromEnv({})).toBeNull()
    expect(providerFromEnv({ ROUSE_OIDC_ISSUER: '', ROUSE_OIDC_AUDIENCE: '' })).toBeNull()
    const both = { ROUSE_OIDC_ISSUER: 'https://id.example', ROUSE_OIDC_AUDIENCE: 'rouse' }
    expect(providerFromEnv(both)).toEqual({ issuer: 'https://id.example', audience: 'rouse', jwksUri: null })
    const jwks = { ...both, ROUSE_OIDC_JWKS_URI: 'http://127.0.0.1:9/keys' }
    expect(providerFromEnv(jwks)?.jwksUri).toBe('http://127.0.0.1:9/keys')
    for (const env of [
      { ROUSE_OIDC_ISSUER: 'https://id.example' },
      { ROUSE_OIDC_AUDIENCE: 'rouse' },
      { ROUSE_OIDC_JWKS_URI: 'https://id.example/keys' },
      { ...both, ROUSE_OIDC_ISSUER: 'http://id.example' },
      { ...both, ROUSE_OIDC_ISSUER: 'id.example' },
      { ...both, ROUSE_OIDC_JWKS_URI: 'http://id.example/keys' },
    ])
      expect(() => providerFromEnv(env)).toThrow(/ROUSE_OIDC/)
  })

  it('keys of ours are never taken for tokens', () => {
    for (const key of ['rsp_abc', 'rouse_abc', 'eyJabc', 'a.b.c', 'eyJ.']) expect(isToken(key)).toBe(false)
  })
})
