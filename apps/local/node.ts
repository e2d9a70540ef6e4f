import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { openIds } from '../../shared/adapters/ids.ts'
import { openOutbound } from '../../shared/adapters/outbound/open.ts'
import { proactiveFromEnv } from '../../shared/adapters/proactive.ts'
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
import type { Clock, Log, World } from '../../shared/ports/world.ts'
import { clockOperations, type FixedClock, fixedClock } from './clock.ts'
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

/** What no alarm brought is found within this time, and expired rows leave in slices. One query a minute is not polling. */
const sweepMs = 60_000
/** Few while nothing has expired, so that idle is idle; many while there is something to delete. */
const expireRows = { quiet: 100, busy: 1000 }
const warmUpAfterMs = 2000

export function openNode(options: LocalOptions): LocalNode {
  mkdirSync(options.dir, { recursive: true })
  const standing: FixedClock | null = options.standingAt === null ? null : fixedClock(options.standingAt)
  const stopping = new AbortController()
  const outbound = openOutbound({ env: options.env ?? {}, stop: stopping.signal })
  const clock: Clock = standing ?? { now: () => Date.now() }
  const table = openTable({ file: join(options.dir, 'rouse.db'), clock })
  const bell = openBell()
  const alarms = openAlarms({
    table,
    clock,
    shards: 1,
    due: (now) => dueAt(now),
  })
  const world: World = {
    table,
    bell,
    ears: bell,
    alarms,
    secrets: openSecrets(join(options.dir, 'secrets.json')),
    outbound,
    clock,
    ids: openIds(),
    log: options.log,
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
    more: standing === null ? [] : clockOperations(world, standing),
    identity: options.provider ? openIdentity(world, options.provider) : null,
    allowOrigins: originsFromEnv(options.env ?? {}),
    ...(options.rate === undefined ? {} : { rate: options.rate }),
  })
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
      let rows = expireRows.quiet
      sweep = setInterval(() => {
        const expired = table.expire(clock.now(), rows)
        rows = expired > 0 ? expireRows.busy : expireRows.quiet
        dueAt(clock.now()).catch((error: unknown) => {
          options.log('error', `sweep failed: ${error instanceof Error ? error.message : 'unknown fault'}`)
        })
      }, sweepMs)
      await dueAt(clock.now())
      // Once whoever started it has had their first answers.
      warming = setTimeout(() => {
        warmUp(world, stopping.signal).catch((error: unknown) => {
          options.log('warn', `warm-up failed: ${error instanceof Error ? error.message : 'unknown fault'}`)
        })
      }, warmUpAfterMs).unref()
    },
    async close() {
      if (sweep !== null) clearInterval(sweep)
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
