import type { Context, MiddlewareHandler } from 'hono'
import { faultOf, framesOf, type LogIds } from '../ports/log.ts'
import { Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import type { Doorway } from './caller.ts'
import type { Answer, Operation } from './operation.ts'
import { problemOf } from './problem.ts'
import { RateLimited } from './rate.ts'
import { requestIdOf } from './request-id.ts'

/** What every answer carries: which call it answers, and what is left of its key's rate where the call was counted. */
const carried = (door: Doorway, c: Context): Record<string, string> => ({
  'x-request-id': requestIdOf(c).id,
  ...door.standing.get(c.req.raw),
})

export function response(door: Doorway, c: Context, answer: Answer): Response {
  if (answer.status === 204) return new Response(null, { status: 204, headers: carried(door, c) })
  return new Response(answer.text ?? JSON.stringify(answer.body), {
    status: answer.status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...carried(door, c),
      ...answer.headers,
    },
  })
}

/** An error as the caller reads it; one that is no fault of the caller's leaves a line in the log, under the id that the answer names. */
export function problemResponse(
  door: Doorway,
  c: Context,
  error: unknown,
  o: { readonly operation: string | null; readonly headers?: Record<string, string>; readonly key?: string | null },
): Response {
  const { id, ids } = requestIdOf(c)
  const problem = problemOf(error)
  const isOurs = problem.status >= 500
  // A store that is away is no fault of ours, but somebody has to see it.
  if (isOurs)
    door.world.log(problem.status === 500 ? 'error' : 'warn', 'call failed', {
      ...ids,
      operation: o.operation,
      ...(o.key == null ? {} : { key: o.key }),
      ...namedIn(c),
      ...causeOf(error),
    })
  const detail =
    problem.status === 500 ? `something went wrong on our side; the log says what, under ${id}` : problem.detail
  return new Response(JSON.stringify(isOurs ? { ...problem, detail, instance: `urn:rouse:request:${id}` } : problem), {
    status: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...carried(door, c),
      ...(error instanceof RateLimited ? error.headers : {}),
      ...o.headers,
    },
  })
}

/** Ids that the address names. What else stands in one (names, paths, tokens) is the caller's own. */
function namedIn(c: Context): LogIds {
  const named = Object.values(c.req.param() as Record<string, string>).filter((part) =>
    /^[a-z]{3}_[0-9A-Z]{26}$/.test(part),
  )
  return named.length === 0 ? {} : { target: named.join(' ') }
}

/** Of a fault where it arose too; of a store that is away what lay behind it. */
function causeOf(error: unknown): LogIds {
  if (!(error instanceof Unavailable)) return { ...faultOf(error), ...framesOf(error) }
  return { ...faultOf(error), ...(error.cause instanceof Error ? { cause: error.cause.name } : {}) }
}

/** Where lines of the level `debug` are kept: from a call to what it made, and from there on by the ids. */
export function tellAnswered(
  c: Context,
  { name }: Pick<Operation, 'name'>,
  o: { readonly world: World; readonly key: string | null; readonly made: readonly string[] },
  status: number,
): void {
  if (o.world.log.isDebug !== true) return
  const made = o.made.length === 0 ? {} : { made: o.made.slice(0, madeMax).join(' ') }
  o.world.log('debug', 'call answered', { operation: name, status, key: o.key, ...namedIn(c), ...made })
}

const madeMax = 10

/** For the doors that answer by themselves: their answers carry the same, and are counted. */
export const carrying =
  (door: Doorway): MiddlewareHandler =>
  async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(carried(door, c)))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
    countCall(door.world, c.res.status)
  }

export const countCall = (world: World, status: number): void =>
  world.meter.count('calls', 1, `${Math.floor(status / 100)}xx`)
