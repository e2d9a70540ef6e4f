import type { Limits } from '../domain/budget.ts'
import { limits } from '../domain/limits.ts'
import { type Monitor, nextRunOf } from '../domain/monitor.ts'
import { onOneLine } from '../domain/names.ts'
import type { Head } from '../domain/session.ts'
import type { Instant } from '../time/index.ts'
import { type AgendaEntry, type AgendaLook, type Collected, type Hold, PurseLook } from './agenda-look.ts'
import { countersOf, limitedAgent, limitedPerson, purseOf } from './budgets.ts'
import { listMonitors } from './monitor-list.ts'
import type { MonitorView } from './monitors.ts'
import { type Agent, keys, readAll } from './store.ts'

/** Times that are waited for, and tools that are run for monitors. Documents change when they change. */
export async function monitorEntries(look: AgendaLook): Promise<Collected> {
  const { call, agents, ends } = look
  const filter = { agent: null, session: null, status: 'armed' } as const
  const { items, next } = await listMonitors(call, filter, { limit: limits.agendaMonitorsMax, before: null })
  const timed = items.filter(({ monitor, session }) => session !== null && monitor.watch.kind !== 'document')
  if (timed.length === 0) return { entries: [], more: next !== null }
  const people = [...new Set(timed.map(({ monitor }) => monitor.principal))]
  const convs = [...new Set(timed.map(({ monitor }) => monitor.conv))]
  const [own, heads] = await Promise.all([
    readAll<Limits>(call.world, people.map(keys.limits)),
    readAll<Head>(call.world, convs.map(keys.head)),
    ends.load(timed.flatMap(({ monitor }) => [monitor.owner, monitor.principal])),
  ])
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const limited = [
    ...new Set(timed.map(({ monitor }) => byId.get(monitor.agent)).filter((agent): agent is Agent => agent != null)),
  ].flatMap(limitedAgent)
  const counters = await countersOf(
    call.world,
    [...limited, ...people.flatMap((id, i) => limitedPerson(id, own[i]?.item ?? null))],
    call.now,
  )
  const headOf = new Map(convs.map((conv, i) => [conv, heads[i]?.item ?? null]))
  const found = timed.map((view) => {
    const { monitor } = view
    const purse = purseOf([counters.get(monitor.agent), counters.get(monitor.principal)])
    return entriesOf(look, view, {
      left: headOf.get(monitor.conv)?.left ?? false,
      purse: new PurseLook(purse, monitor.owner, ends),
    })
  })
  return { entries: found.flatMap(({ entries }) => entries), more: next !== null || found.some(({ more }) => more) }
}

function entriesOf(
  look: AgendaLook,
  { monitor, session }: MonitorView,
  o: { readonly left: boolean; readonly purse: PurseLook },
): Collected {
  const { watch } = monitor
  const at = (time: Instant): Omit<AgendaEntry, 'kind' | 'name'> => ({
    at: time,
    adjusted: null,
    id: monitor.id,
    session,
    agent: monitor.agent,
    who: { person: monitor.principal, agent: monitor.makerAgent },
    checked: watch.kind === 'tool',
    budget: o.purse.leftAt(time),
    hold: holdOf(o.left, o.purse.shortAt(time)),
    text: monitor.note,
  })
  if (watch.kind === 'time')
    return {
      entries: watch.at < look.to ? [{ ...at(watch.at), kind: 'monitor', name: titleOf(monitor) }] : [],
      more: false,
    }
  if (watch.kind === 'document') return { entries: [], more: false }
  const times = looksOf(monitor, watch.everyMs, look)
  const name = `${watch.name}: ${titleOf(monitor)}`
  return { entries: times.shown.map((time) => ({ ...at(time), kind: 'look', name })), more: times.more }
}

/** The last place on the grid is the expiry, which looks at nothing. */
function looksOf(monitor: Monitor, everyMs: number, { to, each }: AgendaLook) {
  const shown: Instant[] = []
  for (let time = monitor.nextLookAt; time !== null && time < Math.min(to, monitor.expiresAt); ) {
    if (shown.length >= each) return { shown, more: true }
    shown.push(time)
    time = nextRunOf(monitor, everyMs, time)
  }
  return { shown, more: false }
}

const titleCharsMax = 80

/** The first words of its note. */
function titleOf({ note }: Monitor): string {
  const line = onOneLine(note)
  const chars = [...line]
  return chars.length <= titleCharsMax ? line : `${chars.slice(0, titleCharsMax).join('').trimEnd()}…`
}

function holdOf(left: boolean, short: string | null): Hold | null {
  if (left) return { code: 'agent_left', detail: 'it would end without a word: the agent has left the conversation' }
  if (short === null) return null
  return {
    code: short,
    detail: `it would end without a word: ${short.replaceAll('_', ' ')} is used up until the day ends`,
  }
}
