import * as z from 'zod'
import type { Call } from '../engine/call.ts'
import { listRuns, runNow, why } from '../engine/runs.ts'
import { etagOf, pauseSchedule, resumeSchedule } from '../engine/schedule-edit.ts'
import { listSchedules } from '../engine/schedule-list.ts'
import { createTrigger, editTrigger, removeTrigger, triggerFor } from '../engine/triggers.ts'
import { cursorIn, idShape, list, rowShape } from './cursors.ts'
import { newHook } from './hook.ts'
import { accepted, created, noContent, ok, operation } from './operation.ts'
import * as present from './present.ts'
import { trigger } from './present-triggers.ts'
import * as schemas from './schemas.ts'
import { triggerCreate, triggerPatch, triggerQuery } from './schemas-triggers.ts'

const tag = 'Triggers'
const shown = (loaded: Awaited<ReturnType<typeof triggerFor>>) => [trigger(loaded), { etag: etagOf(loaded) }] as const

export const triggerOperations = [
  operation({
    name: 'createTrigger',
    method: 'post',
    path: '/v1/triggers',
    summary: 'Create a trigger: whenever something happens the agent gets the prompt as a turn',
    tag,
    body: triggerCreate,
    statuses: [201],
    creates: true,
    // The address of a webhook is shown once.
    secret: (body) => 'webhook' in (body as { readonly on: object }).on,
    run: async (call, { body, origin }) => {
      const { loaded, hook } = await createTrigger(call, body, () => newHook(call.world.ids))
      const [view, headers] = shown(loaded)
      const secrets: { readonly url?: string; readonly secret?: string | null } =
        hook === null ? {} : { url: `${origin}/v1/hooks/${hook.token}`, secret: hook.secret }
      return created({ ...view, ...secrets }, headers)
    },
  }),
  operation({
    name: 'listTriggers',
    method: 'get',
    path: '/v1/triggers',
    summary: 'List the triggers that the caller may see, newest first',
    tag,
    query: z.strictObject({ ...schemas.page, ...triggerQuery }),
    run: async (call, { query }) => {
      const { limit, cursor, agent, session, status } = query
      const filter = { agent: agent ?? null, session: session ?? null, createdIn: null, status: status ?? null }
      const page = { limit, before: cursorIn(cursor, idShape) }
      const { items, next } = await listSchedules(call, { ...filter, triggers: true }, page)
      return ok(list(items.map(trigger), next))
    },
  }),
  operation({
    name: 'getTrigger',
    method: 'get',
    path: '/v1/triggers/{id}',
    summary: 'Read a trigger',
    tag,
    run: async (call, { params }) => ok(...shown(await triggerFor(call, params.id!))),
  }),
  operation({
    name: 'editTrigger',
    method: 'patch',
    path: '/v1/triggers/{id}',
    summary: 'Change what is given and leave the rest; null clears. What it follows and where it fires stay',
    tag,
    body: triggerPatch,
    run: async (call, { params, body, ifMatch }) => ok(...shown(await editTrigger(call, params.id!, body, ifMatch))),
  }),
  operation({
    name: 'removeTrigger',
    method: 'delete',
    path: '/v1/triggers/{id}',
    summary: 'Delete a trigger; it never fires again, and its runs stay readable for 90 days',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await removeTrigger(call, params.id!)
      return noContent
    },
  }),
  ...(
    [
      ['pause', 'Pause: what happens until it is resumed is not made up', pauseSchedule],
      ['resume', 'Resume: it fires again on what happens from now on', resumeSchedule],
    ] as const
  ).map(([verb, summary, act]) =>
    operation({
      name: `${verb}Trigger`,
      method: 'post',
      path: `/v1/triggers/{id}/${verb}`,
      summary,
      tag,
      body: schemas.pause,
      bodyOptional: true,
      run: async (call: Call, { params, body }) => {
        await triggerFor(call, params.id!)
        return ok(...shown(await act(call, params.id!, body.reason ?? null)))
      },
    }),
  ),
  operation({
    name: 'runTrigger',
    method: 'post',
    path: '/v1/triggers/{id}/run',
    summary: 'Run once at once, though nothing has happened',
    tag,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [202],
    creates: true,
    run: async (call, { params }) => {
      await triggerFor(call, params.id!)
      return accepted({ run: (await runNow(call, params.id!)).id })
    },
  }),
  operation({
    name: 'listTriggerRuns',
    method: 'get',
    path: '/v1/triggers/{id}/runs',
    summary: 'The ledger: everything that happened to the trigger and what became of it, newest first',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      await triggerFor(call, params.id!, true)
      const before = cursorIn(query.cursor, rowShape)
      const { items, next } = await listRuns(call, params.id!, { limit: query.limit, before })
      return ok(list(items.map(present.run), next))
    },
  }),
  operation({
    name: 'whyTrigger',
    method: 'get',
    path: '/v1/triggers/{id}/why',
    summary: 'What became of the last ten events and why, and what would hold the next',
    tag,
    run: async (call, { params }) => {
      await triggerFor(call, params.id!)
      return ok(present.why(await why(call, params.id!)))
    },
  }),
]
