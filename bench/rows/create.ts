import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Beside, beside, besideRounds } from '../beside.ts'
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
    const cell = (name: string, peer: LoadResult, met: boolean | null) => ({
      name,
      ours: own.perSecond,
      peer: peer.perSecond,
      unit: '/s',
      ratio: own.perSecond / peer.perSecond,
      met,
    })
    const besideCell = (name: string, { figures }: Beside<LoadResult>) =>
      figures === null ? [] : [cell(name, figures, null)]
    return {
      cells: [
        cell('created, one moment each (`at`)', pgBoss, ratio >= 2.2),
        { name: 'p99 of a call', ours: own.p99, peer: pgBoss.p99, unit: 'ms', ratio: own.p99 / pgBoss.p99, met: null },
        { name: 'created, a rule each (`cron`)', ours: cron.perSecond, peer: null, unit: '/s', ratio: null, met: null },
        ...besideCell('beside BullMQ behind hono, appendfsync always', bullAlways),
        ...besideCell('beside BullMQ behind hono, appendfsync everysec: not durable', bullEverySecond),
      ],
      met: ratio >= 2.2,
      aimMet: ratio >= 3,
      summary: `${shown(own.perSecond)} created a second, pg-boss ${shown(pgBoss.perSecond)}: ${shown(ratio)}×`,
      notes: [
        `${creates} creates a round after ${warmUp} to warm up, ${rounds} round(s), medians; a fresh store each round. The load comes from a process of its own, ${callers} connections that stay open, the same for all.`,
        'The peers ask for no key, check nothing and answer no next times.',
        ...(ratio >= 2.2 ? [] : [standsInTheWay]),
        ...(bullAlways.failure === null ? [] : [`BullMQ did not run: ${bullAlways.failure}`]),
      ],
    }
  },
}

/** From a CPU profile of the node under this load, samples of 1 ms. */
const standsInTheWay =
  'Not met, and why: by profile of the node under this load: filing earlier rows 13 %, handing groups to the journal and answers to the sockets 12 %, garbage collection 7 %, applying the commits 6 %, finding out who calls 3 %, checking the body 2 %, the audit row 2 %; the rest is HTTP and hono. Next: answers written once, a router without a trie, rows filed only when it is quiet.'

export interface CreatePeers {
  pgBoss: LoadResult
  bullAlways: Beside<LoadResult>
  bullEverySecond: Beside<LoadResult>
}

export const peerMedians = (all: readonly CreatePeers[]): CreatePeers => {
  const middle = (ran: LoadResult[]) => medians(ran, keys)
  return {
    pgBoss: middle(all.map(({ pgBoss }) => pgBoss)),
    bullAlways: besideRounds(
      all.map(({ bullAlways }) => bullAlways),
      middle,
    ),
    bullEverySecond: besideRounds(
      all.map(({ bullEverySecond }) => bullEverySecond),
      middle,
    ),
  }
}

export async function createOnPeers(postgres: Postgres): Promise<CreatePeers> {
  return {
    pgBoss: await createOnPeer('./peers/pgboss-http.ts', { url: await postgres.freshDatabase() }),
    bullAlways: await beside(() => createOnBullmq('always')),
    bullEverySecond: await beside(() => createOnBullmq('everysec')),
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
