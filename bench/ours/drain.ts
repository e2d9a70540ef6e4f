import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNode } from '../../apps/local/node.ts'
import { newSecret } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import type { World } from '../../shared/ports/world.ts'
import { type Drained, drained, nowMs } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'

/** What this process prints, on one line. */
export interface OurDrained extends Drained {
  /** `perSecond` again, on a store that holds `othersArmed` more schedules, months away. */
  with90kPerSecond: number
}

interface OurDrainOptions {
  due: number
  sessions: number
  othersArmed: number
}

/**
 * What is measured, and all that the measurement knows of it: `openSubject` is the one place to wire when apps/local/node.ts changes.
 * The bell is what is observed: the engine rings it only after the commit that put the message is durable.
 */
interface Subject {
  /** Creates `count` schedules, each one moment (`at`), spread over `sessions`; answers when all are stored and their alarms set. */
  arm(wanted: { count: number; sessions: number; at: (index: number) => number }): Promise<void>
  /** Calls `heard` once per message that the bell announces. */
  onRing(heard: () => void): void
  close(): Promise<void>
}

const SCHEDULES_PER_SESSION = 20
const DAY_MS = 86_400_000
const { due, sessions, othersArmed } = scriptOptions<OurDrainOptions>()
/** From the choice of the due time to the due time: what is due is loaded in it, several times slower than on a quiet machine if need be. */
const loadMs = 10_000
const alone = await drainOnce(0)
const crowded = await drainOnce(othersArmed)
sayToParent({ ...alone, with90kPerSecond: crowded.perSecond } satisfies OurDrained)
process.exit(0)

async function drainOnce(others: number): Promise<Drained> {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-drain-'))
  const subject = await openSubject(dir)
  try {
    if (others > 0) {
      const farAway = Date.now() + 90 * DAY_MS
      await subject.arm({
        count: others,
        sessions: Math.ceil(others / SCHEDULES_PER_SESSION),
        at: (index) => farAway + index * 1_000,
      })
    }

    // A whole second, as a schedule's time is.
    const dueAt = Math.ceil((Date.now() + loadMs) / 1_000) * 1_000
    await subject.arm({ count: due, sessions, at: () => dueAt })
    if (Date.now() > dueAt - 1_000) throw new Error(`expected ${due} to be loaded in 9 s: is the machine busy?`)

    const lags: number[] = []
    await new Promise<void>((resolve) => {
      subject.onRing(() => {
        lags.push(nowMs() - dueAt)
        if (lags.length === due) resolve()
      })
    })
    return drained(lags)
  } finally {
    await subject.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The node as `rouse serve` opens it, but for the port: calls go straight into its HTTP app. */
async function openSubject(dir: string): Promise<Subject> {
  const log = (level: string, what: string) => console.error(level, what)
  // One key loads all of it here; rate limits hold per key.
  const node = openNode({ dir, standingAt: null, log, rate: null })
  const key = await firstKey(node.world)
  await node.start()

  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await node.app.request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (answer.status !== 201) throw new Error(`expected 201 of POST ${path}, got ${await answer.text()}`)
    return (await answer.json()) as { id: string }
  }
  /** 64 at once, as over HTTP, so that commits group. */
  const many = async <T>(count: number, one: (index: number) => Promise<T>): Promise<T[]> => {
    const all: T[] = []
    for (let from = 0; from < count; from += 64) {
      all.push(...(await Promise.all(Array.from({ length: Math.min(64, count - from) }, (_, i) => one(from + i)))))
    }
    return all
  }

  return {
    arm: async ({ count, sessions, at }) => {
      const agent = await post('/v1/agents', { name: `Agent of ${count}` })
      const open = await many(sessions, (s) => post('/v1/sessions', { agent: agent.id, title: `Session ${s}` }))
      await many(count, (i) =>
        post('/v1/schedules', {
          name: `Look at the queue ${i}`,
          session: open[i % open.length]!.id,
          prompt: `Look at the queue, number ${i}.`,
          at: new Date(at(i)).toISOString(),
        }),
      )
    },
    onRing: (heard) => {
      // A bell rings at least once: a message counts when it is first heard.
      const known = new Set<string>()
      node.bell.onRing((_queue, { kind, id }) => {
        if (kind !== 'message' || known.has(id)) return
        known.add(id)
        heard()
      })
    },
    close: () => node.close(),
  }
}

/** What `rouse serve` does at its first start, without the file. */
async function firstKey(world: World): Promise<string> {
  const { key, sha256 } = newSecret(world.ids)
  const createdAt = world.clock.now()
  const person = { id: `per_${world.ids.ulid(createdAt)}`, name: 'owner', tz: 'UTC', admin: true, createdAt }
  await world.table.commit(personOps(person, `key_${world.ids.ulid(createdAt)}`, sha256), `first:${person.id}`)
  return key
}
