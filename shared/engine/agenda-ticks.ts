import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { type Head, isGone } from '../domain/session.ts'
import { type ClosedGate, tickGate } from '../domain/tick.ts'
import { type AgendaEntry, type AgendaLook, type Collected, PurseLook } from './agenda-look.ts'
import { type Agent, keys, readAll, type SessionRow } from './store.ts'
import { hasPlanner, lookAtTick, proactiveOf } from './ticks.ts'

/** Sessions that have planned to wake themselves. */
export async function tickEntries(look: AgendaLook): Promise<Collected> {
  const { call, agents } = look
  if (!call.world.proactive) return { entries: [], more: false }
  const able = agents.filter((agent) => proactiveOf(agent).enabled)
  const planned: { head: Head; agent: Agent }[] = []
  let more = false
  for (let from = 0; from < able.length; from += 16) {
    const found = await Promise.all(able.slice(from, from + 16).map((agent) => plannedOf(look, agent)))
    for (const one of found) {
      planned.push(...one.planned)
      more ||= one.more
    }
  }
  // Each costs a few reads: the earliest are shown.
  planned.sort((a, b) => a.head.tick!.nextAt! - b.head.tick!.nextAt!)
  const shown = planned.slice(0, limits.agendaTicksMax)
  await look.ends.load(shown.map(({ head }) => head.owner))
  const entries: (AgendaEntry | null)[] = []
  for (const { head, agent } of shown) entries.push(await entryOf(look, head, agent))
  return { entries: entries.filter((entry) => entry !== null), more: more || planned.length > shown.length }
}

async function plannedOf({ call, to }: AgendaLook, agent: Agent) {
  const { world } = call
  const page = await world.table.find('sessionsByAgent', agent.id, {
    descending: true,
    limit: limits.agendaSessionsMax,
  })
  const rows = await readAll<SessionRow>(
    world,
    page.items.map(({ key }) => key),
  )
  const convs = [...new Set(rows.flatMap((row) => (row === null ? [] : [row.item.conv])))]
  const heads = await readAll<Head>(world, convs.map(keys.head))
  const planned = heads.flatMap((row) => {
    if (row === null) return []
    const head = row.item
    const at = head.tick?.nextAt ?? null
    if (at === null || at >= to || head.turn !== null || isGone(head) || !hasPlanner(world, agent, head)) return []
    return [{ head, agent }]
  })
  return { planned, more: page.next !== null }
}

async function entryOf(look: AgendaLook, head: Head, agent: Agent): Promise<AgendaEntry | null> {
  const { call, ends } = look
  const found = await lookAtTick(call.world, head.conv, agent, call.now)
  const plan = head.tick!
  const at = plan.nextAt!
  if (found === null) return null
  const purse = new PurseLook(found.purse, agent.owner, ends)
  const { seat } = found
  // As it will be then: a new day has its own counts.
  const today = at < seat.today.to ? seat.today : { day: '', to: Number.POSITIVE_INFINITY }
  const gate = tickGate({ ...seat, now: Math.max(at, seat.now), today, short: purse.shortAt(at) }, plan)
  if (gate?.kind === 'off') return null
  return {
    at,
    adjusted: null,
    kind: 'tick',
    id: head.session,
    name: `Tick in ${onOneLine(head.title ?? head.session)}`,
    session: head.session,
    agent: head.agent,
    who: { person: head.owner, agent: head.agent },
    checked: false,
    budget: purse.leftAt(at),
    hold: gate === null ? null : { code: gate.reason, detail: wordsOf(gate) },
    text: null,
  }
}

const wordsOf = ({ kind, reason }: ClosedGate): string =>
  kind === 'parks'
    ? `it would park: ${reason.replaceAll('_', ' ')}`
    : `it would be looked at again later: ${reason.replaceAll('_', ' ')}`
