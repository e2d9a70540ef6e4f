import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { call, type Json, openVictim, type Victim } from './victim.ts'

/**
 * Whoever may use the API makes it call addresses of the network that it runs in. `test/adapters/outbound-address.test.ts` has the spellings
 * of an address one by one, `outbound-http.test.ts` redirects and DNS rebinding; here it is tried through every door that an address
 * comes in by, with a server behind it that must hear nothing.
 */

interface Canary {
  readonly port: number
  readonly heard: string[]
  reply: (request: IncomingMessage, response: ServerResponse) => void
}

const servers: Server[] = []
async function listen(): Promise<Canary> {
  const canary: Canary & { port: number } = { port: 0, heard: [], reply: (_, response) => response.end('{}') }
  const server = createServer((request, response) => {
    canary.heard.push(`${request.method} ${request.url}`)
    request.resume()
    canary.reply(request, response)
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  canary.port = (server.address() as { port: number }).port
  return canary
}

let inside: Canary
let allowed: Canary
let victim: Victim
let headers: Record<string, string>
beforeAll(async () => {
  ;[inside, allowed] = await Promise.all([listen(), listen()])
  victim = await openVictim({ env: { ROUSE_ALLOW_HOSTS: `127.0.0.1:${allowed.port}` } })
  headers = { authorization: `Bearer ${victim.key}` }
})
afterEach(() => {
  expect(inside.heard).toEqual([])
})
afterAll(async () => {
  await victim.house.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const say = (method: string, path: string, body?: Json) => call(victim.house, method, path, body, headers)

/** Registers a tool of one step and calls it; what came of it. */
async function tried(step: Json, args: Json = {}): Promise<Json> {
  const at = `/v1/agents/${victim.ids.agent}/tools/tried`
  const parameters = { type: 'object' }
  const put = await say('PUT', at, { description: 'x', parameters, readOnly: false, steps: [step] })
  if (put.status >= 300) return put.body
  return (await say('POST', `${at}/call`, { args })).body
}

/** Names of this machine, of its network, and of what a cloud tells its machines. */
const hosts = (port: number): string[] =>
  [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
    ...['①②⑦.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost', '0', '0.0.0.0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]', '[::127.0.0.1]'],
    ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fd00:ec2::254]', '[fe80::1]', '169.254.169.254', '2852039166'],
    ...['0xA9FEA9FE', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '224.0.0.1', '255.255.255.255'],
  ].map((host) => `http://${host}:${port}/latest/meta-data/`)

test('an address that the operator allows is reached: the doors that are tried are open', async () => {
  allowed.reply = (_, response) => response.end('{"here":true}')
  const said = await tried({ http: { method: 'GET', url: `http://127.0.0.1:${allowed.port}/there` } })
  expect(said.output).toBe('{"here":true}')
  expect(allowed.heard.splice(0)).toEqual(['GET /there'])
})

describe('an address of the inside', () => {
  test('is refused where it is named: by deliveries, and by tools of every kind', async () => {
    const taken: string[] = []
    for (const url of hosts(inside.port)) {
      const doors: Record<string, Json> = {
        delivery: await say('PATCH', `/v1/schedules/${victim.ids.schedule}`, { deliver: [`webhook:${url}`] }),
        http: await say('PUT', `/v1/agents/${victim.ids.agent}/tools/tried`, tool({ http: { method: 'GET', url } })),
        mcp: await say('PUT', `/v1/agents/${victim.ids.agent}/tools/tried`, tool({ mcp: { url, tool: 'x' } })),
      }
      for (const [door, { status }] of Object.entries(doors)) if (status !== 422) taken.push(`${door} ${url} ${status}`)
    }
    expect(taken).toEqual([])
  })

  test('that is put together while a tool runs is refused then', async () => {
    const made: Json[] = []
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how it is written
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '2130706433'])
      made.push(
        await tried({ http: { method: 'GET', url: `http://\${args.host}:${inside.port}/` } }, { host }),
        await tried({ http: { method: 'GET', url: '${args.url}' } }, { url: `http://${host}:${inside.port}/` }),
        await tried(
          { http: { method: 'GET', url: 'https://example.com${args.rest}' } },
          { rest: `@${host}:${inside.port}/` },
        ),
        await tried({ mcp: { url: `http://\${args.host}:${inside.port}/mcp`, tool: 'x' } }, { host }),
      )
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: that is how it is written
    for (const { code } of made)
      expect(['tool_failed', 'body_invalid', 'args_invalid', 'schedule_invalid']).toContain(code)
  })

  test.each(['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://127.0.0.1/', 'data:text/plain,x', 'unix:/run/x'])(
    '%s is no address at all',
    async (url) => {
      expect((await tried({ http: { method: 'GET', url } })).code).toBe('body_invalid')
      expect((await say('PATCH', `/v1/schedules/${victim.ids.schedule}`, { deliver: [`webhook:${url}`] })).status).toBe(
        422,
      )
    },
  )

  test.each([301, 302, 303, 307, 308])(
    'is not gone to where an allowed one redirects there with %d',
    async (status) => {
      for (const to of [
        `http://127.0.0.1:${inside.port}/`,
        `http://localhost:${inside.port}/`,
        `//[::1]:${inside.port}/`,
      ]) {
        allowed.reply = (_, response) => response.writeHead(status, { location: to }).end()
        const said = await tried({ http: { method: 'GET', url: `http://127.0.0.1:${allowed.port}/` } })
        expect(said.code).toBe('tool_failed')
        const mcp = await tried({ mcp: { url: `http://127.0.0.1:${allowed.port}/mcp`, tool: 'x' } })
        expect(mcp.code).toBe('tool_failed')
      }
    },
  )
})

describe('what is sent', () => {
  test('holds no line break and no header that frames it, whatever a tool is called with', async () => {
    allowed.reply = (_, response) => response.end('{}')
    allowed.heard.length = 0
    const url = `http://127.0.0.1:${allowed.port}/`
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how it is written
    const value = { http: { method: 'GET', url, headers: { 'x-a': '${args.v}' } } }
    const path = { http: { method: 'GET', url: `${url}\${args.v}` } }
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: that is how it is written
    for (const v of ['a\r\nx-b: c', 'a\nb', 'a\0b', '\u010d\u010a'])
      expect((await tried(value, { v })).code).toBe('tool_failed')
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'a b', 'a:b', 'a\r\nb'])
      expect((await tried({ http: { method: 'GET', url, headers: { [name]: 'x' } } })).code).toMatch(
        /tool_failed|body_invalid/,
      )
    expect(allowed.heard).toEqual([])
    await tried(path, { v: 'a b\r\nGET /evil HTTP/1.1\r\n\r\n' })
    for (const line of allowed.heard) expect(line).toMatch(/^GET \/[^\s]*$/)
  })
})

describe('what is answered', () => {
  const url = () => `http://127.0.0.1:${allowed.port}/`
  test('and packed is not unpacked: a bomb stays as small as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x61))
    allowed.reply = (request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(bomb)
    }
    const before = process.memoryUsage().rss
    const said = await tried({ http: { method: 'GET', url: url() } })
    expect(JSON.stringify(said).length).toBeLessThan(1_000_000)
    expect(JSON.stringify(said)).not.toContain('a'.repeat(1000))
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })

  test('without end is cut off', async () => {
    allowed.reply = (_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more))
      }
      more()
    }
    expect((await tried({ http: { method: 'GET', url: url() } })).code).toBe('tool_failed')
  })

  test('and nested without end is no fault of ours', async () => {
    allowed.reply = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)
    const said = await tried({ http: { method: 'GET', url: url() } })
    expect(said.status ?? 200).toBeLessThan(500)
  })
})

const tool = (step: Json): Json => ({
  description: 'x',
  parameters: { type: 'object' },
  readOnly: false,
  steps: [step],
})
