import type * as z from 'zod'
import type { Call } from '../engine/call.ts'
import type { Listening } from '../ports/world.ts'

/** One row of the table of operations: what a call takes, what it does, what it answers. HTTP routes and OpenAPI follow from it. */
export interface Operation<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** `/v1/schedules/{id}` */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** Null: no body is read. */
  readonly body: B | null
  /** True where an empty body stands for `{}`. */
  readonly bodyOptional: boolean
  readonly bodyBytesMax: number
  /** `document`: JSON or text, which reaches `run` as it was sent (a `RawBody`). */
  readonly takes: 'json' | 'document'
  readonly query: Q | null
  /** Statuses that are no problem, the usual one first. */
  readonly statuses: readonly number[]
  /** A creating POST honours Idempotency-Key. `secret`: what it takes or answers is shown to nobody else and kept for no repeat. */
  readonly creates: boolean
  readonly secret: boolean | ((body: unknown) => boolean)
  /** Leaves a row in the audit trail when it succeeded. Unless said otherwise: all but GET. */
  readonly audited: boolean
  readonly run: (call: Call, given: Given<z.output<B>, z.output<Q>>) => Promise<Answer>
}

export interface Given<B, Q> {
  readonly params: Readonly<Record<string, string>>
  readonly body: B
  readonly query: Q
  /** Of the address that the caller used: `https://…`, without a slash at the end. */
  readonly origin: string
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
  readonly waiting: Waiting
}

/** What a held call needs: to hear a bell, and to know when its caller has gone. */
export interface Waiting {
  readonly listen: (name: string) => Listening
  readonly gone: AbortSignal
  /** Calls with a fresh `now`, since time passes while one waits. */
  readonly again: () => Call
}

export interface Answer<S extends number = number, B = unknown> {
  readonly status: S
  readonly body: B
  /** Sent as it is instead of `body`; its content type stands in `headers`. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Optional =
  | 'bodyOptional'
  | 'bodyBytesMax'
  | 'takes'
  | 'statuses'
  | 'creates'
  | 'secret'
  | 'audited'
  | 'query'
  | 'body'

/** Whether what a call takes or answers is a secret. */
export const isSecret = ({ secret }: Pick<Operation, 'secret'>, body: unknown): boolean =>
  typeof secret === 'function' ? secret(body) : secret

/** An operation whose name, address and shapes the type knows: the answers in openapi.json are held against it (`answers.ts`), and the client is made of it. */
export interface Known<
  N extends string,
  M extends Operation['method'],
  P extends string,
  A extends Answer,
  B extends z.ZodType,
  Q extends z.ZodType,
  E extends boolean,
> extends Operation {
  readonly name: N
  readonly method: M
  readonly path: P
  readonly body: B | null
  readonly bodyOptional: E
  readonly query: Q | null
  // biome-ignore lint/suspicious/noExplicitAny: what it takes was checked where it was written; here only its answers count
  readonly run: (call: Call, given: Given<any, any>) => Promise<A>
}

/** Fills in what most operations share; keeps the types of body and query for `run`. */
export function operation<
  const N extends string,
  const M extends Operation['method'],
  const P extends string,
  A extends Answer,
  B extends z.ZodType = z.ZodNull,
  Q extends z.ZodType = z.ZodNull,
  const E extends boolean = false,
>(
  given: Omit<Operation<B, Q>, Optional | 'name' | 'method' | 'path' | 'run'> &
    Partial<Pick<Operation<B, Q>, Exclude<Optional, 'bodyOptional'>>> & {
      readonly name: N
      readonly method: M
      readonly path: P
      readonly bodyOptional?: E
      readonly run: (call: Call, given: Given<z.output<B>, z.output<Q>>) => Promise<A>
    },
): Known<N, M, P, A, B, Q, E> {
  return {
    body: null,
    query: null,
    bodyOptional: false,
    bodyBytesMax: 64 * 1024,
    takes: 'json',
    statuses: [200],
    creates: false,
    secret: false,
    audited: given.method !== 'get',
    ...given,
  } as unknown as Known<N, M, P, A, B, Q, E>
}

export const ok = <B>(body: B, headers?: Record<string, string>): Answer<200, B> => ({
  status: 200,
  body,
  ...(headers ? { headers } : {}),
})
export const created = <B>(body: B, headers?: Record<string, string>): Answer<201, B> => ({
  status: 201,
  body,
  ...(headers ? { headers } : {}),
})
export const accepted = <B>(body: B): Answer<202, B> => ({ status: 202, body })
export const noContent: Answer<204, null> = { status: 204, body: null }
