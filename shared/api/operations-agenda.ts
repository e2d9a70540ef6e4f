import * as z from 'zod'
import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import { type Agenda, agendaOf } from '../engine/agenda.ts'
import type { AgendaEntry } from '../engine/agenda-look.ts'
import { createCalendar, listCalendars, revokeCalendar } from '../engine/calendar.ts'
import { formatInstant, isZone, shown, zoneName } from '../time/index.ts'
import { newCalendarSecret } from './calendar.ts'
import { created, noContent, ok, operation } from './operation.ts'

const tag = 'Agenda'

const calendar = z.strictObject({
  detail: z
    .boolean()
    .optional()
    .meta({ description: 'what the agents are told stands in the events too; default: names only' }),
})

export const agendaOperations = [
  operation({
    name: 'getAgenda',
    method: 'get',
    path: '/v1/agenda',
    summary: 'Everything that the caller may see and that will wake somebody within so many hours, in order',
    tag,
    query: z.strictObject({
      hours: z.coerce.number().int().min(1).max(limits.agendaHoursMax).default(24),
      tz: z.string().min(1).max(64).optional().meta({ description: "IANA zone of `local`; default: the person's own" }),
    }),
    run: async (call, { query }) => {
      const { tz, hours } = query
      if (tz !== undefined && !isZone(tz)) {
        const message = `expected an IANA zone such as Europe/Amsterdam, got "${tz.slice(0, 64)}"`
        throw new Refused('query_invalid', `tz: ${message}`, [{ path: 'tz', message }])
      }
      const asked = { ms: hours * 3_600_000, each: limits.agendaEachMax, most: limits.agendaEntriesMax }
      return ok(agenda(await agendaOf(call, { ...asked, tz: tz === undefined ? null : zoneName(tz) })))
    },
  }),
  operation({
    name: 'createCalendarToken',
    method: 'post',
    path: '/v1/calendar-tokens',
    summary: 'Make a secret address under which calendar programs read the agenda; shown once',
    tag,
    body: calendar,
    bodyOptional: true,
    statuses: [201],
    creates: true,
    secret: true,
    run: async (call, { body, origin }) => {
      const detail = body.detail ?? false
      const { id, token } = await createCalendar(call, { detail }, () => newCalendarSecret(call.world.ids))
      return created({ id, url: `${origin}/v1/calendar.ics?token=${token}`, detail })
    },
  }),
  operation({
    name: 'listCalendarTokens',
    method: 'get',
    path: '/v1/calendar-tokens',
    summary: "List the person's calendars, newest first; never their addresses",
    tag,
    run: async (call) =>
      ok({
        data: (await listCalendars(call)).map(({ id, createdAt, detail, lastUsedAt }) => ({
          id,
          detail,
          createdAt: formatInstant(createdAt),
          lastUsedAt: lastUsedAt === null ? null : formatInstant(lastUsedAt),
        })),
        nextCursor: null,
      }),
  }),
  operation({
    name: 'revokeCalendarToken',
    method: 'delete',
    path: '/v1/calendar-tokens/{id}',
    summary: 'Revoke a calendar; its address answers 404 from then on',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await revokeCalendar(call, params.id!)
      return noContent
    },
  }),
]

const agenda = (found: Agenda) => ({
  from: formatInstant(found.from),
  to: formatInstant(found.to),
  tz: found.tz,
  data: found.entries.map((one) => entry(one, found.tz)),
  truncated: found.truncated,
})

const entry = ({ at, adjusted, text: _, ...rest }: AgendaEntry, tz: string) => ({
  ...shown({ at, adjusted }, tz),
  ...rest,
})
