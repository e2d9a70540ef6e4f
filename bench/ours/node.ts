import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, nodeFlags, startProcess } from '../child.ts'
import type { Call } from '../load.ts'
import { started } from '../started.ts'

/** What the API holds a session to: the 21st schedule is refused. */
const SCHEDULES_PER_SESSION = 20
const DAY_MS = 86_400_000

/** Our node as anybody runs it: `node dist/rouse.js serve`, a process of its own, driven over HTTP. */
export interface OurNode {
  pid: number
  port: number
  /** The folder of its store. */
  dir: string
  /** The first person's. */
  key: string
  post<T>(path: string, body: unknown, key?: string): Promise<T>
  stop(): Promise<void>
}

export async function startNode(o: { env?: Record<string, string>; flags?: readonly string[] } = {}): Promise<OurNode> {
  const binary = fileURLToPath(new URL('../../dist/rouse.js', import.meta.url))
  if (!existsSync(binary)) throw new Error('no dist/rouse.js: npm run build')
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-node-'))
  const removeDir = started(async () => rmSync(dir, { recursive: true, force: true }))
  const port = await freePort()
  const flags = [...nodeFlags, ...(o.flags ?? [])]
  const argv = [...flags, binary, 'serve', '--port', String(port), '--data', dir]
  const node = startProcess(process.execPath, argv, { env: { ...process.env, ...o.env } })

  let over = false
  void node.exited.then(() => {
    over = true
  })
  const credentials = join(dir, 'credentials.json')
  for (let attempt = 0; !(existsSync(credentials) && (await healthy(port))); attempt += 1) {
    if (over || attempt === 300) throw new Error(`the node did not come up:\n${node.lastWords()}`)
    await sleep(50)
  }
  const { key: firstKey } = JSON.parse(readFileSync(credentials, 'utf8')) as { key: string }

  return {
    pid: node.pid,
    port,
    dir,
    key: firstKey,
    post: async <T>(path: string, body: unknown, key = firstKey) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`expected 2xx of POST ${path}, got ${answer.status}: ${await answer.text()}`)
      return (await answer.json()) as T
    },
    stop: async () => {
      await node.stop()
      await removeDir()
    },
  }
}

/**
 * The calls that create `each` schedules per caller. Every caller is a person with a key of their own (rate limits hold per key), one agent,
 * and as many sessions as the limit of 20 schedules asks for.
 */
export async function scheduleCalls(
  node: OurNode,
  wanted: { callers: number; each: number; time: (index: number) => object },
): Promise<Call[][]> {
  const callers: Call[][] = []
  for (let c = 0; c < wanted.callers; c += 1) {
    const { key } = await node.post<{ key: string }>('/v1/people', { name: `Caller ${c}` })
    const agent = await node.post<{ id: string }>('/v1/agents', { name: `Agent ${c}` }, key)
    const sessions: string[] = []
    for (let s = 0; s < Math.ceil(wanted.each / SCHEDULES_PER_SESSION); s += 1) {
      const session = await node.post<{ id: string }>('/v1/sessions', { agent: agent.id, title: `Session ${s}` }, key)
      sessions.push(session.id)
    }
    callers.push(
      Array.from({ length: wanted.each }, (_, i) => ({
        path: '/v1/schedules',
        key,
        body: scheduleBody(sessions[i % sessions.length]!, c * wanted.each + i, wanted.time),
      })),
    )
  }
  return callers
}

/** What is posted, the same to ours and to the peers. */
export const scheduleBody = (session: string, index: number, time: (index: number) => object): object => ({
  name: `Look at the queue ${index}`,
  session,
  prompt: `Look at the queue, number ${index}, and say what waits longer than a day.`,
  ...time(index),
})

/** One moment each, a second apart, from ninety days ahead: nothing is due while the bench runs. */
export const farAt = (index: number): { at: string } => ({
  at: new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + 90 * DAY_MS + index * 1_000).toISOString(),
})

/** A daily rule, one of 1,440; an hour and more from now, so that none comes due while the bench runs. */
export const dailyCron = (index: number): { cron: string } => {
  const minutes = (Math.floor(Date.now() / 60_000) + 60 + (index % 1_320)) % 1_440
  return { cron: `${minutes % 60} ${Math.floor(minutes / 60)} * * *` }
}

async function healthy(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}
