import { expect, test } from 'vitest'
import {
  actor,
  agent,
  agentWithSession,
  all,
  claim,
  create,
  end,
  fresh,
  inTurn,
  messages,
  read,
  say,
  schedule,
  session,
  turnOf,
} from './actors.ts'
import { type Answer, anywhere, type Json } from './node.ts'

/** The answer is a problem of RFC 9457 with this status and code. */
function problem(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body.code]).toEqual([status, code])
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(answer.body).toMatchObject({
    type: expect.any(String),
    title: expect.any(String),
    status,
    detail: expect.any(String),
  })
}

anywhere('the habits of the API', (rouse) => {
  const rule = { cron: '0 8 * * *' }

  test('without a key, or with a wrong one, a call is 401 unauthorized', async () => {
    for (const path of ['/v1/schedules', '/v1/agents', '/v1/settings', '/v1/sessions']) {
      problem(await rouse.call('GET', path, undefined, { key: null }), 401, 'unauthorized')
      problem(await rouse.call('GET', path, undefined, { key: 'rouse_wrong' }), 401, 'unauthorized')
    }
    const basic = { authorization: `Basic ${rouse.key}` }
    problem(await rouse.call('GET', '/v1/agents', undefined, { key: null, headers: basic }), 401, 'unauthorized')
    problem(await rouse.call('POST', '/v1/agents', { name: 'x' }, { key: null }), 401, 'unauthorized')
    expect((await rouse.call('GET', '/healthz', undefined, { key: null })).status).toBe(200)
  })

  test('what is not there is 404 not_found', async () => {
    const none = '0'.repeat(26)
    for (const [method, path] of [
      ['GET', `/v1/schedules/sch_${none}`],
      ['DELETE', `/v1/schedules/sch_${none}`],
      ['POST', `/v1/schedules/sch_${none}/run`],
      ['GET', `/v1/sessions/ses_${none}`],
      ['GET', `/v1/agents/agt_${none}`],
      ['POST', `/v1/turns/trn_${none}/heartbeat`],
      ['GET', '/v1/schedules/nonsense'],
      ['GET', '/v1/nothing'],
      ['GET', '/nothing'],
    ])
      problem(await rouse.call(method!, path!, method === 'POST' ? {} : undefined), 404, 'not_found')
  })

  test('a body that is no JSON is 400 json_invalid', async () => {
    for (const raw of ['{', '{"name": }', '{"name": NaN}', '[1,', 'name=x', "{'name': 'x'}"])
      problem(await rouse.call('POST', '/v1/agents', undefined, { raw }), 400, 'json_invalid')
  })

  test('another media type is 415 media_type', async () => {
    const raw = JSON.stringify({ name: fresh('x') })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml'])
      problem(
        await rouse.call('POST', '/v1/agents', undefined, { raw, headers: { 'content-type': type } }),
        415,
        'media_type',
      )
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    expect((await rouse.call('POST', '/v1/agents', undefined, { raw, headers })).status).toBe(201)
  })

  test('a body over 64 KB is 413 body_too_large', async () => {
    const { session } = await agentWithSession(rouse)
    const answer = await create(rouse, { session: session.id, ...rule, prompt: 'x'.repeat(66_000) })
    problem(answer, 413, 'body_too_large')
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    expect((await create(rouse, { session: session.id, ...rule, prompt: 'x'.repeat(60_000) })).status).toBeLessThan(500)
  })

  test('a call that follows one with a body too long to be read goes through', async () => {
    const raw = JSON.stringify({ name: 'x'.repeat(2_000_000) })
    for (const key of [rouse.key, 'no such key', null])
      for (let n = 0; n < 5; n += 1) {
        expect((await rouse.call('POST', '/v1/agents', undefined, { raw, key })).status).toBeGreaterThanOrEqual(400)
        expect((await rouse.call('GET', '/v1/settings')).status).toBe(200)
      }
  })

  test('an unknown field is refused with the place and nothing is stored', async () => {
    const { session } = await agentWithSession(rouse)
    const answer = await create(rouse, { session: session.id, ...rule, promt: 'x' })
    problem(answer, 422, 'body_invalid')
    expect(answer.body.errors).toEqual([{ path: expect.any(String), message: expect.stringContaining('promt') }])
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toEqual([])
    for (const [path, body] of [
      ['/v1/agents', { name: fresh('x'), colour: 'red' }],
      [`/v1/sessions/${session.id}/messages`, { text: 'x', kind: 'user' }],
      [`/v1/sessions/${session.id}/claim`, { waitSeconds: 1 }],
    ] as const)
      problem(await rouse.call('POST', path, body), 422, 'body_invalid')
    problem(await rouse.call('PATCH', `/v1/sessions/${session.id}`, { state: 'idle' }), 422, 'body_invalid')
  })

  test('a field of the wrong type names its path', async () => {
    const { session } = await agentWithSession(rouse)
    const answer = await create(rouse, { session: session.id, ...rule, name: 5 })
    problem(answer, 422, 'body_invalid')
    expect(answer.body.errors).toEqual([{ path: expect.stringContaining('name'), message: expect.any(String) }])
  })

  test('ids are prefixed ULIDs, and instants carry milliseconds and Z', async () => {
    const { agent, session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, ...rule })
    for (const [prefix, id] of [
      ['agt', agent.id],
      ['ses', session.id],
      ['sch', made.id],
      ['per', agent.owner],
      ['msg', (await say(rouse, session.id, 'x')).id],
    ])
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`))
    for (const time of [made.nextAt, made.next[0].at]) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(made.next).toHaveLength(3)
  })

  test('the same idempotency key and body give the same answer and no second effect', async () => {
    const { session } = await agentWithSession(rouse)
    const headers = { 'idempotency-key': fresh('key') }
    const body = { session: session.id, ...rule }
    const first = await create(rouse, body, { headers })
    const second = await create(rouse, body, { headers })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(1)
    problem(await create(rouse, { ...body, cron: '0 9 * * *' }, { headers }), 422, 'idempotency_mismatch')
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(1)
  })

  test('ten creates at once with one idempotency key make one schedule', async () => {
    const { session } = await agentWithSession(rouse)
    const headers = { 'idempotency-key': fresh('key') }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => create(rouse, { session: session.id, ...rule }, { headers })),
    )
    for (const { status, body } of answers)
      if (status !== 201) expect([status, body.code]).toEqual([409, 'idempotency_in_flight'])
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1)
    expect(await all(rouse, `/v1/schedules?session=${session.id}`)).toHaveLength(1)
  })

  test('a message sent again with its idempotency key is one message', async () => {
    const { session } = await agentWithSession(rouse)
    const headers = { 'idempotency-key': fresh('key') }
    const first = await say(rouse, session.id, 'once', { headers })
    expect(await say(rouse, session.id, 'once', { headers })).toEqual(first)
    expect(await messages(rouse, session.id)).toHaveLength(1)
  })

  test('an idempotency key belongs to who sent it', async () => {
    const bo = await rouse.ok('POST', '/v1/people', { name: 'Bo' })
    const headers = { 'idempotency-key': fresh('key') }
    const name = fresh('agent')
    const mine = await rouse.ok('POST', '/v1/agents', { name }, { headers })
    const hers = await rouse.ok('POST', '/v1/agents', { name }, { headers, key: bo.key })
    expect(hers.id).not.toBe(mine.id)
    expect(hers.owner).toBe(bo.id)
  })

  test('lists come newest first, in pages that overlap nowhere', async () => {
    const { session } = await agentWithSession(rouse)
    const made: string[] = []
    for (let n = 0; n < 7; n += 1)
      made.push((await schedule(rouse, { session: session.id, ...rule, name: `no ${n}` })).id)
    const seen: string[] = []
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page: Json = await rouse.ok('GET', `/v1/schedules?session=${session.id}&limit=3${more}`)
      sizes.push(page.data.length)
      seen.push(...page.data.map(({ id }: Json) => id))
      cursor = page.nextCursor
    }
    expect(sizes.slice(0, 3)).toEqual([3, 3, 1])
    expect([...seen].sort()).toEqual([...made].sort())
    const nameOf = (one: Json) => Number(one.name.slice(3))
    const order = (await all(rouse, `/v1/schedules?session=${session.id}`)).map(nameOf)
    expect(order).toEqual([6, 5, 4, 3, 2, 1, 0])
  })

  test('limit is 1 to 100, and a cursor that is none is refused', async () => {
    for (const limit of ['0', '101', '-1', 'ten', '1.5', '1e9', 'NaN'])
      expect([limit, (await rouse.call('GET', `/v1/schedules?limit=${limit}`)).status]).toEqual([limit, 422])
    const answer = await rouse.call('GET', '/v1/schedules?cursor=%00nonsense')
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  })

  test('lists are narrowed by agent, session, creator and status', async () => {
    const [one, other] = [await agentWithSession(rouse), await agentWithSession(rouse)]
    const a = await schedule(rouse, { session: one.session.id, ...rule })
    const b = await schedule(rouse, { agent: one.agent.id, ...rule })
    await schedule(rouse, { session: other.session.id, ...rule })
    await rouse.ok('POST', `/v1/schedules/${b.id}/pause`, {})
    const ids = async (query: string) => (await all(rouse, `/v1/schedules?${query}`)).map(({ id }) => id).sort()
    expect(await ids(`session=${one.session.id}`)).toEqual([a.id])
    expect(await ids(`agent=${one.agent.id}`)).toEqual([a.id, b.id].sort())
    expect(await ids(`agent=${one.agent.id}&status=paused`)).toEqual([b.id])
    expect(await ids(`createdIn=${one.session.id}`)).toEqual([])
  })

  test('PATCH keeps what is left out, clears with null, and answers the whole thing', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, ...rule, tz: 'Asia/Tokyo', note: 'a remark', maxRuns: 5 })
    const edit = (body: Json) => rouse.ok('PATCH', `/v1/schedules/${made.id}`, body)
    const named = await edit({ name: 'other' })
    expect({ ...named, name: made.name, editedAt: made.editedAt }).toEqual(made)
    expect(await edit({ note: null })).toMatchObject({ note: null, maxRuns: 5, tz: 'Asia/Tokyo' })
    expect(await edit({ rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0' })).toMatchObject({ cron: null, tz: 'Asia/Tokyo' })
    const every = await edit({ every: '2h' })
    expect(every).toMatchObject({ rrule: null, cron: null })
    const at = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 7_200_000).toISOString()
    expect(await edit({ at })).toMatchObject({ every: every.every, nextAt: at })
    expect(await read(rouse, made.id)).toMatchObject({ every: every.every, maxRuns: 5, tz: 'Asia/Tokyo' })
  })

  test('If-Match with the ETag of an older state is refused and changes nothing', async () => {
    const { session } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: session.id, ...rule })
    const path = `/v1/schedules/${made.id}`
    const etag = (await rouse.call('GET', path)).headers.get('etag')
    expect(etag).toBeTruthy()
    const edit = (name: string) => rouse.call('PATCH', path, { name }, { headers: { 'if-match': etag! } })
    expect((await edit('first')).status).toBe(200)
    const stale = await edit('second')
    expect([409, 412]).toContain(stale.status)
    expect((await read(rouse, made.id)).name).toBe('first')
    expect((await rouse.call('PATCH', path, { name: 'third' })).status).toBe(200)
  })

  test('DELETE answers 204, then 404', async () => {
    const { agent: who, session: where } = await agentWithSession(rouse)
    const made = await schedule(rouse, { session: where.id, ...rule })
    for (const path of [`/v1/schedules/${made.id}`, `/v1/sessions/${where.id}`, `/v1/agents/${who.id}`]) {
      const first = await rouse.call('DELETE', path)
      expect([path, first.status, first.body]).toEqual([path, 204, null])
      problem(await rouse.call('DELETE', path), 404, 'not_found')
    }
  })

  test('names hold 1 to 120 printable characters, and no control or bidi characters', async () => {
    const { session: where } = await agentWithSession(rouse)
    const refused = [
      '',
      'x'.repeat(121),
      'a\u0000b',
      'a\u001bb',
      'a\u007fb',
      'a\u0085b',
      'a\u202eb',
      'a\u2066b',
      'a\u200fb',
    ]
    for (const name of refused) problem(await create(rouse, { session: where.id, ...rule, name }), 422, 'body_invalid')
    expect(await all(rouse, `/v1/schedules?session=${where.id}`)).toEqual([])
    for (const name of ['x', 'x'.repeat(120), 'a\nb\r\tc', 'Ünïcødé 日本語 ⏰', '"] [']) {
      const made = await schedule(rouse, { session: where.id, ...rule, name })
      expect((await read(rouse, made.id)).name).toBe(name)
    }
    problem(await rouse.call('POST', '/v1/agents', { name: 'a\u202eb' }), 422, 'body_invalid')
  })

  test('the name of an agent is unique per owner', async () => {
    const name = fresh('twin')
    await agent(rouse, { name })
    const again = await rouse.call('POST', '/v1/agents', { name })
    expect(again.status).toBeGreaterThanOrEqual(409)
    expect(again.status).toBeLessThan(500)
    const bo = await rouse.ok('POST', '/v1/people', { name: 'Bo' })
    expect((await rouse.call('POST', '/v1/agents', { name }, { key: bo.key })).status).toBe(201)
    expect((await all(rouse, '/v1/agents')).filter((one) => one.name === name)).toHaveLength(1)
  })

  test('a turn that does not run is 409 turn_not_running, and nothing is done', async () => {
    const who = await actor(rouse)
    await say(rouse, who.session.id, 'hello')
    const { turn } = await turnOf(rouse, who.session.id, who.as)
    await end(rouse, turn.id, {}, who.as)
    problem(await create(rouse, rule, inTurn(who, turn.id)), 409, 'turn_not_running')
    problem(await create(rouse, rule, inTurn(who, `trn_${'0'.repeat(26)}`)), 409, 'turn_not_running')
    expect(await all(rouse, `/v1/schedules?session=${who.session.id}`)).toEqual([])
  })

  test('without a clock of its own the clock calls are 404', async () => {
    expect((await rouse.call('GET', '/v1/clock')).status).toBe(404)
    expect((await rouse.call('POST', '/v1/clock', { by: '1m' })).status).toBe(404)
  })

  test('the OpenAPI document is 3.1 and names the calls', async () => {
    const { body } = await rouse.call('GET', '/openapi.json', undefined, { key: null })
    expect(body.openapi).toMatch(/^3\.1/)
    for (const path of ['/v1/schedules', '/v1/schedules/preview', '/v1/sessions/{id}/claim', '/v1/turns/{id}/end'])
      expect(Object.keys(body.paths)).toContain(path)
  })

  test('sessions have their defaults', async () => {
    const target = await agent(rouse)
    const main = await session(rouse, target.id)
    expect(main).toMatchObject({
      main: true,
      parent: null,
      mode: 'agent',
      permission: 'auto',
      state: 'idle',
      waiting: 0,
    })
    expect(main).toMatchObject({ scheduled: { count: 0, nextAt: null }, badges: [], workerConnected: null, goal: null })
    const child = await session(rouse, target.id, { parent: main.id })
    expect(child).toMatchObject({ main: false, parent: main.id })
    expect(await claim(rouse, main.id, {})).toBeNull()
  })
})
