import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { sayToParent, scriptOptions } from './inside.ts'

/** One call: the same bytes whoever serves it, but for the bearer key. */
export interface Call {
  path: string
  key: string | null
  body: unknown
}

/** What the file that `load.ts` reads holds: each caller's calls in order, on one connection that stays open. */
export interface Load {
  port: number
  callers: Call[][]
  /** The first so many of each caller's are made but not counted. */
  warmUpEach: number
}

export interface LoadResult {
  perSecond: number
  p50: number
  p99: number
}

// The client is a bare socket: node:http's own client costs as much as a good server, and both would share two cores.
const { file } = scriptOptions<{ file: string }>()
const { port, callers, warmUpEach } = JSON.parse(readFileSync(file, 'utf8')) as Load

const requests = callers.map((calls) => calls.map(bytesOf))
const sockets = await Promise.all(callers.map(open))
const each = (from: number, to?: number) =>
  Promise.all(sockets.map((socket, i) => inOrder(socket, requests[i]!.slice(from, to))))

await each(0, warmUpEach)
const began = performance.now()
const tookMs = (await each(warmUpEach)).flat().sort((a, b) => a - b)
const seconds = (performance.now() - began) / 1000
const at = (share: number) => tookMs[Math.max(0, Math.ceil(tookMs.length * share) - 1)] ?? 0
sayToParent({ perSecond: tookMs.length / seconds, p50: at(0.5), p99: at(0.99) } satisfies LoadResult)
process.exit(0)

function bytesOf({ path, key, body }: Call): Buffer {
  const text = JSON.stringify(body)
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)))
    socket.once('error', reject)
  })
}

/** Sends each request when the one before is answered; ms per request. Anything but 201 ends the run: a refusal is fast and is no figure. */
async function inOrder(socket: Socket, all: Buffer[]): Promise<number[]> {
  const took: number[] = []
  for (const request of all) {
    const sent = performance.now()
    const answer = await exchange(socket, request)
    took.push(performance.now() - sent)
    if (!answer.startsWith('HTTP/1.1 201')) throw new Error(`expected 201, got:\n${answer.slice(0, 600)}`)
  }
  return took
}

function exchange(socket: Socket, request: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const closed = () => reject(new Error(`the server closed the connection after:\n${text.slice(0, 600)}`))
    const more = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!whole(text)) return
      socket.off('data', more).off('close', closed)
      resolve(text)
    }
    socket.on('data', more).once('close', closed)
    socket.write(request)
  })
}

function whole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) return text.length - headEnd - 4 >= Number(length[1])
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return text.endsWith('0\r\n\r\n')
  return true
}
