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

export interface Answer {
  readonly status: number
  readonly body: unknown
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

/** Fills in what most operations share; keeps the types of body and query for `run`. */
export function operation<B extends z.ZodType = z.ZodNull, Q extends z.ZodType = z.ZodNull>(
  given: Omit<Operation<B, Q>, Optional> & Partial<Pick<Operation<B, Q>, Optional>>,
): Operation {
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
  } as unknown as Operation
}

export const ok = (body: unknown, headers?: Record<string, string>): Answer => ({
  status: 200,
  body,
  ...(headers ? { headers } : {}),
})
export const created = (body: unknown, headers?: Record<string, string>): Answer => ({
  status: 201,
  body,
  ...(headers ? { headers } : {}),
})
export const accepted = (body: unknown): Answer => ({ status: 202, body })
export const noContent: Answer = { status: 204, body: null }
