import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { sayToParent, scriptOptions } from '../inside.ts'
import { LatenessCount } from './lateness.ts'

/** What the file holds that the process which serves the sessions is told of. */
export interface Serving {
  port: number
  sessions: { id: string; key: string }[]
  everyMs: number
  reportMs: number
}

/** What it says of each stretch; counts are of that stretch, `seen` of all so far. */
export interface Served {
  wakes: number
  p50: number
  p99: number
  most: number
  /** Nominal times that came again, or before one that had come. */
  doubled: number
  /** Nominal times that a schedule's next wake passed over. */
  passedOver: number
  failed: number
  lastFault: string | null
}

/** The answer to SIGUSR2: per schedule its first and last nominal time and how many came. */
export interface Seen {
  seen: [schedule: string, first: number, last: number, count: number][]
}

const { port, sessions, everyMs, reportMs } = JSON.parse(
  readFileSync(scriptOptions<{ file: string }>().file, 'utf8'),
) as Serving
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const seen = new Map<string, { first: number; last: number; count: number }>()
const lateness = new LatenessCount()
let doubled = 0
let passedOver = 0
let failed = 0
let lastFault: string | null = null

for (const [nth, session] of sessions.entries()) setTimeout(() => void serve(session), nth)
setInterval(report, reportMs)
process.on('SIGUSR2', () => {
  sayToParent({ seen: [...seen].map(([id, { first, last, count }]) => [id, first, last, count]) } satisfies Seen)
})

async function serve(session: { id: string; key: string }): Promise<never> {
  for (;;) {
    try {
      const claimed = await post(`/v1/sessions/${session.id}/claim`, session.key, { wait: 20 })
      if (claimed === null) continue
      count(claimed.message)
      await post(`/v1/turns/${claimed.turn.id}/end`, session.key, { outcome: 'ok', answer: 'Nothing new.' })
    } catch (error) {
      failed += 1
      lastFault = String(error)
      await new Promise((go) => setTimeout(go, 1_000))
    }
  }
}

function count(message: { id: string; origin: { schedule: string } }): void {
  const nominal = timeOf(message.id)
  lateness.add(Date.now() - nominal)
  const before = seen.get(message.origin.schedule)
  if (before === undefined) {
    seen.set(message.origin.schedule, { first: nominal, last: nominal, count: 1 })
    return
  }
  if (nominal <= before.last) doubled += 1
  else passedOver += Math.round((nominal - before.last) / everyMs) - 1
  before.last = Math.max(nominal, before.last)
  before.count += 1
}

function report(): void {
  const { count: wakes, p50, p99, most } = lateness.take()
  sayToParent({ wakes, p50, p99, most, doubled, passedOver, failed, lastFault } satisfies Served)
  doubled = 0
  passedOver = 0
  failed = 0
  lastFault = null
}

/** A message's id is a ULID whose time is the nominal time. */
function timeOf(id: string): number {
  const text = id.slice(id.indexOf('_') + 1)
  let ms = 0
  for (const letter of text.slice(0, 10)) ms = ms * 32 + '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter)
  return ms
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes of the API are known here by its own documents
function post(path: string, key: string, body: object): Promise<any> {
  const text = JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const call = request(
      {
        port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        },
      },
      (answer) => {
        let got = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk) => {
          got += chunk
        })
        answer.on('error', reject)
        answer.on('end', () => {
          if (answer.statusCode === 204) resolve(null)
          else if (answer.statusCode === 200) resolve(JSON.parse(got))
          else reject(new Error(`${path} answered ${answer.statusCode}: ${got.slice(0, 300)}`))
        })
      },
    )
    call.on('error', reject)
    call.end(text)
  })
}
