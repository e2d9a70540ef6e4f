import { Icon } from './icon.tsx'

/** `previous_waiting` → `previous waiting`: the API's words, to be read. */
export const words = (code: string): string => code.replaceAll('_', ' ')

/** What the API says begins small and stands alone here: with a capital, and a full stop. */
export const sentence = (said: string): string => {
  const text = said.charAt(0).toUpperCase() + said.slice(1)
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** A schedule's time in words, with its zone once: `At 08:00, Monday through Friday · Europe/Amsterdam`. */
export const whenWords = (o: { readonly inWords: string; readonly tz: string }): string =>
  `${o.inWords.replace(` (${o.tz})`, '')} · ${o.tz}`

const tones: Readonly<Record<string, string>> = {
  active: 'good',
  ok: 'good',
  fired: 'good',
  running: 'accent',
  armed: 'accent',
  held: 'wait',
  paused: 'wait',
  parked: 'wait',
  waiting: 'wait',
  missed: 'wait',
  blocked: 'bad',
  failed: 'bad',
  unknown: 'bad',
}

/** How many schedules a conversation has. Its clock is drawn, since not every machine has a letter for it. */
export function Scheduled(o: { readonly count: number }) {
  return (
    <>
      <Icon name="alarm" />
      <span>
        <span class="hidden">⏰ </span>
        {o.count} scheduled
      </span>
    </>
  )
}

/** A state of the API as a chip: what goes well, what waits, what went wrong; else plain. */
export function StateChip(o: { readonly state: string }) {
  return <span class={`chip ${tones[o.state] ?? ''}`}>{words(o.state)}</span>
}
