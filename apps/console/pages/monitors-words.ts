import type { Monitor, Watch } from './monitors-shapes.ts'

/** What is watched, as short as a title. */
export function watchTitle(watch: Watch): string {
  if ('document' in watch) return watch.document.path
  return 'tool' in watch ? watch.tool.name : 'A point in time'
}

export function watchKind(watch: Watch): 'document' | 'time' | 'tool' {
  if ('document' in watch) return 'document'
  return 'tool' in watch ? 'tool' : 'time'
}

/** When it tells, without its condition, which stands beside it as it was written. */
export function watchWords({ watch, when }: Pick<Monitor, 'watch' | 'when'>): string {
  if ('time' in watch) return 'Tells when the time has come'
  if ('document' in watch)
    return when === null ? 'Tells when the document changes or is deleted' : 'Tells when the document changes and fits'
  return `Runs the tool every ${minutesWords(watch.tool.every)}, and tells ${when === null ? 'when its output changes' : 'when its output fits'}`
}

/** 90 → `1 h 30 min`. */
export function minutesWords(minutes: number): string {
  const [h, min] = [Math.floor(minutes / 60), Math.round(minutes % 60)]
  return [h === 0 ? [] : `${h} h`, min === 0 && h > 0 ? [] : `${min} min`].flat().join(' ')
}

const minuteMs = 60_000

/** When a tool was last run for a monitor: looks stand on a grid that begins with the arming. Null: not yet, or no tool. */
export function lastLookAt({ watch, armedAt, nextLookAt, endedAt }: Monitor, nowMs: number): string | null {
  if (!('tool' in watch)) return null
  const from = Date.parse(armedAt)
  const everyMs = watch.tool.every * minuteMs
  const until =
    nextLookAt === null
      ? Math.min(nowMs, endedAt === null ? nowMs : Date.parse(endedAt))
      : Math.min(nowMs, Date.parse(nextLookAt) - 1)
  const looks = Math.floor((until - from) / everyMs)
  return looks < 1 ? null : new Date(from + looks * everyMs).toISOString()
}

/** A value as it is read: text as it is, everything else as indented JSON. */
export const shownValue = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** Why one ended without a find, as it reads after "ended:"; another reason is a budget, shown by its name. */
export const endReasons: Readonly<Record<string, string>> = {
  tool_changed: 'its tool does something else now, or is gone',
  session_archived: 'its conversation was archived',
  session_deleted: 'its conversation was deleted',
  agent_deleted: 'its agent was deleted',
  agent_left: 'the agent has left the conversation',
  daily_limit: 'monitors had woken its conversation as often as they may in a day',
}
