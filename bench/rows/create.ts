import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startScript } from '../child.ts'
import { medians, shown } from '../figures.ts'
import type { Call, Load, LoadResult } from '../load.ts'
import { dailyCron, farAt, scheduleBody, scheduleCalls, startNode } from '../ours/node.ts'
import { type Postgres, startPostgres } from '../peers/postgres.ts'
import { startRedis } from '../peers/redis.ts'
import type { Row } from '../row.ts'
import { createSizes } from '../sizes.ts'

const { creates, warmUp, callers, rounds } = createSizes
const each = Math.ceil((creates + warmUp) / callers)
const warmUpEach = Math.ceil(warmUp / callers)
const keys = ['perSecond', 'p50', 'p99'] as const

export const create: Row = {
  id: 'create',
  what: `Schedules created per second over HTTP, durable, ${callers} callers`,
  peer: 'pg-boss 10 behind hono',
  gate: '≥ 2.2× per second',
  aim: '≥ 3×',

  async measure() {
    const postgres = await startPostgres()
    const ours: LoadResult[] = []
    const oursCron: LoadResult[] = []
    const peers: CreatePeers[] = []
    try {
      for (let round = 0; round < rounds; round += 1) {
        ours.push(await createOnOurs(farAt))
        peers.push(await createOnPeers(postgres))
        oursCron.push(await createOnOurs(dailyCron))
      }
    } finally {
      await postgres.stop()
    }
    const own = medians(ours, keys)
    const cron = medians(oursCron, keys)
    const { pgBoss, bullAlways, bullEverySecond } = peerMedians(peers)
    const ratio = own.perSecond / pgBoss.perSecond
    const beside = (name: string, peer: LoadResult) => ({
      name,
      ours: own.perSecond,
      peer: peer.perSecond,
      unit: '/s',
      ratio: own.perSecond / peer.perSecond,
      met: null,
    })
    return {
      cells: [
        { ...beside('created, one moment each (`at`)', pgBoss), met: ratio >= 2.2 },
        { name: 'p99 of a call', ours: own.p99, peer: pgBoss.p99, unit: 'ms', ratio: own.p99 / pgBoss.p99, met: null },
        { name: 'created, a rule each (`cron`)', ours: cron.perSecond, peer: null, unit: '/s', ratio: null, met: null },
        beside('beside BullMQ behind hono, appendfsync always', bullAlways),
        beside('beside BullMQ behind hono, appendfsync everysec: not durable', bullEverySecond),
      ],
      met: ratio >= 2.2,
      aimMet: ratio >= 3,
      summary: `${shown(own.perSecond)} created a second, pg-boss ${shown(pgBoss.perSecond)}: ${shown(ratio)}×`,
      notes: [
        `${creates} creates a round after ${warmUp} to warm up, ${rounds} round(s), medians; a fresh store each round. The load comes from a process of its own, ${callers} connections that stay open, the same for all.`,
        'The peers ask for no key, check nothing and answer no next times.',
      ],
    }
  },
}

export interface CreatePeers {
  pgBoss: LoadResult
  bullAlways: LoadResult
  bullEverySecond: LoadResult
}

export const peerMedians = (all: readonly CreatePeers[]): CreatePeers => ({
  pgBoss: medians(
    all.map((peers) => peers.pgBoss),
    keys,
  ),
  bullAlways: medians(
    all.map((peers) => peers.bullAlways),
    keys,
  ),
  bullEverySecond: medians(
    all.map((peers) => peers.bullEverySecond),
    keys,
  ),
})

export async function createOnPeers(postgres: Postgres): Promise<CreatePeers> {
  return {
    pgBoss: await createOnPeer('./peers/pgboss-http.ts', { url: await postgres.freshDatabase() }),
    bullAlways: await createOnBullmq('always'),
    bullEverySecond: await createOnBullmq('everysec'),
  }
}

async function createOnBullmq(appendfsync: 'always' | 'everysec'): Promise<LoadResult> {
  const redis = await startRedis(appendfsync)
  try {
    return await createOnPeer('./peers/bullmq-http.ts', { redisPort: redis.port })
  } finally {
    await redis.stop()
  }
}

async function createOnPeer(script: string, options: object): Promise<LoadResult> {
  const port = await freePort()
  const server = startScript(script, { ...options, port })
  try {
    await server.answer()
    const calls = Array.from({ length: callers }, (_, c) =>
      Array.from({ length: each }, (_, i) => ({
        path: '/v1/schedules',
        key: null,
        body: scheduleBody(`ses_${(c * each + i) % 500}`, c * each + i, farAt),
      })),
    )
    return await underLoad({ port, callers: calls, warmUpEach })
  } finally {
    await server.stop()
  }
}

async function createOnOurs(time: (index: number) => object): Promise<LoadResult> {
  const node = await startNode()
  try {
    const calls: Call[][] = await scheduleCalls(node, { callers, each, time })
    return await underLoad({ port: node.port, callers: calls, warmUpEach })
  } finally {
    await node.stop()
  }
}

/** Makes the calls from a process of its own, so that building requests takes nothing from whom it measures. */
export async function underLoad(load: Load): Promise<LoadResult> {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-load-'))
  const file = join(dir, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const generator = startScript('./load.ts', { file })
  try {
    return await generator.answer<LoadResult>()
  } finally {
    await generator.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
