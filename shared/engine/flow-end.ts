import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import type { FlowRun, ReplayEnd, StepRecord, StopReason } from '../domain/replay.ts'
import { recorded } from '../domain/trace.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges } from './budgets.ts'
import { outgoing } from './deliver.ts'
import { ring } from './fire.ts'
import type { Seen } from './flow-look.ts'
import { putFlowRun, putStep, stepKey } from './flow-rows.ts'
import { flowTrace } from './flow-trace.ts'
import { loadSchedules } from './load.ts'
import { endRuns, type RunEnd, tellChannel, type Worked } from './run-ends.ts'
import { commit, read } from './store.ts'

/** Nothing but a person's hand helps: they are told at the first time. */
const needsAHand: readonly StopReason[] = [
  'unknown_flow',
  'not_auto_approved',
  'unknown_tool',
  'tool_changed',
  'no_worker',
  'not_taken',
  'outcome_unknown',
]

/**
 * Ends a flow's run: its trace is there, the row of its schedule has its result, and what waited for this end begins. What a turn's end does,
 * without a turn. One commit, but for the trace's calls, which nobody sees before.
 *
 * @param more   goes into the same commit
 * @throws Conflict when anything came between; the caller looks again
 */
export async function endFlowRun(
  world: World,
  seen: Seen,
  end: ReplayEnd,
  more: readonly Op[],
  now: number,
): Promise<void> {
  const { stored, plan, agent, look } = seen
  const { status, reason } = end
  const before = stored.item
  const last = lastRecord(look.record, look.step?.tool ?? '', end, now)
  const calls = before.step + (last === null ? 0 : 1)
  const planned: FlowRun = { ...before, plan, startedAt: before.startedAt ?? now }
  const trace = await flowTrace(world, { run: planned, agent, outcome: status, calls, last, now })
  const run: FlowRun = {
    ...planned,
    phase: 'over',
    status,
    reason,
    detail: end.detail,
    lookAt: null,
    trace: trace.id,
    endedAt: now,
  }
  const worked = await workedOf(world, run)
  const flow = `Flow "${onOneLine(run.flow)}"`
  const told =
    reason !== null && needsAHand.includes(reason) ? { reason, detail: `${flow} stopped: ${end.detail}.` } : null
  const ended: RunEnd = { result: status, reason, turn: null, trace: trace.id, told }
  const { ops, next } = await endRuns(world, worked, ended, new Charges(), now)
  const said = { result: status, reason, summary: await summaryOf(world, run, worked), answer: null }
  const out = outgoing(world, worked, { ...said, conv: null, session: null }, now)
  await commit(world, [
    putFlowRun(world, run, stored.version),
    ...(last === null ? [] : [putStep(run, run.step, last)]),
    trace.op,
    ...ops,
    ...(await tellChannel(world, null, worked, said, now)),
    ...out.ops,
    ...more,
  ])
  for (const { loaded, run } of next) await ring(world, loaded, run)
  await out.leave()
}

/** The record of the step under way, as the end leaves it; null: it was never called. */
function lastRecord(record: StepRecord | null, tool: string, end: ReplayEnd, now: number): StepRecord | null {
  if (end.record === null) return null
  const { status, result } = end.record
  const kept = recorded({ tool, args: null, status: 'failed', ...(result === null ? {} : { result }) })
  return {
    tool,
    status,
    readOnly: record?.readOnly ?? false,
    result: kept.result,
    resultClipped: kept.resultClipped,
    startedAt: record?.startedAt ?? now,
    endedAt: now,
  }
}

async function workedOf(world: World, { schedule, row }: FlowRun): Promise<Worked[]> {
  if (schedule === null || row === null) return []
  const loaded = (await loadSchedules(world, [schedule]))[0] ?? null
  return loaded === null ? [] : [{ loaded, rows: [row] }]
}

/** What its last step gave, or why it stopped. Only where somebody is told. */
async function summaryOf(world: World, run: FlowRun, worked: readonly Worked[]): Promise<string | null> {
  const isTold = worked.some(
    ({ loaded }) => (loaded.definition.deliver ?? []).length > 0 || loaded.definition.channel !== null,
  )
  if (!isTold) return null
  if (run.detail !== null) return run.detail
  const record = run.step === 0 ? null : await read<StepRecord>(world, stepKey(run.id, run.step - 1))
  const result = record?.item.result ?? null
  if (result === null || record!.item.resultClipped) return result
  const value: unknown = JSON.parse(result)
  const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value, null, 2)
  return text.trim() === '' ? null : text.slice(0, limits.summaryCharsMax)
}
