import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type LocalNode, openNode } from '../../apps/local/node.ts'
import type { Caller } from '../../shared/domain/access.ts'
import { recorded, type ToolCall } from '../../shared/domain/trace.ts'
import { createAgent, personOps } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { getFlowRun, runFlow } from '../../shared/engine/flow-runs.ts'
import { stepFlowRun } from '../../shared/engine/flow-step.ts'
import { suggestFlows } from '../../shared/engine/flow-suggestions.ts'
import { promoteFlow } from '../../shared/engine/flows.ts'
import { putTool } from '../../shared/engine/tools.ts'
import { importTrace } from '../../shared/engine/traces.ts'
import { quantile, shown } from '../figures.ts'
import { OffHeapTable } from '../ours/off-heap.ts'
import type { Cell, Row } from '../row.ts'
import { flowSizes } from '../sizes.ts'
import { started } from '../started.ts'

const { traces, alike, looks, steps, fewSteps } = flowSizes
const SUGGEST_MS = 50
/** What a heap is allowed to be larger with ten times the steps, which take 1.8 MB, and as much again in the trace. */
const GROWTH_MB = 2

export const flows: Row = {
  id: 'flows',
  what: `Suggestions out of ${traces.toLocaleString('en-US')} traces, and the memory of a replay`,
  peer: `the same replay with ${fewSteps} steps`,
  gate: `suggestions < ${SUGGEST_MS} ms at p95, heap grows by < ${GROWTH_MB} MB`,
  aim: null,

  async measure() {
    const [first = Number.NaN, ...suggested] = await suggestions()
    const few = await replayed(fewSteps)
    const many = await replayed(steps)
    const p50 = quantile(suggested, 0.5)
    const p95 = quantile(suggested, 0.95)
    const met = { fast: p95 < SUGGEST_MS, flat: many.peakMb - few.peakMb < GROWTH_MB }
    const cell = (name: string, o: Partial<Cell> & Pick<Cell, 'ours' | 'unit'>): Cell => ({
      name,
      peer: null,
      ratio: null,
      met: null,
      ...o,
    })
    return {
      cells: [
        cell('suggestions, p50', { ours: p50, unit: 'ms' }),
        cell('suggestions, p95', { ours: p95, unit: 'ms', met: met.fast }),
        cell('suggestions, the slowest', { ours: quantile(suggested, 1), unit: 'ms' }),
        cell('the very first of the process, cold', { ours: first, unit: 'ms' }),
        cell(`heap at its highest, ${steps} steps`, { ours: many.peakMb, peer: few.peakMb, unit: 'MB', met: met.flat }),
        cell('a step', { ours: many.msPerStep, peer: few.msPerStep, unit: 'ms' }),
      ],
      met: met.fast && met.flat,
      aimMet: null,
      summary: `suggestions in ${shown(p95)} ms at p95; heap ${shown(many.peakMb)} MB at ${steps} steps, ${shown(few.peakMb)} MB at ${fewSteps}`,
      notes: [
        `${traces} traces of one agent in groups of ${alike} that did the same; ${looks} looks, each at the 100 costliest groups with their steps. The slowest ones share the process with the store, which still files what was written before.`,
        'The steps have arguments of 3,500 characters: 1.8 MB in all. Each step puts a document, with a commit before and one after it. The heap is looked at before every tenth commit and before each that writes of its trace, garbage collected first, over a table whose items lie outside of it; what it was before the run is taken off. The time of a step is that of the engine alone.',
      ],
    }
  },
}

interface Bench {
  readonly node: LocalNode
  readonly agent: string
  readonly call: () => Call
}

/** Our engine on a store of its own, in this process: what is measured is neither HTTP nor another process's heap. */
async function withBench<T>(work: (bench: Bench) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-flows-'))
  const node = openNode({ dir, standingAt: Date.UTC(2026, 10, 30), log: () => {} })
  const close = started(async () => {
    await node.close()
    rmSync(dir, { recursive: true, force: true })
  })
  try {
    const { world } = node
    const now = world.clock.now()
    const person = `per_${world.ids.ulid(now)}`
    const row = { id: person, name: 'Ann', tz: 'UTC', admin: true, createdAt: now }
    await world.table.commit(personOps(row, `key_${world.ids.ulid(now)}`, 'sha'), 'person')
    const caller: Caller = { kind: 'person', key: 'key', person, admin: true }
    const call = (): Call => ({
      world,
      caller,
      now: world.clock.now(),
      session: null,
      turn: null,
      newId: (prefix) => `${prefix}_${world.ids.ulid(world.clock.now())}`,
      repeatable: false,
    })
    const agent = (await createAgent(call(), { name: 'assistant' })).id
    return await work({ node, agent, call })
  } finally {
    await close()
  }
}

const traced = async ({ call, agent }: Bench, calls: readonly ToolCall[]): Promise<string> =>
  (
    await importTrace(call(), {
      agent,
      session: null,
      project: null,
      outcome: 'ok',
      tokens: 1_000,
      usd: null,
      startedAt: null,
      at: null,
      ref: null,
      calls,
    })
  ).trace.id

/** @param chars  of its arguments, about */
const step = (n: number, chars = 300): ToolCall =>
  recorded({
    tool: 'note',
    args: { path: `notes/${n % 50}`, body: `${n} ${'x'.repeat(chars)}` },
    status: 'ok',
    result: 'ok',
  })

/** How long each look took, ms. */
const suggestions = (): Promise<number[]> =>
  withBench(async (bench) => {
    const groups = Array.from({ length: traces / alike }, (_, group) =>
      Array.from({ length: 5 }, (_, n) => step(group * 5 + n)),
    )
    for (let n = 0; n < alike; n++) for (const calls of groups) await traced(bench, calls)
    await bench.node.table.flush()
    const taken: number[] = []
    for (let n = 0; n < looks; n++) {
      const before = performance.now()
      const found = await suggestFlows(bench.call(), bench.agent)
      taken.push(performance.now() - before)
      if (found.length !== Math.min(100, groups.length)) throw new Error(`expected suggestions, got ${found.length}`)
    }
    return taken
  })

/** A flow of so many steps, replayed step by step as an invocation after the other does. */
const replayed = (count: number): Promise<{ readonly peakMb: number; readonly msPerStep: number }> =>
  withBench(async (bench) => {
    const { call, agent, node } = bench
    await putTool(call(), agent, 'note', {
      description: 'Keeps a note.',
      parameters: { type: 'object' },
      readOnly: false,
      steps: [{ document: { put: `\${args.path}`, body: `\${args.body}` } }],
      output: '"ok"',
    })
    const calls = Array.from({ length: count }, (_, n) => step(n, 3_500))
    const from = [await traced(bench, calls), await traced(bench, calls)]
    await promoteFlow(call(), agent, { name: 'notes', from, overwrite: false, approve: true })
    const { id } = await runFlow(call(), agent, 'notes')
    const table = new OffHeapTable()
    await table.copy(node.world.table, [`L#${agent.slice(4)}`, `A#${agent.slice(4)}`, `Q#${id.slice(4)}`])
    const before = heapMb()
    let peak = before
    let commits = 0
    let lookedMs = 0
    table.before = (ops) => {
      commits += 1
      if (commits % 10 !== 0 && !ops.some((op) => 'put' in op && op.put[0].startsWith('R#'))) return
      const since = performance.now()
      peak = Math.max(peak, heapMb())
      lookedMs += performance.now() - since
    }
    const since = performance.now()
    while ((await stepFlowRun({ ...node.world, table }, id)) === 'on');
    const ran = await getFlowRun({ ...call(), world: { ...node.world, table } }, id)
    if (ran.status !== 'ok') throw new Error(`the replay ended ${ran.status}: ${ran.detail}`)
    return { peakMb: peak - before, msPerStep: (performance.now() - since - lookedMs) / count }
  })

function heapMb(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed / 1_000_000
}
