import { type Command, InvalidArgumentError } from 'commander'
import { findAccess } from '../client/access.ts'
import { type Client, createClient } from '../client/client.ts'
import { exits, report, UsageError } from './report.ts'
import { createScreen, type Screen } from './screen.ts'

/** The world outside a command. */
export interface Io {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
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
  /** Prints the API's answer as is with `--json`, else what `human` prints. */
  show<T>(answer: T, human: (answer: T) => void): void
}

interface AccessOptions {
  readonly url?: string
  readonly key?: string
  readonly data?: string
  readonly json?: boolean
}

/** Gives a command the options that every command has, and an action whose errors are told in one way. */
export function calls<Options extends object>(
  shell: Shell,
  command: Command,
  o: { readonly example: string; readonly json?: boolean },
  action: (caller: Caller<Options>) => Promise<void>,
): Command {
  command
    .optionsGroup('Where Rouse is:')
    .option('--url <url>', 'its address (else ROUSE_URL, else DIR/credentials.json)')
    .option('--key <key>', "a person's or an agent's key (else ROUSE_KEY, else DIR/credentials.json)")
    .option('--data <dir>', 'DIR, where an embedded node keeps its files (else ROUSE_DATA, else .rouse)')
  if (o.json !== false) command.option('--json', "print the API's answer as JSON")
  return acts<AccessOptions & Options>(shell, command, o, async (options, args) => {
    const { io } = shell
    const screen = createScreen(io)
    const access = findAccess({ url: options.url, key: options.key, dir: options.data, env: io.env })
    await action({
      io,
      screen,
      client: createClient(access),
      options,
      args,
      show(answer, human) {
        if (options.json) screen.json(answer)
        else human(answer)
      },
    })
    return exits.ok
  })
}

/** The same for a command that makes no call. */
export function acts<Options extends object>(
  shell: Shell,
  command: Command,
  o: { readonly example: string; readonly json?: boolean },
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
