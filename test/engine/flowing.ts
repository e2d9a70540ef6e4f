import type { FlowRun } from '../../shared/domain/replay.ts'
import type { Step } from '../../shared/domain/tool.ts'
import { recorded, type ToolCall } from '../../shared/domain/trace.ts'
import { listFlowRuns, runFlow } from '../../shared/engine/flow-runs.ts'
import { promoteFlow } from '../../shared/engine/flows.ts'
import { claimJobOfAgent, endJob, type HandedJob } from '../../shared/engine/job-claims.ts'
import type { Loaded } from '../../shared/engine/load.ts'
import { createSchedule, type ScheduleInput } from '../../shared/engine/schedules.ts'
import { editSession } from '../../shared/engine/sessions.ts'
import { importTrace } from '../../shared/engine/traces.ts'
import type { Room } from './room.ts'
import { post, put } from './tooling.ts'

export const called = (tool: string, args: unknown = {}): ToolCall =>
  recorded({ tool, args, status: 'ok', result: 'x' })

/** Three steps of registered tools: they read, order and order again. */
export const order: readonly ToolCall[] = [
  called('rate', { of: 'eur' }),
  called('buy', { what: 'bread' }),
  called('buy', { what: 'milk' }),
]
/** A step that the agent's own machine does, between two of Rouse's. */
export const mixed: readonly ToolCall[] = [called('rate', { of: 'eur' }), called('shell', { cmd: 'ls' }), order[1]!]

export const buys: Step = post(`\${args}`)

/** Registers `rate`, which reads, and `buy`, which does not. */
export async function tools(room: Room): Promise<void> {
  await put(room, 'rate', { readOnly: true })
  await put(room, 'buy', { steps: [buys] })
}

/** Promotes what two traces prove. */
export async function promote(
  room: Room,
  calls: readonly ToolCall[] = order,
  o: { readonly name?: string; readonly approve?: boolean; readonly overwrite?: boolean } = {},
): Promise<void> {
  const from: string[] = []
  for (let n = 0; n < 2; n++) {
    const { trace } = await importTrace(room.call(), {
      agent: room.agent,
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
    from.push(trace.id)
  }
  const { name = 'shopping', approve = true, overwrite = false } = o
  await promoteFlow(room.call(), room.agent, { name, from, overwrite, approve })
}

/** Asks for a run of the flow and lets it go as far as it goes. */
export async function replay(room: Room, name = 'shopping'): Promise<FlowRun> {
  await runFlow(room.call(), room.agent, name)
  await room.settle()
  return await latest(room)
}

/** What one look lets begin the next one finds: indexes lag. */
export async function settled(room: Room): Promise<void> {
  for (let n = 0; n < 3; n++) await room.settle()
}

/** Newest first. */
export async function flowRuns(room: Room): Promise<readonly FlowRun[]> {
  await room.table.catchUp()
  return (await listFlowRuns(room.call(), room.agent, { limit: 100, before: null })).items
}
export const latest = async (room: Room): Promise<FlowRun> => (await flowRuns(room))[0]!

/** How it ended, and where. */
export const how = ({ status, reason, step }: FlowRun) => [status, reason, step + 1]

/** A worker that runs host steps says so, or that it is gone. */
export const worker = (room: Room, connected: boolean) =>
  editSession(room.call(), room.session, { checks: connected, workerConnected: connected })

export const takeJob = async (room: Room): Promise<HandedJob | null> =>
  await claimJobOfAgent(room.call(), room.agent, () => ({ key: 'k', prefix: 'k', sha256: 's' }))

export const endHost = async (room: Room, id: string, exit: number, output: string): Promise<void> => {
  await endJob(room.call(), id, { exit, output })
  await settled(room)
}

export const addFlowSchedule = async (room: Room, input: Partial<ScheduleInput> = {}): Promise<Loaded> =>
  await createSchedule(room.call(), {
    name: 'Shopping',
    flow: 'shopping',
    agent: room.agent,
    ...((input.cron ?? input.rrule ?? input.at ?? input.every) ? {} : { every: '1h' }),
    ...input,
  })
