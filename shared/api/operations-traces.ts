import * as z from 'zod'
import { bodyFault } from '../domain/define.ts'
import { recorded } from '../domain/trace.ts'
import { getTrace, importTrace, listTraces } from '../engine/traces.ts'
import { parseInstant } from '../time/index.ts'
import { cursorIn, idShape, list } from './cursors.ts'
import { created, ok, operation } from './operation.ts'
import * as present from './present-traces.ts'
import * as schemas from './schemas.ts'
import { traceImport, traceQuery } from './schemas-traces.ts'

const tag = 'Traces and flows'

export const traceOperations = [
  operation({
    name: 'listTraces',
    method: 'get',
    path: '/v1/traces',
    summary: 'What agents did, newest first; a page may hold fewer than `limit` where their calls are long',
    tag,
    query: z.strictObject({ ...schemas.page, ...traceQuery }),
    run: async (call, { query }) => {
      const { agent = null, project = null, session = null, outcome = null } = query
      const page = { limit: query.limit, before: cursorIn(query.cursor, idShape) }
      const { items, next } = await listTraces(call, { agent, project, session, outcome }, page)
      return ok(list(items.map(present.trace), next))
    },
  }),
  operation({
    name: 'getTrace',
    method: 'get',
    path: '/v1/traces/{id}',
    summary: 'Read a trace: what one turn did, call by call',
    tag,
    run: async (call, { params }) => ok(present.trace(await getTrace(call, params.id!))),
  }),
  operation({
    name: 'importTrace',
    method: 'post',
    path: '/v1/traces',
    summary: 'Take in what an agent did elsewhere; 200 when one of this `ref` is there already',
    tag,
    body: traceImport,
    bodyBytesMax: 1024 * 1024,
    statuses: [201, 200],
    creates: true,
    run: async (call, { body }) => {
      const view = await importTrace(call, {
        agent: body.agent,
        session: body.session ?? null,
        project: body.project ?? null,
        outcome: body.outcome,
        tokens: body.tokens ?? null,
        usd: body.usd ?? null,
        startedAt: instantIn('startedAt', body.startedAt),
        at: instantIn('at', body.at),
        ref: body.ref ?? null,
        calls: body.calls.map(recorded),
      })
      return view.isNew ? created(present.trace(view)) : ok(present.trace(view))
    },
  }),
]

function instantIn(field: string, text: string | null | undefined): number | null {
  if (text == null) return null
  const at = parseInstant(text)
  if (at === null || at < 0)
    throw bodyFault(field, `expected an instant with its offset, e.g. 2026-11-02T09:00:00Z; got "${text}"`)
  return at
}
