import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { Counts } from '../../shared/adapters/counts.ts'
import { openFiles } from '../../shared/adapters/files.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { openOutbound } from '../../shared/adapters/outbound/open.ts'
import { proactiveFromEnv } from '../../shared/adapters/proactive.ts'
import { retained, retentionFromEnv } from '../../shared/adapters/retention.ts'
import { openAlarms } from '../../shared/adapters/sqlite/alarms.ts'
import { type LocalBell, openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openSecrets } from '../../shared/adapters/sqlite/secrets.ts'
import { openTable, type SqliteTable } from '../../shared/adapters/sqlite/table.ts'
import { createApp } from '../../shared/api/app.ts'
import { type IdentityProvider, openIdentity } from '../../shared/api/identity.ts'
import { originsFromEnv } from '../../shared/api/mcp-origin.ts'
import type { Rate } from '../../shared/api/rate.ts'
import { doApart, stopApart } from '../../shared/engine/apart.ts'
import { drainWakes } from '../../shared/engine/drain.ts'
import { faultOf } from '../../shared/ports/log.ts'
import type { Clock, Log, World } from '../../shared/ports/world.ts'
import { clockOperations, type FixedClock, fixedClock } from './clock.ts'
import { openExpiry } from './expiry.ts'
import { metricsOperation } from './metrics.ts'
import { warmUp } from './warm-up.ts'

/** The embedded node: one process, one SQLite file, one timer; the same engine as in the cloud. */
export interface LocalNode {
  readonly world: World
  readonly table: SqliteTable
  readonly bell: LocalBell
  readonly app: Hono
  /** Starts the timer and the sweep, and does what came due while the node was off. Not for a node whose clock stands still. */
  start(): Promise<void>
  /** Ends held calls, finishes what is under way, and closes the file. */
  close(): Promise<void>
}

export interface LocalOptions {
  /** Folder of the node's file. */
  readonly dir: string
  /** Epoch ms at which the clock stands still; null: the machine's clock. */
  readonly standingAt: number | null
  readonly log: Log
  /** What may be reached from here: see `openOutbound`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Calls per key; null: no limit. */
  readonly rate?: Rate | null
  /** Who vouches for people besides keys. */
  readonly provider?: IdentityProvider | null
}

/** What no alarm brought is found within this time. One query a minute is not polling. */
const sweepMs = 60_000
const warmUpAfterMs = 2000
/** A page in the console looks for news so often: a call here costs next to nothing. */
const pageRefreshMs = 2000

export function openNode(options: LocalOptions): LocalNode {
  mkdirSync(options.dir, { recursive: true })
  const standing: FixedClock | null = options.standingAt === null ? null : fixedClock(options.standingAt)
  const stopping = new AbortController()
  const outbound = openOutbound({ env: options.env ?? {}, stop: stopping.signal })
  const clock: Clock = standing ?? { now: () => Date.now() }
  const retention = retentionFromEnv(options.env ?? {})
  const table = openTable({ file: join(options.dir, 'rouse.db'), clock })
  const bell = openBell()
  const counts = new Counts()
  const alarms = openAlarms({
    table,
    clock,
    shards: 1,
    due: (now) => dueAt(now),
  })
  const world: World = {
    table: retained(table, retention),
    bell,
    ears: bell,
    alarms,
    secrets: openSecrets(join(options.dir, 'secrets.json')),
    outbound,
    clock,
    ids: openIds(),
    log: options.log,
    meter: counts,
    shards: 1,
    streamed: false,
    flowsApart: false,
    proactive: proactiveFromEnv(options.env ?? {}),
  }
  /** A receiver that takes its time must hold up no wake: what is sent out goes apart. */
  const dueAt = async (now: number): Promise<void> => {
    await drainWakes(world, now)
    void doApart(world, now)
  }
  /** Where the clock stands still, nobody comes later to send what a call made due. */
  const settled = async (): Promise<void> => {
    if (standing !== null) await doApart(world, clock.now())
    await table.flush()
  }
  const app = createApp({
    world,
    settled,
    more: [metricsOperation(world, counts), ...(standing === null ? [] : clockOperations(world, standing))],
    identity: options.provider ? openIdentity(world, options.provider) : null,
    allowOrigins: originsFromEnv(options.env ?? {}),
    // Beside the bundle, where the build puts it.
    console: {
      files: openFiles(new URL('./console/', import.meta.url)),
      refreshMs: pageRefreshMs,
      standing: standing !== null,
    },
    docs: openFiles(new URL('./docs/', import.meta.url)),
    ...(options.rate === undefined ? {} : { rate: options.rate }),
  })
  const expiry = openExpiry({ table, clock, log: options.log })
  let sweep: NodeJS.Timeout | null = null
  let warming: NodeJS.Timeout | null = null

  return {
    world,
    table,
    bell,
    app,
    async start() {
      if (standing !== null) return
      alarms.start()
      sweep = setInterval(() => {
        expiry.look()
        dueAt(clock.now()).catch((error: unknown) => {
          options.log('error', 'sweep failed', faultOf(error))
        })
      }, sweepMs)
      await dueAt(clock.now())
      // Once whoever started it has had their first answers.
      warming = setTimeout(() => {
        warmUp(world, stopping.signal).catch((error: unknown) => {
          options.log('warn', 'warm-up failed', faultOf(error))
        })
      }, warmUpAfterMs).unref()
    },
    async close() {
      if (sweep !== null) clearInterval(sweep)
      expiry.stop()
      if (warming !== null) clearTimeout(warming)
      bell.closeAll()
      await alarms.stop()
      stopping.abort()
      await stopApart(world)
      await table.flush()
      await table.close()
    },
  }
}
