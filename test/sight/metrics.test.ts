import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Counts } from '../../shared/adapters/counts.ts'
import { type CounterName, counters, distributions } from '../../shared/ports/meter.ts'
import { inHouse } from '../api/in-house.ts'

type House = Awaited<ReturnType<typeof inHouse>>
// biome-ignore lint/suspicious/noExplicitAny: an answer is what is under test; no type vouches for it
type Json = any

/** The values of a page of metrics, by name and labels. */
const valuesIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )

describe('the page of metrics of an embedded node', () => {
  let house: House
  let values: Record<string, number>
  beforeAll(async () => {
    house = await inHouse({ at: '2026-03-02T09:00:00Z' })
    const key = await house.keyOf(house.owner)
    const ok = async (method: string, path: string, body?: Json): Promise<Json> => {
      const answer = await house.request(path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${text}`)
      return text === '' ? null : JSON.parse(text)
    }
    const agent = (await ok('POST', '/v1/agents', { name: 'assistant' })).id
    const session = (await ok('POST', '/v1/sessions', { agent })).id
    await ok('POST', '/v1/schedules', { name: 'look', session, prompt: 'look', every: '1h' })
    // The first prompt goes out and waits: the second is left out.
    await ok('POST', '/v1/clock', { by: '2h' })
    const { turn } = await ok('POST', `/v1/sessions/${session}/claim`, {})
    await ok('POST', `/v1/turns/${turn.id}/end`, { outcome: 'failed' })
    await house.call('GET', '/v1/nowhere')
    values = valuesIn(await page())
  })
  afterAll(() => house.close())

  const page = async (key?: string) => {
    const headers = { authorization: `Bearer ${key ?? (await house.keyOf(house.owner))}` }
    return await (await house.request('/metrics', { headers })).text()
  }

  test('counts what went out, what was left out and why, how runs ended, and calls by their class', () => {
    expect(values).toMatchObject({
      rouse_fires_total: 1,
      'rouse_skips_total{reason="previous_waiting"}': 1,
      'rouse_ends_total{result="failed"}': 1,
      'rouse_calls_total{class="4xx"}': 1,
      rouse_stranded_total: 0,
      rouse_set_aside_total: 0,
    })
    expect(values['rouse_calls_total{class="2xx"}']).toBeGreaterThanOrEqual(6)
  })

  test('holds how late prompts were put and how long they waited for a worker, as histograms', () => {
    expect(values).toMatchObject({
      'rouse_lateness_seconds_bucket{le="0.001"}': 1,
      rouse_lateness_seconds_count: 1,
      rouse_lateness_seconds_sum: 0,
      'rouse_wait_seconds_bucket{le="300"}': 0,
      'rouse_wait_seconds_bucket{le="3600"}': 1,
      rouse_wait_seconds_sum: 3600,
    })
  })

  test('says how things stand now: the oldest of what is due, the process', () => {
    expect(values.rouse_overdue_seconds).toBe(0)
    expect(values.process_resident_memory_bytes).toBeGreaterThan(1e7)
    expect(Date.now() / 1000 - values.process_start_time_seconds!).toBeLessThan(600)
  })

  test('is for admins: others are refused, and nobody without a key', async () => {
    const other = await house.person('other')
    expect((await house.call('GET', '/metrics', { key: other })).body.code).toBe('admin_only')
    expect((await house.request('/metrics')).status).toBe(401)
  })

  test('is what a scraper reads: version 0.0.4 of the text format, each metric with its help and its type', async () => {
    const headers = { authorization: `Bearer ${await house.keyOf(house.owner)}` }
    const answer = await house.request('/metrics', { headers })
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await answer.text()
    const line = /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"\\\n]*"\})? -?[\d.]+(e[+-]?\d+)?)$/
    for (const one of text.trimEnd().split('\n')) expect(one).toMatch(line)
    for (const name of Object.keys(counters)) expect(text).toContain(`# TYPE rouse_${name}_total counter\n`)
    for (const name of Object.keys(distributions)) expect(text).toContain(`# TYPE rouse_${name}_seconds histogram\n`)
  })
})

describe('the counters of a process', () => {
  test('each bound of a histogram holds what stands at or under it', () => {
    const counts = new Counts()
    for (const ms of [0, 1, 1.5, 2000, 3_600_001]) counts.observe('lateness', ms)
    expect(valuesIn(counts.text())).toMatchObject({
      'rouse_lateness_seconds_bucket{le="0.001"}': 2,
      'rouse_lateness_seconds_bucket{le="0.005"}': 3,
      'rouse_lateness_seconds_bucket{le="2"}': 4,
      'rouse_lateness_seconds_bucket{le="3600"}': 4,
      'rouse_lateness_seconds_bucket{le="+Inf"}': 5,
      rouse_lateness_seconds_count: 5,
    })
  })

  test('a kind cannot break out of its label', () => {
    const counts = new Counts()
    counts.count('skips', 1, 'a"} 5\nrouse_fires_total 99\\')
    expect(valuesIn(counts.text()).rouse_fires_total).toBe(0)
  })

  test('every call counts once, whatever door it knocks at', async () => {
    const house = await inHouse({})
    const headers = { authorization: `Bearer ${await house.keyOf(house.owner)}` }
    const calls = async () =>
      valuesIn(await (await house.request('/metrics', { headers })).text())['rouse_calls_total{class="4xx"}'] ?? 0
    const paths = ['/docs', '/docs/x.js', '/docs/a/b', '/console', '/console/assets/x.js', '/v1/hooks/x', '/mcp', '/x']
    const counted: unknown[] = []
    for (const path of paths) {
      const before = await calls()
      expect((await house.request(path)).status).toBeGreaterThanOrEqual(400)
      counted.push([path, (await calls()) - before])
    }
    await house.close()
    expect(counted).toEqual(paths.map((path) => [path, 1]))
  })

  test('words that tell kinds apart are words of ours, so that no caller makes metrics without end', async () => {
    const house = await inHouse({})
    for (let i = 0; i < 20; i++)
      await house.call('GET', `/v1/nowhere/${i}`, { headers: { 'x-request-id': `id-${i}-aaa` } })
    const headers = { authorization: `Bearer ${await house.keyOf(house.owner)}` }
    const text = await (await house.request('/metrics', { headers })).text()
    await house.close()
    const ofCalls = Object.keys(valuesIn(text)).filter((name) => name.startsWith('rouse_calls_total'))
    expect(ofCalls).toEqual(['rouse_calls_total{class="4xx"}'])
    expect((Object.keys(counters) as CounterName[]).length).toBeLessThan(20)
  })
})
