import { describe, expect, it } from 'vitest'
import { Buckets, defaultRate, RateLimited, RateLimits, rateFromEnv } from '../../shared/api/rate.ts'
import { inHouse } from './in-house.ts'

const refusalOf = (attempt: () => void): RateLimited | null => {
  try {
    attempt()
    return null
  } catch (error) {
    if (error instanceof RateLimited) return error
    throw error
  }
}

describe('a bucket', () => {
  it('lets a burst pass, then so many a second', () => {
    const buckets = new Buckets({ perSecond: 10, burst: 5 })
    const taken = (at: number, times: number) =>
      Array.from({ length: times }, () => buckets.take('k', at) === 0).filter(Boolean).length
    expect(taken(0, 20)).toBe(5)
    expect(taken(99, 1)).toBe(0)
    expect(taken(100, 5)).toBe(1)
    expect(taken(1100, 50)).toBe(5)
    expect(taken(1_000_000, 50)).toBe(5)
  })

  it('says how long until the next', () => {
    const buckets = new Buckets({ perSecond: 4, burst: 1 })
    expect(buckets.take('k', 0)).toBe(0)
    expect(buckets.take('k', 0)).toBe(250)
    expect(buckets.take('k', 200)).toBeCloseTo(50)
    expect(buckets.take('k', 250)).toBe(0)
  })

  it('is one per key, and forgets the oldest of very many', () => {
    const buckets = new Buckets({ perSecond: 1, burst: 1 })
    expect([buckets.take('a', 0), buckets.take('b', 0)]).toEqual([0, 0])
    expect(buckets.take('a', 0)).toBeGreaterThan(0)
    for (let i = 0; i < 20_000; i++) buckets.take(`n${i}`, 0)
    expect(buckets.take('a', 0)).toBe(0)
    expect(buckets.take('n19999', 0)).toBeGreaterThan(0)
  })
})

describe('the setting', () => {
  it('is perSecond:burst, off, or left out', () => {
    expect(rateFromEnv({})).toEqual({ perSecond: 1000, burst: 20_000 })
    expect(rateFromEnv({ ROUSE_RATE_LIMIT: '' })).toEqual(defaultRate)
    expect(rateFromEnv({ ROUSE_RATE_LIMIT: 'off' })).toBeNull()
    expect(rateFromEnv({ ROUSE_RATE_LIMIT: '5:20' })).toEqual({ perSecond: 5, burst: 20 })
    for (const text of ['5', '0:5', '5:0', 'on', '5:-1', '1.5:3', ' 5:20'])
      expect(() => rateFromEnv({ ROUSE_RATE_LIMIT: text })).toThrow(/ROUSE_RATE_LIMIT: expected/)
  })
})

describe('who is held back', () => {
  it('a key past its rate, with the seconds to wait in whole and at least one', () => {
    const limits = new RateLimits({ perSecond: 2, burst: 1 })
    limits.take('k', 0)
    expect(refusalOf(() => limits.take('other', 0))).toBeNull()
    expect(refusalOf(() => limits.take('k', 0))?.headers).toEqual({
      'retry-after': '1',
      'ratelimit-policy': '"default";q=1;w=1',
      ratelimit: '"default";r=0;t=1',
    })
    expect(refusalOf(() => limits.take('k', 500))).toBeNull()
  })

  it('wrong keys from one address, generously; where addresses are not known, all together', () => {
    const limits = new RateLimits(defaultRate)
    for (let i = 0; i < 1000; i++) {
      limits.takeWrongKey('10.0.0.1', 0)
      limits.takeWrongKey(null, 0)
    }
    expect(refusalOf(() => limits.takeWrongKey('10.0.0.1', 0))?.code).toBe('rate_limited')
    expect(refusalOf(() => limits.takeWrongKey(null, 0))?.code).toBe('rate_limited')
    expect(refusalOf(() => limits.takeWrongKey('10.0.0.2', 0))).toBeNull()
  })
})

describe('addresses that are keys themselves', () => {
  it('have buckets of their own: 20,000 that are made up make nobody forget a key', () => {
    const limits = new RateLimits({ perSecond: 1, burst: 1 })
    limits.take('k', 0)
    for (let i = 0; i < 20_001; i++) limits.takeAddress(`made up ${i}`, 0)
    expect(refusalOf(() => limits.take('k', 0))?.code).toBe('rate_limited')
    expect(refusalOf(() => limits.takeAddress('made up 20000', 0))?.code).toBe('rate_limited')
  })
})

describe('over HTTP', () => {
  it('answers 429 rate_limited with Retry-After; others pass; refusals count; each answer says what is left', async () => {
    const house = await inHouse({ rate: { perSecond: 0.01, burst: 3 } })
    const other = await house.person('other')
    const passed = [
      await house.call('GET', '/v1/agents'),
      await house.call('GET', '/v1/agents/x'),
      await house.call('GET', '/v1/agents'),
    ]
    expect(passed.map(({ status }) => status)).toEqual([200, 404, 200])
    expect(passed.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(Array(3).fill('"default";q=3;w=300'))
    // A machine that is busy takes a second or two of the hundred.
    for (const [n, { headers }] of passed.entries())
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${2 - n};t=(9\\d|100)$`))
    expect(passed.map(({ headers }) => headers.get('retry-after'))).toEqual([null, null, null])
    const held = await house.call('GET', '/v1/agents')
    const after = held.headers.get('retry-after')
    expect([held.status, held.body.code, after]).toEqual([429, 'rate_limited', expect.stringMatching(/^(9\d|100)$/)])
    expect(held.headers.get('ratelimit')).toBe(`"default";r=0;t=${after}`)
    expect(held.headers.get('ratelimit-policy')).toBe('"default";q=3;w=300')
    expect((await house.call('GET', '/v1/agents', { key: other })).status).toBe(200)
    await house.close()
  })

  it('a refused call stores nothing', async () => {
    const house = await inHouse({ rate: { perSecond: 0.01, burst: 1 } })
    expect((await house.call('POST', '/v1/agents', { body: { name: 'one' } })).status).toBe(201)
    expect((await house.call('POST', '/v1/agents', { body: { name: 'two' } })).status).toBe(429)
    const other = await house.keyOf(house.owner)
    const { data } = (await house.call('GET', '/v1/agents', { key: other })).body
    expect(data.map(({ name }: { name: string }) => name)).toEqual(['one'])
    await house.close()
  })

  it('off lets everything pass', async () => {
    const house = await inHouse({ rate: null })
    for (let i = 0; i < 100; i++) expect((await house.call('GET', '/v1/keys')).status).toBe(200)
    await house.close()
  })

  it('wrong keys end in 429 too, addresses of webhooks and calendars among them; what holds is taken all the while', async () => {
    const house = await inHouse({})
    const agent = (await house.call('POST', '/v1/agents', { body: { name: 'assistant' } })).body.id
    const on = { webhook: true }
    const made = await house.call('POST', '/v1/triggers', { body: { name: 'calls', agent, prompt: 'look', on } })
    const codes = new Set<string>()
    for (let i = 0; i < 10_000 && !codes.has('rate_limited'); i++)
      codes.add((await house.call('GET', '/v1/agents', { key: `rsp_${i}` })).body.code)
    expect([...codes]).toEqual(['unauthorized', 'rate_limited'])
    const wrong = ['/v1/hooks/rwh_1', '/v1/calendar.ics?token=rca_1']
    for (const [path, method] of [
      [wrong[0]!, 'POST'],
      [wrong[1]!, 'GET'],
    ] as const) {
      const tried = await Promise.all(Array.from({ length: 60 }, () => house.call(method, path)))
      expect(new Set(tried.map(({ status }) => status))).toContain(429)
    }
    expect((await house.call('POST', new URL(made.body.url).pathname, { body: {} })).status).toBe(202)
    expect((await house.call('GET', '/v1/agents')).status).toBe(200)
    await house.close()
  })
})
