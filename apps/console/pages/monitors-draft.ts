import type { Monitor } from './monitors-shapes.ts'

/** The form of a monitor, as it is typed. */
export interface MonitorDraft {
  readonly agent: string
  readonly session: string
  readonly kind: 'document' | 'time' | 'tool'
  readonly path: string
  readonly timeAs: 'in' | 'at'
  readonly in: string
  /** As a browser writes it, in its own zone: `2026-03-02T09:00`. */
  readonly at: string
  readonly tool: string
  readonly args: string
  readonly every: string
  readonly when: string
  readonly note: string
  readonly expiresIn: string
}

export const blankMonitor: MonitorDraft = {
  agent: '',
  session: '',
  kind: 'document',
  path: '',
  timeAs: 'in',
  in: '2h',
  at: '',
  tool: '',
  args: '{}',
  every: '1h',
  when: '',
  note: '',
  expiresIn: '24h',
}

/** The same once more: a time that is past is not carried over. */
export function draftLike(monitor: Monitor): MonitorDraft {
  const { agent, session, watch, when, note, armedAt, expiresAt } = monitor
  const hours = Math.max(1, Math.round((Date.parse(expiresAt) - Date.parse(armedAt)) / 3_600_000))
  const draft = { ...blankMonitor, agent, session: session ?? '', when: when ?? '', note, expiresIn: `${hours}h` }
  if ('document' in watch) return { ...draft, path: watch.document.path }
  if ('time' in watch) return { ...draft, kind: 'time' }
  return {
    ...draft,
    kind: 'tool',
    tool: watch.tool.name,
    args: JSON.stringify(watch.tool.args),
    every: `${watch.tool.every}m`,
  }
}

/** What is sent. Arguments that are no JSON are sent as they are: the server says what it expected. */
export function monitorBody(draft: MonitorDraft): object {
  const { session, note, when, expiresIn, kind } = draft
  return {
    session,
    note,
    watch: watchOf(draft),
    ...(kind === 'time' || when.trim() === '' ? {} : { when }),
    ...(expiresIn.trim() === '' ? {} : { expiresIn: expiresIn.trim() }),
  }
}

function watchOf({ kind, path, timeAs, in: after, at, tool, args, every }: MonitorDraft): object {
  switch (kind) {
    case 'document':
      return { document: { path: path.trim() } }
    case 'time':
      return { time: timeAs === 'in' ? { in: after.trim() } : { at: instantOf(at) } }
    case 'tool':
      return { tool: { name: tool, args: parsed(args), every: every.trim() } }
  }
}

function instantOf(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}

function parsed(args: string): unknown {
  if (args.trim() === '') return {}
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}
