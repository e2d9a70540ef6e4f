import type { Instant } from '../time/index.ts'
import { type AgendaEntry, type AgendaLook, DayEnds } from './agenda-look.ts'
import { monitorEntries } from './agenda-monitors.ts'
import { scheduleEntries } from './agenda-schedules.ts'
import { tickEntries } from './agenda-ticks.ts'
import { allAgents } from './agents.ts'
import type { Call } from './call.ts'
import { principal } from './reach.ts'
import { keys, type Person, read } from './store.ts'

export interface Agenda {
  readonly from: Instant
  readonly to: Instant
  /** The viewer's zone. */
  readonly tz: string
  /** In the order of their times. */
  readonly entries: readonly AgendaEntry[]
  /** There is more than is shown. */
  readonly truncated: boolean
  /** Names of the agents that the caller can talk to. */
  readonly agents: ReadonlyMap<string, string>
}

export interface AgendaAsked {
  readonly ms: number
  /** Null: the person's own. */
  readonly tz: string | null
  /** Times of one schedule or monitor, and entries in all. */
  readonly each: number
  readonly most: number
}

/** Everything that the caller may see and that will wake somebody within a time, in order. Indexes may lag by moments. */
export async function agendaOf(call: Call, asked: AgendaAsked): Promise<Agenda> {
  const to = call.now + asked.ms
  const agents = await allAgents(call)
  const look: AgendaLook = { call, agents, to, each: asked.each, ends: new DayEnds(call) }
  const [schedules, monitors, ticks, person] = await Promise.all([
    scheduleEntries(look),
    monitorEntries(look),
    tickEntries(look),
    read<Person>(call.world, keys.person(principal(call))),
  ])
  const parts = [schedules, monitors, ticks]
  const all = parts.flatMap(({ entries }) => entries).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  return {
    from: call.now,
    to,
    tz: asked.tz ?? person?.item.tz ?? 'UTC',
    entries: all.slice(0, asked.most),
    truncated: all.length > asked.most || parts.some(({ more }) => more),
    agents: new Map(agents.map(({ id, name }) => [id, name])),
  }
}
