import type { Verdict } from '../domain/check.ts'
import type { Job } from '../domain/job.ts'
import { later } from '../ports/later.ts'
import { faultOf } from '../ports/log.ts'
import { Conflict, type Key } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended, retrying } from './call.ts'
import { closeCheck } from './checks.ts'
import { Errands } from './errands.ts'
import { hint } from './fire.ts'
import { putJob } from './jobs.ts'
import { loadSchedules, runIdOf } from './load.ts'
import { type Agent, commit, everyShard, keys, read } from './store.ts'
import { readTool } from './tool-rows.ts'

const tools = later(() => import('./tool-run.ts'))

/** A job that was not ended by then has lost whoever ran it, and is run again: a tool that looks changes nothing. */
const claimMs = 60_000
const jobsAtOnce = 16
/** An alarm has 20 s in the cloud, its commits included. */
const toolMs = 15_000

const runner = (world: World): Errands => Errands.of(world, 'jobs', jobsAtOnce)

/**
 * Runs the jobs that are Rouse's own and due, so many at once, and answers when they are through. Never throws: what could not be run stays due.
 *
 * @returns how many there were
 */
export async function runJobsDue(world: World, now: number): Promise<number> {
  let begun = 0
  try {
    for (const shard of everyShard(world)) {
      const page = await world.table.find('jobs', shard, { to: now, limit: 500 })
      for (const { key } of page.items) {
        await runner(world).room()
        if (runner(world).send(key[0], () => runJob(world, key))) begun += 1
      }
    }
  } catch (error) {
    world.log('error', 'jobs could not be looked at', faultOf(error))
  }
  await runner(world).idle()
  return begun
}

/** The same for what alarms name. */
export async function runJobsNamed(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const key = keys.job(id)
    await runner(world).room()
    runner(world).send(key[0], () => runJob(world, key))
  }
  await runner(world).idle()
}

/** Begins no more, and answers when those under way are through. */
export async function stopJobs(world: World): Promise<void> {
  runner(world).stop()
  await runner(world).idle()
}

/** Never throws. */
async function runJob(world: World, key: Key): Promise<void> {
  const id = `job_${key[0].slice(2)}`
  try {
    const job = await claim(world, key)
    if (job === null) return
    const verdict = await verdictOfTool(world, job)
    const now = world.clock.now()
    await retrying(async () => {
      const stored = await read<Job>(world, key)
      if (stored === null || stored.item.endedAt !== null) return
      const ops = [putJob(world, { ...stored.item, endedAt: now }, stored.version)]
      await closeCheck(world, stored.item, verdict, ops, now)
    })
  } catch (error) {
    const level = error instanceof Contended ? 'warn' : 'error'
    world.log(level, 'job failed, and is run again in a minute', { job: id, ...faultOf(error) })
  }
}

/** Holds a job for as long as a run may last. @returns null when it is over, not due, or somebody else's */
async function claim(world: World, key: Key): Promise<Job | null> {
  const stored = await read<Job>(world, key)
  const now = world.clock.now()
  if (stored === null || stored.item.kind !== 'tool_check' || stored.item.endedAt !== null) return null
  const { takenAt } = stored.item
  if (takenAt !== null && takenAt + claimMs > now) return null
  const job: Job = { ...stored.item, takenAt: now }
  try {
    await commit(world, [putJob(world, job, stored.version, now + claimMs)])
  } catch (error) {
    if (error instanceof Conflict) return null
    throw error
  }
  await hint(world, () => world.alarms.set({ kind: 'job', id: job.id }, now + claimMs))
  return job
}

/** S2-28: a read-only tool looks instead of a script, and needs no computer of the agent's. */
async function verdictOfTool(world: World, job: Job): Promise<Verdict> {
  const loaded = (await loadSchedules(world, [job.schedule!]))[0] ?? null
  const [agent, tool] = await Promise.all([
    read<Agent>(world, keys.agent(job.agent)),
    readTool(world, job.agent, job.tool!),
  ])
  if (loaded === null || agent === null) return { kind: 'missed', reason: 'check_removed' }
  if (tool === null) return { kind: 'failed', reason: 'check_unknown_tool' }
  if (!tool.readOnly) return { kind: 'failed', reason: 'check_tool_not_readonly' }
  const { runTool } = await tools()
  const ran = await runTool({
    world,
    tool,
    agent: agent.item,
    principal: loaded.definition.createdBy,
    args: job.args as never,
    runId: runIdOf(job.schedule!, job.row!),
    call: null,
    timeoutMs: toolMs,
  })
  if (!ran.ok) return { kind: 'failed', reason: 'check_failed' }
  return saysNothing(ran.output) ? { kind: 'nothing' } : { kind: 'found', text: textOf(ran.output) }
}

/** What a script says by silence a tool says by nothing: null, false, or something empty. */
function saysNothing(output: unknown): boolean {
  if (output === null || output === undefined || output === false) return true
  if (typeof output === 'string') return output.trim() === ''
  return typeof output === 'object' && Object.keys(output).length === 0
}

const textOf = (output: unknown): string => (typeof output === 'string' ? output : JSON.stringify(output, null, 2))
