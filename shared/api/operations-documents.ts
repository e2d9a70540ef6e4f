import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import {
  type DocumentHead,
  etagOfVersion,
  getDocument,
  getDocumentHead,
  listDocuments,
  pathFault,
  putDocument,
  removeDocument,
} from '../engine/documents.ts'
import { formatInstant } from '../time/index.ts'
import type { RawBody } from './body.ts'
import { cursorIn, list } from './cursors.ts'
import { type Answer, noContent, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Documents'

const prefix = z
  .string()
  .max(limits.documentPathCharsMax)
  .refine(
    (text) => Buffer.byteLength(text) <= limits.documentPathBytesMax,
    `expected at most ${limits.documentPathBytesMax} bytes`,
  )
  .meta({ description: 'what the paths begin with, e.g. briefs/2026-03-02/' })

/** Other people's text from our address: a browser that is led here must neither run nor guess at it. */
const inert = { 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox" }

export const documentOperations = [
  operation({
    name: 'putDocument',
    method: 'put',
    path: '/v1/documents/{path+}',
    summary: "Keep a document, JSON or text, of the person or of the agent's owner; If-Match and If-None-Match hold",
    tag,
    // What a caller sends is any JSON or text.
    body: z.custom<RawBody>() as z.ZodType<RawBody, unknown>,
    bodyBytesMax: limits.documentBytesMax,
    takes: 'document',
    run: async (call, { params, body, ifMatch, ifNoneMatch }) => {
      const head = await putDocument(call, params.path!, body, { ifMatch, ifNoneMatch })
      return ok(
        { path: head.path, version: head.version, updatedAt: formatInstant(head.updatedAt) },
        { etag: etagOfVersion(head.version) },
      )
    },
  }),
  operation({
    name: 'getDocument',
    method: 'get',
    path: '/v1/documents/{path+}',
    summary: 'Read a document as it was put, with its version as ETag; `meta=true`: what there is to say about it',
    tag,
    query: z.strictObject({ meta: z.enum(['true', 'false']).optional() }),
    run: async (call, { params, query }): Promise<Answer<200, unknown>> => {
      if (query.meta === 'true') {
        const head = await getDocumentHead(call, params.path!)
        return ok({ ...shown(head), contentType: head.media, by: head.by }, { etag: etagOfVersion(head.version) })
      }
      const { media, text, version } = await getDocument(call, params.path!)
      const type = media.startsWith('text/') ? `${media}; charset=utf-8` : media
      return { ...ok(null, { ...inert, 'content-type': type, etag: etagOfVersion(version) }), text }
    },
  }),
  operation({
    name: 'removeDocument',
    method: 'delete',
    path: '/v1/documents/{path+}',
    summary: 'Delete a document; If-Match holds',
    tag,
    statuses: [204],
    run: async (call, { params, ifMatch, ifNoneMatch }) => {
      await removeDocument(call, params.path!, { ifMatch, ifNoneMatch })
      return noContent
    },
  }),
  operation({
    name: 'listDocuments',
    method: 'get',
    path: '/v1/documents',
    summary: 'The documents whose paths begin with `prefix`, in the order of their paths',
    tag,
    query: z.strictObject({ ...schemas.page, prefix: prefix.optional() }),
    run: async (call, { query }) => {
      const after = cursorIn(query.cursor, /^.+$/su)
      if (after !== null && pathFault(after) !== null)
        throw new Refused('cursor_invalid', 'expected the "nextCursor" of an earlier page of the documents')
      const { items, next } = await listDocuments(call, query.prefix ?? '', { limit: query.limit, after })
      return ok(list(items.map(shown), next))
    },
  }),
]

const shown = ({ path, version, updatedAt, type, bytes }: DocumentHead) => ({
  path,
  version,
  updatedAt: formatInstant(updatedAt),
  type,
  bytes,
})
