import { type FieldError, Refused } from '../domain/refused.ts'
import { type Problem, problemOf } from './problem.ts'

/** How the tools of MCP reach the API: in this process, or over HTTP from a laptop. */
export interface Carrier {
  /** @throws Refused `unreachable` when no answer came */
  send(sent: Sent): Promise<Got>
  /** Epoch ms by Rouse's clock. */
  now(): Promise<number>
  /** X-Rouse-Session and X-Rouse-Turn. */
  readonly session: string | null
  readonly turn: string | null
  /** Told of what is a fault of ours. */
  readonly faulty?: (error: unknown) => void
  /** Set inside a turn whose worker ends it: keeps what the agent asked for until then. */
  readonly keepSleep?: (asked: { readonly seconds: number; readonly reason?: string }) => void
}

/** One call of the API. */
export interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: { readonly type: string; readonly text: string }
  readonly headers?: Readonly<Record<string, string>>
}

export interface Got {
  readonly status: number
  readonly text: string
  readonly header: (name: string) => string | null
}

/** The API answered and said no. */
export class Said extends Error {
  readonly problem: Partial<Problem> & { readonly detail: string; readonly code: string }
  constructor(problem: Said['problem']) {
    super(`${problem.code}: ${problem.detail}`)
    this.name = 'Said'
    this.problem = problem
  }
}

/** @throws Said when the API says no, Refused when it could not be asked */
export async function ask(carrier: Carrier, sent: Sent): Promise<Got> {
  const got = await carrier.send(sent)
  if (got.status < 300) return got
  throw new Said(problemIn(got))
}

/** The answer's JSON. `T`: what api.md says of it; `{}` where it has no body. */
export const answerOf = <T>(got: Got): T => (got.text === '' ? {} : JSON.parse(got.text)) as T

/** Something in between (a proxy, another program on the port) may answer HTML or nothing. */
function problemIn(got: Got): Said['problem'] {
  try {
    const problem = JSON.parse(got.text) as Partial<Problem>
    if (typeof problem.code === 'string' && typeof problem.detail === 'string') return problem as Said['problem']
  } catch {}
  return { code: `http_${got.status}`, detail: `the server answered ${got.status}, and not as Rouse does` }
}

export const jsonBody = (value: unknown): NonNullable<Sent['body']> => ({
  type: 'application/json',
  text: JSON.stringify(value),
})

export const keyed = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

export const headersOf = (sent: Sent): Record<string, string> => ({
  ...sent.headers,
  ...(sent.body === undefined ? {} : { 'content-type': sent.body.type }),
})

/** A document's byte order mark is part of it. */
export const gotFrom = async (answer: Response): Promise<Got> => ({
  status: answer.status,
  text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer()),
  header: (name) => answer.headers.get(name),
})

export function queryText(query: Sent['query']): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value != null) given.set(name, String(value))
  return given.size === 0 ? '' : `?${given}`
}

/** What went wrong, as a problem. */
export const problemFor = (error: unknown): Said['problem'] & { readonly errors?: readonly FieldError[] } =>
  error instanceof Said
    ? error.problem
    : error instanceof Refused && error.code === 'unreachable'
      ? { code: error.code, detail: error.detail }
      : problemOf(error)
