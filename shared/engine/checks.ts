import { isManualRow } from '../domain/asked.ts'
import { checkLater, decideChecked, type Verdict } from '../domain/check.ts'
import { clippedData } from '../domain/fence.ts'
import { bare } from '../domain/ids.ts'
import { type Job, jobIdOf, leaseMs } from '../domain/job.ts'
import { limits } from '../domain/limits.ts'
import { isChecking, type Run } from '../domain/schedule.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges } from './budgets.ts'
import { hint, placed, replaced, ring } from './fire.ts'
import { tellCheck, tellRows } from './incidents.ts'
import { lookAtJob, newJobOps, ringJob } from './jobs.ts'
import { goesToOthers, type Loaded, loadSchedules, openIds, runIdOf } from './load.ts'
import { countPrompt } from './prompts.ts'
import { decodeRun, patchRun, putCursor, putRun } from './rows.ts'
import { commit, keys, putRunData, type RunData, read, readAll } from './store.ts'

/** The writes that begin a row's check: a job for the agent's worker where it is a script, for Rouse where it is a tool. */
export function checkOps(world: World, { definition, agent }: Loaded, row: Pick<Run, 'row'>, now: number): Op[] {
  const { check = null } = definition
  if (check === null || agent === null) return []
  return newJobOps(world, {
    id: jobIdOf(runIdOf(definition.id, row.row)),
    kind: 'script' in check ? 'check' : 'tool_check',
    agent: definition.agent,
    owner: agent.owner,
    session: null,
    schedule: definition.id,
    row: row.row,
    script: 'script' in check ? check.script : null,
    tool: 'tool' in check ? check.tool : null,
    args: 'tool' in check ? check.args : null,
    timeoutSeconds: limits.checkSeconds,
    createdAt: now,
    waitMs: limits.jobWaitMs,
    takenAt: null,
    keySha: null,
    result: null,
    endedAt: null,
  })
}

/** After the commit that began it: whoever runs it is told. */
export async function announceCheck(
  world: World,
  { definition, agent, head }: Loaded,
  row: string,
  now: number,
): Promise<void> {
  const { check = null } = definition
  const id = jobIdOf(runIdOf(definition.id, row))
  if (check === null) return
  if ('tool' in check) return await hint(world, () => world.alarms.set({ kind: 'job', id }, now))
  await ringJob(world, { id, agent: definition.agent }, head?.item.session ?? agent?.mainSession ?? null)
}

/**
 * Looks at a check that is under way: a job that nobody took, or whose worker is silent, is given up.
 *
 * @returns  true when it is held no more
 * @throws   Conflict when anything came between; the caller reads again
 */
export async function lookAtCheck(world: World, loaded: Loaded, now: number): Promise<boolean> {
  const { cursor, definition } = loaded
  const { held } = cursor.item
  if (!isChecking(held) || held.lookAt > now) return false
  const job = await lookAtJob(world, definition.id, held.row, now)
  if (!job.lost && !job.over) {
    await lookLater(world, loaded, job.until, now)
    return false
  }
  const verdict: Verdict =
    !job.lost && job.taken ? { kind: 'failed', reason: 'check_timeout' } : { kind: 'missed', reason: 'check_not_taken' }
  await settle(world, loaded, verdict, [], now)
  return true
}

async function lookLater(world: World, loaded: Loaded, at: number, now: number): Promise<void> {
  const next = checkLater(loaded, loaded.cursor.item, at)
  await world.alarms.set({ kind: 'schedule', id: next.id }, next.dueAt ?? at)
  await commit(world, [putCursor(world, next, loaded.cursor.version, now)])
}

/** @returns the writes with which a claim holds the run for its lease; null: nobody waits for the job any more */
export async function leaseCheck(world: World, job: Job, now: number): Promise<Op[] | null> {
  if (job.schedule === null) return []
  const loaded = (await loadSchedules(world, [job.schedule]))[0] ?? null
  const held = loaded?.cursor.item.held ?? null
  if (loaded === null || !isChecking(held) || held.row !== job.row) return null
  const next = checkLater(loaded, loaded.cursor.item, now + leaseMs(job))
  await world.alarms.set({ kind: 'schedule', id: next.id }, now + leaseMs(job))
  return [putCursor(world, next, loaded.cursor.version, now)]
}

/**
 * A job's end decides its run; what nobody waits for any more is noted and changes nothing.
 *
 * @param ops  written in the same commit
 */
export async function closeCheck(
  world: World,
  job: Job,
  verdict: Verdict,
  ops: readonly Op[],
  now: number,
): Promise<void> {
  const loaded = (await loadSchedules(world, [job.schedule!]))[0] ?? null
  const held = loaded?.cursor.item.held ?? null
  if (loaded === null || !isChecking(held) || held.row !== job.row) return await commit(world, ops)
  await settle(world, loaded, verdict, ops, now)
}

/** Writes what a check came to: the run goes out with what was found, or its row says why not. @throws Conflict */
async function settle(world: World, loaded: Loaded, verdict: Verdict, more: readonly Op[], now: number): Promise<void> {
  const { cursor, definition } = loaded
  const { held } = cursor.item
  const session = loaded.head?.item.session ?? `ses_${bare(runIdOf(definition.id, held!.row))}`
  const decided = decideChecked({ ...loaded, cursor: cursor.item, session, now, verdict })
  const ref = { schedule: definition.id, row: decided.row }
  const found: RunData | null =
    verdict.kind === 'found' ? { what: 'output of the check', text: clippedData(verdict.text) } : null
  const data = found === null ? [] : [putRunData(ref, found, now)]
  const { put, closed } = decided
  const passed = decided.rows.map((row) => putRun(row, now))
  if (put !== null) {
    const run = { ...openIds(definition.id, put), ...ref, at: put.at, session: put.session }
    const at = placed(loaded, { ...run, gen: put.gen } as Run, decided.cursor)
    const stopped = await replaced(world, loaded, now)
    await armAfter(world, decided.cursor)
    await commit(world, [
      putCursor(world, decided.cursor, cursor.version, now),
      ...stopped.ops,
      ...passed,
      patchRun(ref, { outcome: 'fired', reason: null, gen: put.gen, at: put.at, session: put.session }),
      ...data,
      ...at.ops(world, now),
      ...new Charges().draw(loaded.purse, { wakes: 1 }).ops(now),
      ...(goesToOthers(cursor.item) && loaded.maker !== null && !isManualRow(decided.row)
        ? [countPrompt(loaded.maker)]
        : []),
      ...more,
    ])
    await stopped.tell()
    return await ring(world, loaded, run, found)
  }
  const row = await rowOf(world, ref, closed!)
  const told =
    closed!.outcome === 'held'
      ? await tellRows(world, loaded, decided.cursor, [row], now)
      : await tellCheck(world, loaded, decided.cursor, row, now)
  await armAfter(world, told.cursor)
  await commit(world, [
    putCursor(world, told.cursor, cursor.version, now),
    patchRun(ref, { ...closed, ...(closed!.outcome === 'held' ? {} : { endedAt: now }) }),
    ...passed,
    ...data,
    ...told.ops,
    ...more,
  ])
}

async function rowOf(
  world: World,
  ref: { schedule: string; row: string },
  closed: Pick<Run, 'outcome' | 'reason'>,
): Promise<Run> {
  const [stored] = await readAll<never>(world, [keys.run(ref.schedule, ref.row)])
  return { ...decodeRun(stored!), ...closed }
}

const armAfter = async (
  world: World,
  cursor: { readonly id: string; readonly dueAt: number | null },
): Promise<void> => {
  if (cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id: cursor.id }, cursor.dueAt)
}

/** What stands beside a run's row; null: nothing. */
export const readRunData = async (world: World, schedule: string, row: string): Promise<RunData | null> =>
  (await read<RunData>(world, keys.runData(schedule, row)))?.item ?? null
