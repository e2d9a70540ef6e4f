import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { decidePromotion, type Flow, type FlowStep, flowNameFault, needsApproval } from '../domain/promote.ts'
import { notFound } from '../domain/refused.ts'
import { pieces } from '../domain/trace.ts'
import type { Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import {
  expireSteps,
  type FlowView,
  flowKey,
  flowsOf,
  putFlow,
  putSteps,
  readFlow,
  replaced,
  viewOf,
  viewsOf,
} from './flow-items.ts'
import { approvedBy, ruledAgent } from './flow-rights.ts'
import { dropShadow, keepShadow } from './flow-shadows.ts'
import { agentFor, assertMay, assertPerson } from './reach.ts'
import { commit, read } from './store.ts'
import { readTool } from './tool-rows.ts'
import { asManyAsFit, tracesFor } from './traces.ts'

export interface FlowInput {
  readonly name: string
  /** Ids of traces. */
  readonly from: readonly string[]
  readonly overwrite: boolean
  /** Lets the agent call the flow's tools unasked from now on. */
  readonly approve: boolean
  /** So many of the agent's next runs have to do the same first; null: it is a flow at once. */
  readonly shadow?: number | null
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
    const stepOps = putSteps(flow, chunks)
    if (input.shadow != null) return await keepShadow(world, agent, { flow, steps, stepOps }, input, input.shadow, now)
    const { approved, ops } = approvedBy(agent, steps, input.approve)
    await commit(world, [putFlow(flow, before), ...stepOps, ...replaced(before, now), ...ops])
    return { flow, steps, needsApproval: needsApproval(steps, approved.autoApprove) }
  })
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
  const found = await call.world.table.list(flowsOf(agent.id), {
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
    if (flow === null) {
      if (await dropShadow(call.world, agent.id, (one) => one.name === name, call.now)) return
      throw notFound('flow', name)
    }
    await commit(call.world, [{ delete: flow.key, expect: flow.version }, ...expireSteps(flow.item, call.now)])
  })
}
