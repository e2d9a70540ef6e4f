import { shownIn } from '../times.ts'
import type { Entry } from './agenda-shapes.ts'

/** What is drawn at one place of a lane. `more`: so many stand there that only their number is drawn. */
export interface Mark {
  readonly x: number
  /** 0 on the line, higher ones above it. */
  readonly level: number
  readonly entry: Entry
  readonly more: number
}

export interface Lane {
  /** Null: those that have no lane of their own. */
  readonly agent: string | null
  readonly marks: readonly Mark[]
}

const lanesMax = 8
const levelsMax = 3
/** Closer than this, marks would cover each other. */
const apartPx = 11

/** One lane for each agent, in the order in which they wake first; the last one is of all others, where there are many. */
export function lanesOf(entries: readonly Entry[], x: (at: string) => number): readonly Lane[] {
  const agents = [...new Set(entries.map(({ agent }) => agent))]
  const own = agents.length > lanesMax ? agents.slice(0, lanesMax - 1) : agents
  const lanes: Lane[] = own.map((agent) => ({
    agent,
    marks: marksOf(
      entries.filter((one) => one.agent === agent),
      x,
    ),
  }))
  const others = entries.filter(({ agent }) => !own.includes(agent))
  return others.length === 0 ? lanes : [...lanes, { agent: null, marks: marksOf(others, x) }]
}

function marksOf(entries: readonly Entry[], x: (at: string) => number): readonly Mark[] {
  const marks: Mark[] = []
  let base = Number.NEGATIVE_INFINITY
  let level = 0
  for (const entry of entries) {
    const at = x(entry.at)
    if (at - base >= apartPx) {
      base = at
      level = 0
    } else level += 1
    const mark = { x: base, level: Math.min(level, levelsMax - 1), entry, more: 0 }
    const top = marks.at(-1)
    if (level < levelsMax || top === undefined) marks.push(mark)
    else marks[marks.length - 1] = { ...top, more: level - levelsMax + 2 }
  }
  return marks
}

const quarterMs = 900_000

/** Every third full hour of a zone, every sixth where it is narrow, and the midnights with the name of their day. */
export function hourMarks(
  from: number,
  to: number,
  tz: string,
  isNarrow: boolean,
): readonly { readonly at: number; readonly label: string; readonly isMidnight: boolean }[] {
  const marks: { at: number; label: string; isMidnight: boolean }[] = []
  const every = isNarrow ? 6 : 3
  // Zones stand apart by quarters of an hour at the finest.
  for (let at = Math.ceil(from / quarterMs) * quarterMs; at < to; at += quarterMs) {
    const { day, time } = shownIn(new Date(at).toISOString(), tz, from)
    const [hour, minute] = time.split(':').map(Number) as [number, number]
    if (minute !== 0 || hour % every !== 0) continue
    marks.push({ at, label: hour !== 0 ? time.slice(0, 5) : isNarrow ? day.slice(0, 3) : day, isMidnight: hour === 0 })
  }
  return marks
}
