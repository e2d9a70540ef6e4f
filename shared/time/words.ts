import cronstrue from 'cronstrue'
import { readAt, wallText } from './clock-text.ts'
import { cronEquivalent } from './equivalent.ts'
import { everyLength } from './length-words.ts'
import { wordsMax } from './limits.ts'
import { Remembered } from './remembered.ts'
import { rruleWords } from './rrule-words.ts'
import { atOccurrence } from './simple.ts'
import type { Instant, Spec } from './types.ts'
import { zoneOf } from './zone.ts'

const remembered = new Remembered<string>(wordsMax)

/**
 * A rule in English, with its zone when that is not UTC. Kept, since cronstrue takes 0.1 ms.
 *
 * @throws SpecInvalid  for a spec that `parseSpec` did not make
 */
export function inWords(spec: Spec): string {
  if (spec.kind === 'event') return 'when it happens'
  const key = JSON.stringify(spec)
  const known = remembered.get(key)
  if (known !== undefined) return known
  const words = spec.tz === 'UTC' ? bare(spec) : `${bare(spec)} (${spec.tz})`
  remembered.set(key, words)
  return words
}

function bare(spec: Exclude<Spec, { kind: 'event' }>): string {
  switch (spec.kind) {
    case 'at':
      return `once at ${localTime(atOccurrence(spec.at, spec.tz).at, spec.tz)}`
    case 'every': {
      const start =
        spec.at === null || readAt(spec.at)?.offset !== null ? localTime(spec.anchor, spec.tz) : clock(spec.at)
      return `every ${everyLength(spec.everyMs)} from ${start}`
    }
    case 'cron':
      return cronInWords(spec.cron)
    case 'rrule': {
      const cron = cronEquivalent(spec)
      return cron === null ? rruleWords(spec) : cronInWords(cron)
    }
    default: {
      const never: never = spec
      return never
    }
  }
}

function cronInWords(cron: string): string {
  return cronstrue.toString(cron, { use24HourTimeFormat: true, dayOfWeekStartIndexZero: true })
}

function localTime(at: Instant, tz: string): string {
  return clock(wallText(zoneOf(tz).wallAt(at)))
}

function clock(wall: string): string {
  return wall.replace('T', ' ')
}
