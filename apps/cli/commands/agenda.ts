import type { Command } from 'commander'
import type { Occurrence } from '../../client/shapes.ts'
import { agentNames, serverNow } from '../lookup.ts'
import type { Screen } from '../screen.ts'
import { calls, type Shell, wholeNumber } from '../shell.ts'
import { adjustedNote, localTime, relative } from '../times.ts'

interface Entry extends Occurrence {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly session: string | null
  readonly agent: string
  readonly who: { readonly person: string; readonly agent: string | null }
  readonly checked: boolean
  readonly budget: { readonly wakes: number | null; readonly tokens: number | null; readonly usd: number | null } | null
  readonly hold: { readonly code: string; readonly detail: string } | null
}

interface Agenda {
  readonly from: string
  readonly to: string
  readonly tz: string
  readonly data: readonly Entry[]
  readonly truncated: boolean
}

export function agendaCommand(shell: Shell, program: Command): void {
  const agenda = program
    .command('agenda')
    .description('everything that will wake somebody soon, in order, and what would hold it up')
    .option('--hours <n>', 'so far ahead, 1 to 168 (default 24)', wholeNumber)
    .option('--tz <zone>', 'show times in this zone (default: your own)')
  calls<{ hours?: number; tz?: string }>(
    shell,
    agenda,
    { example: 'rouse agenda\nrouse agenda --hours 72 --tz Europe/Amsterdam', looks: true },
    async ({ client, options, screen, show }) => {
      const { hours, tz } = options
      const found = await client.call<Agenda>('GET', '/v1/agenda', { query: { hours, tz } })
      const [names, nowMs] = await Promise.all([agentNames(client), serverNow(client)])
      show(found, () => showAgenda(screen, found, { names, nowMs }))
    },
  )
}

/** A line of time: a heading for each day, and under it what comes. */
function showAgenda(
  screen: Screen,
  { data, tz, to, truncated }: Agenda,
  o: { readonly names: ReadonlyMap<string, string>; readonly nowMs: number },
): void {
  if (data.length === 0) {
    screen.line(`Nothing wakes anybody ${relative(to, o.nowMs).replace(/^in /, 'in the next ')}.`)
    return
  }
  const days = new Map<string, Entry[]>()
  for (const entry of data) {
    const day = localTime(entry.local).slice(0, 'Mon 2026-03-02'.length)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  let isFirst = true
  for (const [day, entries] of days) {
    if (!isFirst) screen.line()
    isFirst = false
    screen.line(screen.bold(`${day} (${tz})`))
    const columns = [{ head: 'TIME' }, ...(screen.isNarrow ? [] : [{ head: '' }])]
    screen.table(
      [...columns, { head: 'KIND' }, { head: 'WHAT', narrowest: 16 }, { head: 'WAKES', narrowest: 8 }],
      entries.map((entry) => [
        localTime(entry.local).slice('Mon 2026-03-02 '.length).split(' ')[0]!,
        ...(screen.isNarrow ? [] : [relative(entry.at, o.nowMs)]),
        entry.kind,
        whatOf(entry, o.names),
        o.names.get(entry.agent) ?? entry.agent,
      ]),
    )
  }
  if (truncated) screen.line(screen.dim('There is more than is shown; fewer --hours show all of it.'))
}

function whatOf(entry: Entry, names: ReadonlyMap<string, string>): string {
  const { name, id, kind, checked, who, hold, adjusted, budget } = entry
  const lines = [name, id]
  if (checked && kind !== 'look') lines.push('only if its check finds something')
  if (who.agent !== null && kind !== 'tick') lines.push(`asked by ${names.get(who.agent) ?? who.agent}`)
  if (budget?.wakes != null) lines.push(`${budget.wakes} ${budget.wakes === 1 ? 'wake' : 'wakes'} left today`)
  if (adjusted !== null) lines.push(`(${adjustedNote(adjusted)})`)
  if (hold !== null) lines.push(`✋ ${hold.detail}`)
  return lines.join('\n')
}
