import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sayToParent, scriptOptions } from '../child.ts'
import { type Drained, drained, nowMs } from '../figures.ts'

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
 * What is measured, and all this file knows of it. `openSubject` is the one place to wire when apps/local/node.ts changes.
 * The bell is what is observed: the engine rings it only after the commit that put the message is durable.
 */
interface Subject {
  /** Creates `count` schedules, each one moment (`at`), spread over `sessions`; answers when all are stored and their alarms set. */
  arm(wanted: { count: number; sessions: number; at: (index: number) => number }): Promise<void>
  /** Calls `heard` once per message that the bell announces. */
  onRing(heard: () => void): void
  close(): Promise<void>
}

/** The part of the embedded node that `openSubject` drives; apps/local/node.ts is imported by its address, so that bench/ runs without it. */
interface Opened {
  world: { bell: { ring(...announced: unknown[]): unknown } }
  engine: {
    createAgent(wanted: { name: string }): Promise<{ id: string }>
    createSession(wanted: { agent: string }): Promise<{ id: string }>
    createSchedule(wanted: { name: string; session: string; prompt: string; at: string }): Promise<{ id: string }>
  }
  close(): Promise<void>
}

const SCHEDULES_PER_SESSION = 20
const DAY_MS = 86_400_000
/** From the choice of the due time to the due time: long enough to load what is due, the rest is loaded before. */
const LOAD_MS = 20_000

const { due, sessions, othersArmed } = scriptOptions<OurDrainOptions>()
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
    const dueAt = Math.ceil((Date.now() + LOAD_MS) / 1_000) * 1_000
    await subject.arm({ count: due, sessions, at: () => dueAt })
    if (Date.now() > dueAt - 1_000) throw new Error(`expected ${due} to be loaded within ${LOAD_MS - 1_000} ms`)

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

async function openSubject(dir: string): Promise<Subject> {
  const address = new URL('../../apps/local/node.ts', import.meta.url).href
  const { openNode } = (await import(address)) as {
    openNode(options: { dir: string; port: null }): Promise<Opened>
  }
  const { world, engine, close } = await openNode({ dir, port: null })
  return {
    arm: async ({ count, sessions, at }) => {
      const agent = await engine.createAgent({ name: `Agent ${crypto.randomUUID()}` })
      const ids: string[] = []
      for (let s = 0; s < sessions; s += 1) ids.push((await engine.createSession({ agent: agent.id })).id)
      // 64 at once, as over HTTP, so that commits group.
      for (let from = 0; from < count; from += 64) {
        await Promise.all(
          Array.from({ length: Math.min(64, count - from) }, (_, i) =>
            engine.createSchedule({
              name: `Look at the queue ${from + i}`,
              session: ids[(from + i) % ids.length]!,
              prompt: `Look at the queue, number ${from + i}.`,
              at: new Date(at(from + i)).toISOString(),
            }),
          ),
        )
      }
    },
    onRing: (heard) => {
      const { bell } = world
      const ring = bell.ring.bind(bell)
      bell.ring = (...announced) => {
        heard()
        return ring(...announced)
      }
    },
    close,
  }
}
