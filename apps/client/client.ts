import { ApiError, problemOf, Unreachable } from './errors.ts'
import type { Page } from './shapes.ts'

/** One Rouse, one key. Both the CLI and the worker speak through it. */
export interface Client {
  readonly url: string
  readonly key: string
  /**
   * Makes one call; no retry.
   *
   * @returns the answer's JSON; null for an answer without a body (204)
   * @throws ApiError     Rouse answered and said no
   * @throws Unreachable  no answer came, or one that is not Rouse's
   * @throws the signal's reason, when `signal` aborts
   */
  call<T = unknown>(method: Method, path: string, options?: CallOptions): Promise<T>
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface CallOptions {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal
  /** Default: as long as the connection holds. Moving a node's clock by a year takes its time. */
  readonly timeoutMs?: number
}

export function createClient(o: {
  readonly url: string
  readonly key: string
  /** The caller's own session and running turn, when an agent's command calls (`X-Rouse-Session`, `X-Rouse-Turn`). */
  readonly session?: string | undefined
  readonly turn?: string | undefined
}): Client {
  const url = o.url.replace(/\/+$/, '')
  const identity: Record<string, string> = { authorization: `Bearer ${o.key}`, accept: 'application/json' }
  if (o.session) identity['x-rouse-session'] = o.session
  if (o.turn) identity['x-rouse-turn'] = o.turn

  return {
    url,
    key: o.key,
    async call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
      const headers = { ...identity }
      if (options.body !== undefined) headers['content-type'] = 'application/json'
      if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
      const ending = endingOf(options)
      try {
        const answer = await fetch(url + path + queryOf(options.query), {
          method,
          headers,
          // A redirect would turn a POST into a GET and carry the key elsewhere.
          redirect: 'error',
          signal: ending.signal,
          ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        })
        const text = await answer.text()
        if (!answer.ok) throw problemOf(answer, text)
        return text === '' ? (null as T) : (JSON.parse(text) as T)
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason
        throw error instanceof ApiError ? error : new Unreachable(url, error)
      } finally {
        ending.clear()
      }
    },
  }
}

/** ``path`/v1/sessions/${id}/claim` ``: what stands in braces cannot leave its place. */
export const path = (parts: TemplateStringsArray, ...values: string[]): string =>
  parts.reduce((whole, part, i) => whole + part + (i < values.length ? encodeURIComponent(values[i]!) : ''), '')

/** Every item of a list, page by page. */
export async function* everyItem<T>(client: Client, list: string): AsyncGenerator<T> {
  for (let cursor: string | undefined; ; ) {
    const page: Page<T> = await client.call('GET', list, { query: { limit: 100, cursor } })
    yield* page.data
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}

/** `AbortSignal.any` would leave a listener on a worker's long-lived signal for every call. */
function endingOf(options: CallOptions): { signal: AbortSignal; clear(): void } {
  const ending = new AbortController()
  const end = () => ending.abort(options.signal?.reason)
  if (options.signal?.aborted) end()
  options.signal?.addEventListener('abort', end)
  const timer =
    options.timeoutMs === undefined
      ? null
      : setTimeout(() => ending.abort(new Error(`no answer within ${options.timeoutMs} ms`)), options.timeoutMs)
  return {
    signal: ending.signal,
    clear() {
      options.signal?.removeEventListener('abort', end)
      if (timer !== null) clearTimeout(timer)
    },
  }
}

function queryOf(query: CallOptions['query']): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) given.set(name, `${value}`)
  return given.size === 0 ? '' : `?${given}`
}
