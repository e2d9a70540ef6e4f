import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { faultOf } from '../ports/log.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Agenda, agendaOf } from './agenda.ts'
import { type Call, retrying } from './call.ts'
import { assertPerson } from './reach.ts'
import { asItem, commit, keys, type Person, read, readAll } from './store.ts'

/** A secret address under which one person's agenda is read, and nothing else. Its token is never stored, only its hash. */
export interface CalendarToken {
  readonly id: string
  readonly createdAt: number
  /** What the agents are told stands in its events; else only names do. */
  readonly detail: boolean
  readonly sha256: string
}

/** All calendars of one person in one item, so that their number is exact. Written when one is made or revoked. */
interface Calendars {
  readonly tokens: readonly CalendarToken[]
}

/** Found by whoever reads a calendar. Written when it is made and at most once an hour when it is read; deleted when it is revoked. */
interface CalendarRow {
  readonly id: string
  readonly person: string
  readonly detail: boolean
  readonly lastUsedAt: number | null
}

/** Beside keys, but not under the name that `callerOf` reads: a calendar's token opens nothing else. */
const tokenKey = (sha256: string): Key => [`K#${sha256}`, 'C']
const calendarsKey = (person: string): Key => [`O#${bare(person)}`, 'calendars']

export type NewCalendarSecret = () => { readonly token: string; readonly sha256: string }

/** @returns its id and its token, shown this once. @throws Refused `person_only`, `calendar_limit` */
export async function createCalendar(
  call: Call,
  input: { readonly detail: boolean },
  newSecret: NewCalendarSecret,
): Promise<{ readonly id: string; readonly token: string }> {
  const person = assertPerson(call, 'make a calendar')
  const id = call.newId('cal')
  return await retrying(async () => {
    const stored = await readCalendars(call.world, person)
    const tokens = stored?.item.tokens ?? []
    // Repeated after a crash under its Idempotency-Key: nobody has seen the token that was made then.
    const before = call.repeatable ? (tokens.find((one) => one.id === id) ?? null) : null
    if (before === null && tokens.length >= limits.calendarTokensMax)
      throw new Refused(
        'calendar_limit',
        `you have ${tokens.length} calendars, which is as many as there can be; revoke one that nothing reads any more (GET /v1/calendar-tokens says when each was read last)`,
      )
    const { token, sha256 } = newSecret()
    const made: CalendarToken = { id, createdAt: call.now, detail: input.detail, sha256 }
    const row: CalendarRow = { id, person, detail: input.detail, lastUsedAt: null }
    await commit(call.world, [
      putCalendars(person, [...tokens.filter((one) => one.id !== id), made], stored),
      { put: tokenKey(sha256), item: asItem(row), expect: 'absent' },
      ...(before === null ? [] : [{ delete: tokenKey(before.sha256), expect: 'any' } as const]),
    ])
    return { id, token }
  })
}

/** The caller's calendars, newest first, without their tokens. @throws Refused `person_only` */
export async function listCalendars(
  call: Call,
): Promise<readonly (CalendarToken & { readonly lastUsedAt: number | null })[]> {
  const tokens = (await readCalendars(call.world, assertPerson(call, 'list calendars')))?.item.tokens ?? []
  const rows = await readAll<CalendarRow>(
    call.world,
    tokens.map(({ sha256 }) => tokenKey(sha256)),
  )
  return tokens.map((token, i) => ({ ...token, lastUsedAt: rows[i]?.item.lastUsedAt ?? null })).reverse()
}

/** Its address answers 404 from then on. @throws Refused `person_only`, `not_found` */
export async function revokeCalendar(call: Call, id: string): Promise<void> {
  const person = assertPerson(call, 'revoke a calendar')
  await retrying(async () => {
    const stored = await readCalendars(call.world, person)
    const token = stored?.item.tokens.find((one) => one.id === id) ?? null
    if (stored === null || token === null) throw notFound('calendar', id)
    await commit(call.world, [
      putCalendars(
        person,
        stored.item.tokens.filter((one) => one.id !== id),
        stored,
      ),
      { delete: tokenKey(token.sha256), expect: 'any' },
    ])
  })
}

/** What a calendar shows: the same as its person's agenda, further ahead. */
export interface CalendarView {
  readonly agenda: Agenda
  readonly detail: boolean
}

/** @returns null for a token that was never made or was revoked */
export async function readCalendar(world: World, sha256: string, now: number): Promise<CalendarView | null> {
  const row = await read<CalendarRow>(world, tokenKey(sha256))
  if (row === null) return null
  const { person: id, detail } = row.item
  if ((await read<Person>(world, keys.person(id))) === null) return null
  const call: Call = {
    world,
    // Whoever holds the address sees what the person may see, and does nothing: no call is made with this.
    caller: { kind: 'person', key: row.item.id, person: id, admin: false },
    now,
    session: null,
    turn: null,
    newId: (prefix) => `${prefix}_${world.ids.ulid(now)}`,
    repeatable: false,
  }
  const asked = { ms: limits.calendarMs, tz: null, each: limits.calendarEachMax, most: limits.calendarEventsMax }
  const agenda = await agendaOf(call, asked)
  await noteUse(world, row, now)
  return { agenda, detail }
}

/** To about an hour, so that a person sees which calendars are read. The reading does not fail with it. */
async function noteUse(world: World, row: Stored<CalendarRow>, now: number): Promise<void> {
  if (now - (row.item.lastUsedAt ?? 0) < limits.keyUseMs) return
  const use: Op = {
    patch: row.key,
    set: { lastUsedAt: now },
    // One that is revoked at this moment must not come back.
    guards: [{ attr: 'id', is: 'present' }],
  }
  await commit(world, [use]).catch((error: unknown) =>
    world.log('warn', 'calendar use not noted', { calendar: row.item.id, ...faultOf(error) }),
  )
}

const readCalendars = (world: World, person: string): Promise<Stored<Calendars> | null> =>
  read<Calendars>(world, calendarsKey(person))

const putCalendars = (person: string, tokens: readonly CalendarToken[], stored: Stored<Calendars> | null): Op => ({
  put: calendarsKey(person),
  item: asItem({ tokens } satisfies Calendars),
  expect: stored?.version ?? 'absent',
})
