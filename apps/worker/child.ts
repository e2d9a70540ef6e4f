import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Message } from '../client/shapes.ts'
import { readable } from './sender.ts'
import type { Steering } from './steering.ts'

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>

/** A command that left something running behind it, which holds its output open, is not waited for any longer than this. */
const lingerMs = 2_000

export interface ChildEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly by: NodeJS.Signals | null
}

/** What becomes of one of a command's outputs. */
export interface Sink {
  readonly keep: { add(chunk: Buffer): void }
  /** Where it is passed on to as it comes; null: nowhere. */
  readonly to: NodeJS.WritableStream | null
  /** What is passed on instead of a piece. */
  readonly mark?: (chunk: Buffer) => Buffer
}

/**
 * Runs a command in a process group of its own, so that Ctrl-C in the terminal reaches the worker alone and a stop reaches all
 * that the command started. Its output is kept and passed on as it comes; when the worker's own output is slow, so is the command's.
 *
 * @throws when the command cannot be started (`ENOENT`, `EACCES`, …)
 */
export async function runChild(o: {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Null: it has no input at all. */
  readonly input: string | null
  /** Null closes the command's input after `input`. */
  readonly steering: Steering | null
  readonly stdout: Sink
  readonly stderr: Sink
  readonly signal: AbortSignal
  /** How long after SIGTERM a command that is to be stopped is killed; 0 kills it at once. */
  readonly graceMs: number
  /** What the command leaves running behind it goes with it, however it ended. */
  readonly takesAll: boolean
}): Promise<ChildEnd> {
  const [program, ...args] = o.command
  const child: Child = spawn(program!, args, {
    cwd: o.cwd,
    env: o.env,
    stdio: [o.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  }) as Child
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  // From here on only `kill` can fail, and that is looked at where it is called.
  child.on('error', () => {})

  const closed = closeOf(child)
  passOn(child.stdout, o.stdout)
  passOn(child.stderr, o.stderr)
  const stopping = stopOn(o, child)
  const gone = new AbortController()
  child.once('exit', () => {
    gone.abort()
    if (o.takesAll) killGroup(child, 'SIGKILL')
  })
  if (child.stdin !== null) feed({ ...o, input: o.input ?? '', stdin: child.stdin, gone: gone.signal })

  const end = await closed
  stopping.done()
  return end
}

function passOn(from: Readable, { keep, to, mark }: Sink): void {
  from.on('data', (chunk: Buffer) => {
    keep.add(chunk)
    if (to === null || !to.writable || to.write(mark === undefined ? chunk : mark(chunk))) return
    from.pause()
    const go = () => {
      for (const event of ['drain', 'close', 'error']) to.removeListener(event, go)
      from.resume()
    }
    for (const event of ['drain', 'close', 'error']) to.on(event, go)
  })
}

/** Resolves when the command has ended and its output is read, or nobody but what it left behind could still write any. */
function closeOf(child: Child): Promise<ChildEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, by) => {
      let timer: NodeJS.Timeout
      const linger = () => {
        clearTimeout(timer)
        timer = setTimeout(() => (child.stdout.isPaused() || child.stderr.isPaused() ? linger() : release()), lingerMs)
      }
      const release = () => {
        child.stdout.destroy()
        child.stderr.destroy()
      }
      child.stdout.on('data', linger)
      linger()
      child.once('close', () => {
        clearTimeout(timer)
        resolve({ code, by })
      })
    })
  })
}

function stopOn(o: { readonly signal: AbortSignal; readonly graceMs: number }, child: Child): { done(): void } {
  const { signal, graceMs } = o
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    killGroup(child, graceMs > 0 ? 'SIGTERM' : 'SIGKILL')
    if (graceMs > 0) timer = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs)
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return {
    done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      // The command is gone; what it started and left behind in its group goes too, when it was to be stopped.
      if (signal.aborted) killGroup(child, 'SIGKILL')
    },
  }
}

function killGroup(child: Child, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (process.platform === 'win32') child.kill(name)
    else process.kill(-child.pid!, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Writes the message, then what comes to steer it, as long as the command lives and reads. */
async function feed(o: {
  readonly stdin: Writable
  readonly input: string
  readonly steering: Steering | null
  readonly gone: AbortSignal
}): Promise<void> {
  // A command need not read what it is given: EPIPE is no failure.
  o.stdin.on('error', () => {})
  if (o.steering === null) {
    o.stdin.end(o.input)
    return
  }
  o.stdin.write(`${o.input}\n`)
  for (;;) {
    const message: Message | null = await o.steering.next(o.gone)
    if (message === null) return
    const isWritten = await new Promise<boolean>((resolve) => {
      o.stdin.write(`${readable(message)}\n`, (error) => resolve(!error))
    })
    if (isWritten) continue
    o.steering.putBack(message)
    return
  }
}
