import * as z from 'zod'
import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { notFound } from '../domain/refused.ts'
import { assertPerson } from '../engine/reach.ts'
import { cursorIn, list } from './cursors.ts'
import { noContent, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Secrets'
const what = 'keep secrets'

/** S2-16: values that steps use in the name of the person whose they are. They come in and never go out again. */
const secret = z.strictObject({
  value: z
    .string()
    .min(1)
    .refine(
      (text) => Buffer.byteLength(text) <= limits.secretBytesMax,
      `expected at most ${limits.secretBytesMax} bytes`,
    )
    .refine((text) => text.isWellFormed(), 'holds half of a character, which cannot be stored')
    .meta({ description: `1 to ${limits.secretBytesMax} bytes of UTF-8` }),
})

const nameShape = /^[A-Za-z0-9_.-]{1,100}$/

export const secretOperations = [
  operation({
    name: 'putSecret',
    method: 'put',
    path: '/v1/secrets/{name}',
    summary: "Keep a secret of the person, or change it; a person's key only. It is shown to nobody again",
    tag,
    body: secret,
    statuses: [204],
    secret: true,
    run: async (call, { params, body }) => {
      const person = assertPerson(call, what)
      await call.world.secrets.put(person, named(params.name!), body.value)
      return noContent
    },
  }),
  operation({
    name: 'listSecrets',
    method: 'get',
    path: '/v1/secrets',
    summary: "The names of the person's secrets, in order; never their values",
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { query }) => {
      const names = await call.world.secrets.names(assertPerson(call, what))
      const after = cursorIn(query.cursor, nameShape)
      const rest = after === null ? names : names.filter((name) => name > after)
      const items = rest.slice(0, query.limit)
      return ok(
        list(
          items.map((name) => ({ name })),
          rest.length > items.length ? items.at(-1)! : null,
        ),
      )
    },
  }),
  operation({
    name: 'removeSecret',
    method: 'delete',
    path: '/v1/secrets/{name}',
    summary: 'Forget a secret',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      const person = assertPerson(call, what)
      const name = params.name!
      if (!nameShape.test(name) || !(await call.world.secrets.remove(person, name))) throw notFound('secret', name)
      return noContent
    },
  }),
]

/** @throws Refused `body_invalid` */
function named(name: string): string {
  if (nameShape.test(name)) return name
  throw bodyFault('name', 'expected 1 to 100 letters, digits, "_", "." and "-"')
}
