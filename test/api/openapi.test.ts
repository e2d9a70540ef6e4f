import { describe, expect, it } from 'vitest'
import { wholeDocument } from '../../apps/docs/document.ts'
import { operations } from '../../shared/api/app.ts'
import { examples } from '../../shared/api/openapi-words.ts'
import { inHouse } from './in-house.ts'

interface Described {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, object>>
}
const document = wholeDocument() as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)

describe('openapi.json', () => {
  it('has every operation once, with its usual answers and its errors', () => {
    const byId = new Map(described.map((one) => [one.operationId, one]))
    expect(byId.size).toBe(described.length)
    for (const { name, method, statuses } of operations) {
      const one = byId.get(name)
      expect([name, one?.method]).toEqual([name, method])
      const given = Object.keys(one!.responses).map(Number)
      expect(given).toEqual(expect.arrayContaining([...statuses, 401, 403, 429, 500, 503]))
    }
  })

  it('names nothing that it does not have', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)]
    expect(refs.length).toBeGreaterThan(500)
    expect(refs.filter(([, kind, name]) => document.components[kind!]?.[name!] === undefined)).toEqual([])
    const tags = new Set(described.flatMap((one) => one.tags))
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...tags].toSorted())
    expect(document.tags.filter(({ description }) => !description)).toEqual([])
  })

  it('gives examples that the calls take', () => {
    const byName = new Map(operations.map((op) => [op.name, op]))
    for (const [name, example] of Object.entries(examples)) {
      const body = byName.get(name)?.body
      // The clock is an embedded node's own.
      if (body == null) expect(name).toBe('moveClock')
      else expect([name, body.safeParse(example).error]).toEqual([name, undefined])
    }
  })

  it('asks for a key everywhere but where a call without one gets in', async () => {
    const house = await inHouse({})
    for (const { path, method, security } of described.filter((one) => !one.tags.includes('Clock'))) {
      const place = path.replaceAll(/\{\w+\}/g, 'x')
      const { status } = await house.call(method.toUpperCase(), place, {
        headers: { authorization: '' },
        ...(method === 'get' || method === 'delete' ? {} : { body: {} }),
      })
      expect([method, path, status === 401]).toEqual([method, path, security === undefined])
    }
    await house.close()
  })

  it('is what a node serves, and every door says how it is called', async () => {
    const house = await inHouse({})
    const { body } = await house.call('GET', '/openapi.json')
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(Object.keys(document.paths)))
    for (const [method, path, allow] of [
      ['POST', '/healthz', 'GET'],
      ['DELETE', '/openapi.json', 'GET'],
      ['PUT', '/docs', 'GET'],
      ['POST', '/v1/calendar.ics', 'GET'],
      ['GET', '/v1/hooks/x', 'POST'],
      ['PUT', '/v1/schedules/preview', 'POST'],
      ['PUT', '/v1/schedules/x', 'GET, PATCH, DELETE'],
    ] as const) {
      const answer = await house.call(method, path, method === 'GET' ? {} : { body: {} })
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, allow])
    }
    await house.close()
  })
})
