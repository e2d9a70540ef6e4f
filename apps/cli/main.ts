import { Command, CommanderError } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { adminCommands } from './commands/admin.ts'
import { agendaCommand } from './commands/agenda.ts'
import { agentCommands } from './commands/agent.ts'
import { applyCommand } from './commands/apply.ts'
import { attachCommand } from './commands/attach.ts'
import { auditCommand } from './commands/audit.ts'
import { budgetCommands } from './commands/budget.ts'
import { clockCommand } from './commands/clock.ts'
import { complete, completionCommand } from './commands/completion.ts'
import { documentCommands } from './commands/document.ts'
import { exportCommand } from './commands/export.ts'
import { feedCommands } from './commands/feed.ts'
import { flowCommands } from './commands/flow.ts'
import { importCommand } from './commands/import.ts'
import { keyCommands } from './commands/key.ts'
import { mcpCommand } from './commands/mcp.ts'
import { messageCommands } from './commands/message.ts'
import { monitorCommands } from './commands/monitor.ts'
import { personCommands } from './commands/person.ts'
import { scheduleCommands } from './commands/schedule.ts'
import { secretCommands } from './commands/secret.ts'
import { serveCommand } from './commands/serve.ts'
import { sessionCommands } from './commands/session.ts'
import { settingsCommand } from './commands/settings.ts'
import { tickCommands } from './commands/ticks.ts'
import { toolCommands } from './commands/tool.ts'
import { traceCommands } from './commands/trace.ts'
import { triggerCommands } from './commands/trigger.ts'
import { whyCommand } from './commands/why.ts'
import { exits } from './report.ts'
import type { Io, Shell } from './shell.ts'

/**
 * The command `rouse`.
 *
 * @param argv  without the program and the script
 * @returns     the exit code: 0, 1 refused, 2 usage, 3 unreachable
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const shell: Shell = { io, exitCode: exits.ok }
  const program = rouse(shell)
  try {
    if (argv[0] === 'complete' && argv[1] === '--') {
      await complete(program, io, argv.slice(2))
      return exits.ok
    }
    await program.parseAsync([...argv], { from: 'user' })
    return shell.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander has told it already. Its own code for every misuse is 1, which here means that Rouse refused.
    return error.exitCode === 0 ? exits.ok : exits.usage
  }
}

function rouse(shell: Shell): Command {
  const { io } = shell
  const program = new Command('rouse')
    .description('Wakes AI agents: durable schedules whose prompts reach an agent when due.')
    .version(about.version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, '✗ ')),
      getOutHelpWidth: () => Math.min(100, io.stdout.columns ?? 100),
      getErrHelpWidth: () => 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError('(add --help to see how)')
    .addHelpText('after', example)
  for (const add of [serveCommand, attachCommand, scheduleCommands, messageCommands, feedCommands]) add(shell, program)
  for (const add of [agentCommands, sessionCommands, personCommands, settingsCommand, clockCommand]) add(shell, program)
  for (const add of [documentCommands, keyCommands, secretCommands, auditCommand, budgetCommands]) add(shell, program)
  toolCommands(shell, program)
  triggerCommands(shell, program)
  tickCommands(shell, program)
  monitorCommands(shell, program)
  for (const add of [traceCommands, flowCommands]) add(shell, program)
  for (const add of [agendaCommand, whyCommand, applyCommand, exportCommand, importCommand]) add(shell, program)
  mcpCommand(shell, program)
  adminCommands(shell, program)
  completionCommand(shell, program)
  return program
}

const example = `
Example:
  $ rouse serve &
  $ rouse agent add assistant
  $ rouse session add --agent assistant
  $ rouse schedule add "Morning brief" --prompt "Write the brief." --cron "0 8 * * 1-5" --tz Europe/Amsterdam
  $ rouse attach --agent assistant -- claude -p

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no Rouse there.`
