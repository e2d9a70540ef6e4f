import type { Command } from 'commander'
import { ApiError } from '../../client/errors.ts'
import { NotThere, UsageError } from '../report.ts'
import { calls, given, type Shell } from '../shell.ts'

interface ClockOptions {
  readonly to?: string
  readonly by?: string
  readonly down?: boolean
}

export function clockCommand(shell: Shell, program: Command): void {
  const command = program
    .command('clock')
    .description('show or move the clock of a node started with `rouse serve --clock`')
    .option('--to <instant>', 'move it to this instant; everything due on the way happens')
    .option('--by <duration>', 'move it on by this much: 30m, 2h, 7d')
    .option('--down', 'as if the node had been off in between')
  calls<ClockOptions>(
    shell,
    command,
    { example: 'rouse clock --to 2026-11-30T08:00:00Z' },
    async ({ client, options, screen, show }) => {
      const { to, by, down } = options
      if (to !== undefined && by !== undefined) throw new UsageError('expected one of --to and --by, got both')
      const moves = to !== undefined || by !== undefined
      if (down && !moves) throw new UsageError('--down says how to move: give --to or --by too')
      try {
        const answer = moves
          ? await client.call<{ now: string }>('POST', '/v1/clock', { body: given({ to, by, down }) })
          : await client.call<{ now: string }>('GET', '/v1/clock')
        show(answer, ({ now }) => screen.line(now))
      } catch (error) {
        if (error instanceof ApiError && error.status === 404)
          throw new NotThere(
            'this Rouse goes by the real time (not_found); `rouse serve --clock <instant>` starts one that stands still',
          )
        throw error
      }
    },
  )
}
