import { type Beside, beside, besideRounds } from '../beside.ts'
import { startScript } from '../child.ts'
import { type Drained, medians, shown } from '../figures.ts'
import type { OurDrained } from '../ours/drain.ts'
import type { PeerDrainOptions } from '../peers/graphile-drain.ts'
import { type Postgres, startPostgres } from '../peers/postgres.ts'
import { startRedis } from '../peers/redis.ts'
import type { Row } from '../row.ts'
import { drainSizes } from '../sizes.ts'

const { due, sessions, othersArmed, rounds } = drainSizes
const keys = ['perSecond', 'p50', 'p99', 'firstMs'] as const

export const drain: Row = {
  id: 'drain',
  what: `${due.toLocaleString('en-US')} prompts due at one moment over ${sessions} sessions, embedded, durable`,
  peer: 'graphile-worker 0.17, tuned, 500 ms poll',
  gate: `≥ 1.5× per second, p99 lag ≤ 0.65×, first prompt ≤ 25 ms, with ${othersArmed.toLocaleString('en-US')} others armed ≥ 0.8×`,
  aim: '≥ 2× per second, p99 lag ≤ 0.5×',

  async measure() {
    const postgres = await startPostgres()
    const ours: OurDrained[] = []
    const peers: DrainPeers[] = []
    try {
      for (let round = 0; round < rounds; round += 1) {
        ours.push(await drainOurs())
        peers.push(await drainPeers(postgres, (round + 0.5) / rounds))
      }
    } finally {
      await postgres.stop()
    }
    const own = medians(ours, [...keys, 'with90kPerSecond'])
    const { graphile, pgBoss, bull } = peerMedians(peers)
    const perSecond = own.perSecond / graphile.perSecond
    const p99 = own.p99 / graphile.p99
    const crowded = own.with90kPerSecond / own.perSecond
    const cells = [
      cell('drained', '/s', own.perSecond, graphile.perSecond, perSecond >= 1.5),
      cell('p99 lag', 'ms', own.p99, graphile.p99, p99 <= 0.65),
      cell('p50 lag', 'ms', own.p50, graphile.p50, null),
      cell('first prompt', 'ms', own.firstMs, graphile.firstMs, own.firstMs <= 25),
      {
        name: `drained with ${othersArmed.toLocaleString('en-US')} others armed; ratio to ours without`,
        ours: own.with90kPerSecond,
        peer: null,
        unit: '/s',
        ratio: crowded,
        met: crowded >= 0.8,
      },
      ...besideCells('pg-boss', own, pgBoss),
      ...besideCells('BullMQ, appendfsync always', own, bull),
    ]
    return {
      cells,
      met: cells.every(({ met }) => met !== false),
      aimMet: perSecond >= 2 && p99 <= 0.5,
      summary: `${shown(own.perSecond)} a second, graphile-worker ${shown(graphile.perSecond)}: ${shown(perSecond)}×; p99 lag ${shown(p99)}×`,
      notes: [
        `${rounds} round(s), medians. Per second: count / (last delivery − due time). The due time falls in the middle of each n-th part of the pollers' interval, one part a round.`,
        'Ours: a prompt counts when its bell rings, which is after its commit is on disk. Peers: when its function is called, which is after the commit that locked it.',
        'graphile-worker: concurrentJobs 24, localQueue 2,500, completeJobBatchDelay 0, pollInterval 500 ms, session in the payload. pg-boss: one batch of all, 0.5 s. BullMQ: concurrency 100, does not poll.',
        ...(perSecond >= 1.5 && p99 <= 0.65 ? [] : [standsInTheWay]),
        ...(pgBoss.failure === null ? [] : [`pg-boss did not run: ${pgBoss.failure}`]),
        ...(bull.failure === null ? [] : [`BullMQ did not run: ${bull.failure}`]),
      ],
    }
  },
}

/** From a CPU profile of one drain of 10,000, samples of 0.2 ms. */
const standsInTheWay =
  'Not met, and why: a wake costs about 60 µs of one core, while graphile-worker spreads its work over its process and PostgreSQL’s. By profile of one drain: garbage collection 15 %, JSON of cursor and run 10 %, putting together and writing the journal’s entries 12 %, reading what is due 8 %, the rest spread over loading, deciding and committing. Since the last figures: one commit for many schedules, the journal beside the event loop, definitions at hand, a warm-up after the start. Next: less garbage per wake, and cursors written without JSON.'

export interface DrainPeers {
  graphile: Drained
  pgBoss: Beside<Drained>
  bull: Beside<Drained>
}

export const peerMedians = (all: readonly DrainPeers[]): DrainPeers => {
  const middle = (ran: Drained[]) => medians(ran, keys)
  return {
    graphile: middle(all.map(({ graphile }) => graphile)),
    pgBoss: besideRounds(
      all.map(({ pgBoss }) => pgBoss),
      middle,
    ),
    bull: besideRounds(
      all.map(({ bull }) => bull),
      middle,
    ),
  }
}

export async function drainPeers(postgres: Postgres, phase: number): Promise<DrainPeers> {
  const options = async (): Promise<PeerDrainOptions> => ({ url: await postgres.freshDatabase(), due, sessions, phase })
  return {
    graphile: await onlyAnswer<Drained>('./peers/graphile-drain.ts', await options()),
    pgBoss: await beside(async () => onlyAnswer<Drained>('./peers/pgboss-drain.ts', await options())),
    bull: await beside(drainBullmq),
  }
}

async function drainBullmq(): Promise<Drained> {
  const redis = await startRedis('always')
  try {
    return await onlyAnswer<Drained>('./peers/bullmq-drain.ts', { port: redis.port, due, sessions })
  } finally {
    await redis.stop()
  }
}

const drainOurs = (): Promise<OurDrained> => onlyAnswer('./ours/drain.ts', { due, sessions, othersArmed })

async function onlyAnswer<T>(script: string, options: object): Promise<T> {
  const child = startScript(script, options)
  try {
    return await child.answer<T>()
  } finally {
    await child.stop()
  }
}

const cell = (name: string, unit: string, ours: number, peer: number, met: boolean | null) => ({
  name,
  ours,
  peer,
  unit,
  ratio: ours / peer,
  met,
})

const besideCells = (name: string, own: Drained, { figures }: Beside<Drained>) =>
  figures === null
    ? []
    : [
        cell(`drained, beside ${name}`, '/s', own.perSecond, figures.perSecond, null),
        cell(`p99 lag, beside ${name}`, 'ms', own.p99, figures.p99, null),
      ]
