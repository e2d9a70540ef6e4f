import type { Hono } from 'hono'
import type { BlankEnv, BlankInput } from 'hono/types'
import type { ClientErrorStatusCode, ServerErrorStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod'
import type { Table } from '../../shared/api/app.ts'
import type { Answer } from '../../shared/api/operation.ts'
import type { Problem } from '../../shared/api/problem.ts'

/** The API as a type of hono's client, made of the table of operations. `scripts/client-types.mjs` writes the same out for who installs the package. */
export type Api = Hono<BlankEnv, Paths, '/'>

type Paths = {
  [P in Table['path'] as Route<P>]: { [O in At<P> as `$${O['method']}`]: Endpoint<O, P> }
}
type At<P extends string> = Table extends infer O
  ? O extends Table
    ? P extends O['path']
      ? O
      : never
    : never
  : never

/** `/v1/schedules/{id}` as hono writes it. */
type Route<P extends string> = P extends `${infer Before}{${infer Name}+}${infer After}`
  ? `${Before}:${Name}{.+}${Route<After>}`
  : P extends `${infer Before}{${infer Name}}${infer After}`
    ? `${Before}:${Name}${Route<After>}`
    : P

type Endpoint<O extends Table, P extends string> = EndpointOf<Input<O, P>, Awaited<ReturnType<O['run']>>>
type EndpointOf<I, A> =
  | (A extends Answer<infer S, infer B>
      ? { input: I; output: B; outputFormat: B extends null ? 'body' : 'json'; status: S }
      : never)
  | { input: I; output: Problem; outputFormat: 'json'; status: ClientErrorStatusCode | ServerErrorStatusCode }

type Input<O extends Table, P extends string> = ([Names<P>] extends [never]
  ? BlankInput
  : { param: { [N in Names<P>]: string } }) &
  (O['body'] extends infer B ? (B extends z.ZodType ? Body<z.input<B>, O['bodyOptional']> : never) : never) &
  (O['query'] extends infer Q ? (Q extends z.ZodType ? Query<z.input<Q>> : never) : never) & { header?: Headers }
type Names<P extends string> = P extends `${string}{${infer Name}}${infer After}`
  ? (Name extends `${infer Whole}+` ? Whole : Name) | Names<After>
  : never
type Body<B, E> = [B] extends [null] ? BlankInput : E extends true ? { json?: B } : { json: B }
type Query<Q> = [Q] extends [null] ? BlankInput : { query?: { [N in keyof Q]?: string | number | undefined } }
type Headers = { [N in 'Idempotency-Key' | 'If-Match' | 'X-Rouse-Session' | 'X-Rouse-Turn']?: string | undefined }
