import { Hono, type HonoRequest } from 'hono'
import type * as z from 'zod'
import type { Caller } from '../domain/access.ts'
import { derivedUlid, type IdPrefix } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import { callerOf } from '../engine/agents.ts'
import type { Call } from '../engine/call.ts'
import type { World } from '../ports/world.ts'
import { type DerivedIds, once } from './idempotency.ts'
import { bearerOf, sha256 } from './keys.ts'
import { openapi } from './openapi.ts'
import type { Answer, Operation, Waiting } from './operation.ts'
import { agentOperations } from './operations-agents.ts'
import { scheduleOperations } from './operations-schedules.ts'
import { sessionOperations } from './operations-sessions.ts'
import { problemOf } from './problem.ts'

/** The table of operations: everything that the API can do. */
export const operations: readonly Operation[] = [...scheduleOperations, ...sessionOperations, ...agentOperations]

export interface AppOptions {
  readonly world: World
  /** Awaited before every answer: nothing is told that could still be lost. */
  readonly settled: () => Promise<void>
  /** Operations of this world alone (the embedded node's clock). */
  readonly more?: readonly Operation[]
}

/** The HTTP face of the engine. The same in every world; it knows ports and no adapter. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono()
  const all = [...operations, ...(options.more ?? [])]
  app.get('/healthz', (c) => c.json({ ok: true }))
  let document: string | null = null
  app.get('/openapi.json', (c) => {
    document ??= JSON.stringify(openapi(all))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  for (const op of all) {
    app.on(op.method.toUpperCase(), op.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      let answer: Answer
      try {
        answer = await answered(options, op, c.req)
        await options.settled()
      } catch (error) {
        return problemResponse(options.world, error, op.name)
      }
      return response(answer)
    })
  }
  app.notFound((c) => {
    const methods = methodsAt(all, c.req.path)
    if (methods.length === 0)
      return problemResponse(
        options.world,
        new Refused(
          'not_found',
          `there is no ${c.req.method} ${c.req.path.slice(0, 200)}; GET /openapi.json lists what there is`,
        ),
        null,
      )
    const refused = new Refused('method_not_allowed', `${c.req.path.slice(0, 200)} takes ${methods.join(', ')}`)
    return problemResponse(options.world, refused, null, { allow: methods.join(', ') })
  })
  app.onError((error) => problemResponse(options.world, error, null))
  return app
}

function methodsAt(all: readonly Operation[], path: string): string[] {
  const parts = path.split('/')
  return all
    .filter((op) => {
      const wanted = op.path.split('/')
      return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i])
    })
    .map((op) => op.method.toUpperCase())
}

function response(answer: Answer): Response {
  if (answer.status === 204) return new Response(null, { status: 204 })
  return new Response(JSON.stringify(answer.body), {
    status: answer.status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...answer.headers },
  })
}

function problemResponse(
  world: World,
  error: unknown,
  operation: string | null,
  headers: Record<string, string> = {},
): Response {
  const problem = problemOf(error)
  if (problem.status === 500)
    world.log('error', `call failed: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`, {
      operation,
    })
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...headers,
    },
  })
}

async function answered(options: AppOptions, op: Operation, asked: HonoRequest): Promise<Answer> {
  const { world } = options
  const request = asked.raw
  const now = world.clock.now()
  const caller = await authenticated(world, request)
  const query = op.query === null ? null : parsed(op.query, asked.query(), 'query_invalid')
  const text = op.body === null ? '' : await bodyText(op, request)
  const body = op.body === null ? null : parsed(op.body, json(op, text), 'body_invalid')
  const callAt = (at: number, ids: DerivedIds | null): Call => ({
    world,
    caller,
    now: at,
    session: request.headers.get('x-rouse-session'),
    turn: request.headers.get('x-rouse-turn'),
    newId: idsOf(world, at, ids),
    repeatable: ids !== null,
  })
  const waiting: Waiting = {
    listen: (name) => world.ears.listen(name),
    // Made when first asked for: most calls never wait.
    get gone() {
      return request.signal
    },
    again: () => callAt(world.clock.now(), null),
  }
  const given = {
    params: asked.param() as Record<string, string>,
    query,
    body,
    ifMatch: request.headers.get('if-match'),
    waiting,
  }
  const key = op.creates ? request.headers.get('idempotency-key') : null
  if (key === null) return await op.run(callAt(now, null), given)
  return await once(
    world,
    {
      caller: caller.key,
      key,
      request: `${op.method} ${asked.path}\n${text}`,
      now,
      secret: op.secret,
    },
    (ids) => op.run(callAt(now, ids), given),
  )
}

/** New ids; under an Idempotency-Key the n-th id of a prefix follows from the key. */
function idsOf(world: World, now: number, derived: DerivedIds | null): Call['newId'] {
  if (derived === null) return (prefix) => `${prefix}_${world.ids.ulid(now)}`
  const made = new Map<IdPrefix, number>()
  return (prefix) => {
    const nth = made.get(prefix) ?? 0
    made.set(prefix, nth + 1)
    // A fast hash is not one-way: the caller's key goes in as its SHA-256, so that nobody can aim at another's id.
    return `${prefix}_${derivedUlid(derived.at, `${prefix}${nth}|${sha256(derived.seed)}`)}`
  }
}

async function authenticated(world: World, request: Request): Promise<Caller> {
  const key = bearerOf(request.headers.get('authorization') ?? undefined)
  const caller = key === null ? null : await callerOf(world, sha256(key))
  if (caller !== null) return caller
  throw new Refused(
    'unauthorized',
    key === null
      ? 'expected "Authorization: Bearer <key>"; an embedded node writes its first key to credentials.json in its data folder'
      : 'this key is not valid: it was never made, was revoked, or its agent was deleted',
  )
}

async function bodyText(op: Operation, request: Request): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? '0')
  if (declared > op.bodyBytesMax) throw tooLarge(op)
  const chunks: Uint8Array[] = []
  let size = 0
  if (request.headers.has('content-length')) {
    const text = await request.text()
    if (text.length * 3 > op.bodyBytesMax && Buffer.byteLength(text) > op.bodyBytesMax) throw tooLarge(op)
    assertMedia(op, request, text)
    return text
  }
  // No length declared: read no further than the bound.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > op.bodyBytesMax) throw tooLarge(op)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  assertMedia(op, request, text)
  return text
}

const tooLarge = (op: Operation): Refused =>
  new Refused('body_too_large', `expected a body of at most ${op.bodyBytesMax / 1024} KB`)

function assertMedia(op: Operation, request: Request, text: string): void {
  if (text === '' && op.bodyOptional) return
  const media = (request.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (media !== 'application/json' && !media.endsWith('+json'))
    throw new Refused(
      'media_type',
      `expected content-type application/json, got ${media === '' ? 'none' : `"${media.slice(0, 60)}"`}`,
    )
}

function json(op: Operation, text: string): unknown {
  if (text === '' && op.bodyOptional) return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused(
      'json_invalid',
      `the body is not JSON: ${error instanceof Error ? error.message.slice(0, 120) : 'it does not parse'}`,
    )
  }
}

function parsed(schema: z.ZodType | null, given: unknown, code: 'body_invalid' | 'query_invalid'): unknown {
  if (schema === null) return null
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const errors = result.error.issues
    .slice(0, 20)
    .map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  const first = errors[0]!
  throw new Refused(code, `${first.path === '' ? '' : `${first.path}: `}${first.message}`, errors)
}
