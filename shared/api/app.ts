import { type Context, Hono } from 'hono'
import { derivedUlid, type IdPrefix } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import { audit } from '../engine/audit.ts'
import type { Call } from '../engine/call.ts'
import type { Files } from '../ports/files.ts'
import { viewOf, type World } from '../ports/world.ts'
import { bodyText, json, parsed, queryIn, rawBody } from './body.ts'
import { calendarRoute } from './calendar.ts'
import { addressIn, assertMayCall, callerIn, type Doorway } from './caller.ts'
import { type ConsoleOptions, consoleRoute } from './console.ts'
import { callerOfCookie } from './console-cookie.ts'
import { docsRoute } from './docs.ts'
import { hookRoute } from './hook.ts'
import { type DerivedIds, once } from './idempotency.ts'
import type { Identity } from './identity.ts'
import { sha256 } from './keys.ts'
import { mcpRoute } from './mcp.ts'
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
import { defaultRate, type Rate, RateLimits } from './rate.ts'
import { requestIdOf } from './request-id.ts'
import { carrying, countCall, problemResponse, response, tellAnswered } from './respond.ts'

const table = [
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

/** The table of operations: everything that the API can do. */
export const operations: readonly Operation[] = table
/** The same as types: which operation answers what. */
export type Table = (typeof table)[number]

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
  /** The pages at `/console`; without it there are none. */
  readonly console?: ConsoleOptions
  /** The page at `/docs`; without it there is none. */
  readonly docs?: Files
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
    standing: new WeakMap(),
    browser: (request) => callerOfCookie(world, request, options.allowOrigins ?? []),
  }
  /** The world as one call sees it: whatever the engine writes into the log then names the call. */
  const seenBy = (c: Context): World => viewOf(world, () => requestIdOf(c).ids)
  const refusedBy =
    (operation: string) =>
    (error: unknown, c: Context, headers: Record<string, string> = {}): Response =>
      problemResponse(door, c, error, { operation, headers })
  for (const path of besides) app.use(path, carrying(door))
  app.get('/healthz', (c) => c.json({ ok: true }))
  let document: string | null = null
  app.get('/openapi.json', async (c) => {
    // What it is made of is loaded with the first look: most starts never see one.
    document ??= JSON.stringify((await import('./openapi.ts')).openapi(all))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  for (const op of all) {
    app.on(op.method.toUpperCase(), routeOf(op.path), async (c) => {
      const seen: Seen = { world: seenBy(c), key: null, made: [] }
      let answer: Response
      try {
        const written: Promise<void>[] = []
        const given = await answered(door, op, c, written, seen)
        await (written.length === 0 ? options.settled() : Promise.all([options.settled(), ...written]))
        answer = response(door, c, given)
        tellAnswered(c, op, seen, given.status)
      } catch (error) {
        answer = problemResponse(door, c, error, { operation: op.name, key: seen.key })
      }
      countCall(world, answer.status)
      return answer
    })
  }
  hookRoute(app, {
    world: seenBy,
    limits: door.limits,
    settled: options.settled,
    refusedAs: refusedBy('receiveWebhook'),
  })
  calendarRoute(app, {
    world: seenBy,
    limits: door.limits,
    settled: options.settled,
    refusedAs: refusedBy('readCalendar'),
  })
  mcpRoute(app, {
    door,
    allowOrigins: options.allowOrigins ?? [],
    refusedAs: refusedBy('mcp'),
  })
  if (options.docs !== undefined) docsRoute(app, { files: options.docs, refusedAs: refusedBy('docs') })
  if (options.console !== undefined)
    consoleRoute(app, {
      door,
      console: options.console,
      allowOrigins: options.allowOrigins ?? [],
      settled: options.settled,
      refusedAs: refusedBy('console'),
    })
  app.notFound((c) => {
    const methods = methodsAt([...all, ...doors], c.req.path)
    if (!isBeside(c.req.path)) countCall(world, methods.length === 0 ? 404 : 405)
    if (methods.length === 0)
      return problemResponse(
        door,
        c,
        new Refused(
          'not_found',
          `there is no ${c.req.method} ${c.req.path.slice(0, 200)}; GET /openapi.json lists what there is`,
        ),
        { operation: null },
      )
    const refused = new Refused('method_not_allowed', `${c.req.path.slice(0, 200)} takes ${methods.join(', ')}`)
    return problemResponse(door, c, refused, { operation: null, headers: { allow: methods.join(', ') } })
  })
  app.onError((error, c) => problemResponse(door, c, error, { operation: null }))
  return app
}

/** Doors that answer by themselves, and not from the table of operations. */
const besides = [
  '/healthz',
  '/openapi.json',
  '/docs/*',
  '/mcp',
  '/v1/hooks/*',
  '/v1/calendar.ics',
  '/console/*',
] as const

/** As the router has it: `/docs/*` is `/docs` too. Their answers are counted by `carrying`. */
const isBeside = (path: string): boolean =>
  besides.some((place) => (place.endsWith('*') ? `${path}/`.startsWith(place.slice(0, -1)) : path === place))

/** What a call is found to be while it is answered. */
interface Seen {
  readonly world: World
  /** The id of its key, once it is known. */
  key: string | null
  /** Ids of what it makes, in order. */
  readonly made: string[]
}

/** `{name}` is one part of a path; `{name+}` may hold slashes too, since some doors decode `%2F` before we see it. */
const routeOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{(\w+)\+\}/g, ':$1{.+}')

/** Of those doors: how they are called. */
const doors: readonly Place[] = [
  ...['/healthz', '/openapi.json', '/docs', '/docs/{file}', '/v1/calendar.ics'].map((path) => ({
    method: 'get',
    path,
  })),
  { method: 'post', path: '/v1/hooks/{token}' },
]

interface Place {
  readonly method: string
  readonly path: string
}

/** Where an address fits several, the one with a word in place of a parameter counts. */
function methodsAt(all: readonly Place[], path: string): string[] {
  const fitting = all.filter((place) => matches(place.path, path))
  const fewest = Math.min(...fitting.map(parametersIn))
  return fitting.filter((place) => parametersIn(place) === fewest).map(({ method }) => method.toUpperCase())
}

const parametersIn = ({ path }: Place): number => path.split('{').length

function matches(pattern: string, path: string): boolean {
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  const greedy = wanted.findIndex((part) => part.endsWith('+}'))
  if (greedy >= 0 && parts.length > wanted.length)
    parts.splice(greedy, parts.length - wanted.length + 1, wanted[greedy]!)
  return wanted.length === parts.length && wanted.every((part, i) => part.startsWith('{') || part === parts[i])
}

/** @param written  takes what is written beside the call and must be there before it is answered */
async function answered(
  door: Doorway,
  op: Operation,
  context: Context,
  written: Promise<void>[],
  seen: Seen,
): Promise<Answer> {
  const { world } = seen
  const asked = context.req
  const request = asked.raw
  const now = world.clock.now()
  const caller = await callerIn(door, request, () => addressIn(context.env), 'key or cookie')
  seen.key = caller.key
  assertMayCall(caller, op)
  const query = op.query === null ? null : parsed(op.query, queryIn(asked.queries()), 'query_invalid')
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
    const newId: Call['newId'] = (prefix) => noted(seen.made, plain.newId(prefix))
    const call: Call = { ...plain, newId, trail: { owners: new Set(), made: seen.made } }
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
