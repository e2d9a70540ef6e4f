import { clock } from '../api.ts'
import { adjustedNote, ownZone, relative, shownIn } from '../times.ts'

/**
 * An instant in a zone with its offset, and how far away it is: `Mon 2 Mar 08:00 +01:00 · in 12 min`.
 *
 * @param tz  default: the zone of this browser
 */
export function When(o: {
  readonly at: string
  readonly tz?: string | null
  readonly adjusted?: 'gap' | 'fold' | null
}) {
  const tz = o.tz ?? ownZone
  const { day, time, offset } = shownIn(o.at, tz, clock.value)
  const note = adjustedNote(o.adjusted ?? null)
  return (
    <span class="when">
      <time dateTime={o.at} title={`${o.at} · ${tz}`}>
        {day} <b>{time}</b> <span class="offset">{offset}</span>
      </time>{' '}
      <span class="ago">{relative(o.at, clock.value)}</span>
      {note === '' ? null : <span class="note">{note}</span>}
    </span>
  )
}

/** Only how far away it is; the whole time is in the title. */
export function Ago(o: { readonly at: string; readonly tz?: string | null }) {
  const tz = o.tz ?? ownZone
  const { day, time, offset } = shownIn(o.at, tz, clock.value)
  return (
    <time class="ago" dateTime={o.at} title={`${day} ${time} ${offset} (${tz})`}>
      {relative(o.at, clock.value)}
    </time>
  )
}
