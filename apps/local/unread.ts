import type { IncomingMessage } from 'node:http'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'

type Fetch = (request: Request, env: HttpBindings | Http2Bindings) => Response | Promise<Response>

/** What a client has begun to send and nobody wants is read to its end, within these bounds. */
const bytesMax = 64_000_000
const msMax = 10_000

/**
 * Holds back a refusal until the body that it refuses has come in. Answered at once, the server soon cuts the connection off: a client
 * that is still writing then sees a broken pipe and no answer, and one that has read the answer sends its next call into a connection
 * that is just being closed.
 */
export const readingAll =
  (fetch: Fetch): Fetch =>
  async (request, env) => {
    const answer = await fetch(request, env)
    if (answer.status >= 400) await read(env.incoming as IncomingMessage)
    return answer
  }

/** Resolves when the body is over, broken off, too long or too slow; never rejects. */
function read(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (incoming.readableEnded || incoming.destroyed) return resolve()
    let bytes = 0
    const over = (): void => {
      clearTimeout(timer)
      incoming.off('data', count)
      for (const event of ends) incoming.off(event, over)
      resolve()
    }
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > bytesMax) over()
    }
    const timer = setTimeout(over, msMax)
    incoming.on('data', count)
    for (const event of ends) incoming.once(event, over)
    incoming.resume()
  })
}

const ends = ['end', 'close', 'error'] as const
