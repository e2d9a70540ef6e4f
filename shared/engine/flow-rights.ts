import { bodyFault } from '../domain/define.ts'
import { limits } from '../domain/limits.ts'
import { type FlowStep, needsApproval } from '../domain/promote.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { Call } from './call.ts'
import { agentFor, assertMay, assertPerson } from './reach.ts'
import { type Agent, putAgent } from './store.ts'

/** An agent whose flows the caller may make and unmake. */
export async function ruledAgent(call: Call, id: string, what: string): Promise<Stored<Agent>> {
  assertPerson(call, what)
  const found = await agentFor(call, id)
  assertMay(call, 'rule_flows', found.item, what)
  return found
}

/** The agent with the tools of the steps among those that it may call unasked. @throws Refused `body_invalid` */
export function approvedBy(
  agent: Stored<Agent>,
  steps: readonly FlowStep[],
  approve: boolean,
): { readonly approved: Agent; readonly ops: Op[] } {
  const missing = needsApproval(steps, agent.item.autoApprove)
  // An agent that is deleted meanwhile gets no flow.
  if (!approve || missing.length === 0)
    return { approved: agent.item, ops: [{ check: agent.key, expect: agent.version }] }
  const approved: Agent = { ...agent.item, autoApprove: [...agent.item.autoApprove, ...missing] }
  if (approved.autoApprove.length > limits.autoApproveMax)
    throw bodyFault(
      'approve',
      `would let the agent call ${approved.autoApprove.length} tools unasked; expected at most ${limits.autoApproveMax}`,
    )
  return { approved, ops: [putAgent(approved, agent.version)] }
}
