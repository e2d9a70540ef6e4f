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
  command.addHelpText('after', environment)
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

const environment = `
Environment:
  ROUSE_RATE_LIMIT      calls per key, "<a second>:<burst>" or "off" (default 1000:20000)
  ROUSE_RETENTION       how long runs, messages and turns are kept (default 90d, at least 10m)
  ROUSE_RETENTION_TRACES, ROUSE_RETENTION_AUDIT  the same for traces (30d) and the audit trail (365d)
  ROUSE_EXPERIMENTAL_PROACTIVE  0: no idle session wakes itself (default 1: each agent's setting decides)
  ROUSE_OIDC_ISSUER     let people in with JWTs of this OpenID Connect provider, whose
  ROUSE_OIDC_AUDIENCE   "aud" holds this; keys work beside them
  ROUSE_OIDC_JWKS_URI   where its keys are (default: as its discovery document says)`

function portNumber(value: string): number {
  const port = Number(value)
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError('Expected a port, 0 to 65535.')
  return port
}
