import { bare, isId } from '../domain/ids.ts'
import { type Job, type JobResult, jobVerdict, leaseMs } from '../domain/job.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import type { Op } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { closeCheck, leaseCheck } from './checks.ts'
import { announceFlowRun } from './fire.ts'
import { goOnOps } from './flow-rows.ts'
import { putJob, ringJob } from './jobs.ts'
import type { NewSecret } from './keys.ts'
import { agentFor, openSession } from './reach.ts'
import { asItem, commit, keys, read } from './store.ts'

/** A job in the hands of a worker. `key` is shown this once. */
export interface HandedJob {
  readonly job: Job
  readonly key: string | null
}

/** Looked at when a job is claimed; more wait for the next claim. */
const jobsPerLook = 5

/** The oldest job that waits for the agent of a session. @returns null when the session's worker runs none, or none waits */
export async function claimJobOfSession(
  call: Call,
  session: string,
  newSecret: NewSecret,
  only: boolean,
): Promise<HandedJob | null> {
  const { head } = await openSession(call, session)
  if (!head.item.checks && !only) return null
  return await takeJob(call, head.item.agent, newSecret)
}

export async function claimJobOfAgent(call: Call, agent: string, newSecret: NewSecret): Promise<HandedJob | null> {
  return await takeJob(call, (await agentFor(call, agent)).item.id, newSecret)
}

async function takeJob(call: Call, agent: string, newSecret: NewSecret): Promise<HandedJob | null> {
  const { world, now } = call
  const [pk] = keys.jobOf(agent, '')
  return await retrying(async () => {
    const { items } = await world.table.list(pk, { prefix: 'J#', limit: jobsPerLook })
    for (const pointer of items) {
      const id = `job_${pointer.key[1].slice(2)}`
      const stored = await read<Job>(world, keys.job(id))
      const gone: Op = { delete: pointer.key, expect: pointer.version }
      if (stored === null || stored.item.takenAt !== null || stored.item.createdAt + stored.item.waitMs <= now) {
        await commit(world, [gone])
        continue
      }
      const job: Job = { ...stored.item, takenAt: now }
      const leased = await leaseCheck(world, job, now)
      if (leased === null) {
        await commit(world, [gone, { delete: stored.key, expect: stored.version }])
        continue
      }
      const key = job.kind === 'check' ? keyForCheck(call, job, newSecret) : null
      const taken: Job = key === null ? job : { ...job, keySha: key.sha256 }
      await commit(world, [gone, putJob(world, taken, stored.version), ...leased, ...(key === null ? [] : [key.op])])
      return { job: taken, key: key?.key ?? null }
    }
    return null
  })
}

/** S2-26: it acts as that agent, reads only, and is gone with the job. */
function keyForCheck(call: Call, job: Job, newSecret: NewSecret) {
  const { key, sha256 } = newSecret('agent')
  const expiresAt = call.now + leaseMs(job)
  const row = {
    id: `key_${bare(job.id)}`,
    person: null,
    agent: job.agent,
    owner: job.owner,
    createdAt: call.now,
    prefix: null,
    lastUsedAt: call.now,
    expiresAt,
    reads: true,
  }
  const op: Op = {
    put: keys.secret(sha256),
    item: asItem(row),
    expect: 'absent',
    ttl: Math.ceil(expiresAt / 1000),
  }
  return { key, sha256, op }
}

/**
 * A worker's answer. A check decides its run; a host step's caller hears it.
 *
 * @throws Refused `not_found`; `job_not_running` for one that is over, or was taken by nobody
 */
export async function endJob(call: Call, id: string, result: JobResult): Promise<void> {
  const { world, now } = call
  const over = await retrying(async () => {
    const stored = isId('job', id) ? await read<Job>(world, keys.job(id)) : null
    if (stored === null) throw notFound('job', id)
    const job = stored.item
    // Whoever may use the agent may serve it.
    await agentFor(call, job.agent).catch(() => {
      throw notFound('job', id)
    })
    if (job.takenAt === null || job.result !== null || job.takenAt + leaseMs(job) <= now)
      throw new Refused(
        'job_not_running',
        `job ${id} is not running: it has ended, its ${leaseMs(job) / 1000} seconds are over, or nobody has claimed it. Drop it and claim again`,
      )
    const clipped = { exit: result.exit, output: result.output.slice(0, limits.jobOutputCharsMax) }
    const kept: Job = { ...job, result: job.kind === 'check' ? { ...clipped, output: '' } : clipped, endedAt: now }
    const ops: Op[] = [putJob(world, kept, stored.version)]
    if (job.keySha !== null) ops.push({ delete: keys.secret(job.keySha), expect: 'any' })
    if (job.kind === 'host_step') await commit(world, [...ops, ...(await goOnOps(world, kept, now))])
    else await closeCheck(world, job, jobVerdict(clipped), ops, now)
    return kept
  })
  await ringJob(world, over, null)
  if (over.flow != null) await announceFlowRun(world, over.flow.run)
}
