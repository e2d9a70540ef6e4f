import type { Hono } from 'hono'
import type { Env } from 'hono/types'
import type { Api as Published } from 'rouse/client'
import type { Api } from '../../apps/client/api.ts'

/**
 * The types that the package ships are those of the app: the compiler says so, or names the calls where they are not. What the published client
 * lets through the app takes, and what the app answers is what the published client says. Compiled by scripts/client-package.mjs, after a build.
 */
type PathsOf<A> = A extends Hono<infer _E extends Env, infer Schema, infer _B> ? Schema : never
type Ours = PathsOf<Api>
type Theirs = PathsOf<Published>

type Good<E> = E extends { input: infer _I; output: infer O; status: infer S }
  ? S extends 200 | 201 | 202 | 204
    ? [S, O]
    : never
  : never
type Sent<E> = E extends { input: infer I } ? I : never
type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** Calls that one of the two does not have. */
type Missing = {
  [P in keyof Ours]: P extends keyof Theirs ? [P, Exclude<keyof Ours[P], keyof Theirs[P]>] : [P, 'all']
}[keyof Ours] extends infer M
  ? M extends [infer P, infer Left]
    ? [Left] extends [never]
      ? never
      : [P, Left]
    : never
  : never

/** Calls whose input or answer differs. */
type Different = {
  [P in keyof Ours & keyof Theirs]: {
    [M in keyof Ours[P] & keyof Theirs[P]]:
      | (Sent<Theirs[P][M]> extends Sent<Ours[P][M]> ? never : [P, M, 'takes'])
      | (Good<Ours[P][M]> extends Frozen<Good<Theirs[P][M]>> ? never : [P, M, 'answers'])
  }[keyof Ours[P] & keyof Theirs[P]]
}[keyof Ours & keyof Theirs]

type Named<C> = C extends [infer P extends string, infer M extends string, ...infer Rest]
  ? `${M} ${P} ${Rest extends [infer W extends string] ? W : ''}`
  : never

/** An error here names the calls. */
export const none: { readonly [C in Named<Missing | Different>]: never } = {}
