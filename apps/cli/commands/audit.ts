import type { Command } from 'commander'
import type { Page } from '../../client/shapes.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { calls, type Shell } from '../shell.ts'

interface Row {
  readonly at: string
  readonly by: { readonly kind: string; readonly id: string }
  readonly operation: string
  readonly targets: readonly string[]
}

export function auditCommand(shell: Shell, program: Command): void {
  const command = pageOptions(
    program.command('audit').description('what was done in your name and to your agents and schedules, newest first'),
  )
  calls<PageOptions>(
    shell,
    command,
    { example: 'rouse audit --limit 50', looks: true },
    async ({ client, options, screen, show }) => {
      const page = await client.call<Page<Row>>('GET', '/v1/audit', { query: pageQuery(options) })
      show(page, () =>
        showPage(screen, page, {
          none: 'Nothing was changed yet.',
          rows: () =>
            screen.table(
              [{ head: 'AT' }, { head: 'WHAT' }, { head: 'BY', narrowest: 12 }, { head: 'WHICH', narrowest: 12 }],
              page.data.map(({ at, by, operation, targets }) => [
                `${at.slice(0, 19).replace('T', ' ')}Z`,
                operation,
                by.id,
                targets.join(' '),
              ]),
            ),
        }),
      )
    },
  )
}
