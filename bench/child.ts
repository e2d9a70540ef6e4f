import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { started } from './started.ts'

/** A process that the bench started: stopped by its own pid, its last words kept for the error message. */
export interface Child {
  pid: number
  /** The next line of its stdout that is a JSON object; rejects when it ends without one. */
  answer<T>(): Promise<T>
  say(line: string): void
  exited: Promise<number | null>
  stop(): Promise<void>
  lastWords(): string
}

/** Runs a TypeScript file of bench/ in a process, and so on an event loop, of its own. */
export function startScript(script: string, options: object): Child {
  const file = fileURLToPath(new URL(script, import.meta.url))
  return startProcess(process.execPath, ['--import', 'tsx', file, JSON.stringify(options)])
}

/** What `startScript` was given, read in the child. */
export const scriptOptions = <T>(): T => JSON.parse(process.argv[2] ?? '{}') as T

/** The child's side of `answer`. */
export const sayToParent = (answer: object): boolean => process.stdout.write(`${JSON.stringify(answer)}\n`)

export function startProcess(
  command: string,
  args: string[],
  { stopSignal = 'SIGTERM', ...options }: SpawnOptions & { stopSignal?: NodeJS.Signals } = {},
): Child {
  const child: ChildProcess = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  const name = args.find((arg) => arg.endsWith('.ts') || arg.endsWith('.js')) ?? command
  const waiting: { resolve(line: object): void; reject(error: Error): void }[] = []
  const unread: object[] = []
  let tail = ''
  let ended: Error | null = null

  const fail = (error: Error) => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  const keep = (text: string) => {
    tail = (tail + text).slice(-4_000)
  }

  child.stderr?.setEncoding('utf8').on('data', keep)
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const answer = jsonObject(line)
    if (answer === null) keep(`${line}\n`)
    else if (waiting.length > 0) waiting.shift()!.resolve(answer)
    else unread.push(answer)
  })
  // Writing to a child that has just ended is reported by its exit, not by a broken pipe.
  child.stdin?.on('error', () => {})

  const exited = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      fail(new Error(`${name} did not start: ${error.message}`))
      resolve(null)
    })
    child.once('close', (code, signal) => {
      const why = /^\w*Error: .*$/m.exec(tail)?.[0] ?? 'see below'
      fail(new Error(`${name} ended (${signal ?? `exit ${code}`}): ${why}\n${tail.trim()}`))
      resolve(code)
    })
  })

  const stop = started(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill(stopSignal)
    const hard = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await exited
    clearTimeout(hard)
  })

  return {
    pid: child.pid ?? -1,
    answer: <T>() =>
      new Promise<T>((resolve, reject) => {
        if (unread.length > 0) resolve(unread.shift() as T)
        else if (ended) reject(ended)
        else waiting.push({ resolve: resolve as (line: object) => void, reject })
      }),
    say: (line) => void child.stdin?.write(`${line}\n`),
    exited,
    stop,
    lastWords: () => tail.trim(),
  }
}

/** A port that was free a moment ago; the little race is harmless on a machine that runs a benchmark. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error(`expected a port, got ${address}`)
  return address.port
}

function jsonObject(line: string): object | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line) as object
  } catch {
    return null
  }
}
