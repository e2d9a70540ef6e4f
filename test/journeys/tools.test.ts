// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CEL in a tool's strings is written like that
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mcpServer, texts } from '../adapters/mcp-server.ts'
import { type Actor, actor, all, fresh, keyOf } from './actors.ts'
import { type Answer, type CallOptions, type Json, type RouseNode, withOwnNodes } from './node.ts'
import { Receiver } from './receiver.ts'

const outside = new Receiver()
const mcp = new Receiver()
/** Nobody is allowed to reach this one. */
const inner = new Receiver()
const secret = 'sesame-open-1234'

beforeAll(async () => {
  await Promise.all([outside.up(), mcp.up(), inner.up()])
})
afterAll(() => {
  for (const server of [outside, mcp, inner]) server.down()
})
beforeEach(() => {
  for (const server of [outside, mcp, inner]) server.got.length = 0
  outside.reply = () => says({ rate: 1.5 })
  mcp.reply = mcpServer({
    look: { readOnlyHint: true, call: (args) => ({ ...texts('seen'), structuredContent: { saw: args.what } }) },
    change: { call: () => texts('changed') },
    fail: { call: () => ({ ...texts(`no, ${secret} is wrong`), isError: true }) },
  })
})

const says = (body: Json, status = 200, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const lambda = 'arn:aws:lambda:eu-west-1:123456789012:function:start'

withOwnNodes('tools', (make) => {
  let rouse: RouseNode
  let who: Actor
  beforeAll(async () => {
    rouse = make()
    await rouse.start({
      clock: '2026-03-02T08:00:00Z',
      env: {
        ROUSE_ALLOW_HOSTS: `${outside.host},${mcp.host}`,
        ROUSE_LAMBDAS: lambda,
        AWS_ENDPOINT_URL_LAMBDA: `http://${outside.host}/lambda`,
        AWS_ACCESS_KEY_ID: 'none',
        AWS_SECRET_ACCESS_KEY: 'none',
      },
    })
    who = await actor(rouse)
    await rouse.call('PUT', '/v1/secrets/KEY', { value: secret })
  })

  const at = (name: string): string => `/v1/agents/${who.agent.id}/tools/${encodeURIComponent(name)}`
  const get = (path = '/rate', more: Json = {}): Json => ({
    http: { method: 'GET', url: `http://${outside.host}${path}`, ...more },
  })
  const post = (path: string, body: Json, more: Json = {}): Json => ({
    http: { method: 'POST', url: `http://${outside.host}${path}`, body, ...more },
  })
  const definition = (over: Json = {}): Json => ({
    description: 'What it is for.',
    parameters: { type: 'object' },
    readOnly: false,
    steps: [get()],
    ...over,
  })
  const put = (name: string, over: Json = {}, o: CallOptions = {}): Promise<Answer> =>
    rouse.call('PUT', at(name), definition(over), o)
  const call = (name: string, args?: Json, o: CallOptions = {}): Promise<Answer> =>
    rouse.call('POST', `${at(name)}/call`, args === undefined ? {} : { args }, o)
  /** Registers a tool of these steps and calls it. */
  const tried = async (steps: Json[], over: Json = {}, args: Json = {}): Promise<Answer> => {
    const name = fresh('tried')
    const kept = await put(name, { steps, ...over })
    if (kept.status !== 201) throw new Error(`PUT answered ${kept.status} ${JSON.stringify(kept.body)}`)
    return await call(name, args)
  }

  describe('a tool is kept', () => {
    test('201 when it is new, 200 after that; it reads back as it was sent, and is gone when it is removed', async () => {
      const sent = definition({ output: 'steps[0].body.rate', readOnly: true })
      const made = await rouse.call('PUT', at('rate'), sent)
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({ name: 'rate', agent: who.agent.id, ...sent })
      expect((await rouse.call('PUT', at('rate'), sent)).status).toBe(200)
      expect((await rouse.call('GET', at('rate'))).body).toMatchObject(sent)
      expect((await all(rouse, `/v1/agents/${who.agent.id}/tools`)).map(({ name }) => name)).toContain('rate')
      expect((await rouse.call('DELETE', at('rate'))).status).toBe(204)
      for (const [method, path] of [
        ['GET', at('rate')],
        ['DELETE', at('rate')],
        ['POST', `${at('rate')}/call`],
      ] as const)
        expect((await rouse.call(method, path, method === 'POST' ? {} : undefined)).body.code).toBe('not_found')
    })

    test('lists page', async () => {
      const names = ['p.1', 'p-2', 'p_3']
      for (const name of names) await put(name)
      const page = await rouse.ok('GET', `/v1/agents/${who.agent.id}/tools?limit=1`)
      expect(page.data).toHaveLength(1)
      expect((await all(rouse, `/v1/agents/${who.agent.id}/tools`)).map(({ name }) => name)).toEqual(
        expect.arrayContaining(names),
      )
      expect((await rouse.call('GET', `/v1/agents/${who.agent.id}/tools?cursor=xx`)).body.code).toBe('cursor_invalid')
    })

    test('by the agent itself too, from a session or without', async () => {
      expect((await put('own', {}, who.as)).body).toMatchObject({ by: who.agent.id })
      expect((await put('own', {}, { key: who.key })).status).toBe(200)
      expect((await call('own', {}, who.as)).status).toBe(200)
      const other = await actor(rouse)
      expect((await put('own', {}, other.as)).body.code).toBe('not_found')
      expect((await call('own', {}, other.as)).body.code).toBe('not_found')
    })

    test('by its owner, and not by a friend, who may call it', async () => {
      const friend = await rouse.ok('POST', '/v1/people', { name: fresh('friend') })
      await rouse.ok('PATCH', `/v1/agents/${who.agent.id}`, { sharedWith: [friend.id] })
      await put('shared')
      const o = { key: friend.key }
      expect((await rouse.call('GET', at('shared'), undefined, o)).status).toBe(200)
      expect((await call('shared', {}, o)).status).toBe(200)
      expect((await put('shared', {}, o)).body.code).toBe('owner_only')
      expect((await rouse.call('DELETE', at('shared'), undefined, o)).body.code).toBe('owner_only')
    })

    test.each<[string, Json, string]>([
      ['no step', { steps: [] }, 'steps'],
      ['too many steps', { steps: Array.from({ length: 21 }, () => ({ document: { get: 'a' } })) }, 'steps'],
      ['a step of no kind', { steps: [{}] }, 'steps.0'],
      ['a step of two kinds', { steps: [{ document: { get: 'a' }, host: { tool: 'x' } }] }, 'steps.0'],
      ['an unknown kind', { steps: [{ shell: 'ls' }] }, 'steps.0'],
      [
        'a method that is none',
        { steps: [{ http: { method: 'TRACE', url: 'https://a.test' } }] },
        'steps.0.http.method',
      ],
      [
        'a document that is read and written',
        { steps: [{ document: { get: 'a', put: 'b', body: 1 } }] },
        'steps.0.document',
      ],
      ['a document without a body', { steps: [{ document: { put: 'a' } }] }, 'steps.0.document'],
      ['parameters that are no object', { parameters: true }, 'parameters'],
      ['parameters that are no schema', { parameters: { type: 'objekt' } }, 'parameters.type'],
      ['a field that is none', { timeout: 5 }, ''],
      ['a template that does not compile', { steps: [{ document: { get: 'a/${args.' } }] }, 'steps.0.document.get'],
      ['an output that does not compile', { output: 'steps[0' }, 'output'],
      ['an output that asks for a secret', { output: 'secrets.KEY' }, 'output'],
      [
        'the metadata address',
        { steps: [{ http: { method: 'GET', url: 'http://169.254.169.254/${args.x}' } }] },
        'steps.0.http.url',
      ],
      ['localhost', { steps: [{ http: { method: 'GET', url: 'http://localhost:1/' } }] }, 'steps.0.http.url'],
      ['another protocol', { steps: [{ http: { method: 'GET', url: 'file:///etc/passwd' } }] }, 'steps.0.http.url'],
      ['a private MCP server', { steps: [{ mcp: { url: 'http://10.0.0.1/mcp', tool: 'x' } }] }, 'steps.0.mcp.url'],
      ['a function that is not allowed', { steps: [{ lambda: { arn: `${lambda}:prod` } }] }, 'steps.0.lambda.arn'],
      ['a read-only tool that writes', { readOnly: true, steps: [{ document: { put: 'a', body: 1 } }] }, 'steps.0'],
    ])('%s is refused, and nothing is kept', async (_what, over, path) => {
      const refused = await put('refused', over)
      expect([refused.status, refused.body.code]).toEqual([422, 'body_invalid'])
      expect(refused.body.errors[0].path).toBe(path)
      expect(refused.body.errors[0].message.length).toBeGreaterThan(5)
      expect((await rouse.call('GET', at('refused'))).status).toBe(404)
    })

    test.each(['a b', 'a/b', 'é', 'x'.repeat(65)])('the name %j is refused', async (name) => {
      const refused = await put(name)
      expect([404, 422]).toContain(refused.status)
      if (refused.status === 422) expect(refused.body.errors[0].path).toBe('name')
    })

    test('of 32 KB and no more', async () => {
      const refused = await put('large', { parameters: { title: 'x'.repeat(33_000) } })
      expect(refused.body).toMatchObject({ code: 'body_invalid', detail: expect.stringContaining('32768 bytes') })
    })

    test('S4-26 read-only with an MCP tool only when its server says that it reads', async () => {
      const of = (tool: string, url = `http://${mcp.host}/mcp`): Json => ({
        readOnly: true,
        steps: [{ mcp: { url, tool } }],
      })
      expect((await put('seen', of('look'))).status).toBe(201)
      expect((await call('seen')).body.output).toEqual({})
      for (const over of [of('change'), of('none'), of('look', `http://${outside.host}/nothing`)])
        expect((await put('unseen', over)).body.errors[0].path).toBe('steps.0.mcp')
      expect((await put('unseen', { ...of('change'), readOnly: false })).status).toBe(201)
    })
  })

  describe('a call', () => {
    test('answers the output and what each step came to', async () => {
      const answer = await tried(
        [get('/rate/${args.of}'), post('/orders', { at: '${steps[0].body.rate}' })],
        { output: '{"at": steps[0].body.rate, "code": steps[1].status}' },
        { of: 'EUR' },
      )
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({
        output: { at: 1.5, code: 200 },
        steps: [{ status: 200, body: { rate: 1.5 } }, {}],
      })
      expect(outside.got.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /rate/EUR', 'POST /orders'])
      expect(outside.got[1]).toMatchObject({ body: '{"at":1.5}', headers: { 'content-type': 'application/json' } })
    })

    test('under an Idempotency-Key happens once, and its requests carry the same keys', async () => {
      await put('order', { steps: [post('/orders', {}), post('/orders', {})] })
      const o = { headers: { 'idempotency-key': fresh('once') } }
      const first = await call('order', {}, o)
      expect(await call('order', {}, o)).toMatchObject({ status: 200, body: first.body })
      const keys = outside.got.map(({ headers }) => String(headers['idempotency-key']))
      expect(keys).toEqual([expect.stringMatching(/^run_\w{26}:0$/), expect.stringMatching(/^run_\w{26}:1$/)])
      outside.reply = () => says({}, 503)
      expect((await call('order', {}, { headers: { 'idempotency-key': fresh('once') } })).body.code).toBe('tool_failed')
    })

    test('stands in the audit trail, also one that failed', async () => {
      await put('audited', { steps: [post('/orders', { hidden: 'words' })] })
      await call('audited')
      outside.reply = () => says({}, 404)
      await call('audited')
      const rows = (await rouse.ok('GET', '/v1/audit?limit=2')).data
      expect(rows.map(({ operation, status }: Json) => [operation, status])).toEqual([
        ['callTool', 422],
        ['callTool', 200],
      ])
      for (const { targets } of rows) expect(targets).toEqual(expect.arrayContaining([who.agent.id, 'audited']))
      expect(JSON.stringify(rows)).not.toContain('words')
    })

    test.each<[Json, string]>([
      [{}, 'args'],
      [{ pair: 'eur' }, 'args.pair'],
      [{ pair: 'EURUSD', more: 1 }, 'args'],
      ['text', 'args'],
    ])('whose arguments do not fit is refused before any step: %j', async (args, path) => {
      const properties = { pair: { type: 'string', pattern: '^[A-Z]{6}$' } }
      await put('strict', {
        parameters: { type: 'object', properties, required: ['pair'], additionalProperties: false },
      })
      const refused = await call('strict', args)
      expect(refused).toMatchObject({ status: 422, body: { code: 'args_invalid' } })
      expect(refused.body.errors[0].path).toBe(path)
      expect(outside.got).toEqual([])
      expect((await call('strict', { pair: 'EURUSD' })).status).toBe(200)
    })

    test('with a pattern that would take for ever takes a moment, and the node answers on', async () => {
      await put('bomb', { parameters: { properties: { a: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } } } })
      const since = performance.now()
      expect((await call('bomb', { a: 'a'.repeat(40_000) })).body.code).toBe('args_invalid')
      expect(performance.now() - since).toBeLessThan(2_000)
    })

    test('documents are those of the caller', async () => {
      await rouse.ok('PUT', '/v1/documents/plan', { n: 1 })
      const steps = [
        { document: { get: 'plan' } },
        { document: { put: 'next', body: { n: '${steps[0].body.n + 1}' } } },
      ]
      expect((await tried(steps)).body.output).toEqual({ n: 2 })
      expect(await rouse.ok('GET', '/v1/documents/next')).toEqual({ n: 2 })
      const missing = await tried([{ document: { get: 'no/where' } }])
      expect(missing.body).toMatchObject({
        code: 'tool_failed',
        detail: expect.stringContaining('steps.0: there is no document'),
      })
    })

    test('MCP tools: structured content, and failing in their own words', async () => {
      const url = `http://${mcp.host}/mcp?token=hidden`
      const step = (tool: string): Json => ({ mcp: { url, tool, args: { what: '${args.what}' } } })
      expect((await tried([step('look')], {}, { what: 'this' })).body.output).toEqual({ saw: 'this' })
      const failed = await tried([step('fail')], {}, { what: 1 })
      expect(failed.body.detail).toContain('the MCP tool fail failed')
      expect(JSON.stringify(failed.body)).not.toContain('hidden')
    })

    test('functions that are allowed are called', async () => {
      outside.reply = () => says({ started: 7 })
      const answer = await tried([{ lambda: { arn: lambda, payload: { n: '${args.n}' } } }], {}, { n: 3 })
      expect(answer.body.output).toEqual({ started: 7 })
      expect(outside.got[0]).toMatchObject({ body: '{"n":3}', path: expect.stringContaining('/lambda/') })
      const other = await tried([{ lambda: { arn: '${args.arn}' } }], {}, { arn: `${lambda}:prod` })
      expect(other.body.detail).toContain('ROUSE_LAMBDAS')
    })

    test('S4-8 starts slow work and arms a monitor on it, in one call', async () => {
      outside.reply = () => says({ build: 7 })
      const monitor = {
        note: 'Build ${steps[0].body.build} is over: read its log.',
        watch: { document: { path: 'builds/${steps[0].body.build}' } },
        when: 'doc.state == "done"',
        expiresIn: '${args.patience}',
      }
      const answer = { status: 0, body: null as Json }
      await put('build', { steps: [post('/builds', {}), { monitor }] })
      Object.assign(answer, await call('build', { patience: '2h' }, who.as))
      expect(answer).toMatchObject({ status: 200, body: { output: { status: 'armed', session: who.session.id } } })
      const armed = await rouse.ok('GET', `/v1/monitors/${answer.body.output.id}`)
      expect(armed).toMatchObject({ note: 'Build 7 is over: read its log.', expiresAt: '2026-03-02T10:00:00.000Z' })
      await rouse.ok('PUT', '/v1/documents/builds/7', { state: 'done' })
      const { data } = await rouse.ok('GET', `/v1/sessions/${who.session.id}/messages?limit=5`)
      expect(data.some(({ kind, text }: Json) => kind === 'monitor' && text.includes('read its log'))).toBe(true)
    })

    test('host steps reach the attached worker as jobs, and come back with what it says', async () => {
      await put('host', { steps: [{ host: { tool: 'count', args: { file: '${args.file}' } } }] })
      const ends = [
        [
          { exit: 0, output: '{"lines":3}' },
          { status: 200, body: { output: { lines: 3 } } },
        ],
        [
          { exit: 1, output: 'no such file' },
          { status: 422, body: { detail: 'steps.0: count failed on the host: no such file' } },
        ],
      ] as const
      for (const [end, answer] of ends) {
        const calling = call('host', { file: 'a.txt' }, who.as)
        const claimed = await rouse.ok(
          'POST',
          `/v1/sessions/${who.session.id}/claim`,
          { jobs: 'only', wait: 5 },
          who.as,
        )
        expect(claimed.job).toMatchObject({ kind: 'host_step', tool: 'count', args: { file: 'a.txt' } })
        await rouse.ok('POST', `/v1/jobs/${claimed.job.id}/end`, end, who.as)
        expect(await calling).toMatchObject(answer)
      }
    })

    test('a monitor that is refused fails the step', async () => {
      const refused = await tried(
        [{ monitor: { note: 'x', watch: {}, session: '${args.session}' } }],
        {},
        { session: who.session.id },
      )
      expect(refused.body).toMatchObject({ code: 'tool_failed', errors: [{ path: 'steps.0' }] })
      const odd = await tried([{ monitor: { note: 7 } }])
      expect(odd.body).toMatchObject({
        code: 'tool_failed',
        errors: [{ path: 'steps.0', message: expect.stringContaining('note') }],
      })
    })
  })

  describe('where a step may not go', () => {
    test.each([
      ['the metadata address', 'http://169.254.169.254/latest/meta-data'],
      ['localhost', 'http://localhost:1/'],
      ['a private address in disguise', 'http://0x7f.1:1/'],
      ['a private network', 'http://[::ffff:10.0.0.1]/'],
      ['another protocol', 'file:///etc/passwd'],
      ['no address', 'nowhere'],
    ])('%s, by the arguments', async (_what, to) => {
      const refused = await tried([{ http: { method: 'GET', url: '${args.to}' } }], {}, { to })
      expect(refused).toMatchObject({ status: 422, body: { code: 'tool_failed', errors: [{ path: 'steps.0' }] } })
    })

    test('a server that is private, by the arguments or by a redirect', async () => {
      const refused = await tried([{ http: { method: 'GET', url: 'http://${args.host}/x' } }], {}, { host: inner.host })
      expect(refused.body.code).toBe('tool_failed')
      outside.reply = () => ({ status: 302, headers: { location: `http://${inner.host}/x?q=hidden` } })
      const led = await tried([get()])
      expect(led.body).toMatchObject({ code: 'tool_failed', detail: expect.stringContaining('127.0.0.1') })
      expect(JSON.stringify(led.body)).not.toContain('hidden')
      expect(inner.got).toEqual([])
    })

    test('headers that frame the request, and one that breaks its line', async () => {
      for (const headers of [{ Host: 'other.test' }, { 'x-a': '${args.line}' }])
        expect((await tried([get('/', { headers })], {}, { line: 'a\r\nx-b: c' })).body.code).toBe('tool_failed')
      expect(outside.got).toEqual([])
    })
  })

  describe('what a step waits for', () => {
    test('an answer of 256 KB, and none that is larger', async () => {
      outside.reply = () => ({ status: 200, body: 'x'.repeat(256 * 1024) })
      expect((await tried([get()])).body.output).toHaveLength(256 * 1024)
      outside.reply = () => ({ status: 200, body: 'x'.repeat(256 * 1024 + 1) })
      expect((await tried([get()])).body.detail).toContain('larger than 262144 bytes')
    })

    test('ten seconds', { timeout: 20_000 }, async () => {
      outside.reply = () => ({ status: 200, afterMs: 11_500 })
      const since = performance.now()
      expect((await tried([get('/slow?q=hidden')])).body.detail).toBe('steps.0: no answer within 10 s')
      expect(performance.now() - since).toBeLessThan(11_400)
    })

    test('a status of 400 and more fails it, with no more said than host and status', async () => {
      outside.reply = () => says({ hidden: 'words' }, 404)
      const failed = await tried([get(), get('/a/hidden?q=hidden')])
      expect(failed.body).toMatchObject({ code: 'tool_failed', detail: `steps.0: GET ${outside.host} answered 404` })
      expect(JSON.stringify(failed.body)).not.toContain('hidden')
    })

    test('an output that does not hold fails at "output"', async () => {
      const failed = await tried([get()], { output: 'steps[0].body.none' })
      expect(failed.body).toMatchObject({ code: 'tool_failed', errors: [{ path: 'output' }] })
    })
  })

  describe('secrets', () => {
    const bearer = { headers: { authorization: 'Bearer ${secrets.KEY}' } }

    test('reach the step, and nothing else: no answer, no error, no document, no trail, no log', async () => {
      outside.reply = ({ headers }) =>
        says({ echo: headers.authorization }, 200, { 'x-echo': String(headers.authorization) })
      const kept = { document: { put: 'kept', body: '${steps[0].body}' } }
      const answers = [
        await tried([get('/?key=${secrets.KEY}', bearer), kept], { output: 'steps' }),
        await tried([{ mcp: { url: `http://${mcp.host}/mcp`, tool: 'fail', args: { key: '${secrets.KEY}' } } }]),
        await tried([get('/', { headers: { a: '${int(secrets.KEY)}' } })]),
      ]
      expect(outside.got[0]).toMatchObject({ path: `/?key=${secret}`, headers: { authorization: `Bearer ${secret}` } })
      expect(answers[0]!.body.output[0].body).toEqual({ echo: 'Bearer [secret KEY]' })
      expect(answers.map(({ status }) => status)).toEqual([200, 422, 422])
      outside.reply = () => says(secret, 500)
      answers.push(await tried([get('/?key=${secrets.KEY}', bearer)]))
      const seen = [
        ...answers.map(({ body }) => body),
        await rouse.ok('GET', '/v1/documents/kept'),
        await all(rouse, '/v1/audit'),
        await all(rouse, `/v1/agents/${who.agent.id}/tools`),
        rouse.said,
      ]
      expect(JSON.stringify(seen)).toContain('[secret KEY]')
      expect(JSON.stringify(seen)).not.toContain(secret)
    })

    test('an agent uses those of its owner, a friend his own', async () => {
      const friend = await rouse.ok('POST', '/v1/people', { name: fresh('friend') })
      await rouse.ok('PATCH', `/v1/agents/${who.agent.id}`, { sharedWith: [friend.id] })
      await put('bank', { steps: [get('/', bearer)] })
      await call('bank', {}, { key: await keyOf(rouse, who.agent.id) })
      expect(outside.got[0]!.headers.authorization).toBe(`Bearer ${secret}`)
      const missing = await call('bank', {}, { key: friend.key })
      expect(missing.body).toMatchObject({ code: 'tool_failed', detail: expect.stringContaining('no secret KEY') })
      expect(outside.got).toHaveLength(1)
    })
  })
})
