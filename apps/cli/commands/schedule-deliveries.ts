import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Delivery, Page } from '../../client/shapes.ts'
import { serverNow } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import type { Screen } from '../screen.ts'
import { calls, type Shell } from '../shell.ts'
import { relative, timeIn } from '../times.ts'

/** What the ends of runs sent out, and sending again what was given up. */
export function deliveryCommands(shell: Shell, schedule: Command): void {
  const deliveries = pageOptions(
    schedule
      .command('deliveries')
      .description('whom its runs told, and what was given up, newest first')
      .argument('<schedule>', 'sch_…'),
  )
  calls<PageOptions>(
    shell,
    deliveries,
    { example: 'rouse schedule deliveries sch_01J…', looks: true },
    async ({ client, args, options, screen, show }) => {
      const where = path`/v1/schedules/${args[0]!}/deliveries`
      const [page, nowMs] = await Promise.all([
        client.call<Page<Delivery>>('GET', where, { query: pageQuery(options) }),
        serverNow(client),
      ])
      show(page, () => {
        showPage(screen, page, {
          none: 'Nothing was delivered yet. `--deliver` of `rouse schedule add` or `edit` says where to.',
          rows: () => showDeliveries(screen, page.data, nowMs),
        })
        if (page.data.some(({ status }) => status === 'dead'))
          screen.line(`Next: \`rouse schedule redeliver ${args[0]} dlv_…\` sends one again.`)
      })
    },
  )

  const again = schedule
    .command('redeliver')
    .description('send again what was given up, or at once what waits')
    .argument('<schedule>', 'sch_…')
    .argument('<delivery>', 'dlv_…, of `rouse schedule deliveries`')
  calls(
    shell,
    again,
    { example: 'rouse schedule redeliver sch_01J… dlv_01J…' },
    async ({ client, args, screen, show }) => {
      const where = path`/v1/schedules/${args[0]!}/deliveries/${args[1]!}/retry`
      const delivery = await client.call<Delivery>('POST', where, { body: {} })
      show(delivery, () =>
        screen.line(`Sending ${delivery.id}. \`rouse schedule deliveries ${args[0]}\` shows what became of it.`),
      )
    },
  )
}

function showDeliveries(screen: Screen, rows: readonly Delivery[], nowMs: number): void {
  screen.table(
    [
      { head: 'DELIVERY' },
      { head: 'TIME (UTC)' },
      { head: 'TO', narrowest: 12 },
      { head: 'STATUS' },
      { head: 'NOTE', narrowest: 8 },
    ],
    rows.map((row) => [row.id, timeIn(row.at, 'UTC'), row.to, row.status, noteOf(row, nowMs)]),
  )
}

function noteOf({ tries, nextTryAt, lastError }: Delivery, nowMs: number): string {
  const notes: string[] = []
  if (tries > 1) notes.push(`${tries} tries`)
  if (nextTryAt !== null) notes.push(`next ${relative(nextTryAt, nowMs)}`)
  if (lastError !== null) notes.push(lastError)
  return notes.join('; ')
}
