import { canUseSchedule, principalOf } from '../domain/access.ts'
import { admit } from '../domain/admit.ts'
import { overlapOf } from '../domain/due.ts'
import { timeOf } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { isChecking } from '../domain/schedule.ts'
import { dayOf, type Instant } from '../time/index.ts'
import { type AgendaEntry, type AgendaLook, type Collected, type Hold, PurseLook } from './agenda-look.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { pageById } from './pages.ts'
import { nameOfMaker } from './prompts.ts'

/** Times of schedules, runs that are held, triggers that settle. */
export async function scheduleEntries(look: AgendaLook): Promise<Collected> {
  const { call, agents } = look
  const { items, next } = await pageById(call.world, {
    sources: [
      ...agents.map(({ id }) => ({ index: 'schedulesByAgent', pk: id }) as const),
      { index: 'schedulesByMaker', pk: principalOf(call.caller) } as const,
    ],
    page: { limit: limits.agendaSchedulesMax, before: null },
    load: async (ids) =>
      (await loadSchedules(call.world, ids)).map((loaded) => (isShown(look, loaded) ? loaded : null)),
    idOf: (loaded: Loaded) => loaded.cursor.item.id,
  })
  await look.ends.load(items.flatMap(({ agent, definition }) => [agent!.owner, definition.createdBy]))
  const found = items.map((loaded) => entriesOf(look, loaded))
  return { entries: found.flatMap(({ entries }) => entries), more: next !== null || found.some(({ more }) => more) }
}

function isShown({ call }: AgendaLook, loaded: Loaded | null): boolean {
  if (loaded === null || loaded.agent === null || loaded.cursor.item.deleted) return false
  const { item } = loaded.cursor
  return (item.status === 'active' || item.held !== null) && canUseSchedule(call.caller, loaded.agent, item)
}

function entriesOf(look: AgendaLook, loaded: Loaded): Collected {
  const { item } = loaded.cursor
  const held = item.held === null ? [] : [heldEntry(look, loaded, item.held)]
  if (item.status !== 'active') return { entries: held, more: false }
  const event = item.event ?? null
  if (event !== null && event.lookAt < look.to)
    return { entries: [...held, { ...base(look, loaded, event.lookAt), kind: 'trigger' }], more: false }
  const { times, more } = timesOf(look, loaded)
  return {
    entries: [
      ...held,
      ...times.map((time, i) => ({ ...base(look, loaded, time.at, i === 0), ...time, kind: loaded.definition.kind })),
    ],
    more,
  }
}

/** The next times before the end of the agenda, no more than `maxRuns` leaves. */
function timesOf({ to, each }: AgendaLook, { cursor, definition, recurrence }: Loaded) {
  const { nextAt, fires } = cursor.item
  const times: { at: Instant; adjusted: 'gap' | 'fold' | null }[] = []
  if (nextAt === null) return { times, more: false }
  const left = definition.maxRuns === null ? Number.POSITIVE_INFINITY : definition.maxRuns - fires
  for (let from = nextAt - 1; ; ) {
    const next = recurrence.next(from)
    if (next === null || next.at >= to || times.length >= left) return { times, more: false }
    if (definition.until !== null && next.at > definition.until) return { times, more: false }
    if (times.length >= each) return { times, more: true }
    times.push({ at: next.at, adjusted: next.adjusted })
    from = next.at
  }
}

function base(look: AgendaLook, loaded: Loaded, at: Instant, isNext = true): Omit<AgendaEntry, 'kind'> {
  const { definition, agent, head, purse } = loaded
  const spent = new PurseLook(purse, agent!.owner, look.ends)
  return {
    at,
    adjusted: null,
    id: definition.id,
    name: onOneLine(definition.name),
    session: head?.item.session ?? null,
    agent: definition.agent,
    who: { person: definition.createdBy, agent: definition.makerAgent },
    checked: definition.check != null,
    budget: spent.leftAt(at),
    hold: holdOf(look, loaded, { at, isNext, short: spent.shortAt(at) }),
    text: definition.prompt,
  }
}

function heldEntry(look: AgendaLook, loaded: Loaded, held: NonNullable<Loaded['cursor']['item']['held']>): AgendaEntry {
  const hold: Hold = isChecking(held)
    ? { code: 'checking', detail: 'its check is under way: it wakes only if that finds something' }
    : { code: 'held', detail: `waiting until you write in ${nameOfMaker(loaded)}` }
  return { ...base(look, loaded, timeOf(held.row.slice(2, 12))), kind: 'held', hold }
}

function holdOf(
  { call }: AgendaLook,
  loaded: Loaded,
  o: { readonly at: Instant; readonly isNext: boolean; readonly short: string | null },
): Hold | null {
  const { cursor, definition, seat } = loaded
  const closed = admit({ ...seat, short: o.short }, { makerAgent: definition.makerAgent })
  if (closed?.outcome === 'held')
    return { code: closed.reason, detail: `it would be held, waiting until you write in ${nameOfMaker(loaded)}` }
  if (closed !== null)
    return { code: closed.reason, detail: `it would be ${closed.outcome}: ${closed.reason.replaceAll('_', ' ')}` }
  const { on } = definition
  const { today } = cursor.item
  if (on?.maxPerDay != null && today != null && today.fired >= on.maxPerDay) {
    const day = dayOf(call.now, definition.spec.tz)
    if (today.day === day.day && o.at < day.to)
      return { code: 'daily_limit', detail: `it would be blocked: ${on.maxPerDay} a day have fired` }
  }
  const { skip } = overlapOf(cursor.item, definition, on == null ? 'slot' : 'event')
  // What waits for a word may wait for all of them; what waits or runs now will have gone by the second.
  if (skip !== null && (o.isNext || skip === 'previous_held'))
    return {
      code: skip,
      detail: `it would be ${on == null ? 'skipped' : 'put together with it'}: ${skip.replaceAll('_', ' ')}`,
    }
  return null
}
