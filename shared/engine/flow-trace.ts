import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import type { FlowStep } from '../domain/promote.ts'
import type { FlowRun, StepRecord } from '../domain/replay.ts'
import type { Result } from '../domain/schedule.ts'
import { bytesOf, type ToolCall, type Trace } from '../domain/trace.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { readSteps } from './flow-items.ts'
import { stepKey } from './flow-rows.ts'
import { runIdOf } from './load.ts'
import { type Agent, commit, readAll } from './store.ts'
import { putTraceChunk, putTraceHead } from './trace-write.ts'

/**
 * The trace that a flow's run leaves (S1-27): as a turn's, with the calls it made. Its calls are written piece by piece, one item of steps
 * in memory at a time; they are there with the head, whose write is the caller's. Done twice, the same is written.
 *
 * @param calls  how many steps were called
 * @param last   what becomes of the record of the last of them
 */
export async function flowTrace(
  world: World,
  o: {
    readonly run: FlowRun
    readonly agent: Agent | null
    readonly outcome: Result
    readonly calls: number
    readonly last: StepRecord | null
    readonly now: number
  },
): Promise<{ readonly id: string; readonly op: Op }> {
  const { run, agent, now } = o
  const id = `trc_${bare(run.id)}`
  const pages = new Pages(world, { id, storedAt: now })
  // Arguments are kept whole, as in the flow; results as far as there is room.
  let roomForResults = limits.traceBytesMax - (run.plan?.bytes ?? 0)
  for await (const { step, record } of called(world, run, o.calls)) {
    const { status, result, resultClipped } = step.at === o.calls - 1 && o.last !== null ? o.last : record
    const call: ToolCall = {
      tool: step.tool,
      args: step.args,
      status: status === 'ok' ? 'ok' : 'failed',
      result,
      argsClipped: false,
      resultClipped,
    }
    const bytes = bytesOf(call) - bytesOf({ ...call, result: null })
    const fits = bytes <= roomForResults
    if (fits) roomForResults -= bytes
    await pages.add(fits ? call : { ...call, result: null, resultClipped: true })
  }
  await pages.flush()
  const trace: Trace = {
    id,
    agent: run.agent,
    session: null,
    project: agent?.project ?? null,
    source: 'flow',
    turn: null,
    origin: {
      kind: run.schedule === null ? 'user' : 'schedule',
      agent: null,
      session: null,
      schedule: run.schedule,
      run: run.schedule === null ? run.id : runIdOf(run.schedule, run.row!),
    },
    outcome: o.outcome,
    tokens: 0,
    usd: 0,
    startedAt: run.startedAt,
    at: now,
    storedAt: now,
    calls: o.calls,
    chunks: pages.count,
    bytes: pages.bytes,
    fingerprint: o.outcome === 'ok' ? (run.plan?.fingerprint ?? null) : null,
  }
  return { id, op: putTraceHead(trace, 'any') }
}

/** The steps that were called, with their records, in order: one item of steps and a page of records at a time. */
async function* called(
  world: World,
  run: FlowRun,
  calls: number,
): AsyncGenerator<{ readonly step: FlowStep & { readonly at: number }; readonly record: StepRecord }> {
  const { plan } = run
  if (plan === null) return
  for (const [chunk, first] of plan.chunks.entries()) {
    if (first >= calls) return
    const steps = await readSteps(world, { agent: run.agent, rev: plan.rev }, chunk)
    for (let from = 0; from < steps.length && first + from < calls; from += recordsAtOnce) {
      const page = steps.slice(from, Math.min(from + recordsAtOnce, calls - first))
      const records = await readAll<StepRecord>(
        world,
        page.map((_, i) => stepKey(run.id, first + from + i)),
      )
      for (const [i, step] of page.entries())
        yield { step: { ...step, at: first + from + i }, record: records[i]?.item ?? forgotten(step.tool) }
    }
  }
}

const recordsAtOnce = 25

/** A run that outlived its own records: they go by their retention. */
const forgotten = (tool: string): StepRecord => ({
  tool,
  status: 'unknown',
  readOnly: false,
  result: null,
  resultClipped: false,
  startedAt: 0,
  endedAt: null,
})

/** Calls on their way into the items of a trace. */
class Pages {
  readonly #world: World
  readonly #of: Pick<Trace, 'id' | 'storedAt'>
  #calls: ToolCall[] = []
  #room = limits.traceChunkBytesMax
  count = 0
  bytes = 0

  constructor(world: World, of: Pick<Trace, 'id' | 'storedAt'>) {
    this.#world = world
    this.#of = of
  }

  async add(call: ToolCall): Promise<void> {
    const bytes = bytesOf(call)
    if (bytes > this.#room) await this.flush()
    this.#calls.push(call)
    this.#room -= bytes
    this.bytes += bytes
  }

  async flush(): Promise<void> {
    if (this.#calls.length === 0) return
    await commit(this.#world, [putTraceChunk(this.#of, this.count, this.#calls)])
    this.count += 1
    this.#calls = []
    this.#room = limits.traceChunkBytesMax
  }
}
