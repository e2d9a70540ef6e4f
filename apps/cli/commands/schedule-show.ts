import type { Occurrence, Run, Schedule } from '../../client/shapes.ts'
import type { Screen } from '../screen.ts'
import { adjustedNote, localTime, relative, timeIn } from '../times.ts'

export function showList(screen: Screen, schedules: readonly Schedule[], nowMs: number): void {
  const rest = [
    { head: 'WHEN', narrowest: 8 },
    { head: 'NEXT', narrowest: 27 },
  ]
  const cells = (row: Schedule) => [whenOf(row), nextIn(row, nowMs)]
  if (screen.isNarrow)
    screen.table(
      [{ head: 'SCHEDULE', narrowest: 30 }, ...rest],
      schedules.map((row) => [`${row.id}\n${row.name}`, ...cells(row)]),
    )
  else
    screen.table(
      [{ head: 'SCHEDULE' }, { head: 'NAME', narrowest: 8 }, ...rest],
      schedules.map((row) => [row.id, row.name, ...cells(row)]),
    )
}

/** The zone always shows (decision 5), once. */
export const whenOf = ({ inWords, tz }: { readonly inWords: string; readonly tz: string }): string =>
  inWords.includes(tz) ? inWords : `${inWords} (${tz})`

/** The next time in the schedule's zone, or why there is none. */
function nextIn(row: Schedule, nowMs: number): string {
  if (row.nextAt === null) return statusOf(row)
  const next = timeOfNext(row.nextAt, row)
  return `${next}\n${row.waitingFor ?? relative(row.nextAt, nowMs)}`
}

const timeOfNext = (nextAt: string, row: Schedule): string => {
  const occurrence = row.next.find(({ at }) => at === nextAt)
  return occurrence === undefined ? timeIn(nextAt, row.tz) : localTime(occurrence.local)
}

const statusOf = ({ status, endedReason, pausedReason }: Schedule): string => {
  const reason = endedReason ?? pausedReason ?? null
  return reason === null ? status : `${status}: ${reason}`
}

/** What a person wants to see after creating or changing one: that it will wake whom they meant, when they meant. */
export function showSchedule(screen: Screen, row: Schedule, nowMs: number): void {
  const { prompt, flow, session, agent, channel, note, deliver, check, misfire, overlap } = row as Schedule &
    Record<string, unknown>
  screen.pairs([
    ['schedule', row.id],
    ['name', row.name],
    ['when', whenOf(row)],
    ['status', statusOf(row)],
    ['next', occurrences(row.next, nowMs)],
    ['waiting', row.waitingFor ?? ''],
    ['session', text(session)],
    ['agent', text(agent)],
    ['channel', text(channel)],
    ['check first', checkWords(check)],
    ['if missed', missedWords(misfire)],
    ['if running', text(overlap)],
    ['note', text(note)],
    ['deliver', Array.isArray(deliver) ? deliver.join('\n') : ''],
    ['flow', text(flow)],
    ['prompt', text(prompt)],
  ])
}

function checkWords(check: unknown): string {
  const { script, tool, args } = (check ?? {}) as { script?: string; tool?: string; args?: object }
  if (script !== undefined) return `script ${script}`
  return tool === undefined
    ? ''
    : `tool ${tool} ${Object.keys(args ?? {}).length === 0 ? '' : JSON.stringify(args)}`.trim()
}

function missedWords(misfire: unknown): string {
  if (misfire === 'once') return 'made up once'
  if (misfire === 'skip') return 'skipped'
  const { within } = (misfire ?? {}) as { within?: unknown }
  return within === undefined ? '' : `made up within ${text(within)}`
}

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

export const occurrences = (next: readonly Occurrence[], nowMs: number): string =>
  next
    .map(({ at, local, adjusted }) => {
      const note = adjustedNote(adjusted)
      return `${localTime(local)}  ${relative(at, nowMs)}${note === '' ? '' : `\n  (${note})`}`
    })
    .join('\n')

export function showRuns(
  screen: Screen,
  runs: readonly Run[],
  o: { readonly tz: string; readonly nowMs: number },
): void {
  const columns = [
    { head: `TIME (${o.tz})` },
    ...(screen.isNarrow ? [] : [{ head: '' }]),
    { head: 'TRIGGER' },
    { head: 'OUTCOME' },
    { head: 'RESULT' },
    { head: 'NOTE', narrowest: 8 },
  ]
  screen.table(
    columns,
    runs.map((run) => {
      const at = run.nominalAt ?? run.at
      const ago = screen.isNarrow ? [] : [relative(at, o.nowMs)]
      return [timeIn(at, o.tz), ...ago, run.trigger, run.outcome, run.result ?? '', noteOf(run, o.tz)]
    }),
  )
}

function noteOf(run: Run, tz: string): string {
  const notes: string[] = []
  if (run.missed > 1) notes.push(`${run.missed} missed since ${timeIn(run.missedFrom ?? run.at, tz)}`)
  else if (run.missed === 1) notes.push(`missed; decided ${timeIn(run.at, tz)}`)
  if (run.reason !== null) notes.push(run.reason)
  return notes.join('; ')
}

/** What stands in the way, what comes, what was. */
export interface Why {
  readonly status: string
  readonly reason: string | null
  readonly holds: readonly { readonly code: string; readonly detail: string }[]
  readonly next: readonly Occurrence[]
  readonly last: readonly Run[]
}

export function showWhy(screen: Screen, why: Why, o: { readonly tz: string; readonly nowMs: number }): void {
  const nothing = why.status === 'active' ? 'nothing' : ''
  screen.pairs([
    ['status', why.reason === null ? why.status : `${why.status}: ${why.reason}`],
    [
      'in its way',
      why.holds.length === 0 ? nothing : why.holds.map(({ code, detail }) => `${detail} (${code})`).join('\n'),
    ],
    ['next', occurrences(why.next, o.nowMs)],
  ])
  screen.line()
  if (why.last.length === 0) screen.line('No runs yet.')
  else showRuns(screen, why.last, o)
}
