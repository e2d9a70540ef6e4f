import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Reply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Real time until it answers. */
  readonly afterMs?: number
}

/** A server outside of Rouse: keeps what it gets, and answers as it is told. */
export class Receiver {
  readonly got: Received[] = []
  reply: (request: Received, nth: number) => Reply = () => ({ status: 204 })
  host = ''
  #server: Server | null = null

  async up(): Promise<this> {
    this.#server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const { method = '', url: path = '', headers } = request
      const received = { method, path, headers, body }
      const { status, headers: sent, body: said, afterMs } = this.reply(received, this.got.push(received))
      if (afterMs !== undefined) await sleep(afterMs)
      response.writeHead(status, sent).end(said)
    })
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  at(path: string): Received[] {
    return this.got.filter((one) => one.path.startsWith(path))
  }

  /** Waits, in real time, until so many came to a path. */
  async heard(path: string, count = 1): Promise<Received[]> {
    for (let waitedMs = 0; this.at(path).length < count; waitedMs += 20) {
      if (waitedMs > 10_000) throw new Error(`${this.at(path).length} of ${count} requests came to ${path}`)
      await sleep(20)
    }
    return this.at(path)
  }

  down(): void {
    this.#server?.close()
    this.#server?.closeAllConnections()
  }
}
