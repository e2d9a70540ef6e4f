import { bare, derivedUlid, timeOf } from '../domain/ids.ts'
import type { Job } from '../domain/job.ts'
import type { FlowRun, StepRecord } from '../domain/replay.ts'
import type { Cursor, Definition, OpenRun, Run } from '../domain/schedule.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { asItem, read, shardOf, ttlAfter } from './store.ts'

export const flowRunKey = (id: string): Key => [`Q#${bare(id)}`, 'A']
export const stepKey = (id: string, step: number): Key => [`Q#${bare(id)}`, `S#${step}`]

/** It stands in the index of what is due for as long as it runs, so that no crash loses it. */
export function putFlowRun(world: World, run: FlowRun, expect: Stored['version'] | 'absent'): Op {
  return {
    put: flowRunKey(run.id),
    item: asItem(run),
    expect,
    index: {
      flowRunsByAgent: [run.agent, run.id],
      ...(run.lookAt === null ? {} : { flowRuns: [shardOf(world, run.id), run.lookAt] as const }),
    },
    ...(run.endedAt === null ? {} : { ttl: ttlAfter(run.endedAt) }),
  }
}

export const putStep = (run: Pick<FlowRun, 'id'>, step: number, record: StepRecord): Op => ({
  put: stepKey(run.id, step),
  item: asItem(record),
  expect: 'any',
  ttl: ttlAfter(record.startedAt),
})

export const newFlowRun = (o: Pick<FlowRun, 'id' | 'agent' | 'flow' | 'principal' | 'createdAt'>): FlowRun => ({
  ...o,
  plan: null,
  schedule: null,
  row: null,
  step: 0,
  phase: 'ready',
  status: 'running',
  reason: null,
  detail: null,
  lookAt: o.createdAt,
  cancelled: null,
  trace: null,
  startedAt: null,
  endedAt: null,
})

/** The flow run that a row of a schedule is; one that has to wait is due when the one before it ends. */
export function placedFlowRun(world: World, definition: Definition, run: Run, cursor: Cursor, now: number): Op {
  const waits = cursor.open.find((open) => open.row === run.row)?.turn === null
  const made = newFlowRun({
    id: run.flowRun!,
    agent: definition.agent,
    flow: definition.flow!,
    principal: definition.createdBy,
    createdAt: now,
  })
  const placed: FlowRun = {
    ...made,
    schedule: run.schedule,
    row: run.row,
    ...(waits ? { phase: 'waiting', lookAt: null } : {}),
  }
  return putFlowRun(world, placed, 'absent')
}

/** One that waited begins: the one before it has ended. */
export const beginFlowRun = (world: World, open: OpenRun, agent: string, now: number): Op => ({
  patch: flowRunKey(open.session),
  set: { phase: 'ready', lookAt: now },
  guards: [{ attr: 'phase', is: '=', value: 'waiting' }],
  index: { flowRunsByAgent: [agent, open.session], flowRuns: [shardOf(world, open.session), now] },
})

/** One that waits never begins. */
export const dropFlowRun = (open: OpenRun, reason: string, agent: string, now: number): Op => ({
  patch: flowRunKey(open.session),
  set: { phase: 'over', status: 'failed', reason, lookAt: null, endedAt: now },
  guards: [{ attr: 'phase', is: '=', value: 'waiting' }],
  index: { flowRunsByAgent: [agent, open.session] },
  ttl: ttlAfter(now),
})

/** The worker has answered: the run that waits for it is due. One that has given it up stays as it is. */
export async function goOnOps(world: World, { flow, id }: Job, now: number): Promise<Op[]> {
  if (flow == null) return []
  const stored = await read<FlowRun>(world, flowRunKey(flow.run))
  if (stored === null || stored.item.phase !== 'host' || jobIdOfStep(stored.item) !== id) return []
  return [putFlowRun(world, { ...stored.item, lookAt: now }, stored.version)]
}

/** A step is one job, whoever makes it. */
export const jobIdOfStep = (run: Pick<FlowRun, 'id' | 'step'>): string =>
  `job_${derivedUlid(timeOf(run.id.slice(4, 14)), `${run.id}:${run.step}`)}`

/** One that runs ends before its next step. */
export const cancelFlowRun = (open: OpenRun): Op => ({
  patch: flowRunKey(open.session),
  set: { cancelled: 'overlap' },
  guards: [{ attr: 'status', is: '=', value: 'running' }],
})
