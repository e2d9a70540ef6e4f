import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openNode } from '../../apps/local/node.ts'
import { newSecret } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import type { World } from '../../shared/ports/world.ts'
import { quantile } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'

/** What this process prints, on one line; all in ms. */
export interface OurChanged {
  /** From the call that puts a document to the bell of the message, which rings after its commit is on disk. */
  p50: number
  p99: number
  /** From a put that all of `onOnePath` watch to the last of their bells; and to its answer, when none of them fires. */
  herdMs: number
  quietMs: number
}

export interface OurChangeOptions {
  /** Monitors that are armed on other documents. */
  armed: number
  changes: number
  /** 0: no herd. */
  onOnePath: number
}

/** Also what a conversation may be woken a day: each session that a monitor fires in takes so many. */
const perSession = 20
const warmUp = 500
/** The node runs a few herds by itself a while after its start (warm-up.ts): they are not what is measured. */
const startedMs = 8_000
const { armed, changes, onOnePath } = scriptOptions<OurChangeOptions>()

const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-change-'))
// One key loads all of it here; rate limits hold per key.
const node = openNode({ dir, standingAt: null, log: (level, what) => console.error(level, what), rate: null })
const key = await firstKey(node.world)
await node.start()
const quietAt = performance.now() + startedMs
const agent = await call('POST', '/v1/agents', { name: 'scout' })
const sessionsFor = (count: number): Promise<string[]> =>
  many(Math.ceil(count / perSession), () => call('POST', '/v1/sessions', { agent }))

try {
  const far = await sessionsFor(armed)
  await many(armed, (i) => arm(far[i % far.length]!, `far/${i}`))
  const near = await sessionsFor(changes + warmUp)
  await sleep(Math.max(0, quietAt - performance.now()))
  const taken: number[] = []
  for (let i = 0; i < changes + warmUp; i += 1) {
    const path = `near/${i}`
    await arm(near[i % near.length]!, path)
    const ms = await untilRung(1, path, { n: 1 })
    if (i >= warmUp) taken.push(ms)
  }
  sayToParent({ p50: quantile(taken, 0.5), p99: quantile(taken, 0.99), ...(await herd()) } satisfies OurChanged)
} finally {
  await node.close()
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)

async function herd(): Promise<Pick<OurChanged, 'herdMs' | 'quietMs'>> {
  if (onOnePath === 0) return { herdMs: 0, quietMs: 0 }
  const open = await sessionsFor(onOnePath)
  await many(onOnePath, (i) => arm(open[i % open.length]!, 'herd', `doc.n >= ${1 + (i % 100)}`))
  const before = performance.now()
  await put('herd', { n: 0 })
  const quietMs = performance.now() - before
  return { quietMs, herdMs: await untilRung(onOnePath, 'herd', { n: 100 }) }
}

/** Puts a document, and answers how long it took until so many messages were told of. */
async function untilRung(count: number, path: string, body: object): Promise<number> {
  let left = count
  const before = performance.now()
  const rung = new Promise<number>((resolve) => {
    node.bell.onRing((_queue, { kind }) => {
      if (kind !== 'message') return
      left -= 1
      if (left === 0) resolve(performance.now() - before)
    })
  })
  await put(path, body)
  return await rung
}

async function arm(session: string, path: string, when = 'doc.n > 0'): Promise<void> {
  await call('POST', '/v1/monitors', { session, note: 'Say so.', watch: { document: { path } }, when, expiresIn: '7d' })
}

async function put(path: string, body: object): Promise<void> {
  await call('PUT', `/v1/documents/${path}`, body)
}

/** Straight into the node's HTTP app. @returns the id of what was made */
async function call(method: string, path: string, body: object): Promise<string> {
  const answer = await node.app.request(path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status >= 300) throw new Error(`expected ${method} ${path} to pass, got ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** 64 at once, as over HTTP, so that commits group. */
async function many<T>(count: number, one: (index: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let from = 0; from < count; from += 64)
    all.push(...(await Promise.all(Array.from({ length: Math.min(64, count - from) }, (_, i) => one(from + i)))))
  return all
}

/** What `rouse serve` does at its first start, without the file. */
async function firstKey(world: World): Promise<string> {
  const { key, sha256 } = newSecret(world.ids)
  const createdAt = world.clock.now()
  const person = { id: `per_${world.ids.ulid(createdAt)}`, name: 'owner', tz: 'UTC', admin: true, createdAt }
  await world.table.commit(personOps(person, `key_${world.ids.ulid(createdAt)}`, sha256), `first:${person.id}`)
  return key
}
