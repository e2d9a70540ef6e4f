import { startPostgres } from '../peers/postgres.ts'
import { peerMedians as createMedians, createOnPeers } from '../rows/create.ts'
import { peerMedians as drainMedians, drainPeers } from '../rows/drain.ts'
import { armPeer, cpuPercent } from '../rows/idle.ts'
import { createSizes, drainSizes } from '../sizes.ts'
import { stopEverything, stopOnSignals } from '../started.ts'

/**
 * The peers alone, nothing kept: `tsx bench/peers/main.ts [drain] [create] [idle] [--quick]`. To see whether the peers run here, and whether
 * they do as well as elsewhere, before believing a ratio.
 */
const asked = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const wants = (row: string) => asked.length === 0 || asked.includes(row)

stopOnSignals()
try {
  if (wants('drain')) {
    const { rounds } = drainSizes
    await inRounds(rounds, (postgres, round) => drainPeers(postgres, (round + 0.5) / rounds), drainMedians)
  }
  if (wants('create')) await inRounds(createSizes.rounds, createOnPeers, createMedians)
  if (wants('idle')) {
    const peer = await armPeer()
    const [worker, redis] = await cpuPercent([peer.pid, peer.redisPid])
    console.log('idle, % of one core', { worker, redis })
    await peer.stop()
  }
} finally {
  await stopEverything()
}

async function inRounds<T extends object>(
  rounds: number,
  measure: (postgres: Awaited<ReturnType<typeof startPostgres>>, round: number) => Promise<T>,
  medians: (all: T[]) => T,
): Promise<void> {
  const postgres = await startPostgres()
  const all: T[] = []
  for (let round = 0; round < rounds; round += 1) {
    all.push(await measure(postgres, round))
    console.log(`round ${round + 1}`, all[round])
  }
  console.log('medians', medians(all))
  await postgres.stop()
}
