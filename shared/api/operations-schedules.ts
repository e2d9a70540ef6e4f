import * as z from 'zod'
import { holdNotes } from '../engine/holds-shown.ts'
import { scheduleFor } from '../engine/reach.ts'
import { backfill, listRuns, preview, runNow, why } from '../engine/runs.ts'
import { editSchedule, etagOf, pauseSchedule, resumeSchedule } from '../engine/schedule-edit.ts'
import { listSchedules } from '../engine/schedule-list.ts'
import { removeSchedule, requestSchedule } from '../engine/schedules.ts'
import { cursorIn, idShape, list, rowShape } from './cursors.ts'
import { accepted, created, noContent, ok, operation } from './operation.ts'
import * as present from './present.ts'
import * as schemas from './schemas.ts'

const tag = 'Schedules'
const shownWithEtag = (loaded: Awaited<ReturnType<typeof scheduleFor>>) =>
  [present.schedule(loaded), { etag: etagOf(loaded) }] as const

export const scheduleOperations = [
  operation({
    name: 'createSchedule',
    method: 'post',
    path: '/v1/schedules',
    summary: 'Create a schedule: at its times the agent gets the prompt as a turn',
    tag,
    body: schemas.scheduleCreate,
    statuses: [201, 202],
    creates: true,
    run: async (call, { body }) => {
      const wanted = await requestSchedule(call, body)
      return 'made' in wanted ? created(...shownWithEtag(wanted.made)) : accepted({ card: wanted.card })
    },
  }),
  operation({
    name: 'listSchedules',
    method: 'get',
    path: '/v1/schedules',
    summary: 'List the schedules that the caller may see, newest first',
    tag,
    query: z.strictObject({ ...schemas.page, ...schemas.scheduleQuery }),
    run: async (call, { query }) => {
      const { limit, cursor, agent, session, createdIn, status } = query
      const filter = {
        agent: agent ?? null,
        session: session ?? null,
        createdIn: createdIn ?? null,
        status: status ?? null,
      }
      const { items, next } = await listSchedules(call, filter, { limit, before: cursorIn(cursor, idShape) })
      return ok(list(items.map(present.schedule), next))
    },
  }),
  operation({
    name: 'previewSchedule',
    method: 'post',
    audited: false,
    path: '/v1/schedules/preview',
    summary: 'Show what a rule would do; nothing is stored',
    tag,
    body: schemas.schedulePreview,
    run: async (call, { body }) => {
      const shown = preview(
        {
          at: body.at ?? null,
          every: body.every ?? null,
          cron: body.cron ?? null,
          rrule: body.rrule ?? null,
          dtstart: body.dtstart ?? null,
          tz: body.tz ?? null,
          from: body.from ?? null,
          count: body.count ?? 3,
          until: body.until ?? null,
          flow: body.flow != null,
        },
        call.now,
      )
      const held = await holdNotes(call, { session: body.session ?? null, agent: body.agent ?? null })
      return ok(present.preview({ ...shown, notes: [...shown.notes, ...held] }))
    },
  }),
  operation({
    name: 'getSchedule',
    method: 'get',
    path: '/v1/schedules/{id}',
    summary: 'Read a schedule with its next times',
    tag,
    run: async (call, { params }) => ok(...shownWithEtag(await scheduleFor(call, params.id!))),
  }),
  operation({
    name: 'editSchedule',
    method: 'patch',
    path: '/v1/schedules/{id}',
    summary: 'Change what is given and leave the rest; null clears',
    tag,
    body: schemas.schedulePatch,
    run: async (call, { params, body, ifMatch }) =>
      ok(...shownWithEtag(await editSchedule(call, params.id!, body, ifMatch))),
  }),
  operation({
    name: 'removeSchedule',
    method: 'delete',
    path: '/v1/schedules/{id}',
    summary: 'Delete a schedule; it never runs again, and its runs stay readable for 90 days',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await removeSchedule(call, params.id!)
      return noContent
    },
  }),
  operation({
    name: 'pauseSchedule',
    method: 'post',
    path: '/v1/schedules/{id}/pause',
    summary: 'Pause: no next run until it is resumed',
    tag,
    body: schemas.pause,
    bodyOptional: true,
    run: async (call, { params, body }) =>
      ok(...shownWithEtag(await pauseSchedule(call, params.id!, body.reason ?? null))),
  }),
  operation({
    name: 'resumeSchedule',
    method: 'post',
    path: '/v1/schedules/{id}/resume',
    summary: 'Resume: the next run counts from now, nothing is made up',
    tag,
    body: schemas.pause,
    bodyOptional: true,
    run: async (call, { params }) => ok(...shownWithEtag(await resumeSchedule(call, params.id!))),
  }),
  operation({
    name: 'runSchedule',
    method: 'post',
    path: '/v1/schedules/{id}/run',
    summary: 'Run once at once; the next run stays where it is',
    tag,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [202],
    creates: true,
    run: async (call, { params }) => accepted({ run: (await runNow(call, params.id!)).id }),
  }),
  operation({
    name: 'listRuns',
    method: 'get',
    path: '/v1/schedules/{id}/runs',
    summary: 'The ledger: every time of the schedule and what became of it, newest first',
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      const before = cursorIn(query.cursor, rowShape)
      const { items, next } = await listRuns(call, params.id!, { limit: query.limit, before })
      return ok(list(items.map(present.run), next))
    },
  }),
  operation({
    name: 'whySchedule',
    method: 'get',
    path: '/v1/schedules/{id}/why',
    summary: 'What became of the last ten times and why, what comes next, and what would hold it',
    tag,
    run: async (call, { params }) => ok(present.why(await why(call, params.id!))),
  }),
  operation({
    name: 'backfillSchedule',
    method: 'post',
    path: '/v1/schedules/{id}/backfill',
    summary: 'Make up the times of a range that have no fired run, oldest first, one at a time, at most 100',
    tag,
    body: schemas.backfillRange,
    statuses: [202],
    creates: true,
    run: async (call, { params, body }) => accepted({ runs: await backfill(call, params.id!, body) }),
  }),
]
