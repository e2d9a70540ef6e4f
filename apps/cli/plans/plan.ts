import { createHash } from 'node:crypto'
import { onOneLine, textFault } from '../../../shared/domain/names.ts'
import { NotThere } from '../report.ts'

export type PlanKind = 'schedule' | 'trigger'

/** One schedule or trigger as a file wants it. */
export interface Entry {
  /** Tells it from the others of its file, whatever else is changed. */
  readonly key: string
  readonly kind: PlanKind
  /** Where it stands, for whoever has to mend it. */
  readonly where: string
  /** The id that it had when it was written out; null: it was written by hand. */
  readonly id: string | null
  /** As `POST /v1/schedules` or `/v1/triggers` takes them; `agent` may be a name. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Null: whether it is paused is nobody's business here. */
  readonly paused: boolean | null
  /** Where an import that names no target wants to go: into the agent's main conversation, or a fresh one for each run. */
  readonly wants?: 'main' | 'fresh'
}

/** What another program's file holds and a schedule cannot. */
export interface Left {
  readonly where: string
  readonly what: string
  /** True: nothing of it was taken. */
  readonly whole: boolean
}

export interface Imported {
  readonly entries: readonly Entry[]
  readonly left: readonly Left[]
}

export interface Fault {
  readonly where: string
  /** '' where it is the whole entry. */
  readonly field: string
  readonly message: string
}

/** Nothing was applied. */
export class PlanRefused extends NotThere {
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[]) {
    const lines = faults.map(({ where, field, message }) => `  ${where}${field === '' ? '' : `, ${field}`}: ${message}`)
    super(
      `nothing was applied: ${faults.length === 1 ? 'one entry is' : `${faults.length} things are`} not right\n${lines.join('\n')}`,
    )
    this.faults = faults
  }
}

/** Another run writes the same plan: what this one has done so far is found again by the next. */
export class PlanBusy extends PlanRefused {
  constructor() {
    super([{ where: 'this plan', field: '', message: 'somebody else applies it at the same time; run it again' }])
  }
}

/** Fields that an entry of a file may have, besides `key`, `id` and `paused`, in the order in which they are written out. */
export const scheduleFields = [
  'name',
  'session',
  'agent',
  'prompt',
  'flow',
  'at',
  'every',
  'cron',
  'rrule',
  'dtstart',
  'tz',
  'channel',
  'note',
  'deliver',
  'check',
  'misfire',
  'overlap',
  'onUnknown',
  'jitter',
  'until',
  'maxRuns',
  'pauseAfterFailures',
] as const
export const triggerFields = [
  'name',
  'session',
  'agent',
  'prompt',
  'on',
  'when',
  'settle',
  'maxPerDay',
  'until',
] as const
export const fieldsOf = (kind: PlanKind): readonly string[] => (kind === 'schedule' ? scheduleFields : triggerFields)
export const timeFieldNames = ['at', 'every', 'cron', 'rrule', 'dtstart', 'tz'] as const

const nameCharsMax = 120

/** A name that Rouse takes, of whatever another program had. */
export function nameFrom(text: string): string {
  const clean = [...onOneLine(text)].filter((char) => textFault(char) === null)
  return clean.slice(0, nameCharsMax).join('').trim() || 'Imported'
}

/** `Morning brief!` → `morning-brief` */
export const slug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-$/, '')

/** Hands out keys of which no two are the same. */
export function keysFrom(): (wanted: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    const base = wanted === '' ? 'entry' : wanted
    let key = base
    for (let nth = 2; taken.has(key); nth++) key = `${base}-${nth}`
    taken.add(key)
    return key
  }
}

/** The same for values that say the same, whatever the order of their keys. */
export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(canonical(value ?? null))
    .digest('hex')
    .slice(0, 16)

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${pairs.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`
}
