import { bodyFault } from '../domain/define.ts'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { type Flow, type FlowStep, needsApproval } from '../domain/promote.ts'
import { Refused } from '../domain/refused.ts'
import type { Shadow } from '../domain/shadow.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { expireSteps, type FlowView, putFlow, readFlow, replaced, viewOf, viewsOf } from './flow-items.ts'
import { approvedBy, ruledAgent } from './flow-rights.ts'
import { agentFor, assertMay } from './reach.ts'
import { type Agent, asItem, commit, read } from './store.ts'

/** The shadows of an agent: few, so that the end of a turn reads all of them at once. */
interface Shadows {
  readonly shadows: readonly Shadow[]
}

const shadowsKey = (agent: string): Key => [`L#${bare(agent)}`, 'Z']

interface FoundShadows {
  readonly stored: Stored<Shadows> | null
  readonly shadows: readonly Shadow[]
}

export async function readShadows(world: World, agent: string): Promise<FoundShadows> {
  const stored = await read<Shadows>(world, shadowsKey(agent))
  return { stored, shadows: stored?.item.shadows ?? [] }
}

/** Writes them as they are now. */
export function putShadows(agent: string, found: FoundShadows, shadows: readonly Shadow[]): Op {
  const item: Shadows = { shadows }
  return { put: shadowsKey(agent), item: asItem(item), expect: found.stored?.version ?? 'absent' }
}

/** The same with one more, in the place of one of its name. @throws Refused `body_invalid` */
function withShadow(found: FoundShadows, shadow: Shadow): { readonly shadows: Shadow[]; readonly gone: Flow[] } {
  const others = found.shadows.filter(({ flow }) => flow.name !== shadow.flow.name)
  if (others.length >= limits.shadowsPerAgent)
    throw bodyFault(
      'shadow',
      `the agent has ${others.length} flows that wait for its next runs, and ${limits.shadowsPerAgent} is the most; remove one with DELETE`,
    )
  const gone = found.shadows.filter((one) => !others.includes(one)).map(({ flow }) => flow)
  return { shadows: [...others, shadow], gone }
}

/** What a card offers is not there any more: it was taken back, or replaced. */
const noLongerOffered = (name: string): Refused =>
  new Refused('card_settled', `"${name}" is offered no more: it was removed or promoted meanwhile`)

/** Keeps what traces prove, to be compared with the agent's next runs. */
export async function keepShadow(
  world: World,
  agent: Stored<Agent>,
  made: { readonly flow: Flow; readonly steps: readonly FlowStep[]; readonly stepOps: readonly Op[] },
  { overwrite, approve }: Pick<Shadow, 'overwrite' | 'approve'>,
  wanted: number,
  now: number,
): Promise<FlowView> {
  const { flow, steps } = made
  const found = await readShadows(world, flow.agent)
  const again = found.shadows.find((one) => one.flow.rev === flow.rev)
  const shadow: Shadow = again ?? { flow, first: steps[0]!.tool, wanted, agreed: 0, overwrite, approve }
  if (again === undefined) {
    const { shadows, gone } = withShadow(found, shadow)
    await commit(world, [
      putShadows(flow.agent, found, shadows),
      ...made.stepOps,
      ...gone.flatMap((old) => expireSteps(old, now)),
      { check: agent.key, expect: agent.version },
    ])
  }
  return shadowView(shadow, steps, agent.item)
}

const shadowView = ({ flow, agreed, wanted }: Shadow, steps: readonly FlowStep[], agent: Agent): FlowView => ({
  flow,
  steps,
  needsApproval: needsApproval(steps, agent.autoApprove),
  shadow: { agreed, wanted },
})

/**
 * A shadow that is offered becomes a flow, now that a person says so; done twice, it is there once.
 *
 * @throws Refused `not_found`, `person_only`, `flow_exists`, `card_settled` when it is offered no more
 */
export async function takeOffer(
  call: Call,
  offered: { readonly agent: string; readonly rev: string; readonly name: string },
) {
  const what = 'promote a flow'
  await retrying(async () => {
    const { world, now } = call
    const agent = await ruledAgent(call, offered.agent, what)
    const [before, found] = await Promise.all([
      readFlow(world, agent.item.id, offered.name),
      readShadows(world, agent.item.id),
    ])
    if (before?.item.rev === offered.rev) return
    const shadow = found.shadows.find(({ flow }) => flow.rev === offered.rev)
    if (shadow === undefined) throw noLongerOffered(offered.name)
    const { flow, overwrite, approve } = shadow
    if (before !== null && !overwrite)
      throw new Refused('flow_exists', `agent ${flow.agent} has a flow named "${flow.name}" by now; remove it first`)
    if (approve) assertMay(call, 'set_agent', agent.item, 'let an agent call tools unasked')
    const { steps } = await viewOf(world, agent.item, flow)
    await commit(world, [
      putFlow({ ...flow, createdAt: now }, before),
      putShadows(flow.agent, found, without(found, flow.rev)),
      ...replaced(before, now),
      ...approvedBy(agent, steps, approve).ops,
    ])
  })
}

/** A shadow is forgotten: a person said no, or removed it. @returns false when there is none */
export async function dropShadow(
  world: World,
  agent: string,
  is: (flow: Flow) => boolean,
  now: number,
): Promise<boolean> {
  return await retrying(async () => {
    const found = await readShadows(world, agent)
    const shadow = found.shadows.find(({ flow }) => is(flow))
    if (shadow === undefined) return false
    const left = without(found, shadow.flow.rev)
    await commit(world, [putShadows(agent, found, left), ...expireSteps(shadow.flow, now)])
    return true
  })
}

const without = ({ shadows }: FoundShadows, rev: string): Shadow[] => shadows.filter(({ flow }) => flow.rev !== rev)

/** The flows of an agent that are none yet. @throws Refused `not_found` */
export async function listShadows(call: Call, agentId: string): Promise<FlowView[]> {
  const { item: agent } = await agentFor(call, agentId)
  const { shadows } = await readShadows(call.world, agent.id)
  const views = await viewsOf(
    call.world,
    agent,
    shadows.map(({ flow }) => flow),
  )
  return views.map(({ steps }, i) => shadowView(shadows[i]!, steps, agent))
}
