import { rruleCharsMax } from './limits.ts'
import { quoted, SpecInvalid } from './types.ts'

/** What a rule's text says: its value, and its start and zone when a DTSTART line stands with it. */
export interface CalendarText {
  rule: string
  dtstart: string | null
  tz: string | null
}

/**
 * Reads `FREQ=…`, `RRULE:FREQ=…`, or these with a `DTSTART…` line before or after, folded lines included.
 *
 * @throws SpecInvalid  at 'rrule' for other properties, more than one rule, or no rule
 */
export function readCalendarText(text: string): CalendarText {
  if (text.length > rruleCharsMax)
    throw invalid(
      `Expected an RRULE of at most ${rruleCharsMax} characters, got ${text.length}. Write fewer values, or a larger FREQ.`,
    )
  const found: CalendarText = { rule: '', dtstart: null, tz: null }
  for (const line of text.replace(/\r?\n[ \t]/g, '').split(/\r\n|\n|\r/)) {
    const trimmed = line.trim()
    if (trimmed !== '') readLine(trimmed, found)
  }
  if (found.rule === '')
    throw invalid(`Expected an RRULE, got ${quoted(text)}. Write e.g. "FREQ=DAILY;BYHOUR=9;BYMINUTE=0".`)
  return found
}

function invalid(detail: string): SpecInvalid {
  return new SpecInvalid('rrule', detail)
}

function readLine(line: string, found: CalendarText): void {
  const name = /^[A-Za-z-]+(?=[:;])/.exec(line)?.[0].toUpperCase()
  if (name === 'DTSTART') {
    readStart(line, found)
    return
  }
  if (name === 'EXDATE' || name === 'RDATE' || name === 'EXRULE')
    throw invalid(
      `${name} is not supported. Write a rule that names the wanted dates, or a schedule of its own for extra ones.`,
    )
  if (name !== undefined && name !== 'RRULE')
    throw invalid(`${quoted(name)} has no place in a rule. Write the RRULE, with a DTSTART line at most.`)
  if (found.rule !== '') throw invalid('Expected one RRULE, got several. Make a schedule of each.')
  found.rule = name === 'RRULE' ? line.slice('RRULE:'.length) : line
}

/** DTSTART:20260101T090000, DTSTART:20260101T090000Z, DTSTART;TZID=Europe/Amsterdam:20260101T090000 */
function readStart(line: string, found: CalendarText): void {
  const [, zone, date, time, z] = startPattern.exec(line) ?? []
  if (date === undefined || time === undefined || (zone !== undefined && z !== undefined))
    throw invalid(
      `Expected a start such as "DTSTART;TZID=Europe/Amsterdam:20260101T090000", got ${quoted(line)}. Write date and time, and the zone as TZID.`,
    )
  if (found.dtstart !== null) throw invalid('DTSTART stands twice. Leave one out.')
  found.dtstart = `${date}T${time}`
  found.tz = z === undefined ? (zone ?? null) : 'UTC'
}

const startPattern = /^DTSTART(?:;VALUE=DATE-TIME)?(?:;TZID="?([^":;]+)"?)?(?:;VALUE=DATE-TIME)?:(\d{8})T(\d{6})(Z)?$/i
