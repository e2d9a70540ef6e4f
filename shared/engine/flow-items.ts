import { bare } from '../domain/ids.ts'
import { type Flow, type FlowStep, flowNameFault, needsApproval } from '../domain/promote.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Agent, asItem, read, readAll, ttlAfter } from './store.ts'

/** Flows and tools of an agent, and what shadows them. */
export const flowsOf = (agent: string): string => `L#${bare(agent)}`
export const flowKey = (agent: string, name: string): Key => [flowsOf(agent), `F#${name}`]
const stepsKey = (flow: Pick<Flow, 'agent' | 'rev'>, chunk: number): Key => [
  flowsOf(flow.agent),
  `S#${bare(flow.rev)}#${chunk}`,
]

/** Some of a flow's steps, in order. Written by promotion, never rewritten; left to TTL when the flow is replaced or removed. */
interface Steps {
  readonly steps: readonly FlowStep[]
}

export interface FlowView {
  readonly flow: Flow
  readonly steps: readonly FlowStep[]
  /** Tools of its steps that the agent may not call unasked, as things stand now. */
  readonly needsApproval: readonly string[]
  /** It is none yet: how many runs of how many did the same. Absent for a flow. */
  readonly shadow?: { readonly agreed: number; readonly wanted: number }
}

export const putFlow = (flow: Flow, before: Stored<Flow> | null): Op => ({
  put: flowKey(flow.agent, flow.name),
  item: asItem(flow),
  expect: before?.version ?? 'absent',
})

/** What a flow that takes another's place leaves of it. */
export const replaced = (before: Stored<Flow> | null, now: number): Op[] =>
  before === null ? [] : expireSteps(before.item, now)

/** @param pieces  the steps, cut into what an item holds */
export const putSteps = (flow: Flow, pieces: readonly (readonly FlowStep[])[]): Op[] =>
  pieces.map((steps, i): Op => {
    const item: Steps = { steps }
    return { put: stepsKey(flow, i), item: asItem(item), expect: 'absent' }
  })

/** A run that is under way may still need them. */
export const expireSteps = (flow: Flow, now: number): Op[] =>
  flow.chunks.map((_, i) => ({ patch: stepsKey(flow, i), set: { over: now }, guards: [], ttl: ttlAfter(now) }))

/** Some of a flow's steps, as they were promoted: one item, however long the flow. Kept for runs under way when the flow is gone. */
export async function readSteps(
  world: World,
  flow: Pick<Flow, 'agent' | 'rev'>,
  chunk: number,
): Promise<readonly FlowStep[]> {
  return (await read<Steps>(world, stepsKey(flow, chunk)))?.item.steps ?? []
}

export async function viewOf(world: World, agent: Agent, flow: Flow): Promise<FlowView> {
  return (await viewsOf(world, agent, [flow]))[0]!
}

export async function viewsOf(world: World, agent: Agent, flows: readonly Flow[]): Promise<FlowView[]> {
  const keys = flows.map((flow) => flow.chunks.map((_, i) => stepsKey(flow, i)))
  const found = await readAll<Steps>(world, keys.flat())
  return flows.map((flow, i) => {
    const steps = found.splice(0, keys[i]!.length).flatMap((chunk) => chunk?.item.steps ?? [])
    return { flow, steps, needsApproval: needsApproval(steps, agent.autoApprove) }
  })
}

/** A flow by its name, without its steps; null: there is none. Strong. */
export async function readFlow(world: World, agent: string, name: string): Promise<Stored<Flow> | null> {
  return flowNameFault(name) === null ? await read<Flow>(world, flowKey(agent, name)) : null
}

/** The fingerprints of what an agent has as flows already. */
export async function promotedBy(world: World, agent: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['list']>> = await world.table.list(flowsOf(agent), {
      prefix: 'F#',
      limit: 1000,
      ...(after === null ? {} : { after }),
    })
    for (const { item } of page.items) found.add(String(item.fingerprint))
    after = page.next
  } while (after !== null)
  return found
}
