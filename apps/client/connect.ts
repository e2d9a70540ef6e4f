import { hc } from 'hono/client'
import type { Api } from './api.ts'

/** What `rouse/client` exports: hono's client, typed by the app, with one key. Its published types: `scripts/client-types.mjs`. */
export interface ConnectOptions {
  /** Where Rouse is: `http://127.0.0.1:4750` */
  readonly url: string
  /** A person's or an agent's key. */
  readonly key: string
  /** With an agent's key: the session of its own that it acts in. */
  readonly session?: string | undefined
  /** With it: the turn. */
  readonly turn?: string | undefined
  /** In place of the runtime's own. */
  readonly fetch?: typeof fetch | undefined
}

export type Rouse = ReturnType<typeof hc<Api>>

/**
 * A client of one Rouse with one key. `rouse.v1.schedules[':id'].$get({ param: { id } })` answers a response whose `ok` tells a problem from what
 * was asked for.
 */
export function connect({ url, key, session, turn, fetch: through }: ConnectOptions): Rouse {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (session !== undefined) headers['x-rouse-session'] = session
  if (turn !== undefined) headers['x-rouse-turn'] = turn
  const client = hc<Api>(url.replace(/\/+$/, ''), { headers, ...(through === undefined ? {} : { fetch: through }) })
  return encoding(client) as Rouse
}

interface Args {
  readonly param?: Readonly<Record<string, string>>
}

/** hono's client puts what stands in an address there as it is; a name with `?`, `#` or `%` in it would lead elsewhere. */
function encoding(part: object): object {
  return new Proxy(part, {
    get: (target, name) => {
      const found = Reflect.get(target, name)
      return typeof found === 'function' ? encoding(found) : found
    },
    apply: (target, self, [args, options]: [Args | undefined, unknown]) =>
      Reflect.apply(target as (...given: unknown[]) => unknown, self, [
        args?.param === undefined ? args : { ...args, param: encoded(args.param) },
        options,
      ]),
  })
}

function encoded(param: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(param).map(([name, value]) => {
      // Without it the address would be that of something else.
      if (value === '' || value === '.' || value === '..')
        throw new TypeError(`${name}: expected a name, got "${value}"`)
      return [name, encodeURIComponent(value)]
    }),
  )
}
