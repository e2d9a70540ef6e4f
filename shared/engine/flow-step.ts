import type { Json } from '../cel/index.ts'
import { type Job, leaseMs, stepNameOf } from '../domain/job.ts'
import { parsedJson } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import type { FlowStep } from '../domain/promote.ts'
import { decideReplay, type FlowRun, type StepRecord, stepFailed } from '../domain/replay.ts'
import { recorded } from '../domain/trace.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { retrying } from './call.ts'
import { endFlowRun } from './flow-end.ts'
import { lookAtFlowRun, type Seen } from './flow-look.ts'
import { jobIdOfStep, putFlowRun, putStep } from './flow-rows.ts'
import { hostStep, newJobOps, putJob, ringJob } from './jobs.ts'
import { commit, keys } from './store.ts'
import { argsFaults } from './tool-args.ts'
import { runTool } from './tool-run.ts'

/** What was not recorded by then is lost: longer than a call of a tool may take. */
const claimMs = 60_000

/** What a look came to: the next step is due at once, or somebody else brings it. */
export type Went = 'on' | 'ended' | 'nowhere'

/**
 * Takes a run of a flow one step further: looks, decides, commits, and calls the step's tool between two commits. Whoever comes twice, late
 * or after a crash goes down the same path.
 *
 * @param stopped  true once the process ends: a call that failed since may have been cut off by that, and says nothing
 * @throws Unavailable when the store is away: the run stays due
 */
export async function stepFlowRun(world: World, id: string, stopped: () => boolean = () => false): Promise<Went> {
  const begun = await retrying(async (): Promise<Went | (() => Promise<Went>)> => {
    const now = world.clock.now()
    const seen = await lookAtFlowRun(world, id, now)
    if (seen === null) return 'nowhere'
    const { look, job } = seen
    const decision = decideReplay(look)
    switch (decision.kind) {
      case 'wait':
        await waitUntil(world, seen, decision.lookAt)
        return 'nowhere'
      case 'end':
        await endFlowRun(world, seen, decision, jobOver(world, seen, now), now)
        return 'ended'
      case 'host':
        return await handToHost(world, seen, now)
      case 'done': {
        const json = parsedJson(decision.output)
        const record = ended(
          recordOf(seen, false, job!.item.createdAt),
          'ok',
          json === null ? decision.output : json.json,
          now,
        )
        await commit(world, [
          putFlowRun(world, further(look.run, now), seen.stored.version),
          putStep(look.run, look.run.step, record),
        ])
        return 'on'
      }
      case 'call': {
        const record = recordOf(seen, decision.readOnly, now)
        const run = under(seen, 'calling', now + claimMs, now)
        await commit(world, [putFlowRun(world, run, seen.stored.version), putStep(run, run.step, record)])
        return () => callTool(world, { ...seen, stored: { ...seen.stored, item: run } }, record, stopped)
      }
    }
  })
  return typeof begun === 'string' ? begun : await begun()
}

/** Calls the step's tool, outside of any commit, and records what came of it. */
async function callTool(world: World, seen: Seen, record: StepRecord, stopped: () => boolean): Promise<Went> {
  const { stored, tool, agent, look } = seen
  const run = stored.item
  const args = JSON.parse(look.step!.args) as Json
  const [fault] = await argsFaults(tool!, args)
  const end =
    fault === undefined
      ? await runTool({
          world,
          tool: tool!,
          agent: agent!,
          principal: run.principal,
          args,
          runId: stepNameOf(run.id, run.step + 1),
          call: null,
          effects: { onHost: hostStep, arm: neverArmed },
        })
      : { ok: false as const, error: `args.${fault.path}: ${fault.message}` }
  if (!end.ok && stopped()) return 'nowhere'
  const claimed = run.lookAt
  return await retrying(async () => {
    const now = world.clock.now()
    const again = await lookAtFlowRun(world, run.id, now)
    const item = again?.stored.item
    // Lost meanwhile: whoever took it for lost has decided.
    if (again == null || item!.phase !== 'calling' || item!.step !== run.step || item!.lookAt !== claimed)
      return 'nowhere'
    if (!end.ok) {
      await endFlowRun(world, again, stepFailed(again.look, end.error), [], now)
      return 'ended'
    }
    await commit(world, [
      putFlowRun(world, further(item!, now), again.stored.version),
      putStep(run, run.step, ended(record, 'ok', end.output, now)),
    ])
    return 'on'
  })
}

/** A tool's monitor step wakes a session, and a replay runs in none: `call: null` refuses it before this. */
const neverArmed = (): never => {
  throw new Error('a replay arms no monitor')
}

async function handToHost(world: World, seen: Seen, now: number): Promise<Went> {
  const { stored, agent, look } = seen
  const job = jobOf(seen, look.step!, now)
  const run = under(seen, 'host', now + leaseMs(job), now)
  await commit(world, [
    putFlowRun(world, run, stored.version),
    putStep(run, run.step, recordOf(seen, false, now)),
    ...newJobOps(world, job),
  ])
  await ringJob(world, job, agent!.mainSession)
  return 'nowhere'
}

function jobOf({ stored, agent }: Seen, step: FlowStep, now: number): Job {
  const run = stored.item
  return {
    id: jobIdOfStep(run),
    kind: 'host_step',
    agent: run.agent,
    owner: agent!.owner,
    session: null,
    flow: { run: run.id, step: run.step + 1 },
    schedule: null,
    row: null,
    script: null,
    tool: step.tool,
    args: JSON.parse(step.args),
    timeoutSeconds: limits.checkSeconds,
    createdAt: now,
    waitMs: limits.jobWaitMs,
    takenAt: null,
    keySha: null,
    result: null,
    endedAt: null,
  }
}

/** A job that is given up: nobody takes it any more, and who has taken it in this moment is not overlooked. */
function jobOver(world: World, { job }: Seen, now: number): Op[] {
  if (job === null || job.item.result !== null) return []
  if (job.item.takenAt !== null) return [{ check: job.key, expect: job.version }]
  return [
    putJob(world, { ...job.item, endedAt: now }, job.version),
    { delete: keys.jobOf(job.item.agent, job.item.id), expect: 'any' },
  ]
}

async function waitUntil(world: World, { stored, job }: Seen, lookAt: number | null): Promise<void> {
  const run = stored.item
  if (lookAt === null || run.lookAt === lookAt) return
  // Early: what it waits for comes by itself, and this is for the case that it does not.
  if (run.lookAt !== null && run.lookAt > world.clock.now()) return
  await commit(world, [
    putFlowRun(world, { ...run, lookAt }, stored.version),
    ...(job === null ? [] : [{ check: job.key, expect: job.version } as const]),
  ])
}

const under = (seen: Seen, phase: 'calling' | 'host', lookAt: number, now: number): FlowRun => ({
  ...seen.stored.item,
  plan: seen.plan,
  phase,
  lookAt,
  startedAt: seen.stored.item.startedAt ?? now,
})

const further = (run: FlowRun, now: number): FlowRun => ({ ...run, step: run.step + 1, phase: 'ready', lookAt: now })

const recordOf = ({ look }: Seen, readOnly: boolean, now: number): StepRecord => ({
  tool: look.step!.tool,
  status: 'calling',
  readOnly,
  result: null,
  resultClipped: false,
  startedAt: now,
  endedAt: null,
})

/** @param result  any JSON */
function ended(record: StepRecord, status: StepRecord['status'], result: unknown, now: number): StepRecord {
  const kept = recorded({ tool: record.tool, args: null, status: 'ok', result })
  return { ...record, status, result: kept.result, resultClipped: kept.resultClipped, endedAt: now }
}
