import * as z from 'zod'
import type { FlowRun } from '../domain/replay.ts'
import { getFlowRun, listFlowRuns, runFlow } from '../engine/flow-runs.ts'
import { runIdOf } from '../engine/load.ts'
import { formatInstant } from '../time/index.ts'
import { cursorIn, idShape, list } from './cursors.ts'
import { accepted, ok, operation } from './operation.ts'
import * as schemas from './schemas.ts'

const tag = 'Traces and flows'

export const flowRunOperations = [
  operation({
    name: 'runFlow',
    method: 'post',
    path: '/v1/agents/{id}/flows/{name}/run',
    summary: "Run a flow now: its steps as they were promoted, without a model; a person's key only",
    tag,
    body: schemas.nothing,
    bodyOptional: true,
    statuses: [202],
    creates: true,
    run: async (call, { params }) => accepted({ flowRun: shown(await runFlow(call, params.id!, params.name!)) }),
  }),
  operation({
    name: 'getFlowRun',
    method: 'get',
    path: '/v1/flow-runs/{id}',
    summary: 'Read a run of a flow: where it stands, or how it ended, and at which step',
    tag,
    run: async (call, { params }) => ok(shown(await getFlowRun(call, params.id!))),
  }),
  operation({
    name: 'listFlowRuns',
    method: 'get',
    path: '/v1/agents/{id}/flow-runs',
    summary: "The runs of an agent's flows, newest first",
    tag,
    query: z.strictObject(schemas.page),
    run: async (call, { params, query }) => {
      const page = { limit: query.limit, before: cursorIn(query.cursor, idShape) }
      const { items, next } = await listFlowRuns(call, params.id!, page)
      return ok(list(items.map(shown), next))
    },
  }),
]

/** `step` counts from 1: the one that is next or under way, or at which it ended. */
const shown = (run: FlowRun) => ({
  id: run.id,
  agent: run.agent,
  flow: run.flow,
  status: run.status,
  step: run.plan === null ? null : Math.min(run.step + 1, run.plan.steps),
  steps: run.plan?.steps ?? null,
  reason: run.reason,
  detail: run.detail,
  trace: run.trace,
  schedule: run.schedule,
  run: run.schedule === null ? null : runIdOf(run.schedule, run.row!),
  by: run.principal,
  createdAt: formatInstant(run.createdAt),
  startedAt: run.startedAt === null ? null : formatInstant(run.startedAt),
  endedAt: run.endedAt === null ? null : formatInstant(run.endedAt),
})
