import type { Command } from 'commander'
import { type Client, everyItem, path } from '../../client/client.ts'
import type { Schedule } from '../../client/shapes.ts'
import { serverNow } from '../lookup.ts'
import { NotThere, UsageError } from '../report.ts'
import { calls, type Shell } from '../shell.ts'
import { showWhy, type Why } from './schedule-show.ts'

export function whyCommand(shell: Shell, program: Command): void {
  const why = program
    .command('why')
    .description('why a schedule or trigger ran or did not: its last ten times, the next three, what would hold them')
    .argument('<schedule>', 'sch_… or its name')
  calls(shell, why, { example: 'rouse why "Morning brief"', looks: true }, async ({ client, args, screen, show }) => {
    const { id, tz } = await found(client, args[0]!)
    const [answer, nowMs] = await Promise.all([
      client.call<Why>('GET', path`/v1/schedules/${id}/why`),
      serverNow(client),
    ])
    show(answer, () => showWhy(screen, answer, { tz, nowMs }))
  })
}

/** By id or by name; a trigger has no zone of its own to show. @throws NotThere, UsageError when several are called that */
async function found(client: Client, idOrName: string): Promise<{ readonly id: string; readonly tz: string }> {
  if (/^sch_[0-9A-HJKMNP-TV-Z]{26}$/i.test(idOrName)) {
    const row = await client.call<Schedule>('GET', path`/v1/schedules/${idOrName}`)
    return { id: row.id, tz: row.tz ?? 'UTC' }
  }
  const called: { id: string; tz: string }[] = []
  for (const list of ['/v1/schedules', '/v1/triggers'])
    for await (const row of everyItem<Schedule>(client, list))
      if (row.name === idOrName) called.push({ id: row.id, tz: row.tz ?? 'UTC' })
  if (called.length === 1) return called[0]!
  if (called.length === 0)
    throw new NotThere(`there is no schedule or trigger "${idOrName}" (not_found); \`rouse schedule list\` shows them`)
  throw new UsageError(
    `${called.length} are called "${idOrName}"; give the id: ${called.map(({ id }) => id).join(', ')}`,
  )
}
