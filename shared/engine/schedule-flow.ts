import { bodyFault } from '../domain/define.ts'
import type { Definition } from '../domain/schedule.ts'
import type { Call } from './call.ts'
import type { CheckInput } from './check-input.ts'
import { readFlow } from './flow-items.ts'
import { assertMay, assertPerson } from './reach.ts'
import type { Agent } from './store.ts'

/** What a schedule sets in motion. */
export type Work = Pick<Definition, 'kind' | 'prompt' | 'flow'>

interface WorkInput {
  readonly prompt?: string | null | undefined
  readonly flow?: string | null | undefined
  readonly check?: CheckInput | null | undefined
  readonly onUnknown?: 'leave' | 'retry' | null | undefined
}

/** True where the caller means a flow. */
export const meansFlow = (input: WorkInput): boolean => input.flow != null

/**
 * What a schedule sets in motion: a prompt that wakes the agent, or one of its flows.
 *
 * @param known  a flow that was there when the schedule was made: gone since, its runs say so
 * @throws Refused `person_only` for a flow by an agent's key; `body_invalid`
 */
export async function workOf(call: Call, agent: Agent, input: WorkInput, known: string | null = null): Promise<Work> {
  const { prompt = null, flow = null } = input
  if (flow === null) {
    if (prompt === null || prompt.trim() === '')
      throw bodyFault('prompt', 'expected the text that the agent gets at each run, or "flow": one of its flows')
    return { kind: 'prompt', prompt }
  }
  assertMayFlow(call)
  if (prompt !== null) throw bodyFault('flow', 'expected either "prompt" or "flow", got both')
  assertMay(call, 'rule_flows', agent, 'put its flows on a schedule')
  // It calls no model: there is nothing that a look beforehand would save.
  if (input.check != null)
    throw bodyFault('check', 'a flow has no check: it calls no model, and its own first step may look')
  if (input.onUnknown === 'retry')
    throw bodyFault('onUnknown', 'a step of a flow whose outcome is not known is never called again; expected "leave"')
  if (flow !== known && (await readFlow(call.world, agent.id, flow)) === null)
    throw bodyFault('flow', `agent ${agent.id} has no flow named "${flow}"; rouse flow list shows those it has`)
  return { kind: 'flow', prompt: null, flow }
}

/** A schedule stays what it is: one that wakes the agent, or one that runs a flow. @throws Refused */
export async function editedWork(call: Call, old: Definition, agent: Agent, patch: WorkInput): Promise<Work> {
  const other = old.kind === 'flow' ? 'prompt' : 'flow'
  if (patch[other] != null)
    throw bodyFault(other, `this schedule has a ${old.kind}; make a new one for a ${other}, and remove this one`)
  const given = patch[old.kind]
  const wanted = {
    prompt: old.kind === 'prompt' ? (given === undefined ? old.prompt : given) : null,
    flow: old.kind === 'flow' ? (given === undefined ? old.flow : (given ?? '')) : null,
    check: old.kind === 'flow' ? patch.check : null,
    onUnknown: old.kind === 'flow' ? patch.onUnknown : null,
  }
  return await workOf(call, agent, wanted, agent.id === old.agent ? (old.flow ?? null) : null)
}

/** Decision 35. @throws Refused `person_only` */
export const assertMayFlow = (call: Call, of: Pick<Definition, 'kind'> = { kind: 'flow' }): void => {
  if (of.kind === 'flow') assertPerson(call, 'put a flow on a schedule, or change or run such a schedule')
}
