import { canUseSchedule, principalOf } from '../domain/access.ts'
import type { ScheduleStatus } from '../domain/schedule.ts'
import { type Links, noLinks } from '../domain/session.ts'
import { allAgents } from './agents.ts'
import type { Call } from './call.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { agentFor, sessionFor } from './reach.ts'
import { keys, read } from './store.ts'

export interface ScheduleFilter {
  readonly agent: string | null
  readonly session: string | null
  readonly createdIn: string | null
  readonly status: ScheduleStatus | null
  /** Those that follow what happens; else those that name times. */
  readonly triggers?: boolean
}

/** Schedules the caller may see, newest first. By session they are exact; by agent or person they come from an index that may lag. */
export async function listSchedules(call: Call, filter: ScheduleFilter, page: PageAsked): Promise<ById<Loaded>> {
  const { world, caller } = call
  const keep = (loaded: Loaded | null): Loaded | null => {
    if (loaded === null || loaded.agent === null || loaded.cursor.item.deleted) return null
    if (!canUseSchedule(caller, loaded.agent, loaded.cursor.item)) return null
    if ((loaded.definition.on != null) !== (filter.triggers === true)) return null
    if (filter.status !== null && loaded.cursor.item.status !== filter.status) return null
    if (filter.agent !== null && loaded.definition.agent !== filter.agent) return null
    return loaded
  }
  const load = async (ids: readonly string[]): Promise<(Loaded | null)[]> => (await loadSchedules(world, ids)).map(keep)
  const idOf = (loaded: Loaded): string => loaded.cursor.item.id

  if (filter.session !== null || filter.createdIn !== null) {
    const { conv } = (await sessionFor(call, filter.session ?? filter.createdIn!)).head.item
    const other =
      filter.session !== null && filter.createdIn !== null
        ? (await sessionFor(call, filter.createdIn)).head.item.conv
        : conv
    const ids = filter.session !== null ? await firesIn(call, conv) : await madeIn(call, conv)
    const all = (await load(ids)).filter(
      (loaded): loaded is Loaded =>
        loaded !== null &&
        (filter.session === null || loaded.definition.conv === conv) &&
        (filter.createdIn === null || loaded.definition.makerConv === other),
    )
    const sorted = all
      .sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1))
      .filter((l) => page.before === null || idOf(l) < page.before)
    const items = sorted.slice(0, page.limit)
    return { items, next: sorted.length > page.limit ? idOf(items.at(-1)!) : null }
  }
  if (filter.agent !== null) {
    await agentFor(call, filter.agent)
    return await pageById(world, { sources: [{ index: 'schedulesByAgent', pk: filter.agent }], page, load, idOf })
  }
  const agents = await allAgents(call)
  // What an agent made for others counts as its owner's: of those it sees its own.
  const maker = { index: 'schedulesByMaker', pk: principalOf(caller) } as const
  const sources = [...agents.map((agent) => ({ index: 'schedulesByAgent', pk: agent.id }) as const), maker]
  return await pageById(world, { sources, page, load, idOf })
}

/** A conversation's own list leaves finished ones out when it is full; the agent's index has them all. */
async function firesIn(call: Call, conv: string): Promise<string[]> {
  const links = (await read<Links>(call.world, keys.links(conv)))?.item ?? noLinks
  const head = await read<{ agent: string }>(call.world, keys.head(conv))
  const indexed = head === null ? [] : await indexedOf(call, head.item.agent)
  return [...new Set([...links.fires, ...indexed])]
}

async function madeIn(call: Call, conv: string): Promise<string[]> {
  const links = (await read<Links>(call.world, keys.links(conv)))?.item ?? noLinks
  return [...new Set([...links.made, ...(await firesIn(call, conv))])]
}

/** Enough for a page of finished ones; an agent with more of them is listed by agent. */
async function indexedOf(call: Call, agent: string): Promise<string[]> {
  const page = await call.world.table.find('schedulesByAgent', agent, { descending: true, limit: 500 })
  return page.items.map((found) => `sch_${found.key[0].slice(2)}`)
}
