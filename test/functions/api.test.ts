import { beforeEach, expect, test, vi } from 'vitest'
import { type Told, toldWorld } from './world.ts'

let told: Told
// The application takes its world when the module is loaded, as a container does.
vi.mock('../../functions/world.ts', () => ({
  worldFromEnv: () =>
    new Proxy(
      {},
      {
        get: (_, name) => told.world[name as keyof Told['world']],
        ownKeys: () => Reflect.ownKeys(told.world),
        getOwnPropertyDescriptor: (_, name) => ({
          value: told.world[name as keyof Told['world']],
          enumerable: true,
          configurable: true,
        }),
      },
    ),
}))
const { handler } = await import('../../functions/api.ts')
beforeEach(() => {
  told = toldWorld()
})

async function call(method: string, rawPath: string, more: object = {}) {
  const event = {
    version: '2.0',
    rawPath,
    rawQueryString: '',
    headers: {},
    isBase64Encoded: false,
    requestContext: { domainName: 'rouse.test', http: { method, path: rawPath } },
    ...more,
  }
  const answer = await handler(event as never, {} as never)
  return { status: answer.statusCode, body: JSON.parse(answer.body), headers: answer.headers }
}

test('a call of API Gateway is answered as the embedded node answers it', async () => {
  expect(await call('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } })
  const refused = await call('GET', '/v1/schedules')
  expect([refused.status, refused.body.code]).toEqual([401, 'unauthorized'])
  expect(refused.headers).toMatchObject({ 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' })
})

test('a path that API Gateway has decoded names what the caller named', async () => {
  for (const path of [
    '/v1/schedules/\0',
    '/v1/schedules/a?b',
    '/v1/schedules/a#b',
    '/v1/schedules/💩',
    '/v1/schedules/%zz',
  ])
    expect([path, (await call('GET', path)).status]).toEqual([path, 401])
})

test('while the store is away the caller is told to try again', async () => {
  told.isAway = true
  const answer = await call('GET', '/v1/schedules', { headers: { authorization: 'Bearer rouse_x' } })
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable'])
})
