import { type Command, InvalidArgumentError } from 'commander'
import { acts, type Shell } from '../shell.ts'

export function serveCommand(shell: Shell, program: Command): void {
  const command = program
    .command('serve')
    .description('run Rouse on this machine: one process, one SQLite file, no cloud')
    .option('--port <n>', 'port to listen on; 0 picks a free one', portNumber, 4750)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <dir>', 'where it keeps its files (else ROUSE_DATA)', shell.io.env.ROUSE_DATA || '.rouse')
    .option('--clock <instant>', 'stand still at this instant; `rouse clock` moves it')
  acts<{ port: number; host: string; data: string; clock?: string }>(
    shell,
    command,
    { example: 'rouse serve --port 4750 --data ./rouse-files' },
    async (options) => {
      // The node brings the engine and SQLite along; no other command waits for them to load.
      const { serve } = await import('../../local/serve.ts')
      const { stdout, stderr, env } = shell.io
      return serve({ ...options, clock: options.clock ?? null, stdout, stderr, env })
    },
  )
}

function portNumber(value: string): number {
  const port = Number(value)
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError('Expected a port, 0 to 65535.')
  return port
}
