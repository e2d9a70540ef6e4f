import { clock } from '../api.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { words } from '../parts/words.tsx'
import type { Occurrence, Run, Why } from '../shapes.ts'
import { relative, shownIn } from '../times.ts'

/** The last ten slots and the next three, from left to right as time goes. */
export function Slots(o: { readonly of: Why; readonly tz: string }) {
  const { last, next } = o.of
  if (last.length === 0 && next.length === 0) return null
  return (
    <ol class="slots" aria-label={`The last ${last.length} slots and the next ${next.length}, in ${o.tz}`}>
      {last.toReversed().map((run) => (
        <Past key={run.id} of={run} tz={o.tz} />
      ))}
      {next.map((time) => (
        <Coming key={time.at} of={time} tz={o.tz} />
      ))}
    </ol>
  )
}

/** Each tone has a picture of its own: colour alone says nothing. */
const looks: Readonly<Record<string, readonly [tone: string, icon: IconName]>> = {
  ok: ['good', 'check'],
  nothing_to_do: ['good', 'check'],
  fired: ['accent', 'run'],
  nothing: ['plain', 'minus'],
  coalesced: ['plain', 'minus'],
  skipped: ['plain', 'minus'],
  held: ['wait', 'pause'],
  missed: ['wait', 'minus'],
}

function Past(o: { readonly of: Run; readonly tz: string }) {
  const { outcome, result, reason, nominalAt } = o.of
  const [tone, icon] = looks[result ?? outcome] ?? ['bad', 'close']
  const said = [words(result ?? outcome), ...(reason === null ? [] : [words(reason)])].join(', ')
  return (
    <li class={tone} title={said}>
      <span class="mark-of">
        <Icon name={icon} />
      </span>
      <Time at={nominalAt} tz={o.tz} />
      <span class="hidden">{said}</span>
    </li>
  )
}

function Coming(o: { readonly of: Occurrence; readonly tz: string }) {
  const away = relative(o.of.at, clock.value)
  return (
    <li class="coming" title={away}>
      <span class="mark-of" />
      <Time at={o.of.at} tz={o.tz} />
      <span class="hidden">{away}</span>
    </li>
  )
}

function Time(o: { readonly at: string; readonly tz: string }) {
  const { day, time } = shownIn(o.at, o.tz, clock.value)
  return (
    <time dateTime={o.at}>
      <span>{day.slice(4)}</span> <b>{time}</b>
    </time>
  )
}
