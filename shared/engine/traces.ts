import { createHash } from 'node:crypto'
import { canUseSessions } from '../domain/access.ts'
import { bodyFault } from '../domain/define.ts'
import { derivedUlid, isId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { notFound } from '../domain/refused.ts'
import type { Result } from '../domain/schedule.ts'
import type { ToolCall, Trace } from '../domain/trace.ts'
import { allAgents } from './agents.ts'
import { type Call, retrying } from './call.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { actingIn, agentFor, sessionFor } from './reach.ts'
import { type Agent, commit, keys, read, readAll } from './store.ts'
import { callsOf, inProject, isOver, traceKey, traceOps } from './trace-write.ts'

export interface TraceView {
  readonly trace: Trace
  readonly calls: readonly ToolCall[]
}

/** One trace with its calls. @throws Refused `not_found` */
export async function getTrace(call: Call, id: string): Promise<TraceView> {
  const [view] = await tracesFor(call, [id])
  if (view == null) throw notFound('trace', id)
  return view
}

/** Those of these traces that the caller may see, in order; null for every other: gone, of a deleted agent, of somebody else's, none. */
export async function tracesFor(call: Call, ids: readonly string[]): Promise<(TraceView | null)[]> {
  const { world } = call
  const named = [...new Set(ids)].filter((id) => isId('trc', id))
  const heads = await readAll<Trace>(world, named.map(traceKey))
  const agents = [...new Set(heads.flatMap((head) => (head === null ? [] : [head.item.agent])))]
  const usable = new Set(
    (await readAll<Agent>(world, agents.map(keys.agent))).flatMap((agent) =>
      agent !== null && agent.item.deletedAt === null && canUseSessions(call.caller, agent.item) ? [agent.item.id] : [],
    ),
  )
  const seen = heads.flatMap((head) =>
    head !== null && !isOver(head.item, call.now) && usable.has(head.item.agent) ? [head.item] : [],
  )
  const calls = await callsOf(world, seen)
  const views = new Map(seen.flatMap((trace, i) => (calls[i] == null ? [] : [[trace.id, { trace, calls: calls[i] }]])))
  return ids.map((id) => views.get(id) ?? null)
}

export interface TraceFilter {
  readonly agent: string | null
  readonly project: string | null
  readonly session: string | null
  readonly outcome: Result | null
}

/**
 * Traces of the agents that the caller can talk to, newest first. A page ends early where its calls would be more than
 * `limits.callsShownBytesMax`.
 *
 * @throws Refused `not_found` for an agent or a session that is named and may not be seen
 */
export async function listTraces(call: Call, filter: TraceFilter, page: PageAsked): Promise<ById<TraceView>> {
  const { agent, project, session, outcome } = filter
  const ofSession = session === null ? null : (await sessionFor(call, session)).agent.id
  const named = agent === null ? ofSession : (await agentFor(call, agent)).item.id
  const agents = named === null ? (await allAgents(call)).map(({ id }) => id) : [named]
  const found = await pageById<Trace>(call.world, {
    sources: agents.map((id) =>
      project === null
        ? ({ index: 'tracesByAgent', pk: id } as const)
        : ({ index: 'tracesByProject', pk: inProject(id, project) } as const),
    ),
    page,
    load: async (ids) =>
      (await readAll<Trace>(call.world, ids.map(traceKey))).map((head) =>
        head === null ||
        isOver(head.item, call.now) ||
        (session !== null && head.item.session !== session) ||
        (outcome !== null && head.item.outcome !== outcome)
          ? null
          : head.item,
      ),
    idOf: (trace) => trace.id,
  })
  const shown = asManyAsFit(found.items)
  const calls = await callsOf(call.world, shown)
  return {
    items: shown.flatMap((trace, i) => (calls[i] == null ? [] : [{ trace, calls: calls[i] }])),
    next: shown.length < found.items.length ? shown.at(-1)!.id : found.next,
  }
}

/** The first ones whose calls can be shown together; one at least. */
export function asManyAsFit<T extends { readonly bytes: number }>(all: readonly T[]): readonly T[] {
  let bytes = 0
  const end = all.findIndex((one, i) => {
    bytes += one.bytes
    return i > 0 && bytes > limits.callsShownBytesMax
  })
  return end < 0 ? all : all.slice(0, end)
}

export interface ImportInput {
  readonly agent: string
  readonly session: string | null
  readonly project: string | null
  readonly outcome: Result
  readonly tokens: number | null
  readonly usd: number | null
  readonly startedAt: number | null
  /** Epoch ms; null: now. */
  readonly at: number | null
  /** What names it where it comes from: with the same one it comes in once, as long as it is kept. */
  readonly ref: string | null
  readonly calls: readonly ToolCall[]
}

/**
 * Takes in what an agent did elsewhere.
 *
 * @returns `isNew`: false when a trace of this `ref` is there already; it is answered as it stands
 * @throws Refused `not_found`, `body_invalid`
 */
export async function importTrace(call: Call, input: ImportInput): Promise<TraceView & { readonly isNew: boolean }> {
  const { world, now } = call
  const { item: agent } = await agentFor(call, input.agent)
  await actingIn(call)
  const session = input.session === null ? null : await sessionFor(call, input.session)
  if (session !== null && session.agent.id !== agent.id)
    throw bodyFault('session', `is of agent ${session.agent.id}; expected one of ${agent.id}, or none`)
  if (input.at !== null && input.at > now + aheadMsMax)
    throw bodyFault('at', 'lies in the future; expected when the work ended')
  const id = input.ref === null ? call.newId('trc') : idOf(agent.id, input.ref, input.at)
  return await retrying(async () => {
    const before = await read<Trace>(world, traceKey(id))
    if (before !== null && !isOver(before.item, now)) {
      const [calls] = await callsOf(world, [before.item])
      return { trace: before.item, calls: calls ?? [], isNew: call.repeatable && input.ref === null }
    }
    const { trace, calls, ops } = await traceOps(
      world,
      {
        id,
        agent: agent.id,
        session: session?.row.item.id ?? null,
        project: input.project ?? (session === null ? agent.project : session.head.item.project),
        source: 'import',
        turn: null,
        origin: null,
        outcome: input.outcome,
        tokens: input.tokens,
        usd: input.usd,
        startedAt: input.startedAt,
        at: input.at ?? now,
        storedAt: now,
      },
      input.calls,
      [],
      before?.version ?? 'absent',
    )
    await commit(world, ops)
    return { trace, calls, isNew: true }
  })
}

/** Clocks differ; more than a day is a mistake. */
const aheadMsMax = 86_400_000

/** Without a time it sorts behind all that have one. Hashed, so that nobody can aim at another's id: `derivedUlid` is not one-way. */
const idOf = (agent: string, ref: string, at: number | null): string =>
  `trc_${derivedUlid(at ?? 0, createHash('sha256').update(`${agent}|${ref}`).digest('hex'))}`
