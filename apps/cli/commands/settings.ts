import type { Command } from 'commander'
import { calls, onOrOff, type Shell } from '../shell.ts'

export function settingsCommand(shell: Shell, program: Command): void {
  const command = program
    .command('settings')
    .description('show the settings, or change one')
    .option('--agent-sessions <on|off>', 'agents may start and use sessions, schedules included', onOrOff)
  calls<{ agentSessions?: boolean }>(
    shell,
    command,
    { example: 'rouse settings --agent-sessions on' },
    async ({ client, options, screen, show }) => {
      const { agentSessions } = options
      const answer =
        agentSessions === undefined
          ? await client.call<Settings>('GET', '/v1/settings')
          : await client.call<Settings>('PATCH', '/v1/settings', { body: { agentSessions } })
      show(answer, (settings) =>
        screen.pairs([['agent sessions', settings.agentSessions ? 'on' : 'off: agents may not start or use sessions']]),
      )
    },
  )
}

interface Settings {
  readonly agentSessions: boolean
}
