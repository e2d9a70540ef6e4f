import type { Command } from 'commander'
import { path } from '../../client/client.ts'
import type { Page } from '../../client/shapes.ts'
import { agentId } from '../lookup.ts'
import { type PageOptions, pageOptions, pageQuery, showPage } from '../pages.ts'
import { calls, given, type Shell, wholeNumber } from '../shell.ts'

interface Key {
  readonly id: string
  readonly prefix: string | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
}

export function keyCommands(shell: Shell, program: Command): void {
  const key = program.command('key').description('your keys and those of your agents')

  const list = pageOptions(key.command('list').description('keys by what they begin with; never the keys themselves'))
  list.option('--agent <agent>', 'those of this agent, by name or id (default: your own)')
  calls<PageOptions & { agent?: string }>(
    shell,
    list,
    { example: 'rouse key list\nrouse key list --agent assistant', looks: true },
    async ({ client, options, screen, show }) => {
      const at =
        options.agent === undefined ? '/v1/keys' : path`/v1/agents/${await agentId(client, options.agent)}/keys`
      const page = await client.call<Page<Key>>('GET', at, { query: pageQuery(options) })
      show(page, () =>
        showPage(screen, page, {
          none: 'No keys. `rouse agent key <agent>` makes one for an agent.',
          rows: () =>
            screen.table(
              [{ head: 'KEY' }, { head: 'BEGINS' }, { head: 'MADE' }, { head: 'LAST USED' }, { head: 'ENDS' }],
              page.data.map((row) => [
                row.id,
                row.prefix === null ? '' : `${row.prefix}…`,
                minute(row.createdAt),
                row.lastUsedAt === null ? 'never' : minute(row.lastUsedAt),
                row.expiresAt === null ? '' : minute(row.expiresAt),
              ]),
            ),
        }),
      )
    },
  )

  const rotate = key
    .command('rotate')
    .description('make a key in place of another, which works a while longer')
    .argument('<keyId>', 'key_…')
    .option('--grace-seconds <n>', 'how long the old one still works, 0 to 86400 (default 3600)', wholeNumber)
  calls<{ graceSeconds?: number }>(
    shell,
    rotate,
    { example: 'rouse key rotate key_01J… --grace-seconds 600' },
    async ({ client, args, options, screen, show }) => {
      const body = given({ graceSeconds: options.graceSeconds })
      const answer = await client.call<{ id: string; key: string }>('POST', path`/v1/keys/${args[0]!}/rotate`, { body })
      show(answer, (made) => {
        screen.pairs([
          ['id', made.id],
          ['key', made.key],
        ])
        screen.line('The key is shown this once. Set it wherever the old one is used (ROUSE_KEY, credentials.json).')
      })
    },
  )

  const revoke = key.command('revoke').description('make a key useless, at once').argument('<keyId>', 'key_…')
  calls(shell, revoke, { example: 'rouse key revoke key_01J…' }, async ({ client, args, screen, show }) => {
    show(await client.call('DELETE', path`/v1/keys/${args[0]!}`), () => screen.line(`Revoked ${args[0]}.`))
  })
}

/** `2026-11-02 09:00Z` */
const minute = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`
