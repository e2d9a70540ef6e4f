import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { actor, fresh } from './actors.ts'
import { overHttp } from './mcp-talk.ts'
import { type Json, onClock, type RouseNode, withOwnNodes } from './node.ts'

const accept = 'application/json, text/event-stream'
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** A POST to /mcp, with headers that fetch would not send. */
function post(
  rouse: RouseNode,
  body: Json,
  headers: Record<string, string | null> = {},
  method = 'POST',
): Promise<{ status: number; headers: Record<string, unknown>; text: string; json: Json }> {
  const all = {
    authorization: `Bearer ${rouse.key}`,
    'content-type': 'application/json',
    accept,
    ...headers,
  }
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<string, string>
  return new Promise((done, fail) => {
    const asked = request(`${rouse.url}/mcp`, { method, headers: sent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () =>
        done({ status: answer.statusCode ?? 0, headers: answer.headers, text, json: jsonIn(text) }),
      )
    })
    asked.on('error', fail)
    asked.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** JSON, or the one message of a stream of events. */
function jsonIn(text: string): Json {
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}

onClock('the door of MCP', '2026-03-02T09:00:00Z', (rouse) => {
  test.each(['GET', 'DELETE', 'PUT'])(
    '%s answers 405 at once, with or without a key: there are no sessions',
    async (method) => {
      for (const authorization of [`Bearer ${rouse.key}`, null]) {
        const answer = await post(rouse, undefined, { authorization, accept: 'text/event-stream' }, method)
        expect([answer.status, answer.headers.allow, answer.json.code]).toEqual([405, 'POST', 'method_not_allowed'])
      }
    },
  )

  test.each([
    ['no key', null],
    ['a wrong key', `Bearer rsp_${'x'.repeat(43)}`],
    ['another scheme', 'Basic eDp5'],
  ])('%s answers 401 with a problem, before anything of the body is looked at', async (_what, authorization) => {
    const answer = await post(rouse, '{nonsense', { authorization })
    expect([answer.status, answer.headers['www-authenticate'], answer.json.code]).toEqual([
      401,
      'Bearer',
      'unauthorized',
    ])
  })

  test('the official client is told 401, too', async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${rouse.url}/mcp`))
    const client = new Client({ name: 'journey', version: '1' })
    await expect(client.connect(transport)).rejects.toThrow()
    await client.close()
  })

  test('a session id that nobody gave is ignored: there are none', async () => {
    const answer = await post(rouse, list, { 'mcp-session-id': 'gone' })
    expect([answer.status, answer.json.result.tools.length]).toEqual([200, 11])
    expect(answer.headers['mcp-session-id']).toBeUndefined()
  })

  test('what is no JSON, no JSON-RPC or no known method is answered as JSON-RPC has it', async () => {
    const broken = await post(rouse, '{"jsonrpc": "2.0",')
    expect([broken.status, broken.json.error.code]).toEqual([400, -32_700])
    for (const body of [{}, [], 7, 'null', { jsonrpc: '1.0', id: 1, method: 'x' }]) {
      const answer = await post(rouse, typeof body === 'string' ? body : JSON.stringify(body))
      expect([body, answer.status, typeof answer.json.error.code]).toEqual([body, 400, 'number'])
    }
    const unknown = await post(rouse, { ...list, method: 'resources/list' })
    expect([unknown.status, unknown.json.error.code]).toEqual([200, -32_601])
  })

  test('another content type is 415, a body over 1 MB 413', async () => {
    expect((await post(rouse, list, { 'content-type': 'text/plain' })).status).toBe(415)
    const large = await post(rouse, JSON.stringify({ ...list, params: { x: 'x'.repeat(1024 * 1024) } }))
    expect([large.status, large.json.code]).toEqual([413, 'body_too_large'])
  })

  test('a document of 300 KB goes through, one byte more is refused as over HTTP; other arguments have 64 KB', async () => {
    const mcp = await overHttp(rouse)
    const path = fresh('large')
    const text = '"'.repeat(300 * 1024)
    await mcp.ok('put_document', { path, body: text })
    expect((await mcp.ok('get_document', { path })).body).toBe(text)
    expect((await mcp.call('put_document', { path, body: `${text}"` })).data).toMatchObject({ code: 'body_too_large' })
    const card = await mcp.call('create_monitor', {
      note: 'x',
      watch: { time: { in: '1h' } },
      when: 'x'.repeat(70_000),
    })
    expect(card.data).toMatchObject({ code: 'body_too_large', status: 413 })
    await mcp.close()
  })

  test('the line that sends several messages at once is served, up to 50 of them', async () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => ({ ...list, id: i }))
    const answer = await post(rouse, many(3), { 'mcp-protocol-version': '2025-03-26' })
    expect(answer.text.match(/"tools":/g)).toHaveLength(3)
    expect((await post(rouse, many(51))).json.code).toBe('body_invalid')
  })

  test.each([
    ['a name led here', { host: 'evil.example:4750' }, 'host_not_allowed'],
    ['a page from elsewhere', { origin: 'https://evil.example' }, 'origin_not_allowed'],
    ['both', { host: 'evil.example', origin: 'http://evil.example' }, 'host_not_allowed'],
    ['a page without an origin', { origin: 'null' }, 'origin_not_allowed'],
  ])('%s is refused with 403, whatever key it shows', async (_what, headers, code) => {
    for (const method of ['POST', 'GET']) {
      const answer = await post(rouse, method === 'POST' ? list : undefined, headers, method)
      expect([answer.status, answer.json.code]).toEqual([403, code])
    }
  })

  test('its own page, and no page, are let in', async () => {
    expect((await post(rouse, list, { origin: rouse.url })).status).toBe(200)
    const localhost = new URL(rouse.url).port
    expect((await post(rouse, list, { host: `localhost:${localhost}` })).status).toBe(200)
  })

  test('a subscription ends as it begins: nothing here speaks unasked, and no connection is held', async () => {
    const mcp = await overHttp(rouse)
    expect(mcp.client.getServerCapabilities()).toEqual({ tools: {} })
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'journey', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const answer = await post(
      rouse,
      {
        jsonrpc: '2.0',
        id: 9,
        method: 'subscriptions/listen',
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    )
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"resultType":"complete"')])
    await mcp.close()
  })
})

withOwnNodes('the door of MCP by its settings', (make) => {
  test('ROUSE_ALLOW_ORIGINS lets pages and the name of a proxy in', async () => {
    const rouse = make()
    await rouse.start({ env: { ROUSE_ALLOW_ORIGINS: 'https://rouse.example.com' } })
    expect((await post(rouse, list, { host: 'rouse.example.com', origin: 'https://rouse.example.com' })).status).toBe(
      200,
    )
    expect((await post(rouse, list, { origin: 'https://rouse.example.com' })).status).toBe(200)
    expect((await post(rouse, list, { host: 'other.example.com' })).status).toBe(403)
  })

  test('one that is no origin keeps the node from starting, and it says why', async () => {
    const rouse = make()
    await expect(rouse.start({ env: { ROUSE_ALLOW_ORIGINS: 'rouse.example.com' } })).rejects.toThrow(
      /ROUSE_ALLOW_ORIGINS: expected origins such as/,
    )
  })

  test('a tool call counts once against the rate of its key, and each message of a batch counts', async () => {
    const rouse = make()
    await rouse.start({ clock: '2026-03-02T09:00:00Z', env: { ROUSE_RATE_LIMIT: '1:8' } })
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_schedules', arguments: {} } }
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await post(rouse, call)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
    const batch = await post(
      rouse,
      Array.from({ length: 9 }, (_, i) => ({ ...call, id: i })),
    )
    expect([batch.status, batch.json.code, Number(batch.headers['retry-after']) > 0]).toEqual([
      429,
      'rate_limited',
      true,
    ])
  })

  test('an agent whose key is revoked is out with the next call', async () => {
    const rouse = make()
    await rouse.start()
    const who = await actor(rouse)
    const { id, key } = await rouse.ok('POST', `/v1/agents/${who.agent.id}/keys`, {})
    const mcp = await overHttp(rouse, { key, session: who.session.id })
    await mcp.ok('list_schedules')
    await rouse.ok('DELETE', `/v1/keys/${id}`)
    await expect(mcp.call('list_schedules')).rejects.toThrow()
    await mcp.close()
  })
})
