import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  readonly method: string
  readonly path: string
  readonly query: Record<string, string>
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
  /** Aborts when the caller hangs up. */
  readonly gone: AbortSignal
}

export interface Answer {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

type Respond = (call: Call) => Answer | Promise<Answer>

/**
 * The peer at the other end of the wire, for what only a misbehaving or absent peer shows. Routes are `METHOD /path`, where `:x`
 * stands for one part of the path; a later one replaces an earlier one of the same name.
 */
export class FakeRouse {
  readonly calls: Call[] = []
  private readonly routes = new Map<string, Respond>()
  private server: Server | null = null
  private port = 0

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  on(route: string, respond: Respond | Answer): this {
    this.routes.set(route, typeof respond === 'function' ? respond : () => respond)
    return this
  }

  /** The calls to a route, oldest first. */
  to(route: string): Call[] {
    return this.calls.filter((call) => matches(route, call))
  }

  /** Listens, on the port of before if it did before. */
  async up(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
        const text = Buffer.concat(chunks).toString('utf8')
        const gone = new AbortController()
        response.on('close', () => gone.abort())
        const call: Call = {
          method: request.method ?? '',
          path: decodeURIComponent(pathname),
          query: Object.fromEntries(searchParams),
          body: text === '' ? {} : JSON.parse(text),
          headers: request.headers as Record<string, string>,
          gone: gone.signal,
        }
        this.calls.push(call)
        const { status = 200, body, headers } = await this.answer(call)
        if (response.destroyed) return
        const type = status >= 400 ? 'application/problem+json' : 'application/json'
        response.writeHead(status, { 'content-type': type, ...headers })
        response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve))
    this.port = (server.address() as AddressInfo).port
    this.server = server
    return this
  }

  /** Cuts every connection, open calls included. */
  async down(): Promise<void> {
    const { server } = this
    this.server = null
    if (server === null) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  private async answer(call: Call): Promise<Answer> {
    for (const [route, respond] of this.routes) if (matches(route, call)) return respond(call)
    return refusal(404, 'not_found', `nothing at ${call.method} ${call.path}`)
  }
}

export const refusal = (status: number, code: string, detail: string, more: object = {}): Answer => ({
  status,
  body: { type: 'about:blank', title: code, status, detail, code, ...more },
})

function matches(route: string, call: Call): boolean {
  const [method, path = ''] = route.split(' ')
  const pattern = path.replace(/:\w+/g, '[^/]+')
  return method === call.method && new RegExp(`^${pattern}$`).test(call.path)
}
