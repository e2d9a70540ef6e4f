import { isId } from '../domain/ids.ts'
import { notFound } from '../domain/refused.ts'
import { type FlowRun, planOf } from '../domain/replay.ts'
import { type Call, retrying } from './call.ts'
import { announceFlowRun } from './fire.ts'
import { readFlow } from './flow-items.ts'
import { flowRunKey, newFlowRun, putFlowRun } from './flow-rows.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { agentFor, assertMay, assertPerson } from './reach.ts'
import { commit, read, readAll } from './store.ts'

/**
 * Begins a flow's run (S1-20). It goes on by itself: this answers at once.
 *
 * @throws Refused `person_only`, `not_found`
 */
export async function runFlow(call: Call, agentId: string, name: string): Promise<FlowRun> {
  const what = 'run a flow'
  const { world, now } = call
  const principal = assertPerson(call, what)
  const id = call.newId('flr')
  const run = await retrying(async () => {
    const { item: agent } = await agentFor(call, agentId)
    assertMay(call, 'rule_flows', agent, what)
    // A call that a crash cut off after its commit, repeated under its Idempotency-Key.
    const made = call.repeatable ? await read<FlowRun>(world, flowRunKey(id)) : null
    if (made !== null) return made.item
    const flow = await readFlow(world, agent.id, name)
    if (flow === null) throw notFound('flow', name)
    const run: FlowRun = {
      ...newFlowRun({ id, agent: agent.id, flow: name, principal, createdAt: now }),
      plan: planOf(flow.item),
    }
    await commit(world, [putFlowRun(world, run, 'absent')])
    return run
  })
  await announceFlowRun(world, id)
  return run
}

/** A run of a flow of an agent that the caller can talk to. @throws Refused `not_found` */
export async function getFlowRun(call: Call, id: string): Promise<FlowRun> {
  const stored = isId('flr', id) ? await read<FlowRun>(call.world, flowRunKey(id)) : null
  if (stored === null) throw notFound('flow run', id)
  await agentFor(call, stored.item.agent).catch(() => {
    throw notFound('flow run', id)
  })
  return stored.item
}

/** The runs of an agent's flows, newest first. @throws Refused `not_found` */
export async function listFlowRuns(call: Call, agentId: string, page: PageAsked): Promise<ById<FlowRun>> {
  const { item: agent } = await agentFor(call, agentId)
  return await pageById<FlowRun>(call.world, {
    sources: [{ index: 'flowRunsByAgent', pk: agent.id }],
    page,
    load: async (ids) =>
      (await readAll<FlowRun>(call.world, ids.map(flowRunKey))).map((stored) => stored?.item ?? null),
    idOf: (run) => run.id,
  })
}
