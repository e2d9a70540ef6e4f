import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createNet } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { allowList, type Resolve } from '../../shared/adapters/outbound/guard.ts'
import { makeRequest } from '../../shared/adapters/outbound/http.ts'
import type { OutboundAnswer, OutboundRequest } from '../../shared/ports/world.ts'

const open: { close(): unknown; closeAllConnections?(): void }[] = []
afterEach(() => {
  for (const server of open.splice(0)) {
    server.close()
    server.closeAllConnections?.()
  }
})

async function served(listener: RequestListener): Promise<string> {
  const server: Server = createHttp(listener)
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server of bytes, for what no HTTP server would say. */
async function says(bytes: string): Promise<string> {
  const server = createNet((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

const post: OutboundRequest = {
  method: 'POST',
  url: '',
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
  timeoutMs: 2_000,
  bytesMax: 1_000,
  rest: 'fail',
}
const send = (
  url: string,
  over: Partial<OutboundRequest> & { allow?: string; resolve?: Resolve; stop?: AbortSignal } = {},
): Promise<OutboundAnswer> => {
  const { allow, resolve, stop, ...request } = over
  return makeRequest(
    { ...post, url, ...request },
    { allow: allowList(allow ?? '127.0.0.1'), ...(resolve ? { resolve } : {}), ...(stop ? { stop } : {}) },
  )
}

describe('one exchange', () => {
  it('carries method, headers and body, and brings status, headers and body', async () => {
    const host = await served(async (request, response) => {
      response.writeHead(201, {
        'X-Seen': `${request.method} ${request.headers['content-type']} ${request.headers.host}`,
      })
      response.end(`${request.url} ${await bodyOf(request)}`)
    })
    expect(await send(`http://${host}/a?b=c`)).toMatchObject({
      ok: true,
      status: 201,
      headers: { 'x-seen': `POST text/plain ${host}` },
      body: '/a?b=c hello',
    })
  })

  it('any status is an answer', async () => {
    const host = await served((request, response) => response.writeHead(Number(request.url!.slice(1))).end('said'))
    for (const status of [204, 302, 404, 429, 500])
      expect(await send(`http://${host}/${status}`)).toMatchObject({ status })
  })

  it('a private address is refused before anything is sent', async () => {
    let asked = 0
    const host = await served((_request, response) => {
      asked += 1
      response.end()
    })
    const port = host.split(':')[1]!
    for (const url of [`http://${host}/`, `http://2130706433:${port}/`, `http://localhost:${port}/`])
      expect(await send(url, { allow: 'elsewhere' })).toMatchObject({ ok: false, reason: 'refused', retry: false })
    expect(asked).toBe(0)
  })

  it('headers that frame the request cannot be set, and none can hold a line break', async () => {
    let asked = 0
    const host = await served((_request, response) => {
      asked += 1
      response.end()
    })
    for (const name of [
      'Host',
      'content-length',
      'Transfer-Encoding',
      'Connection',
      'Upgrade',
      'Proxy-Authorization',
      'TE',
      'Expect',
    ])
      expect(await send(`http://${host}/`, { headers: { [name]: '1' } }), name).toMatchObject({
        reason: 'invalid',
        retry: false,
      })
    for (const headers of [
      { 'x-a': 'b\r\nHost: evil' },
      { 'x-a': 'b\n' },
      { 'x-a': '\0' },
      { 'x a': 'b' },
      { 'x\r\ny': 'b' },
      { '': 'b' },
    ])
      expect(await send(`http://${host}/`, { headers }), JSON.stringify(headers)).toMatchObject({ reason: 'invalid' })
    expect(asked).toBe(0)
  })
})

describe('bounds', () => {
  it('a server that never answers', async () => {
    const host = await served(() => {})
    const since = performance.now()
    expect(await send(`http://${host}/`, { timeoutMs: 200 })).toEqual({
      ok: false,
      reason: 'timeout',
      error: 'no answer within 0.2 s',
      retry: true,
    })
    expect(performance.now() - since).toBeLessThan(1_500)
  })

  const drips: RequestListener = (_request, response) => {
    response.writeHead(200, { 'x-there': 'yes' })
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  }
  it('a body that drips: no answer where it is needed whole, what came where it is not', async () => {
    const host = await served(drips)
    expect(await send(`http://${host}/`, { timeoutMs: 200 })).toMatchObject({ ok: false, reason: 'timeout' })
    expect(await send(`http://${host}/`, { timeoutMs: 200, rest: 'cut' })).toMatchObject({ ok: true, status: 200 })
  })

  it('a body without end', async () => {
    let written = 0
    const host = await served((_request, response) => {
      const more = (): void => {
        written += 1
        if (response.write('x'.repeat(10_000))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    expect(await send(`http://${host}/`)).toEqual({
      ok: false,
      reason: 'too_large',
      error: 'the answer is larger than 1000 bytes',
      retry: false,
    })
    const cut = await send(`http://${host}/`, { rest: 'cut' })
    expect(cut.ok && cut.body.length).toBe(1_000)
    expect(written).toBeLessThan(2_000)
  })

  it('headers without end', async () => {
    const host = await says(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`)
    expect(await send(`http://${host}/`)).toMatchObject({ ok: false, reason: 'too_large', retry: false })
  })

  it('what is no HTTP, breaks off or changes the protocol', async () => {
    expect(await send(`http://${await says('SSH-2.0-x\r\n')}/`)).toMatchObject({
      reason: 'unreachable',
      error: '127.0.0.1 did not answer in HTTP',
    })
    expect(await send(`http://${await says('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx')}/`)).toMatchObject({
      reason: 'unreachable',
      retry: true,
    })
    expect(await send(`http://${await says('')}/`)).toMatchObject({ reason: 'unreachable', retry: true })
    const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'
    expect(await send(`http://${await says(upgraded)}/`)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(await send(`http://${await says('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5))}/`)).toMatchObject({ ok: false })
  })

  it('nobody listens', async () => {
    const host = await says('')
    open.at(-1)!.close()
    expect(await send(`http://${host}/secret?token=hidden`)).toEqual({
      ok: false,
      reason: 'unreachable',
      error: '127.0.0.1 was not reached (ECONNREFUSED)',
      retry: true,
    })
  })

  it('a name that takes for ever to resolve', async () => {
    const resolve: Resolve = () => new Promise(() => {})
    expect(await send('http://slow.example.com/', { timeoutMs: 100, resolve })).toMatchObject({ reason: 'timeout' })
  })

  it('a process that stops does not wait', async () => {
    const host = await served(() => {})
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 50)
    expect(await send(`http://${host}/`, { stop: stop.signal })).toEqual({
      ok: false,
      reason: 'unreachable',
      error: 'Rouse stopped before the answer came',
      retry: true,
    })
    expect(await send(`http://${host}/`, { stop: stop.signal })).toMatchObject({ ok: false })
  })
})

describe('redirects', () => {
  const to =
    (status: number, location: string): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { location }).end()

  it('a redirect to a private address is refused, however it is written', async () => {
    let asked = 0
    const secret = await served((_request, response) => {
      asked += 1
      response.end('the metadata')
    })
    const port = secret.split(':')[1]
    for (const location of [
      `http://${secret}/`,
      `http://2130706433:${port}/`,
      `//127.1:${port}/`,
      'http://169.254.169.254/latest/',
      'http://[::1]/',
      'file:///etc/passwd',
      `http://a:b@${secret}/`,
    ]) {
      const host = await served(to(307, location))
      const answer = await send(`http://${host}/`, { allow: host })
      expect(answer, location).toMatchObject({ ok: false, reason: 'refused', retry: false })
    }
    expect(asked).toBe(0)
  })

  it('a 307 sends the same again; headers that may be secret stay with the first', async () => {
    const seen: unknown[] = []
    const last = await served(async (request, response) => {
      const { authorization = null, cookie = null, 'x-api-key': key = null, 'webhook-id': id = null } = request.headers
      seen.push({ method: request.method, body: await bodyOf(request), authorization, cookie, key, id })
      response.end('there')
    })
    const first = await served(to(308, `http://${last}/moved`))
    const headers = { authorization: 'Bearer a', cookie: 'b', 'x-api-key': 'c', 'webhook-id': 'd' }
    expect(await send(`http://${first}/`, { headers })).toMatchObject({ ok: true, status: 200, body: 'there' })
    expect(seen).toEqual([{ method: 'POST', body: 'hello', authorization: null, cookie: null, key: null, id: 'd' }])
  })

  it('within one origin all headers go along', async () => {
    const host = await served((request, response) => {
      if (request.url === '/') response.writeHead(307, { location: '/next' }).end()
      else response.end(request.headers.authorization)
    })
    expect(await send(`http://${host}/`, { headers: { authorization: 'Bearer a' } })).toMatchObject({
      body: 'Bearer a',
    })
  })

  it('a POST is never turned into a GET: the redirect is the answer', async () => {
    const host = await served(to(302, '/elsewhere'))
    for (const status of [301, 302, 303]) {
      const at = await served(to(status, `http://${host}/`))
      expect(await send(`http://${at}/`)).toMatchObject({ ok: true, status })
    }
  })

  it('a GET follows all of them, but not without end', async () => {
    const host = await served((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end()
      else response.end(`${request.method} there`)
    })
    const get = { method: 'GET', body: null } as const
    expect(await send(`http://${host}/3`, get)).toMatchObject({ body: 'GET there' })
    expect(await send(`http://${host}/4`, get)).toMatchObject({ ok: false, error: 'more than 3 redirects' })
  })
})

describe('DNS rebinding', () => {
  it('a name that means something else the second time is connected to what was checked', async () => {
    let reached = 0
    const inner = await served((_request, response) => {
      reached += 1
      response.end('inner')
    })
    const port = inner.split(':')[1]
    // Public when it is checked, this machine ever after: what a rebinding name server does.
    let asked = 0
    const resolve: Resolve = async () => [{ address: asked++ === 0 ? '192.0.9.9' : '127.0.0.1', family: 4 }]
    const answer = await send(`http://rebind.example.com:${port}/`, { allow: '', resolve, timeoutMs: 500 })
    expect(answer).toMatchObject({ ok: false })
    expect(asked).toBe(1)
    expect(reached).toBe(0)
  })

  it('the next hop is resolved and checked anew', async () => {
    const host = await served((_request, response) => void response.writeHead(307, { location: '/again' }).end())
    const port = host.split(':')[1]
    let asked = 0
    const resolve: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
    const answer = await send(`http://rebind.example.com:${port}/`, { allow: `127.0.0.1:${port}`, resolve })
    expect(answer).toEqual({
      ok: false,
      reason: 'refused',
      error:
        'rebind.example.com is a private address, which is not reached from here unless ROUSE_ALLOW_HOSTS names it',
      retry: false,
    })
  })

  it('the name that was asked for is the one in Host', async () => {
    const host = await served((request, response) => response.end(request.headers.host))
    const port = host.split(':')[1]
    const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(await send(`http://hooks.example.com:${port}/`, { resolve, allow: `127.0.0.1:${port}` })).toMatchObject({
      body: `hooks.example.com:${port}`,
    })
  })
})
