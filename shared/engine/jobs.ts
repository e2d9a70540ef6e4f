import { type Job, type JobResult, jobIdOf, leaseMs } from '../domain/job.ts'
import type { IndexEntries, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { hint } from './fire.ts'
import { runIdOf } from './load.ts'
import { type Agent, asItem, commit, keys, read, shardOf, ttlAfter } from './store.ts'

/** @param runAt  when Rouse itself is to run it, epoch ms; null: it is a worker's, or over */
export function putJob(world: World, job: Job, expect: Stored['version'] | 'absent', runAt: number | null = null): Op {
  const index: IndexEntries = runAt === null ? {} : { jobs: [shardOf(world, job.id), runAt] }
  return { put: keys.job(job.id), item: asItem(job), expect, index, ttl: ttlAfter(job.createdAt) }
}

/** The writes that make a job: found by whoever serves the agent, or run by Rouse itself where it is a tool. */
export const newJobOps = (world: World, job: Job): Op[] =>
  job.kind === 'tool_check'
    ? [putJob(world, job, 'absent', job.createdAt)]
    : [
        putJob(world, job, 'absent'),
        { put: keys.jobOf(job.agent, job.id), item: {}, expect: 'absent', ttl: ttlAfter(job.createdAt) },
      ]

/** Tells whoever serves the agent, or this session, that a job waits. */
export const ringJob = (world: World, job: Pick<Job, 'id' | 'agent'>, session: string | null): Promise<void> =>
  hint(world, () =>
    world.bell.ring(job.agent, {
      kind: 'job',
      session: session ?? job.agent,
      agent: job.agent,
      id: job.id,
      message: () => null,
    }),
  )

/** A step of a tool that the agent's own machine has to do (`rouse attach --tools`). */
export interface HostStep {
  readonly agent: Agent
  readonly session: string | null
  readonly tool: string
  readonly args: unknown
  readonly timeoutSeconds: number
  readonly now: number
}

/** How often the end of a host step is looked for where no bell tells of it. */
const hostLookMs = 500

/**
 * Hands a step to the agent's worker and waits for it, in real time.
 *
 * @returns its exit and output, or why there is none: nobody took it, or it did not end in time
 */
export async function hostStep(world: World, o: HostStep): Promise<JobResult | { readonly failed: string }> {
  const job: Job = {
    id: `job_${world.ids.ulid(o.now)}`,
    kind: 'host_step',
    agent: o.agent.id,
    owner: o.agent.owner,
    session: o.session,
    schedule: null,
    row: null,
    script: null,
    tool: o.tool,
    args: o.args,
    timeoutSeconds: o.timeoutSeconds,
    createdAt: o.now,
    waitMs: o.timeoutSeconds * 1000,
    takenAt: null,
    keySha: null,
    result: null,
    endedAt: null,
  }
  const ears = world.ears.listen(job.agent)
  try {
    await commit(world, newJobOps(world, job))
    await ringJob(world, job, o.session)
    const until = performance.now() + o.timeoutSeconds * 1000
    for (;;) {
      const found = await read<Job>(world, keys.job(job.id))
      if (found?.item.result) return found.item.result
      const left = until - performance.now()
      if (left <= 0) {
        await hint(world, () => commit(world, [{ delete: keys.jobOf(job.agent, job.id), expect: 'any' }]))
        return {
          failed:
            found?.item.takenAt == null
              ? `no worker of the agent has taken it within ${o.timeoutSeconds} s: attach one with rouse attach --tools tools.mjs`
              : `it did not end within ${o.timeoutSeconds} s`,
        }
      }
      await ears.rung(Math.min(left, hostLookMs))
    }
  } finally {
    ears.close()
  }
}

/** What became of a check's job as it stands; null: it may still end. */
export async function lookAtJob(world: World, schedule: string, row: string, now: number) {
  const stored = await read<Job>(world, keys.job(jobIdOf(runIdOf(schedule, row))))
  if (stored === null) return { lost: true as const }
  const { item: job } = stored
  const isOurs = job.kind === 'tool_check'
  const until = isOurs || job.takenAt === null ? job.createdAt + job.waitMs : job.takenAt + leaseMs(job)
  return { lost: false as const, taken: job.takenAt !== null, until, over: until <= now }
}
