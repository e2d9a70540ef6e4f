import { limits } from '../domain/limits.ts'
import { notFound } from '../domain/refused.ts'
import { type Repeated, recentOf, totalsOf } from '../domain/repeated.ts'
import type { ToolCall, Trace } from '../domain/trace.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { promotedBy } from './flow-items.ts'
import { ruledAgent } from './flow-rights.ts'
import { agentFor } from './reach.ts'
import { asItem, commit, read, readAll } from './store.ts'
import { callsOf, isOver, repeatedKey, traceKey } from './trace-write.ts'
import { asManyAsFit } from './traces.ts'

/** What an agent does again and again with a model, and could do without one. */
export interface Suggestion {
  readonly fingerprint: string
  /** How many traces did the same, of those that are kept. */
  readonly count: number
  /** What they cost together. */
  readonly tokens: number
  readonly usd: number
  /** The latest of them, the newest first: what to promote from. */
  readonly traces: readonly string[]
  readonly steps: readonly Pick<ToolCall, 'tool' | 'args'>[]
  /** When the latest one ended, epoch ms. */
  readonly lastAt: number
}

/**
 * Groups of identical clean traces that no flow stands for, those that cost the most tokens first, at most `limits.suggestionsMax`; fewer where
 * their steps would be more than `limits.callsShownBytesMax`. It reads counts that were kept as the traces came, never the traces.
 *
 * @throws Refused `not_found`
 */
export async function suggestFlows(call: Call, agentId: string): Promise<Suggestion[]> {
  const { world, now } = call
  const { item: agent } = await agentFor(call, agentId)
  const promoted = await promotedBy(world, agent.id)
  const groups: Repeated[] = []
  for await (const repeated of costliest(world, agent.id)) {
    if (repeated.declined === true || promoted.has(repeated.fingerprint) || totalsOf(repeated, now).traces < 2) continue
    if (recentOf(repeated, now).length > 0) groups.push(repeated)
    if (groups.length >= limits.suggestionsMax) break
  }
  const latest = await readAll<Trace>(
    world,
    groups.map((group) => traceKey(recentOf(group, now)[0]![0])),
  )
  const there = groups.flatMap((group, i) => {
    const trace = latest[i]?.item ?? null
    return trace === null || isOver(trace, now) ? [] : [{ group, trace, bytes: trace.bytes }]
  })
  const fit = asManyAsFit(there)
  const calls = await callsOf(
    world,
    fit.map(({ trace }) => trace),
  )
  return fit
    .flatMap(({ group, trace }, i): Suggestion[] => {
      const { traces, tokens, usd } = totalsOf(group, now)
      return calls[i] == null
        ? []
        : [
            {
              fingerprint: group.fingerprint,
              count: traces,
              tokens,
              usd,
              traces: recentOf(group, now).map(([id]) => id),
              steps: calls[i].map(({ tool, args }) => ({ tool, args })),
              lastAt: trace.at,
            },
          ]
    })
    .sort((a, b) => b.tokens - a.tokens || b.count - a.count)
}

/**
 * A person wants no flow of what a group does: it is suggested no more, however often it is done again. Declining twice does nothing.
 *
 * @throws Refused `person_only`, `not_found`
 */
export async function declineSuggestion(call: Call, agentId: string, fingerprint: string): Promise<void> {
  const { world, now } = call
  await retrying(async () => {
    const { item: agent } = await ruledAgent(call, agentId, 'decline a suggestion')
    const stored = await read<Repeated>(world, repeatedKey(agent.id, fingerprint))
    // Totals count whole days: the last trace may have gone before them.
    const last = recentOf(stored?.item ?? null, now)[0]
    if (stored === null || last === undefined || totalsOf(stored.item, now).traces < 2)
      throw notFound('suggestion', fingerprint)
    const { key, item, version } = stored
    const ttl = Math.ceil((last[1] + limits.traceMs) / 1000)
    await commit(world, [{ put: key, item: asItem({ ...item, declined: true }), expect: version, index: {}, ttl }])
  })
}

/** The index knows what they cost when they were last counted; what has gone by its retention since then shows in the item. */
async function* costliest(world: World, agent: string): AsyncGenerator<Repeated> {
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find('suggestions', agent, {
      descending: true,
      limit: limits.suggestionsMax,
      ...(after === null ? {} : { after }),
    })
    const rows = await readAll<Repeated>(
      world,
      page.items.map(({ key }) => key),
    )
    for (const row of rows) if (row !== null) yield row.item
    after = page.next
  } while (after !== null)
}
