import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { started } from './started.ts'

/** A process that the bench started: stopped by its own pid, its last words kept for the error message. */
export interface Child {
  pid: number
  /** The next line of its stdout that is a JSON object; rejects when it ends without one. */
  answer<T>(): Promise<T>
  exited: Promise<number | null>
  stop(): Promise<void>
  lastWords(): string
}

const builtDir = fileURLToPath(new URL('../node_modules/.cache/rouse-bench/', import.meta.url))
const built = new Map<string, string>()

/**
 * Runs a TypeScript file of bench/ in a process, and so on an event loop, of its own.
 *
 * It is bundled first, as `npm run build` does it: under tsx every closure is named when it is made (esbuild's keepNames), which would
 * measure tsx as well. Packages stay outside; below node_modules they are found from there.
 */
export function startScript(script: string, options: object, env: NodeJS.ProcessEnv = process.env): Child {
  const outfile = built.get(script) ?? join(builtDir, `${basename(script, '.ts')}.mjs`)
  if (!built.has(script)) {
    buildSync({
      entryPoints: [fileURLToPath(new URL(script, import.meta.url))],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      logLevel: 'warning',
    })
    built.set(script, outfile)
  }
  return startProcess(process.execPath, [...nodeFlags, outfile, JSON.stringify(options)], { env })
}

/** As `npm start` gives them, and to the peers alike: a burst makes much garbage that is dead at once. */
export const nodeFlags = ['--max-semi-space-size=64']

export function startProcess(
  command: string,
  args: string[],
  { stopSignal = 'SIGTERM', ...options }: SpawnOptions & { stopSignal?: NodeJS.Signals } = {},
): Child {
  const child: ChildProcess = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  const name = basename(args.find((arg) => /\.m?js$/.test(arg)) ?? command)
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
