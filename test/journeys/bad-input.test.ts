import { expect, test } from 'vitest'
import { agentWithSession, all, create, messages, say, schedule } from './actors.ts'
import { anywhere, type Json } from './node.ts'

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const long = 'x'.repeat(5_000)

/** Values that no field of a schedule takes; JSON text, since some of them have no JavaScript value. */
const nonsense = ['true', '[]', '{}', '1.5', '-1', '1e400', '-0', '9007199254740993', '""', '"\\u0000"', '"\\ud800"']

anywhere('input that does not fit', (rouse) => {
  const none = `sch_${'0'.repeat(26)}`

  /** The call is refused with a problem of the 4xx kind; which one is for other tests to say. */
  async function refused(method: string, path: string, raw: string): Promise<void> {
    const answer = await rouse.call(method, path, undefined, { raw })
    const told = [raw.slice(0, 120), answer.status]
    expect(answer.status, String(told)).toBeGreaterThanOrEqual(400)
    expect(answer.status, String(told)).toBeLessThan(500)
    expect(answer.headers.get('content-type')).toMatch(/problem\+json/)
    expect(answer.body.code, String(told)).toMatch(/^[a-z]+(_[a-z]+)*$/)
  }

  const fields: Record<string, string[]> = {
    name: [...nonsense, 'null', `"${long}"`, '"a\\u202eb"'],
    prompt: nonsense.filter((value) => value !== '"\\ud800"' && value !== '"\\u0000"'),
    session: [...nonsense, '"ses_"', '"agt_00000000000000000000000000"', `"${long}"`],
    cron: [
      ...nonsense,
      '"* * * * * * *"',
      `"${'0,'.repeat(2_000)}0 8 * * *"`,
      '"0 8 * * */0"',
      '"0 8 * * 1-"',
      `"${long}"`,
    ],
    rrule: [
      ...nonsense,
      '"FREQ"',
      '"FREQ=DAILY;FREQ=DAILY"',
      '"FREQ=DAILY;INTERVAL=0"',
      '"FREQ=DAILY;COUNT=-1"',
      `"${long}"`,
    ],
    at: [
      ...nonsense,
      '"2026-02-30T09:00"',
      '"0000-00-00T00:00"',
      '"+275761-01-01T00:00:00Z"',
      '"2026-11-02T09:00+99:00"',
    ],
    every: [
      ...nonsense.filter((value) => value !== '9007199254740993'),
      '"PT"',
      '"5"',
      '"5 parsecs"',
      '9007199254740993',
    ],
    tz: [...nonsense, '"+02:00x"', '"../../etc/passwd"', '"Europe"', `"${long}"`],
    maxRuns: ['true', '"5"', '0', '-1', '1.5', '1e400', '[]'],
    pauseAfterFailures: ['true', '"5"', '0', '-1', '1.5', '1e400'],
    jitter: ['true', '[]', '{}', '-1', '"-5m"', '"x"', '1e400'],
    until: [...nonsense, '"2000-01-01T00:00:00Z"', '"soon"'],
    misfire: [...nonsense, '"twice"', '{"within": "x"}', '{"within": -5}', '{"after": "5m"}'],
    overlap: [...nonsense, '"wait"'],
    onUnknown: [...nonsense, '"again"'],
    channel: [...nonsense, '"ses_00000000000000000000000000"'],
  }
  for (const [field, values] of Object.entries(fields))
    test(`a schedule whose ${field} does not fit is refused and nothing is stored`, async () => {
      const { session } = await agentWithSession(rouse)
      const time = ['at', 'every', 'rrule'].includes(field) ? {} : { cron: '0 8 * * *' }
      const whole: Json = { name: 'x', prompt: 'p', session: session.id, ...time }
      for (const value of values) {
        const { [field]: _, ...rest } = whole
        await refused('POST', '/v1/schedules', `${JSON.stringify(rest).slice(0, -1)},"${field}":${value}}`)
      }
      expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    })

  test('an edit that does not fit is refused and changes nothing', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, cron: '0 8 * * *' })
    for (const [field, values] of Object.entries(fields))
      for (const value of values.slice(0, 4))
        await refused('PATCH', `/v1/schedules/${made.id}`, `{"name":"changed","${field}":${value}}`)
    expect(await rouse.ok('GET', `/v1/schedules/${made.id}`)).toEqual(made)
  })

  test('JSON that is deep, no object, or has a key twice in another type is refused', async () => {
    const { session } = await agentWithSession(rouse)
    const bodies = [deep(30_000), `{"name":${deep(5_000)}}`, `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`]
    for (const raw of [...bodies, 'null', '[]', '"x"', '5', 'true', '{"__proto__":{"name":"x"}}', '\u0000'])
      for (const path of ['/v1/schedules', '/v1/agents', '/v1/sessions', `/v1/sessions/${session.id}/messages`])
        await refused('POST', path, raw)
    expect(await messages(rouse, session.id)).toEqual([])
  })

  test('bytes that are no UTF-8 are refused, or stored as text that is', async () => {
    const { session } = await agentWithSession(rouse)
    const raw = Buffer.concat([Buffer.from('{"text":"a'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('b"}')])
    const answer = await rouse.call('POST', `/v1/sessions/${session.id}/messages`, undefined, { raw })
    expect([201, 400, 422]).toContain(answer.status)
    expect(await messages(rouse, session.id)).toHaveLength(answer.status === 201 ? 1 : 0)
  })

  test('a preview asks for at most 100 times and from a real instant', async () => {
    for (const more of [{ count: 101 }, { count: 0 }, { count: -1 }, { count: 1e9 }, { count: 1.5 }, { count: '3' }])
      await refused('POST', '/v1/schedules/preview', JSON.stringify({ cron: '0 8 * * *', ...more }))
    for (const from of ['soon', 5, '2026-02-30T00:00:00Z', ''])
      await refused('POST', '/v1/schedules/preview', JSON.stringify({ cron: '0 8 * * *', from }))
    const { next } = await rouse.ok('POST', '/v1/schedules/preview', { cron: '0 8 * * *', count: 100 })
    expect(next).toHaveLength(100)
  })

  test('a message that does not fit is refused and nothing is stored', async () => {
    const { session } = await agentWithSession(rouse)
    for (const raw of [
      '{}',
      '{"text":5}',
      '{"text":null}',
      '{"text":""}',
      '{"text":["x"]}',
      `{"text":"${'x'.repeat(70_000)}"}`,
    ])
      await refused('POST', `/v1/sessions/${session.id}/messages`, raw)
    expect(await messages(rouse, session.id)).toEqual([])
    expect((await say(rouse, session.id, 'Ünïcødé 日本語 ⏰')).text).toBe('Ünïcødé 日本語 ⏰')
  })

  test('paths and queries that make no sense are refused', async () => {
    const paths = [
      '/v1/schedules/%00',
      '/v1/schedules/..%2f..%2fetc',
      `/v1/schedules/${long}`,
      `/v1/schedules/${none}/runs`,
    ]
    for (const path of [...paths, '/v1/schedules/%F0%9F%92%A9', "/v1/schedules/'%20OR%201=1--"]) {
      const answer = await rouse.call('GET', path)
      expect([path.slice(0, 60), answer.status]).toEqual([path.slice(0, 60), 404])
    }
    for (const query of ['status=sleeping', 'status=', 'limit=', 'nonsense=1']) {
      const { status } = await rouse.call('GET', `/v1/schedules?${query}`)
      expect([query, status < 500]).toEqual([query, true])
    }
    for (const id of ['agent', 'session', 'createdIn']) {
      const answer = await rouse.call('GET', `/v1/schedules?${id}=x%00y`)
      expect([id, answer.status < 500, answer.body.data ?? []]).toEqual([id, true, []])
    }
  })

  test('after all that a good schedule is still accepted', async () => {
    const { session } = await agentWithSession(rouse)
    expect((await create(rouse, { session: session.id, cron: '0 8 * * *' })).status).toBe(201)
  })
})
