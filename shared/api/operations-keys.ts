import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { createKey, type KeyRow, listKeys, revokeKey, rotateKey } from '../engine/keys.ts'
import { formatInstant } from '../time/index.ts'
import { cursorIn, idShape, list } from './cursors.ts'
import { newSecret } from './keys.ts'
import { created, noContent, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Keys'

const rotation = z.strictObject({
  graceSeconds: z
    .int()
    .min(0)
    .max(limits.keyGraceSecondsMax)
    .optional()
    .meta({ description: 'how long the old key still works; 0 ends it at once; default: an hour' }),
})

export const keyOperations = [
  operation({
    name: 'createKey',
    method: 'post',
    path: '/v1/agents/{id}/keys',
    summary: 'Make a key that acts as the agent; shown once',
    tag,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [201],
    creates: true,
    secret: true,
    run: async (call, { params }) =>
      created(await createKey(call, { agent: params.id! }, (of) => newSecret(call.world.ids, of))),
  }),
  ...(
    [
      ['listAgentKeys', '/v1/agents/{id}/keys', 'List the keys of an agent, newest first; never the keys themselves'],
      ['listKeys', '/v1/keys', "List the person's own keys, newest first; never the keys themselves"],
    ] as const
  ).map(([name, path, summary]) =>
    operation({
      name,
      method: 'get',
      path,
      summary,
      tag,
      query: z.strictObject(schemas.page),
      run: async (call, { params, query }) => {
        const of = params.id === undefined ? null : { agent: params.id }
        const page = { limit: query.limit, before: cursorIn(query.cursor, idShape) }
        const { items, next } = await listKeys(call, of, page)
        return ok(list(items.map(shown), next))
      },
    }),
  ),
  operation({
    name: 'rotateKey',
    method: 'post',
    path: '/v1/keys/{id}/rotate',
    summary: 'Make a key in place of this one; shown once. The old one works for the grace time that is given',
    tag,
    body: rotation,
    bodyOptional: true,
    statuses: [201],
    creates: true,
    secret: true,
    run: async (call, { params, body }) => {
      const graceMs = (body.graceSeconds ?? limits.keyGraceSecondsDefault) * 1000
      return created(await rotateKey(call, params.id!, graceMs, (of) => newSecret(call.world.ids, of)))
    },
  }),
  operation({
    name: 'revokeKey',
    method: 'delete',
    path: '/v1/keys/{id}',
    summary: 'Revoke a key; it is refused from then on',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await revokeKey(call, params.id!)
      return noContent
    },
  }),
]

const instant = (at: number | null | undefined): string | null => (at == null ? null : formatInstant(at))

const shown = (row: KeyRow) => ({
  id: row.id,
  prefix: row.prefix ?? null,
  createdAt: formatInstant(row.createdAt),
  lastUsedAt: instant(row.lastUsedAt),
  expiresAt: instant(row.expiresAt),
})
