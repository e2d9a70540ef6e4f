import { PassThrough, Readable } from 'node:stream'
import { run } from '../../apps/cli/main.ts'

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command in this process, with an environment and streams of its own; with `columns`, on a terminal so wide. */
export async function rouse(
  argv: readonly string[],
  o: {
    readonly url?: string
    readonly env?: NodeJS.ProcessEnv
    readonly stdin?: string
    readonly columns?: number
    /** Where SIGINT comes from; default: the process. */
    readonly signals?: NodeJS.EventEmitter
    /** Standard error is a terminal too. */
    readonly isStderrTerminal?: boolean
    /** Is told what standard output has so far, at each piece. */
    readonly on?: (stdout: string) => void
  } = {},
): Promise<Said> {
  const [stdout, stderr] = [collecting(), collecting()]
  const env = o.env ?? { ROUSE_URL: o.url, ROUSE_KEY: 'key-of-a-person' }
  if (o.on) stdout.stream.on('data', () => o.on?.(stdout.text()))
  if (o.isStderrTerminal) Object.assign(stderr.stream, { isTTY: true, clearLine() {}, cursorTo() {}, moveCursor() {} })
  const stream = o.columns ? Object.assign(stdout.stream, { isTTY: true, columns: o.columns }) : stdout.stream
  const io = {
    stdout: stream,
    stderr: stderr.stream,
    stdin: Readable.from(o.stdin === undefined ? [] : [o.stdin]),
    env,
    ...(o.signals === undefined ? {} : { signals: o.signals }),
  }
  const code = await run(argv, io)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

export function collecting(): { readonly stream: PassThrough; text(): string } {
  const stream = new PassThrough()
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
