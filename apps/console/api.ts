import { effect, signal } from '@preact/signals'

/** What Rouse said no with (RFC 9457), or that no answer came. `detail` is written for people and is shown as it stands. */
export class Problem extends Error {
  /** 0: no answer came. */
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  /** The approval card, for `approval_needed`. */
  readonly card: string | null

  constructor(status: number, said: Said) {
    const code = said.code ?? `http_${status}`
    const detail = said.detail ?? `Rouse answered ${status}, and did not say why`
    super(detail)
    this.status = status
    this.code = code
    this.detail = detail
    this.errors = said.errors ?? []
    this.card = said.card ?? null
  }
}

interface Said {
  readonly code?: string
  readonly detail?: string
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
  readonly card?: string
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who is signed in, and what the server says of itself. Null: not asked yet. */
export interface Session {
  readonly person: { readonly id: string; readonly name: string; readonly tz: string; readonly admin: boolean } | null
  readonly now: string
  /** The server's clock stands still: pages must not count on by themselves. */
  readonly standing: boolean
  readonly refreshMs: number
}
export const session = signal<Session | null>(null)

/** Epoch ms by the server's clock, as far as it is known. Moves on by itself, and stands where the server's clock stands. */
export const clock = signal(Date.now())
let aheadMs = 0
effect(() => {
  const said = session.value
  if (said === null) return
  aheadMs = Date.parse(said.now) - Date.now()
  clock.value = Date.parse(said.now)
})
setInterval(() => {
  if (session.peek()?.standing === false && !document.hidden) clock.value = Date.now() + aheadMs
}, 5000)

/**
 * Makes one call.
 *
 * @returns the answer's JSON; null for one without a body
 * @throws  Problem
 */
export async function call<T = unknown>(method: Method, path: string, body?: unknown): Promise<T> {
  const text = await textOf(method, path, body)
  return (text === '' ? null : JSON.parse(text)) as T
}

/** The same, as it came: what is compared with what was there before. @throws Problem */
export async function textOf(method: Method, path: string, body?: unknown): Promise<string> {
  let answer: Response
  try {
    answer = await fetch(path, {
      method,
      // Pages from elsewhere cannot send it; without it the cookie counts for nothing.
      headers: {
        'x-rouse-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
    })
  } catch {
    throw new Problem(0, { code: 'unreachable', detail: 'Rouse does not answer. Is it still running?' })
  }
  const text = await answer.text().catch(() => '')
  if (answer.ok) return text
  const problem = new Problem(answer.status, said(text))
  const isSignIn = path.startsWith('/console/')
  if (answer.status === 401 && !isSignIn && session.peek() !== null)
    session.value = { ...session.peek()!, person: null }
  throw problem
}

function said(text: string): Said {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** ``path`/v1/sessions/${id}` ``: what stands in braces cannot leave its place. */
export const path = (parts: TemplateStringsArray, ...values: string[]): string =>
  parts.reduce((whole, part, i) => whole + part + (i < values.length ? encodeURIComponent(values[i]!) : ''), '')

/** Asks who is signed in. @throws Problem */
export async function askSession(): Promise<void> {
  session.value = await call<Session>('GET', '/console/session')
}
