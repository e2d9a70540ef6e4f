import type { Screen } from '../screen.ts'
import type { Applied, ApplyOptions } from './apply.ts'
import type { Change, FieldChange } from './diff.ts'
import { type Entry, type Fault, type Left, timeFieldNames } from './plan.ts'

export interface Report {
  readonly plan: string
  readonly dryRun: boolean
  readonly changes: readonly {
    readonly key: string
    readonly change: 'create' | 'update' | 'same' | 'gone' | 'remove' | 'dropped'
    readonly id: string | null
    readonly name: string
    readonly fields?: readonly FieldChange[]
    readonly paused?: boolean | null
    readonly why?: string
    /** A person has to allow it first. */
    readonly card?: string
    /** Of a webhook, shown this once. */
    readonly url?: unknown
    readonly secret?: unknown
  }[]
  /** What could not be carried over. */
  readonly left: readonly Left[]
}

/** What was done, or would be: the same in both. */
export function reportOf(
  plan: string,
  { changes, faults, made, asked }: Applied,
  o: Pick<ApplyOptions, 'dryRun' | 'prune'>,
  left: readonly Left[] = [],
): Report {
  const shown = changes.flatMap((change): Report['changes'] => {
    if (change.kind === 'renamed') return []
    if (change.kind === 'dropped') {
      const { key, known, name } = change
      return [{ key, change: o.prune ? 'remove' : change.kind, id: known.id, name: name ?? key }]
    }
    const { entry } = change
    const row = made.get(entry.key)
    const card = asked.get(entry.key)
    const one = {
      key: entry.key,
      change: change.kind,
      id: row?.id ?? ('row' in change ? change.row.id : null),
      name: String(entry.fields.name),
      ...(change.kind === 'update' ? { fields: change.fields, paused: change.pause } : {}),
      ...(change.kind === 'gone' ? { why: change.why } : {}),
      ...(card === undefined ? {} : { card }),
      ...(row?.url === undefined ? {} : { url: row.url, secret: row.secret ?? null }),
    }
    return [one]
  })
  return { plan, dryRun: o.dryRun, changes: shown, left: [...left, ...faults.map(leftOf)] }
}

const leftOf = ({ where, field, message }: Fault): Left => ({
  where,
  what: field === '' ? message : `${field}: ${message}`,
  whole: true,
})

export function showReport(screen: Screen, report: Report, changes: readonly Change[]): void {
  const { dryRun } = report
  const entries = new Map(
    changes.flatMap((change) => ('entry' in change ? [[change.entry.key, change.entry]] : [])) as [string, Entry][],
  )
  for (const one of report.changes) {
    const title = `${one.key}  ${one.name}`
    if (one.change === 'create') {
      const entry = entries.get(one.key)
      screen.line(`+ ${title}  ${entry === undefined ? '' : timeOf(entry)}`.trimEnd())
      if (one.card !== undefined) screen.line(`    a person has to allow card ${one.card} first`)
      if (one.url !== undefined) screen.line(`    address, shown this once: ${String(one.url)}`)
      if (typeof one.secret === 'string') screen.line(`    secret, shown this once: ${one.secret}`)
    } else if (one.change === 'update') {
      screen.line(`~ ${title}`)
      for (const { field, from, to, byHand } of one.fields ?? [])
        screen.line(`    ${field}: ${short(from)} → ${short(to)}${byHand ? '  (was changed by hand)' : ''}`)
      if (one.paused != null) screen.line(`    ${one.paused ? 'paused' : 'resumed'}`)
    } else if (one.change === 'gone') screen.line(`! ${title}  ${one.why}; --recreate makes it again`)
    else if (one.change === 'remove') screen.line(`- ${title}`)
    else if (one.change === 'dropped') screen.line(`? ${title}  is not in the file any more; --prune removes it`)
  }
  const same = report.changes.filter(({ change }) => change === 'same').length
  const counts = ['create', 'update', 'remove'].map(
    (change) => report.changes.filter((c) => c.change === change).length,
  )
  const [created, updated, removed] = counts
  const done = `${created} to make, ${updated} to change, ${removed} to remove, ${same} as they are`
  screen.line(
    dryRun
      ? `Would be: ${done}. Nothing was changed.`
      : `${done.replace('to make', 'made').replace('to change', 'changed').replace('to remove', 'removed')}.`,
  )
  showLeft(screen, report.left)
}

function showLeft(screen: Screen, left: readonly Left[]): void {
  const parts = [
    [true, 'Not carried over:'],
    [false, 'Carried over without:'],
  ] as const
  for (const [whole, title] of parts) {
    const of = left.filter((one) => one.whole === whole)
    if (of.length === 0) continue
    screen.line()
    screen.line(screen.bold(title))
    for (const { where, what } of of) screen.line(`  ${where}: ${what}`)
  }
}

const timeOf = ({ fields }: Entry): string =>
  timeFieldNames
    .filter((name) => fields[name] !== undefined)
    .map((name) => (name === 'tz' ? String(fields[name]) : `${name} ${String(fields[name])}`))
    .join('  ')

function short(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ')
  return text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`
}
