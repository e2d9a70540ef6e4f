import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { assertAsDocumented } from '../contract/documented.ts'
import { rouseProgram } from './bundle.ts'

/**
 * The journeys talk to Rouse over HTTP only. Without more they start an embedded node; with ROUSE_TEST_URL and
 * ROUSE_TEST_KEY (an admin's) they talk to a deployed one, and what needs a clock of its own is skipped.
 */
const deployed =
  process.env.ROUSE_TEST_URL && process.env.ROUSE_TEST_KEY
    ? { url: process.env.ROUSE_TEST_URL.replace(/\/$/, ''), key: process.env.ROUSE_TEST_KEY }
    : null

// biome-ignore lint/suspicious/noExplicitAny: an answer is what is under test; no type vouches for it
export type Json = any

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

export interface CallOptions {
  /** another key than the first person's; null sends none */
  readonly key?: string | null
  readonly headers?: Record<string, string>
  /** sent as it is, instead of a JSON body */
  readonly raw?: string | Uint8Array
}

const startMsMax = 20_000

/** Nodes that run now; a test run that breaks off takes them with it. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export class RouseNode {
  url = ''
  key = ''
  dir = ''
  #child: ChildProcess | null = null
  #said = ''

  /** Starts the node, or starts it again on the same folder. `clock` makes it stand still at that instant. */
  async start(
    o: { readonly clock?: string; readonly program?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    if (deployed !== null && o.clock === undefined) {
      this.url = deployed.url
      this.key = deployed.key
      return
    }
    const program = o.program ?? (await rouseProgram())
    if (this.dir === '') this.dir = await mkdtemp(join(tmpdir(), 'rouse-journey-'))
    const port = await freePort()
    const argv = [program, 'serve', '--port', String(port), '--data', this.dir]
    if (o.clock !== undefined) argv.push('--clock', o.clock)
    // Another TZ than UTC, since the zone of the machine must never matter.
    const env = { ...process.env, TZ: 'America/St_Johns', ...o.env }
    const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    this.#said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.#said += chunk.toString('utf8')
      })
    const base = `http://127.0.0.1:${port}`
    for (const since = Date.now(); ; ) {
      if (child.exitCode !== null || Date.now() - since > startMsMax)
        throw new Error(`the node did not start: ${this.#said}`)
      const up = await fetch(`${base}/healthz`).then(
        (answer) => answer.ok,
        () => false,
      )
      if (up) break
      await sleep(15)
    }
    const credentials = JSON.parse(await readFile(join(this.dir, 'credentials.json'), 'utf8'))
    this.url = credentials.url
    this.key = credentials.key
  }

  /** Ends the node and answers how long that took. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT' = 'SIGTERM'): Promise<{ ms: number; code: number | null }> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return { ms: 0, code: child?.exitCode ?? null }
    const since = Date.now()
    const gone = once(child, 'exit')
    child.kill(signal)
    const hung = setTimeout(() => child.kill('SIGKILL'), 8_000)
    const [code] = await gone
    clearTimeout(hung)
    return { ms: Date.now() - since, code }
  }

  /** What the process wrote to its standard output and error. */
  get said(): string {
    return this.#said
  }

  async remove(): Promise<void> {
    await this.stop()
    if (this.dir !== '') await rm(this.dir, { recursive: true, force: true })
  }

  async call(method: string, path: string, body?: Json, o: CallOptions = {}): Promise<Answer> {
    const headers: Record<string, string> = {}
    const key = o.key === undefined ? this.key : o.key
    if (key !== null) headers.authorization = `Bearer ${key}`
    const sent = o.raw ?? (body === undefined ? undefined : JSON.stringify(body))
    if (sent !== undefined) headers['content-type'] = 'application/json'
    Object.assign(headers, o.headers)
    const answer = await fetch(this.url + path, { method, headers, ...(sent === undefined ? {} : { body: sent }) })
    const text = await answer.text()
    // What a gateway answers by itself stands in no document of ours.
    if (deployed === null)
      await assertAsDocumented({ method, path, status: answer.status, type: answer.headers.get('content-type'), text })
    return { status: answer.status, body: parsed(text), headers: answer.headers }
  }

  /** A call that must be accepted; answers its body. */
  async ok(method: string, path: string, body?: Json, o: CallOptions = {}): Promise<Json> {
    const answer = await this.call(method, path, body, o)
    if (answer.status >= 300)
      throw new Error(
        `${method} ${path} ${JSON.stringify(body)} answered ${answer.status} ${JSON.stringify(answer.body)}`,
      )
    return answer.body
  }
}

/** A group of tests with a node whose clock stands at `clock`; skipped where the clock cannot be moved. */
export function onClock(subject: string, clock: string, tests: (rouse: RouseNode) => void): void {
  describe.skipIf(deployed !== null)(subject, () => {
    const rouse = new RouseNode()
    beforeAll(() => rouse.start({ clock }))
    // What a test leaves behind would fire through all the days that the next ones move over.
    afterEach(() => retire(rouse))
    afterAll(() => rouse.remove())
    tests(rouse)
  })
}

/** A group of tests that never move the clock: they run against an embedded node and a deployed one alike. */
export function anywhere(subject: string, tests: (rouse: RouseNode) => void): void {
  describe(subject, () => {
    const rouse = new RouseNode()
    beforeAll(() => rouse.start())
    afterAll(() => rouse.remove())
    tests(rouse)
  })
}

/** A group of tests that start and end nodes of their own. */
export function withOwnNodes(subject: string, tests: (make: () => RouseNode) => void): void {
  describe.skipIf(deployed !== null)(subject, () => {
    const made: RouseNode[] = []
    afterAll(() => Promise.all(made.map((node) => node.remove())))
    tests(() => {
      const node = new RouseNode()
      made.push(node)
      return node
    })
  })
}

async function retire(rouse: RouseNode): Promise<void> {
  for (;;) {
    const { data } = await rouse.ok('GET', '/v1/schedules?status=active&limit=100')
    if (data.length === 0) return
    for (const { id } of data) await rouse.ok('DELETE', `/v1/schedules/${id}`)
  }
}

function parsed(text: string): Json {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
