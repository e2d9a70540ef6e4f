import { bodyFault } from '../domain/define.ts'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { decidePromotion, type Flow, type FlowStep, flowNameFault, needsApproval } from '../domain/promote.ts'
import { notFound } from '../domain/refused.ts'
import { pieces } from '../domain/trace.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { agentFor, assertMay, assertPerson } from './reach.ts'
import { type Agent, asItem, commit, putAgent, read, readAll, ttlAfter } from './store.ts'
import { readTool } from './tools.ts'
import { asManyAsFit, tracesFor } from './traces.ts'

const pkOf = (agent: string): string => `L#${bare(agent)}`
const flowKey = (agent: string, name: string): Key => [pkOf(agent), `F#${name}`]
const stepsKey = (flow: Pick<Flow, 'agent' | 'rev'>, chunk: number): Key => [
  pkOf(flow.agent),
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
}

export interface FlowInput {
  readonly name: string
  /** Ids of traces. */
  readonly from: readonly string[]
  readonly overwrite: boolean
  /** Lets the agent call the flow's tools unasked from now on. */
  readonly approve: boolean
}

/**
 * Makes a flow of what traces prove (S1-4 to S1-23). Nothing is stored when it is refused.
 *
 * @throws Refused `person_only`, `not_found`, `owner_only` (for `approve`), `body_invalid` and those of `decidePromotion`
 */
export async function promoteFlow(call: Call, agentId: string, input: FlowInput): Promise<FlowView> {
  const what = 'promote a flow'
  const by = assertPerson(call, what)
  const fault = flowNameFault(input.name)
  if (fault !== null) throw bodyFault('name', fault)
  const rev = call.newId('flw')
  return await retrying(async () => {
    const { world, now } = call
    const agent = await ruledAgent(call, agentId, what)
    if (input.approve) assertMay(call, 'set_agent', agent.item, 'let an agent call tools unasked')
    const [before, proofs] = await Promise.all([
      read<Flow>(world, flowKey(agent.item.id, input.name)),
      tracesFor(call, input.from),
    ])
    // A call that a crash cut off after its commit, repeated under its Idempotency-Key.
    if (before?.item.rev === rev) return await viewOf(world, agent.item, before.item)
    const calls = decidePromotion({
      name: input.name,
      agent: agent.item.id,
      from: input.from,
      proofs,
      exists: before !== null,
      overwrite: input.overwrite,
    })
    const hashes = await hashesOf(world, agent.item.id, [...new Set(calls.map(({ tool }) => tool))])
    const steps = calls.map(({ tool, args }): FlowStep => ({ tool, args, hash: hashes.get(tool) ?? null }))
    const chunks = pieces(steps, stepBytes, limits.flowChunkBytesMax)
    const flow: Flow = {
      agent: agent.item.id,
      name: input.name,
      rev,
      // Every proof is clean by now, and has one.
      fingerprint: proofs[0]!.trace.fingerprint!,
      from: [...new Set(input.from)],
      steps: steps.length,
      chunks: firstOf(chunks),
      bytes: steps.reduce((sum, step) => sum + stepBytes(step), 0),
      createdAt: now,
      by,
    }
    const missing = needsApproval(steps, agent.item.autoApprove)
    const approved: Agent = input.approve
      ? { ...agent.item, autoApprove: [...agent.item.autoApprove, ...missing] }
      : agent.item
    if (input.approve && approved.autoApprove.length > limits.autoApproveMax)
      throw bodyFault(
        'approve',
        `would let the agent call ${approved.autoApprove.length} tools unasked; expected at most ${limits.autoApproveMax}`,
      )
    await commit(world, [
      { put: flowKey(flow.agent, flow.name), item: asItem(flow), expect: before?.version ?? 'absent' },
      ...chunks.map((of, i): Op => {
        const item: Steps = { steps: of }
        return { put: stepsKey(flow, i), item: asItem(item), expect: 'absent' }
      }),
      ...(before === null ? [] : expireSteps(before.item, now)),
      // An agent that is deleted meanwhile gets no flow.
      input.approve && missing.length > 0
        ? putAgent(approved, agent.version)
        : { check: agent.key, expect: agent.version },
    ])
    return { flow, steps, needsApproval: needsApproval(steps, approved.autoApprove) }
  })
}

/** An agent whose flows the caller may make and unmake. */
async function ruledAgent(call: Call, id: string, what: string): Promise<Stored<Agent>> {
  assertPerson(call, what)
  const found = await agentFor(call, id)
  assertMay(call, 'rule_flows', found.item, what)
  return found
}

const stepBytes = ({ tool, args }: FlowStep): number =>
  150 + Buffer.byteLength(JSON.stringify(tool)) + Buffer.byteLength(JSON.stringify(args))

function firstOf(chunks: readonly (readonly unknown[])[]): number[] {
  let first = 0
  return chunks.map((chunk) => {
    first += chunk.length
    return first - chunk.length
  })
}

/** What each of these tools does now, where it is one that Rouse runs: a replay compares (decision 32). */
async function hashesOf(world: World, agent: string, tools: readonly string[]): Promise<Map<string, string>> {
  const found = await Promise.all(tools.map(async (tool) => await readTool(world, agent, tool)))
  return new Map(found.flatMap((tool) => (tool === null ? [] : [[tool.name, tool.hash]])))
}

/** A run that is under way may still need them. */
const expireSteps = (flow: Flow, now: number): Op[] =>
  flow.chunks.map((_, i) => ({ patch: stepsKey(flow, i), set: { over: now }, guards: [], ttl: ttlAfter(now) }))

/** Some of a flow's steps, as they were promoted: one item, however long the flow. Kept for runs under way when the flow is gone. */
export async function readSteps(
  world: World,
  flow: Pick<Flow, 'agent' | 'rev'>,
  chunk: number,
): Promise<readonly FlowStep[]> {
  return (await read<Steps>(world, stepsKey(flow, chunk)))?.item.steps ?? []
}

async function viewOf(world: World, agent: Agent, flow: Flow): Promise<FlowView> {
  return (await viewsOf(world, agent, [flow]))[0]!
}

async function viewsOf(world: World, agent: Agent, flows: readonly Flow[]): Promise<FlowView[]> {
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

/** @throws Refused `not_found` */
export async function getFlow(call: Call, agentId: string, name: string): Promise<FlowView> {
  const { item: agent } = await agentFor(call, agentId)
  const flow = await readFlow(call.world, agent.id, name)
  if (flow === null) throw notFound('flow', name)
  return await viewOf(call.world, agent, flow.item)
}

/** The flows of an agent, in the byte order of their names. `next` is the last name shown. */
export async function listFlows(
  call: Call,
  agentId: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly FlowView[]; readonly next: string | null }> {
  const { item: agent } = await agentFor(call, agentId)
  const { after, limit } = page
  const found = await call.world.table.list(pkOf(agent.id), {
    prefix: 'F#',
    limit: limit + 2,
    ...(after === null ? {} : { from: `F#${after}` }),
  })
  const flows = (found.items as readonly Stored<unknown>[] as readonly Stored<Flow>[])
    .map(({ item }) => item)
    .filter(({ name }) => name !== after)
  const shown = asManyAsFit(flows.slice(0, limit))
  return {
    items: await viewsOf(call.world, agent, shown),
    next: flows.length > shown.length ? shown.at(-1)!.name : null,
  }
}

/** @throws Refused `person_only`, `not_found` */
export async function removeFlow(call: Call, agentId: string, name: string): Promise<void> {
  const what = 'remove a flow'
  assertPerson(call, what)
  await retrying(async () => {
    const { item: agent } = await ruledAgent(call, agentId, what)
    const flow = await readFlow(call.world, agent.id, name)
    if (flow === null) throw notFound('flow', name)
    await commit(call.world, [{ delete: flow.key, expect: flow.version }, ...expireSteps(flow.item, call.now)])
  })
}

/** The fingerprints of what an agent has as flows already. */
export async function promotedBy(world: World, agent: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['list']>> = await world.table.list(pkOf(agent), {
      prefix: 'F#',
      limit: 1000,
      ...(after === null ? {} : { after }),
    })
    for (const { item } of page.items) found.add(String(item.fingerprint))
    after = page.next
  } while (after !== null)
  return found
}
