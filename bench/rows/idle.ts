import { setTimeout as sleep } from 'node:timers/promises'
import { startScript } from '../child.ts'
import { cpuSeconds } from '../cpu.ts'
import { shown } from '../figures.ts'
import { dailyCron, farAt, scheduleCalls, startNode } from '../ours/node.ts'
import { startRedis } from '../peers/redis.ts'
import type { Row } from '../row.ts'
import { createSizes, idleSizes } from '../sizes.ts'
import { underLoad } from './create.ts'

const { armed, settleMs, watchMs } = idleSizes
const GATE_PERCENT = 0.02

export const idle: Row = {
  id: 'idle',
  what: `Idle CPU with ${armed.toLocaleString('en-US')} armed schedules, ${settleMs / 1000} s after loading`,
  peer: 'BullMQ 6, worker',
  gate: `≤ ${GATE_PERCENT} %, no polling (one sweep a minute is none)`,
  aim: null,

  async measure() {
    const ours = await armOurs()
    try {
      const peer = await armPeer()
      try {
        await sleep(settleMs)
        const [node, worker, redis] = (await cpuPercent([ours.pid, peer.pid, peer.redisPid])) as [
          number,
          number,
          number,
        ]
        return {
          cells: [
            {
              name: 'the process',
              ours: node,
              peer: worker,
              unit: '%',
              ratio: node / worker,
              met: node <= GATE_PERCENT,
            },
            {
              name: 'with its server',
              ours: node,
              peer: worker + redis,
              unit: '%',
              ratio: node / (worker + redis),
              met: null,
            },
          ],
          met: node <= GATE_PERCENT,
          aimMet: null,
          summary: `${shown(node)} % of one core, BullMQ's worker ${shown(worker)} % and its redis-server ${shown(redis)} %`,
          notes: [
            `Of one core, over ${watchMs / 1000} s, both at once: a sweep once a minute is inside. Ours is the whole node, HTTP and store; half of its schedules are one moment, half a daily rule.`,
          ],
        }
      } finally {
        await peer.stop()
      }
    } finally {
      await ours.stop()
    }
  },
}

/** CPU of each process over the window, in per cent of one core. */
export async function cpuPercent(pids: readonly number[]): Promise<number[]> {
  const began = performance.now()
  const before = pids.map(cpuSeconds)
  await sleep(watchMs)
  const seconds = (performance.now() - began) / 1000
  return pids.map((pid, i) => ((cpuSeconds(pid) - before[i]!) / seconds) * 100)
}

async function armOurs() {
  const node = await startNode()
  try {
    const { callers } = createSizes
    const time = (index: number) => (index % 2 === 0 ? farAt(index) : dailyCron(index))
    const calls = await scheduleCalls(node, { callers, each: Math.ceil(armed / callers), time })
    await underLoad({ port: node.port, callers: calls, warmUpEach: 0 })
    return node
  } catch (error) {
    await node.stop()
    throw error
  }
}

export async function armPeer() {
  const redis = await startRedis('always')
  const worker = startScript('./peers/bullmq-idle.ts', { port: redis.port, armed })
  const stop = async () => {
    await worker.stop()
    await redis.stop()
  }
  try {
    await worker.answer()
  } catch (error) {
    await stop()
    throw error
  }
  return { pid: worker.pid, redisPid: redis.pid, stop }
}
