import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldsOf, JsonLines } from './lines.ts'
import type { Calls, Status } from './tool-calls.ts'

/** `fs.watch` misses changes on some file systems; a look at a file that did not grow costs next to nothing. */
const lookMs = 250

/**
 * A file to which a command appends its tool calls, a JSON object per line: `{"tool", "args", "status"?, "result"?}`; and beside it the place of
 * another, in which `rouse sleep` leaves what it was asked.
 */
export interface CallFile {
  readonly path: string
  readonly sleepPath: string
  /** What the command asked for before it ended; null: nothing. */
  slept(): Promise<{ readonly seconds: number; readonly reason?: string } | null>
  /** Reads the rest and removes the files. */
  close(): Promise<void>
}

/**
 * Makes a private file and reads it as it grows.
 *
 * @param o.warn  is told once of lines that are no calls
 */
export async function openCallFile(o: {
  readonly calls: Calls
  readonly warn: (message: string) => void
}): Promise<CallFile> {
  const dir = await mkdtemp(join(tmpdir(), 'rouse-calls-'))
  const path = join(dir, 'calls.jsonl')
  // Read by this handle, whatever becomes of the name.
  const file = await open(path, 'wx+', 0o600)
  const buffer = Buffer.alloc(64 * 1024)
  let position = 0
  let isWarned = false
  const lines = new JsonLines((value) => {
    if (takeCall(o.calls, value)) return
    if (!isWarned) o.warn('left out of ROUSE_TOOL_CALLS: a line that is no {"tool": …, "args": …}')
    isWarned = true
  })

  const look = async () => {
    // Written anew instead of appended to.
    if ((await file.stat()).size < position) position = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return
      position += bytesRead
      lines.add(Buffer.from(buffer.subarray(0, bytesRead)))
    }
  }
  let looking: Promise<void> = Promise.resolve()
  const next = () => {
    looking = looking.then(look).catch(() => {})
    return looking
  }
  const timer = setInterval(next, lookMs)

  const sleepPath = join(dir, 'sleep.json')
  return {
    path,
    sleepPath,
    async slept() {
      const text = await readFile(sleepPath, 'utf8').catch(() => null)
      if (text === null) return null
      try {
        const { seconds, reason } = fieldsOf(JSON.parse(text))
        if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0)
          return { seconds, ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}) }
      } catch {
        // Said below.
      }
      o.warn('left out of ROUSE_SLEEP: it holds no {"seconds": …}')
      return null
    },
    async close() {
      clearInterval(timer)
      await next()
      lines.end()
      await file.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

function takeCall(calls: Calls, value: unknown): boolean {
  const { tool, args, status = 'ok', result } = fieldsOf(value)
  if (typeof tool !== 'string' || tool === '') return false
  if (status !== 'ok' && status !== 'failed' && status !== 'denied') return false
  calls.begin(tool, args).end(status satisfies Status, result)
  return true
}
