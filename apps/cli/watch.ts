import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError, Unreachable } from '../client/errors.ts'
import { printable } from './screen.ts'
import type { Io } from './shell.ts'

export interface Watch {
  readonly io: Io
  /** Seconds from one picture to the next. */
  readonly everySeconds: number
  /** Prints once into the stream that it is given. */
  readonly draw: (stdout: Io['stdout']) => Promise<void>
}

/**
 * Prints again and again until SIGINT or SIGTERM: on a terminal one picture in place, in a pipe only what has changed. A server that
 * goes away is waited for.
 *
 * @throws ApiError and what else `draw` throws: what is refused once is refused the next time too
 */
export async function watch({ io, everySeconds, draw }: Watch): Promise<void> {
  const stop = new AbortController()
  const signals = io.signals ?? process
  const end = (): void => stop.abort()
  for (const name of ['SIGINT', 'SIGTERM']) signals.on(name, end)
  io.stdout.on('close', end)
  let last: string | null = null
  let isAway = false
  try {
    while (!stop.signal.aborted) {
      let seconds = everySeconds
      try {
        const text = await pictureOf(io, draw)
        if (stop.signal.aborted) break
        if (io.stdout.isTTY === true) {
          // What stood on the terminal goes up, out of the way of the picture.
          if (last === null) io.stdout.write('\n'.repeat((io.stdout.rows ?? 24) - 1))
          io.stdout.write(inPlace(text, note(everySeconds), io.stdout.rows))
        } else if (text !== last) io.stdout.write(text)
        last = text
        isAway = false
      } catch (error) {
        const wait = waitFor(error)
        if (wait === null) throw error
        seconds = Math.max(seconds, wait)
        // Said once: what comes after it is the picture of the server that is back.
        if (!isAway) io.stderr.write(`✗ ${printable((error as Error).message)}. Tries again until it answers\n`)
        isAway = true
      }
      await pause(seconds * 1000, undefined, { signal: stop.signal }).catch(() => {})
    }
  } finally {
    for (const name of ['SIGINT', 'SIGTERM']) signals.off(name, end)
    io.stdout.off('close', end)
  }
}

async function pictureOf(io: Io, draw: Watch['draw']): Promise<string> {
  const { isTTY = false, columns } = io.stdout
  const stream = Object.assign(new PassThrough(), { isTTY, ...(columns === undefined ? {} : { columns }) })
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await draw(stream)
  return Buffer.concat(chunks).toString('utf8')
}

/** Seconds to wait before the next try; null when trying again is of no use. */
function waitFor(error: unknown): number | null {
  if (error instanceof Unreachable) return 0
  if (error instanceof ApiError && error.status === 429) return error.retryAfterSeconds ?? 1
  return error instanceof ApiError && error.status >= 500 ? 0 : null
}

const note = (seconds: number): string => `every ${seconds} s · Ctrl-C ends`

/** Over the picture before, line by line, so that nothing flickers; what the screen has no room for is counted. */
function inPlace(text: string, last: string, rows = 24): string {
  const lines = text.trimEnd().split('\n')
  const room = Math.max(1, rows - 2)
  const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`]
  return `${home}${[...shown, `${dim}${last}${plain}`].map((line) => `${line}${toEndOfLine}`).join('\n')}\n${toEndOfScreen}`
}

const home = '\u001b[H'
const toEndOfLine = '\u001b[K'
const toEndOfScreen = '\u001b[J'
const dim = '\u001b[2m'
const plain = '\u001b[22m'
