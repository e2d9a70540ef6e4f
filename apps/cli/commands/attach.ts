import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Client, createClient, path } from '../../client/client.ts'
import type { Session } from '../../client/shapes.ts'
import { attach } from '../../worker/attach.ts'
import type { Target } from '../../worker/claim.ts'
import { CannotStart, runCommand } from '../../worker/command.ts'
import { type Format, formats } from '../../worker/format.ts'
import { type HostTools, loadHostTools, ToolsUnusable } from '../../worker/host-tools.ts'
import { jobWork } from '../../worker/job-work.ts'
import { agentId } from '../lookup.ts'
import { UsageError } from '../report.ts'
import { type Caller, calls, type Shell, wholeNumber } from '../shell.ts'
import { withRouseOnPath } from './attach-program.ts'
import { tell } from './attach-status.ts'

interface AttachFlags {
  readonly agent?: string
  readonly lease: number
  readonly steer?: boolean
  readonly once?: boolean
  readonly cwd?: string
  readonly format: Format
  readonly maxSeconds?: number
  readonly maxToolCalls?: number
  readonly tools?: string
  readonly checks: boolean
  readonly json?: boolean
}

export function attachCommand(shell: Shell, program: Command): void {
  const command = program
    .command('attach')
    .description('serve a session or an agent: run a command once per turn, its output is the answer')
    .usage('[options] <session> -- <command…>\n       rouse attach [options] --agent <agent> -- <command…>')
    .argument('[session]', 'ses_…, unless --agent is given')
    .argument('[command...]', 'reads the message on its standard input')
    .option('--agent <agent>', 'name or id: serve all its sessions, fresh ones too')
    .option('--lease <seconds>', 'a turn counts as lost so long after the last sign of life', leaseSeconds, 120)
    .option('--steer', "keep the command's input open and write messages that come in the meantime to it")
    .option('--once', 'stop after one turn')
    .option('--cwd <dir>', "the agent's folder: the command, checks and host tools run there")
    .addOption(
      new Option('--format <format>', 'what the command prints: the answer, or events with its tool calls and cost')
        .choices(formats)
        .default('text'),
    )
    .option('--max-seconds <n>', 'end a turn that takes longer as blocked', upTo(604_800))
    .option('--max-tool-calls <n>', 'end a turn that calls more tools as blocked', upTo(1_000_000))
    .option('--tools <module>', 'an ES module of functions that host steps of tools call')
    .option('--no-checks', 'run no checks of schedules and no host steps')
    .addHelpText('after', notes)
  command.option('--json', 'tell events as lines of JSON, on the standard error')
  calls<AttachFlags>(shell, command, { example: 'rouse attach --agent assistant -- claude -p', json: false }, serve)
}

const notes = `
The command finds ROUSE_URL, ROUSE_KEY, ROUSE_SESSION, ROUSE_TURN, ROUSE_MESSAGE, ROUSE_MESSAGE_KIND, ROUSE_AGENT,
ROUSE_MODE and, in a scheduled run, ROUSE_SCHEDULE and ROUSE_RUN in its environment, so that \`rouse\` inside it acts
as that session. It acts with the key given here: attach with the agent's own (\`rouse agent key\`).
ROUSE_HOW tells an agent what it can do there: put it into its instructions. Tool calls that the command appends to the
file ROUSE_TOOL_CALLS, as lines of {"tool", "args", "status"?, "result"?}, count and are reported with the turn;
with --format claude (claude -p --output-format stream-json --verbose) or codex (codex exec --json) they are read from
its output.
Exit 0 with output is the answer, exit 0 without is "nothing to do", anything else failed.
Checks of schedules are scripts in the agent's folder; they run with a key of their own, also while a turn runs.
Ctrl-C lets the running turn and checks end first (against a remote Rouse also an open claim, up to 20 s); Ctrl-C again
stops them, and ends the turn as failed.`

async function serve(caller: Caller<AttachFlags>): Promise<void> {
  const { io, options } = caller
  const command = options.agent === undefined ? caller.args.slice(1) : caller.args.filter((arg) => arg !== '')
  if (options.agent === undefined && (caller.args[0] ?? '') === '')
    throw new UsageError('expected a session or --agent, got neither')
  if (options.agent !== undefined && /^ses_/.test(command[0] ?? ''))
    throw new UsageError('expected a session or --agent, got both')
  if (command.length === 0)
    throw new UsageError('expected a command after --, got none: rouse attach <session> -- <command…>')
  if (options.tools !== undefined && !options.checks)
    throw new UsageError('expected --tools or --no-checks, got both: without checks no host steps are taken either')
  const cwd = resolve(options.cwd ?? '.')
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`--cwd ${cwd} is not a folder`)
  const tools = options.tools === undefined ? null : await toolsOf(options.tools)

  // The worker itself is no turn of anybody, also when it was started inside one.
  const client = createClient({ url: caller.client.url, key: caller.client.key })
  const target: Target =
    options.agent === undefined ? { session: caller.args[0]! } : { agent: await agentId(client, options.agent) }
  const agentOf = agentLookup(client, target)
  const { stop, halt, release } = stopping(io)
  const program = withRouseOnPath(io.env, process.argv[1])
  const before = process.cwd()
  // A host tool opens "notes.md" as a command would.
  if (tools !== null) process.chdir(cwd)
  const warn = (message: string) => tell(io.stderr, { kind: 'warning', message }, options.json)
  let cannotStart: CannotStart | null = null
  try {
    await attach({
      client,
      target,
      leaseSeconds: options.lease,
      steer: options.steer === true,
      once: options.once === true,
      signal: stop.signal,
      halt: halt.signal,
      on: (event) => tell(io.stderr, event, options.json),
      limits: { maxSeconds: options.maxSeconds, maxToolCalls: options.maxToolCalls },
      work: options.checks ? jobWork({ url: client.url, cwd, env: program.env, tools, stderr: io.stderr }) : undefined,
      async run(turn) {
        try {
          const agent = await agentOf(turn.turn.session)
          const { stdout, stderr } = io
          return await runCommand(turn, {
            client,
            agent,
            command,
            cwd,
            env: program.env,
            steer: options.steer === true,
            format: options.format,
            stdout,
            stderr,
            warn,
          })
        } catch (error) {
          if (!(error instanceof CannotStart)) throw error
          cannotStart = error
          stop.abort()
          return { outcome: 'failed', summary: error.message }
        }
      },
    })
  } finally {
    release()
    program.remove()
    if (tools !== null) process.chdir(before)
  }
  if (cannotStart !== null) throw new UsageError((cannotStart as CannotStart).message)
}

/** The agent of a session, asked for once: a session keeps its agent. */
function agentLookup(client: Client, target: Target): (session: string) => Promise<string> {
  if ('agent' in target) return async () => target.agent
  let known: Promise<string> | null = null
  return (session) => {
    known ??= client.call<Session>('GET', path`/v1/sessions/${session}`).then(({ agent }) => agent)
    return known
  }
}

/** The first signal stops claiming, the second the command too. */
function stopping(io: Caller<object>['io']): { stop: AbortController; halt: AbortController; release(): void } {
  const [stop, halt] = [new AbortController(), new AbortController()]
  const signals = io.signals ?? process
  const onSignal = () => {
    if (stop.signal.aborted) halt.abort()
    else io.stderr.write('stopping: what is under way ends first; again to stop at once\n')
    stop.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM']) signals.on(name, onSignal)
  return {
    stop,
    halt,
    release: () => {
      for (const name of ['SIGINT', 'SIGTERM']) signals.removeListener(name, onSignal)
    },
  }
}

async function toolsOf(file: string): Promise<HostTools> {
  try {
    return await loadHostTools(file)
  } catch (error) {
    throw error instanceof ToolsUnusable ? new UsageError(`--tools ${error.message}`) : error
  }
}

const upTo =
  (most: number) =>
  (value: string): number => {
    const n = wholeNumber(value)
    if (n < 1 || n > most) throw new InvalidArgumentError(`Expected 1 to ${most}.`)
    return n
  }

function leaseSeconds(value: string): number {
  const seconds = wholeNumber(value)
  if (seconds < 30 || seconds > 7200) throw new InvalidArgumentError('Expected 30 to 7200 seconds.')
  return seconds
}
