import { dayMs } from './calendar.ts'
import { dateText, offsetText, readAt, wallText } from './clock-text.ts'
import { compile } from './compile.ts'
import { lengthInWords } from './length-words.ts'
import type { Instant, Occurrence, Spec, WallMs } from './types.ts'
import { WallRecurrence } from './wall-recurrence.ts'
import { type Zone, zoneOf } from './zone.ts'

/**
 * What a person should know of a rule's clock changes: which of the times shown do not exist and when they run instead,
 * which come twice, and where the rule pauses because a repeated hour runs once (decision 1).
 *
 * @param from         exclusive: what the preview was asked from; pauses are sought for a year from it
 * @param occurrences  the ones shown, in order
 * @returns            sentences in the order of the changes; none for a zone without any
 * @throws SpecInvalid  for a spec that `parseSpec` did not make
 */
export function notesFor(spec: Spec, from: Instant, occurrences: Occurrence[]): string[] {
  const zone = zoneOf(spec.tz)
  const until = Math.max(from + 366 * dayMs, occurrences.at(-1)?.at ?? from)
  // Beyond, a yearly rule of a hundred times would tell of every change of a century.
  const end = Math.min(until, from + 110 * 366 * dayMs)
  const shown = new Set(occurrences.map((o) => o.at))
  const notes: string[] = []
  for (const change of changes(zone, from, end)) {
    const named = namedIn(spec, change)
    if (named.length === 0) continue
    const note = change.isGap
      ? gapNote(zone, change, { named, shown })
      : foldNote({ spec, zone, change, named, shown, from })
    if (note !== null) notes.push(note)
  }
  return notes
}

/** A change of offset: the wall times in [low, high) are left out, or come twice. */
interface Change {
  at: Instant
  isGap: boolean
  low: WallMs
  high: WallMs
  before: number
  offset: number
}

function* changes(zone: Zone, from: Instant, to: Instant): Generator<Change> {
  // One that has just begun to repeat an hour lies before `from`.
  for (const { at, before, offset } of zone.transitions(from - dayMs, to)) {
    const isGap = offset > before
    const [low, high] = isGap ? [at + before, at + offset] : [at + offset, at + before]
    yield { at, isGap, low, high, before, offset }
  }
}

/** The first wall times of a change that the rule names: enough to tell one, two, and many. */
function namedIn(spec: Spec, change: Change): WallMs[] {
  if (spec.kind === 'at' || spec.kind === 'every') {
    const read = spec.at === null ? null : readAt(spec.at)
    return read !== null && read.offset === null && read.wall >= change.low && read.wall < change.high
      ? [read.wall]
      : []
  }
  const recurrence = compile(spec)
  return recurrence instanceof WallRecurrence ? recurrence.named(change.low, change.high, 3) : []
}

function gapNote(zone: Zone, change: Change, o: { named: WallMs[]; shown: Set<Instant> }): string | null {
  if (!o.shown.has(change.at)) return null
  const isOne = o.named.length === 1
  const what = `${subject(o.named, change)} ${isOne ? 'does' : 'do'} not exist in ${zone.name}`
  const runs = isOne ? 'it runs' : 'they run once,'
  return `${what}, where the clock goes forward from ${limits(change)}: ${runs} at ${clock(change.high)} (${offsetText(change.offset)}).`
}

function foldNote(o: {
  spec: Spec
  zone: Zone
  change: Change
  named: WallMs[]
  shown: Set<Instant>
  from: Instant
}): string | null {
  const { zone, change, named } = o
  const pause = pauseNote(o.spec, zone, { change, from: o.from })
  if (pause !== null) return pause
  if (!named.some((wall) => o.shown.has(wall - change.before))) return null
  const what = `${subject(named, change)} ${named.length === 1 ? 'comes' : 'come'} twice in ${zone.name}`
  const runs = named.length === 1 ? 'it runs once, at the first' : 'each runs once, at its first'
  return `${what}, where the clock goes back from ${limits(change)}: ${runs} (${offsetText(change.before)}).`
}

/** Where a rule runs at least as often as the clock goes back, it stands still for that long more. */
function pauseNote(spec: Spec, zone: Zone, o: { change: Change; from: Instant }): string | null {
  const { change, from } = o
  if (spec.kind === 'at' || spec.kind === 'every') return null
  const recurrence = compile(spec)
  const last = recurrence.last(change.at - dayMs, change.at - 1)
  const next = recurrence.next(change.at - 1)
  if (last === null || next === null || next.at <= from) return null
  const shift = change.high - change.low
  const usual = next.at - last.at - shift
  if (usual > shift || next.at < change.at + shift) return null
  const at = (o: Occurrence) => `${clock(zone.wallAt(o.at))} (${offsetText(zone.offsetAt(o.at))})`
  return `On ${dateText(Math.floor(change.low / dayMs))} the clock goes back from ${limits(change)} in ${zone.name}, and what repeats runs once: the rule pauses from ${at(last)} to ${at(next)}, ${lengthInWords(next.at - last.at)}. Use "every" for elapsed time.`
}

/** '02:30 on 2026-03-29', '02:00 and 02:30 on …', 'The times from 02:00 to 03:00 on …'. */
function subject(named: WallMs[], change: Change): string {
  const day = `on ${dateText(Math.floor(named[0]! / dayMs))}`
  if (named.length === 1) return `${clock(named[0]!)} ${day}`
  if (change.high - change.low >= dayMs) return `The times ${day}`
  if (named.length === 2) return `${clock(named[0]!)} and ${clock(named[1]!)} ${day}`
  return `The times from ${clock(named[0]!)} to ${clock(change.high)} ${day}`
}

/** 'from' and 'to' in the direction in which the clock goes, with their dates where it skips a whole day (Apia, 2011). */
function limits(change: Change): string {
  const [from, to] = change.isGap ? [change.low, change.high] : [change.high, change.low]
  const say = (wall: WallMs) => (change.high - change.low >= dayMs ? wallText(wall).replace('T', ' ') : clock(wall))
  return `${say(from)} to ${say(to)}`
}

function clock(wall: WallMs): string {
  return wallText(wall).slice(11)
}
