import { type Command, InvalidArgumentError } from 'commander'
import { findAccess } from '../client/access.ts'
import { type Client, createClient } from '../client/client.ts'
import { createProgress } from './progress.ts'
import { exits, report, UsageError } from './report.ts'
import { createScreen, type Screen } from './screen.ts'
import { watch } from './watch.ts'

/** The world outside a command. */
export interface Io {
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
  }
  readonly stderr: NodeJS.WritableStream
  readonly stdin: NodeJS.ReadableStream
  readonly env: NodeJS.ProcessEnv
  /** Where SIGINT and SIGTERM arrive; default: the process. */
  readonly signals?: NodeJS.EventEmitter
}

export interface Shell {
  readonly io: Io
  exitCode: number
}

/** What an action works with. */
export interface Caller<Options> {
  readonly io: Io
  readonly screen: Screen
  readonly client: Client
  readonly options: Options
  /** The positional arguments as declared; an optional one that is not given is ''. */
  readonly args: readonly string[]
  /** Says how far long work has come: `12 of 40 traces`. */
  progress(text: string): void
  /** Prints the API's answer as is with `--json`, else what `human` prints. */
  show<T>(answer: T, human: (answer: T) => void): void
}

interface AccessOptions {
  readonly url?: string
  readonly key?: string
  readonly data?: string
  readonly json?: boolean
  readonly watch?: number | true
}

export interface Usage {
  /** Lines as one types them. */
  readonly example: string
  /** False where there is no answer to print. */
  readonly json?: false
  /** Only looks, so that `--watch` may look again and again. */
  readonly looks?: true
}

/** Gives a command the options that every command has, and an action whose errors are told in one way. */
export function calls<Options extends object>(
  shell: Shell,
  command: Command,
  o: Usage,
  action: (caller: Caller<Options>) => Promise<void>,
): Command {
  if (o.looks)
    command.option('--watch [seconds]', 'look again every so many seconds (default 2), until Ctrl-C', seconds)
  command
    .optionsGroup('Where Rouse is:')
    .option('--url <url>', 'its address (else ROUSE_URL, else DIR/credentials.json)')
    .option('--key <key>', "a person's or an agent's key (else ROUSE_KEY, else DIR/credentials.json)")
    .option('--data <dir>', 'DIR, where an embedded node keeps its files (else ROUSE_DATA, else .rouse)')
  if (o.json !== false) command.option('--json', "print the API's answer as JSON")
  return acts<AccessOptions & Options>(shell, command, o, async (options, args) => {
    const access = findAccess({ url: options.url, key: options.key, dir: options.data, env: shell.io.env })
    const client = createClient(access)
    const act = async (stdout: Io['stdout']): Promise<void> => {
      const io = { ...shell.io, stdout }
      const screen = createScreen(io)
      const progress = createProgress(io)
      const caller: Caller<AccessOptions & Options> = {
        io,
        screen,
        client,
        options,
        args,
        progress: progress.at,
        show(answer, human) {
          progress.end()
          // One line for each look, for programs that read line by line.
          if (options.json && options.watch !== undefined && stdout.isTTY !== true)
            stdout.write(`${JSON.stringify(answer)}\n`)
          else if (options.json) screen.json(answer)
          else human(answer)
        },
      }
      try {
        await action(caller)
      } finally {
        progress.end()
      }
    }
    const { io } = shell
    if (options.watch === undefined) await act(io.stdout)
    else await watch({ io, everySeconds: options.watch === true ? 2 : options.watch, draw: act })
    return exits.ok
  })
}

/** The same for a command that makes no call. */
export function acts<Options extends object>(
  shell: Shell,
  command: Command,
  o: Usage,
  /** @returns the exit code */
  action: (options: Options, args: readonly string[]) => Promise<number>,
): Command {
  command.addHelpText('after', `\nExample:\n  $ ${o.example.replaceAll('\n', '\n  $ ')}`)
  return command.action(async (...given: unknown[]) => {
    const positional = given
      .slice(0, -2)
      .flat()
      .map((value) => (value === undefined ? '' : String(value)))
    const options = given.at(-2) as Options & AccessOptions
    try {
      shell.exitCode = await action(options, positional)
    } catch (error) {
      shell.exitCode = report(error, { io: shell.io, json: options.json === true })
    }
  })
}

/** For an option that may be given several times. */
export const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
]

/** @throws InvalidArgumentError (a usage error) */
export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(value)
}

function seconds(value: string): number {
  const n = wholeNumber(value)
  if (n < 1 || n > 86_400) throw new InvalidArgumentError('Expected 1 to 86400 seconds.')
  return n
}

/** @throws InvalidArgumentError (a usage error) */
export function onOrOff(value: string): boolean {
  if (value !== 'on' && value !== 'off') throw new InvalidArgumentError('Expected on or off.')
  return value === 'on'
}

/** @throws UsageError when nothing is piped in and somebody would wait for a prompt that does not show */
export async function readInput(stdin: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString('utf8').trimEnd()
  if (text === '') throw new UsageError('nothing came on the standard input, where "-" says the text is')
  return text
}

/** Leaves out what was not given, so that a PATCH merges and a POST takes the defaults. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
