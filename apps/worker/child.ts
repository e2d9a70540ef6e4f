import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Message } from '../client/shapes.ts'
import { Beginning, Tail } from './capture.ts'
import type { Steering } from './steering.ts'

const killMs = 5_000
/** A command that left something running behind it, which holds its output open, is not waited for any longer than this. */
const lingerMs = 2_000

export interface ChildEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly by: NodeJS.Signals | null
  readonly stdout: Beginning
  readonly stderr: Tail
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
  readonly input: string
  /** Null closes the command's input after `input`. */
  readonly steering: Steering | null
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly signal: AbortSignal
}): Promise<ChildEnd> {
  const [program, ...args] = o.command
  const child = spawn(program!, args, { cwd: o.cwd, env: o.env, stdio: 'pipe', detached: process.platform !== 'win32' })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  // From here on only `kill` can fail, and that is looked at where it is called.
  child.on('error', () => {})

  const stdout = new Beginning()
  const stderr = new Tail()
  const closed = closeOf(child)
  passOn({ from: child.stdout, keep: stdout, to: o.stdout })
  passOn({ from: child.stderr, keep: stderr, to: o.stderr })
  const stopping = stopOn(o.signal, child)
  const gone = new AbortController()
  child.once('exit', () => gone.abort())
  feed({ ...o, stdin: child.stdin, gone: gone.signal })

  const { code, by } = await closed
  stopping.done()
  return { code, by, stdout, stderr }
}

function passOn(o: { from: Readable; keep: { add(chunk: Buffer): void }; to: NodeJS.WritableStream }): void {
  o.from.on('data', (chunk: Buffer) => {
    o.keep.add(chunk)
    if (!o.to.writable || o.to.write(chunk)) return
    o.from.pause()
    const go = () => {
      for (const event of ['drain', 'close', 'error']) o.to.removeListener(event, go)
      o.from.resume()
    }
    for (const event of ['drain', 'close', 'error']) o.to.on(event, go)
  })
}

/** Resolves when the command has ended and its output is read, or nobody but what it left behind could still write any. */
function closeOf(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; by: NodeJS.Signals | null }> {
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

function stopOn(signal: AbortSignal, child: ChildProcessWithoutNullStreams): { done(): void } {
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    killGroup(child, 'SIGTERM')
    timer = setTimeout(() => killGroup(child, 'SIGKILL'), killMs)
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

function killGroup(child: ChildProcessWithoutNullStreams, name: 'SIGTERM' | 'SIGKILL'): void {
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
      o.stdin.write(`${message.text}\n`, (error) => resolve(!error))
    })
    if (isWritten) continue
    o.steering.putBack(message)
    return
  }
}
