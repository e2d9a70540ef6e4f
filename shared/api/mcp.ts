import type { Context, Hono } from 'hono'
import type { Caller } from '../domain/access.ts'
import { Refused } from '../domain/refused.ts'
import { faultOf, framesOf } from '../ports/log.ts'
import { limitedText } from './body.ts'
import { addressIn, callerIn, counted, type Doorway } from './caller.ts'
import { type Carrier, gotFrom, headersOf, queryText } from './mcp-carrier.ts'
import { assertOwnOrigin } from './mcp-origin.ts'
import { requestIdOf } from './request-id.ts'

/** A document of 300 KB as JSON in JSON; what a tool hands on is bounded again where it goes. */
const bodyBytesMax = 1024 * 1024
/** The line of 2025-03 may send several messages at once. */
const batchMax = 50

interface McpOptions {
  readonly door: Doorway
  readonly allowOrigins: readonly string[]
  readonly refusedAs: (error: unknown, c: Context, headers?: Record<string, string>) => Response
}

/**
 * The door of MCP: Streamable HTTP without sessions. Tools call the operations of this app as HTTP does, with the caller's key and headers.
 */
export function mcpRoute(app: Hono, o: McpOptions): void {
  app.all('/mcp', async (c) => {
    try {
      assertOwnOrigin(c.req.raw, c.env, o.allowOrigins)
      if (c.req.method !== 'POST') return o.refusedAs(onlyPost, c, { allow: 'POST' })
      return await answered(app, c, o)
    } catch (error) {
      return o.refusedAs(error, c)
    }
  })
}

const onlyPost = new Refused(
  'method_not_allowed',
  '/mcp takes POST: this server keeps no sessions, and has nothing to say unasked',
)

async function answered(app: Hono, c: Context, o: McpOptions): Promise<Response> {
  const { door } = o
  const request = c.req.raw
  const caller = await callerIn(door, request, () => addressIn(c.env))
  const text = await limitedText(request, bodyBytesMax)
  const body = json(text)
  if (body === undefined) return notJson()
  // Each message of a batch is a call.
  const more = Array.isArray(body) ? body.length - 1 : 0
  if (more >= batchMax) throw new Refused('body_invalid', `expected at most ${batchMax} messages at once`)
  for (let i = 0; i < more; i++) counted(door, request, caller)
  // Loaded with the first call: a start that never sees one does without.
  const { answerMcp } = await import('./mcp-server.ts')
  const { log } = door.world
  const { id, ids } = requestIdOf(c)
  const faulty = (error: unknown) =>
    log('error', 'call failed', { ...ids, operation: 'mcp', ...faultOf(error), ...framesOf(error) })
  return await answerMcp(request, { body, carrier: carrierIn(app, request, { ...o, caller, id, faulty }), faulty })
}

function carrierIn(
  app: Hono,
  request: Request,
  o: McpOptions & { readonly caller: Caller; readonly id: string; readonly faulty: (error: unknown) => void },
): Carrier {
  const { origin } = new URL(request.url)
  const session = request.headers.get('x-rouse-session')
  const turn = request.headers.get('x-rouse-turn')
  return {
    session,
    turn,
    faulty: o.faulty,
    now: async () => o.door.world.clock.now(),
    async send(sent) {
      const inner = new Request(origin + sent.path + queryText(sent.query), {
        method: sent.method,
        headers: {
          ...headersOf(sent),
          'x-request-id': o.id,
          ...(session === null ? {} : { 'x-rouse-session': session }),
          ...(turn === null ? {} : { 'x-rouse-turn': turn }),
        },
        ...(sent.body === undefined ? {} : { body: sent.body.text }),
      })
      o.door.vouched.set(inner, o.caller)
      return await gotFrom(await app.fetch(inner))
    },
  }
}

/** Undefined: it is none. */
function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON-RPC 2.0, 5.1. */
const notJson = (): Response =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error: the body is not JSON' } },
    { status: 400 },
  )
