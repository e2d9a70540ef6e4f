import type { Command } from 'commander'
import { calls, given, type Shell } from '../shell.ts'

export function personCommands(shell: Shell, program: Command): void {
  const person = program.command('person').description('people who use this Rouse')
  const add = person
    .command('add')
    .description("add a person and print their key; an admin's call")
    .argument('<name>', 'how they are called')
    .option('--tz <zone>', 'their time zone, which is also where their days of budget begin (default UTC)')
    .option('--admin', 'may manage people and settings')
  calls<{ tz?: string; admin?: boolean }>(
    shell,
    add,
    { example: 'rouse person add colleague --tz Europe/Amsterdam' },
    async ({ client, args, options, screen, show }) => {
      const body = given({ name: args[0]!, tz: options.tz, admin: options.admin })
      const answer = await client.call<{ id: string; name: string; key: string }>('POST', '/v1/people', { body })
      show(answer, ({ id, name, key }) => {
        screen.line(`Added ${screen.bold(name)}.`)
        screen.pairs([
          ['id', id],
          ['key', key],
        ])
        screen.line('The key is shown this once. Its owner sets ROUSE_URL and ROUSE_KEY to use it.')
      })
    },
  )
}
