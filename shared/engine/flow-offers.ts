import { type Card, cardIdOf } from '../domain/card.ts'
import { onOneLine } from '../domain/names.ts'
import type { FlowStep } from '../domain/promote.ts'
import { compared, type Shadow, wayOff } from '../domain/shadow.ts'
import type { ToolCall, Trace } from '../domain/trace.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { expireSteps, promotedBy, readSteps } from './flow-items.ts'
import { putShadows, readShadows } from './flow-shadows.ts'
import { noticeOp } from './notices.ts'
import { type Agent, keys, putCard, read } from './store.ts'

/** The trace of a turn, with how many did the same, itself included. */
export interface Traced {
  readonly trace: Trace
  readonly calls: readonly ToolCall[]
  readonly repeats: number
}

/**
 * What a turn's trace has to say to a person, for the commit that writes it: that the agent has now done the same twice, and what shadows
 * came to. Nothing is ever promoted by itself.
 */
export async function offerOps(world: World, traced: Traced, now: number): Promise<Op[]> {
  const [suggested, shadowed] = await Promise.all([suggest(world, traced, now), shadow(world, traced, now)])
  return [...suggested, ...shadowed]
}

/** Once for each group, when it is one. */
async function suggest(world: World, { trace, calls, repeats }: Traced, now: number): Promise<Op[]> {
  if (repeats !== 2 || trace.fingerprint === null) return []
  const what = `flow|${trace.agent}|${trace.fingerprint}`
  const agent = await read<Agent>(world, keys.agent(trace.agent))
  if (agent === null || (await promotedBy(world, trace.agent)).has(trace.fingerprint)) return []
  const { owner, name } = agent.item
  if ((await read(world, keys.card(owner, cardIdOf(what)))) !== null) return []
  const tools = [...new Set(calls.map(({ tool }) => tool))].join(', ')
  const notice = {
    what,
    person: owner,
    title: `${name} did the very same twice: a flow could do it without a model`,
    body: `${counted(calls.length)} (${onOneLine(tools).slice(0, 300)}). rouse flow suggest --agent ${trace.agent} shows them, and how to promote them.`,
    reason: 'flow_suggestion',
    label: 'nudge',
    session: trace.session,
    agent: trace.agent,
  } as const
  return [await noticeOp(world, notice, now)]
}

async function shadow(world: World, { trace, calls }: Traced, now: number): Promise<Op[]> {
  const found = await readShadows(world, trace.agent)
  const cards: Op[] = []
  const gone: Op[] = []
  const left: Shadow[] = []
  for (const one of found.shadows) {
    const said = compared(one, trace, calls)
    if (said.kind !== 'differs') left.push(said.kind === 'agrees' ? said.shadow : one)
    if (said.kind === 'agrees' && said.offered) cards.push(await offerCard(world, said.shadow, now))
    if (said.kind !== 'differs') continue
    gone.push(...expireSteps(one.flow, now))
    cards.push(await differsCard(world, one, { trace, calls }, now))
  }
  return left.every((one, i) => one === found.shadows[i]) && left.length === found.shadows.length
    ? []
    : [putShadows(trace.agent, found, left), ...cards, ...gone]
}

async function differsCard(
  world: World,
  { flow, agreed, wanted }: Shadow,
  { trace, calls }: Pick<Traced, 'trace' | 'calls'>,
  now: number,
): Promise<Op> {
  const steps: FlowStep[] = []
  for (const chunk of flow.chunks.keys()) steps.push(...(await readSteps(world, flow, chunk)))
  const notice = {
    what: `shadow|${flow.rev}`,
    person: flow.by,
    title: `"${onOneLine(flow.name)}" does not become a flow`,
    body: `${agreed} of ${wanted} runs did the same, and then ${wayOff(steps, trace, calls)}.`,
    reason: 'flow_shadow_differs',
    label: 'fyi',
    session: trace.session,
    agent: flow.agent,
  } as const
  return await noticeOp(world, notice, now)
}

/** What an offer's card asks for. */
export interface OfferedFlow {
  readonly agent: string
  readonly rev: string
  readonly name: string
}

async function offerCard(world: World, { flow, wanted }: Shadow, now: number): Promise<Op> {
  const id = cardIdOf(`offer|${flow.rev}`)
  const offered: OfferedFlow = { agent: flow.agent, rev: flow.rev, name: flow.name }
  const stored = await read<Card>(world, keys.card(flow.by, id))
  const card: Card = {
    id,
    person: flow.by,
    kind: 'approval',
    title: `"${onOneLine(flow.name)}" may become a flow`,
    body: `The last ${wanted} runs that began like it did the same ${counted(flow.steps)}. Allow makes it a flow, which runs without a model; Deny forgets it.`,
    group: null,
    label: 'decide',
    loop: null,
    seen: 1,
    autoSendOn: null,
    reason: 'flow_offer',
    status: 'open',
    schedule: null,
    session: null,
    agent: flow.agent,
    run: null,
    request: { flow: offered },
    createdAt: now,
    at: now,
    settledAt: null,
  }
  return putCard(card, stored?.version ?? 'absent')
}

/** The flow that a card offers; null: it asks for something else. */
export const offeredBy = (card: Card): OfferedFlow | null =>
  card.request !== null && 'flow' in card.request ? (card.request.flow as OfferedFlow) : null

const counted = (steps: number): string => `${steps} ${steps === 1 ? 'step' : 'steps'}`
