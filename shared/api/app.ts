import { type Context, Hono } from 'hono'
import { derivedUlid, type IdPrefix } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import { audit } from '../engine/audit.ts'
import type { Call } from '../engine/call.ts'
import { Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { bodyText, json, parsed, rawBody } from './body.ts'
import { calendarRoute } from './calendar.ts'
import { addressIn, assertMayCall, callerIn, type Doorway } from './caller.ts'
import { hookRoute } from './hook.ts'
import { type DerivedIds, once } from './idempotency.ts'
import type { Identity } from './identity.ts'
import { sha256 } from './keys.ts'
import { mcpRoute } from './mcp.ts'
import { openapi } from './openapi.ts'
import { type Answer, isSecret, type Operation, type Waiting } from './operation.ts'
import { agendaOperations } from './operations-agenda.ts'
import { agentOperations } from './operations-agents.ts'
import { auditOperations } from './operations-audit.ts'
import { budgetOperations } from './operations-budgets.ts'
import { deliveryOperations } from './operations-deliveries.ts'
import { documentOperations } from './operations-documents.ts'
import { feedOperations } from './operations-feed.ts'
import { flowRunOperations } from './operations-flow-runs.ts'
import { flowOperations } from './operations-flows.ts'
import { jobOperations } from './operations-jobs.ts'
import { keyOperations } from './operations-keys.ts'
import { monitorOperations } from './operations-monitors.ts'
import { scheduleOperations } from './operations-schedules.ts'
import { secretOperations } from './operations-secrets.ts'
import { sessionOperations } from './operations-sessions.ts'
import { tickOperations } from './operations-ticks.ts'
import { toolOperations } from './operations-tools.ts'
import { traceOperations } from './operations-traces.ts'
import { triggerOperations } from './operations-triggers.ts'
import { problemOf } from './problem.ts'
import { defaultRate, type Rate, RateLimited, RateLimits } from './rate.ts'

/** The table of operations: everything that the API can do. */
export const operations: readonly Operation[] = [
  ...scheduleOperations,
  ...triggerOperations,
  ...tickOperations,
  ...monitorOperations,
  ...deliveryOperations,
  ...sessionOperations,
  ...jobOperations,
  ...agentOperations,
  ...feedOperations,
  ...documentOperations,
  ...budgetOperations,
  ...keyOperations,
  ...secretOperations,
  ...auditOperations,
  ...toolOperations,
  ...traceOperations,
  ...flowOperations,
  ...flowRunOperations,
  ...agendaOperations,
]

export interface AppOptions {
  readonly world: World
  /** Awaited before every answer: nothing is told that could still be lost. */
  readonly settled: () => Promise<void>
  /** Operations of this world alone (the embedded node's clock). */
  readonly more?: readonly Operation[]
  /** Who bearer tokens speak for; without it only keys are known. */
  readonly identity?: Identity | null
  /** Null: no limit. */
  readonly rate?: Rate | null
  /** Pages that may call `/mcp` besides this server's own: see `originsFromEnv`. */
  readonly allowOrigins?: readonly string[]
}

/** The HTTP face of the engine. The same in every world; it knows ports and no adapter. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono()
  const all = [...operations, ...(options.more ?? [])]
  const { world, rate = defaultRate, identity = null } = options
  const door: Doorway = {
    world,
    identity,
    limits: rate === null ? null : new RateLimits(rate),
    vouched: new WeakMap(),
  }
  app.get('/healthz', (c) => c.json({ ok: true }))
  let document: string | null = null
  app.get('/openapi.json', (c) => {
    document ??= JSON.stringify(openapi(all))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  for (const op of all) {
    app.on(op.method.toUpperCase(), routeOf(op.path), async (c) => {
      let answer: Answer
      try {
        const written: Promise<void>[] = []
        answer = await answered(door, op, c, written)
        await (written.length === 0 ? options.settled() : Promise.all([options.settled(), ...written]))
      } catch (error) {
        return problemResponse(world, error, op.name, error instanceof RateLimited ? error.headers : {})
      }
      return response(answer)
    })
  }
  hookRoute(app, {
    world,
    limits: door.limits,
    settled: options.settled,
    refusedAs: (error) =>
      problemResponse(world, error, 'receiveWebhook', error instanceof RateLimited ? error.headers : {}),
  })
  calendarRoute(app, {
    world,
    limits: door.limits,
    settled: options.settled,
    refusedAs: (error) =>
      problemResponse(world, error, 'readCalendar', error instanceof RateLimited ? error.headers : {}),
  })
  mcpRoute(app, {
    door,
    allowOrigins: options.allowOrigins ?? [],
    refusedAs: (error, headers = {}) =>
      problemResponse(world, error, 'mcp', { ...headers, ...(error instanceof RateLimited ? error.headers : {}) }),
  })
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

/** `{name}` is one part of a path; `{name+}` may hold slashes too, since some doors decode `%2F` before we see it. */
const routeOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{(\w+)\+\}/g, ':$1{.+}')

function methodsAt(all: readonly Operation[], path: string): string[] {
  return all.filter((op) => matches(op.path, path)).map((op) => op.method.toUpperCase())
}

function matches(pattern: string, path: string): boolean {
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  const greedy = wanted.findIndex((part) => part.endsWith('+}'))
  if (greedy >= 0 && parts.length > wanted.length)
    parts.splice(greedy, parts.length - wanted.length + 1, wanted[greedy]!)
  return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i])
}

function response(answer: Answer): Response {
  if (answer.status === 204) return new Response(null, { status: 204 })
  return new Response(answer.text ?? JSON.stringify(answer.body), {
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
  if (problem.status >= 500)
    // A store that is away is no fault of ours, but somebody has to see it.
    world.log(problem.status === 500 ? 'error' : 'warn', `call failed: ${causeOf(error)}`, { operation })
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

/** The stack of a fault; of a store that is away what it said, and what lay behind it. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (!(error instanceof Unavailable)) return error.stack ?? error.message
  const { cause } = error
  return cause instanceof Error ? `${error.message} (${cause.name})` : error.message
}

/** @param written  takes what is written beside the call and must be there before it is answered */
async function answered(door: Doorway, op: Operation, context: Context, written: Promise<void>[]): Promise<Answer> {
  const { world } = door
  const asked = context.req
  const request = asked.raw
  const now = world.clock.now()
  const caller = await callerIn(door, request, () => addressIn(context.env))
  assertMayCall(caller, op)
  const query = op.query === null ? null : parsed(op.query, asked.query(), 'query_invalid')
  const text = op.body === null ? '' : await bodyText(op, request)
  const sent = op.body === null ? null : op.takes === 'json' ? json(op, text) : rawBody(op, request, text)
  const body = op.body === null ? null : parsed(op.body, sent, 'body_invalid')
  const callAt = (at: number, ids: DerivedIds | null): Call => ({
    world,
    caller,
    now: at,
    session: request.headers.get('x-rouse-session'),
    turn: request.headers.get('x-rouse-turn'),
    newId: idsOf(world, at, ids),
    repeatable: ids !== null,
  })
  const done = async (plain: Call): Promise<Answer> => {
    if (!op.audited) return await op.run(plain, given)
    const made: string[] = []
    const newId: Call['newId'] = (prefix) => noted(made, plain.newId(prefix))
    const call: Call = { ...plain, newId, trail: { owners: new Set(), made } }
    const answer = await op.run(call, given)
    const targets = Object.values(given.params)
    written.push(audit(call, { operation: op.name, targets, status: answer.status }))
    return answer
  }
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
    get origin() {
      return new URL(request.url).origin
    },
    query,
    body,
    ifMatch: request.headers.get('if-match'),
    ifNoneMatch: request.headers.get('if-none-match'),
    waiting,
  }
  const key = op.creates ? request.headers.get('idempotency-key') : null
  if (key === null) return await done(callAt(now, null))
  return await once(
    world,
    {
      caller: caller.key,
      key,
      request: `${op.method} ${asked.path}\n${text}`,
      now,
      secret: isSecret(op, body),
    },
    (ids) => done(callAt(now, ids)),
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

function noted(made: string[], id: string): string {
  made.push(id)
  return id
}
