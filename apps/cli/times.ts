import type { Occurrence } from '../client/shapes.ts'

/**
 * The API's `2026-03-29T03:00:00+02:00[Europe/Amsterdam]` as `Sun 2026-03-29 03:00 +02:00`; seconds only where there are any.
 * What is not of that form is given back as it is.
 */
export function localTime(local: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d(?:\.\d+)?))?(Z|[+-]\d\d:\d\d)/.exec(local)
  if (parts === null) return local
  const [, day, minute, seconds = '00', offset] = parts
  const weekday = new Date(`${day}T00:00:00Z`).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' })
  const second = Number(seconds) === 0 ? '' : `:${seconds.replace(/\.0+$/, '')}`
  return `${weekday} ${day} ${minute}${second} ${offset === 'Z' ? '+00:00' : offset}`
}

/** An instant of the API (UTC) in a zone, in the same form. An unknown zone reads as UTC. */
export function timeIn(at: string, tz: string): string {
  const instant = new Date(at)
  if (Number.isNaN(instant.getTime())) return at
  const offset = offsetIn(instant, tz)
  const sign = offset.startsWith('-') ? -1 : 1
  const [hours, minutes] = offset.slice(1).split(':').map(Number) as [number, number]
  const wall = new Date(instant.getTime() + sign * (hours * 60 + minutes) * 60_000)
  return localTime(wall.toISOString().replace('Z', offset))
}

function offsetIn(instant: Date, tz: string): string {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' }).formatToParts(instant)
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
    return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? '+00:00'
  } catch {
    return '+00:00'
  }
}

/** How far away an instant is: `in 12 min`, `3 h ago`; `now` within half a minute. */
export function relative(at: string, nowMs: number): string {
  const ms = Date.parse(at) - nowMs
  if (Number.isNaN(ms)) return ''
  const span = spanOf(Math.abs(ms))
  if (span === null) return 'now'
  return ms > 0 ? `in ${span}` : `${span} ago`
}

function spanOf(ms: number): string | null {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return ms < 30_000 ? null : '1 min'
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(ms / 3_600_000)
  return hours < 48 ? `${hours} h` : `${Math.round(ms / 86_400_000)} days`
}

/** Decision 1 in a few words: why a time is not the one the rule names. */
export function adjustedNote(adjusted: Occurrence['adjusted']): string {
  switch (adjusted) {
    case 'gap':
      return 'the clock skips the named time that day; it runs right after'
    case 'fold':
      return 'the clock shows that time twice that day; it runs at the first'
    case null:
      return ''
  }
}
