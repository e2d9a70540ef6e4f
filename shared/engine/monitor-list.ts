import { type Monitor, type MonitorStatus, statusOf } from '../domain/monitor.ts'
import { type Head, type Links, noLinks } from '../domain/session.ts'
import type { Stored } from '../ports/table.ts'
import { allAgents } from './agents.ts'
import type { Call } from './call.ts'
import { readMonitors } from './monitor-rows.ts'
import { type MonitorView, maySee } from './monitors.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { agentFor, sessionFor } from './reach.ts'
import { type Agent, keys, readAll } from './store.ts'

export interface MonitorFilter {
  readonly agent: string | null
  readonly session: string | null
  readonly status: MonitorStatus | null
}

/** Monitors the caller may see, newest first. Armed ones of a session are exact; others come from an index that may lag. */
export async function listMonitors(call: Call, filter: MonitorFilter, page: PageAsked): Promise<ById<MonitorView>> {
  const { world } = call
  const idOf = ({ monitor }: MonitorView): string => monitor.id
  const conv = filter.session === null ? null : (await sessionFor(call, filter.session)).head.item.conv
  const isAsked = (monitor: Monitor): boolean =>
    (conv === null || monitor.conv === conv) &&
    (filter.agent === null || monitor.agent === filter.agent) &&
    (filter.status === null || statusOf(monitor, call.now) === filter.status)
  const load = async (ids: readonly string[]): Promise<(MonitorView | null)[]> =>
    await viewed(
      call,
      (await readMonitors(world, ids)).map((row) => (row !== null && isAsked(row.item) ? row.item : null)),
    )
  if (conv !== null) {
    const views = (await load(await idsOf(call, conv))).filter((view) => view !== null)
    const rest = views
      .sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1))
      .filter((view) => page.before === null || idOf(view) < page.before)
    const items = rest.slice(0, page.limit)
    return { items, next: rest.length > page.limit ? idOf(items.at(-1)!) : null }
  }
  const agents = filter.agent === null ? await allAgents(call) : [(await agentFor(call, filter.agent)).item]
  const sources = agents.map(({ id }) => ({ index: 'monitorsByAgent', pk: id }) as const)
  return await pageById(world, { sources, page, load, idOf })
}

/** A conversation's own list holds what is armed; of those that are over, as many as an agent's index shows at once. */
async function idsOf(call: Call, conv: string): Promise<string[]> {
  const [links, head] = (await readAll<unknown>(call.world, [keys.links(conv), keys.head(conv)])) as [
    Stored<Links> | null,
    Stored<Head> | null,
  ]
  const indexed =
    head === null
      ? []
      : (await call.world.table.find('monitorsByAgent', head.item.agent, { descending: true, limit: 500 })).items
  return [...new Set([...((links?.item ?? noLinks).monitors ?? []), ...indexed.map(({ sk }) => String(sk))])]
}

async function viewed(call: Call, monitors: readonly (Monitor | null)[]): Promise<(MonitorView | null)[]> {
  const wanted = monitors.filter((monitor) => monitor !== null)
  const agentIds = [...new Set(wanted.map(({ agent }) => agent))]
  const convs = [...new Set(wanted.map(({ conv }) => conv))]
  const agents = new Map(
    (await readAll<Agent>(call.world, agentIds.map(keys.agent))).map((row, i) => [agentIds[i], row]),
  )
  const heads = new Map((await readAll<Head>(call.world, convs.map(keys.head))).map((row, i) => [convs[i], row]))
  return monitors.map((monitor) => {
    const agent = monitor === null ? null : agents.get(monitor.agent)
    if (monitor === null || agent == null || !maySee(call, monitor, agent.item)) return null
    return { monitor, session: heads.get(monitor.conv)?.item.session ?? null }
  })
}
