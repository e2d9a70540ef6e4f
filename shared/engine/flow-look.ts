import { type Job, leaseMs } from '../domain/job.ts'
import type { FlowStep } from '../domain/promote.ts'
import { type FlowRun, type Plan, placeOfStep, planOf, type ReplayLook, type StepRecord } from '../domain/replay.ts'
import type { Tool } from '../domain/tool.ts'
import type { Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { readFlow, readSteps } from './flow-items.ts'
import { flowRunKey, jobIdOfStep, stepKey } from './flow-rows.ts'
import { runsChecks } from './load.ts'
import { type Agent, keys, read } from './store.ts'
import { readTool } from './tool-rows.ts'

/** A run with all that its next step needs, and nothing of the others. */
export interface Seen {
  readonly stored: Stored<FlowRun>
  /** The plan that it has by now. */
  readonly plan: Plan | null
  readonly agent: Agent | null
  readonly tool: Tool | null
  readonly job: Stored<Job> | null
  readonly look: ReplayLook
}

/** @returns null when there is no such run */
export async function lookAtFlowRun(world: World, id: string, now: number): Promise<Seen | null> {
  const stored = await read<FlowRun>(world, flowRunKey(id))
  if (stored === null) return null
  const run = stored.item
  const idle = run.phase === 'over' || run.phase === 'waiting'
  const [agent, plan] = idle
    ? [null, run.plan]
    : await Promise.all([read<Agent>(world, keys.agent(run.agent)), run.plan ?? planByName(world, run)])
  const step = plan === null || idle ? null : await stepOf(world, run, plan)
  const [tool, record, job] = await Promise.all([
    step === null ? null : readTool(world, run.agent, step.tool),
    run.phase === 'calling' ? read<StepRecord>(world, stepKey(run.id, run.step)) : null,
    run.phase === 'host' ? read<Job>(world, keys.job(jobIdOfStep(run))) : null,
  ])
  const there = agent === null || agent.item.deletedAt !== null ? null : agent.item
  return {
    stored,
    plan,
    agent: agent?.item ?? null,
    tool,
    job,
    look: {
      run,
      now,
      agent: there === null ? null : { autoApprove: there.autoApprove, runsHostSteps: runsChecks(there) },
      flowIsGone: !idle && plan === null,
      step,
      tool,
      record: record?.item ?? null,
      job:
        job === null
          ? null
          : { taken: job.item.takenAt !== null, until: untilOf(job.item, now), result: job.item.result },
    },
  }
}

/** Taken, it may take its lease; before that it is looked at no later than a lease from now, since nobody says that it was taken. */
const untilOf = (job: Job, now: number): number =>
  job.takenAt === null ? Math.min(job.createdAt + job.waitMs, now + leaseMs(job)) : job.takenAt + leaseMs(job)

async function planByName(world: World, run: FlowRun): Promise<Plan | null> {
  const flow = await readFlow(world, run.agent, run.flow)
  return flow === null ? null : planOf(flow.item)
}

async function stepOf(world: World, run: FlowRun, plan: Plan): Promise<FlowStep | null> {
  const place = placeOfStep(plan, run.step)
  if (place === null) return null
  return (await readSteps(world, { agent: run.agent, rev: plan.rev }, place.chunk))[place.nth] ?? null
}
