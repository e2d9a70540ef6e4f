import ical, { ICalCalendarMethod, ICalEventClass, ICalEventTransparency } from 'ical-generator'
import { timePart } from '../domain/ids.ts'
import type { AgendaEntry } from '../engine/agenda-look.ts'
import type { CalendarView } from '../engine/calendar.ts'

/** Where a wake has no length, programs draw nothing, or all day. */
const eventMs = 15 * 60_000
/** How often a program is asked to come again, as far as it listens. */
const refreshSeconds = 3600
const textCharsMax = 4_000

/**
 * An agenda as RFC 5545 has it. Times are in UTC, which every program shows in its own zone and needs no VTIMEZONE for; ids follow from what
 * wakes and when, so that a program that reads again finds the same events.
 */
export function calendarText({ agenda, detail }: CalendarView, now: number): string {
  const calendar = ical({
    name: 'Rouse',
    prodId: { company: 'Rouse', product: 'Agenda', language: 'EN' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: refreshSeconds,
    events: agenda.entries
      // A look wakes nobody unless it finds something: hundreds of them would hide what does.
      .filter(({ kind }) => kind !== 'look')
      .map((entry) => ({
        id: `${entry.id}-${timePart(entry.at)}@rouse`,
        stamp: new Date(now),
        start: new Date(entry.at),
        end: new Date(entry.at + eventMs),
        summary: summaryOf(entry, detail),
        description: descriptionOf(entry, { agent: agenda.agents.get(entry.agent) ?? null, detail }),
        // Agents work while people do: nobody is busy then.
        transparency: ICalEventTransparency.TRANSPARENT,
        class: ICalEventClass.PRIVATE,
      })),
  })
  return `${calendar.toString()}\r\n`
}

/** Of a monitor only that it is one: its name is the beginning of its note. */
function summaryOf({ kind, name, hold }: AgendaEntry, detail: boolean): string {
  const called = kind === 'monitor' && !detail ? 'Reminder' : name
  return hold === null ? called : `${called} (${kind === 'held' ? 'held' : 'on hold'})`
}

function descriptionOf(
  { id, hold, text }: AgendaEntry,
  o: { readonly agent: string | null; readonly detail: boolean },
): string {
  const lines = [o.agent === null ? id : `Wakes ${o.agent} (${id})`]
  if (hold !== null && o.detail) lines.push(hold.detail)
  if (text !== null && o.detail) lines.push('', [...text].slice(0, textCharsMax).join(''))
  return lines.join('\n')
}
