import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from '../cpu.ts'
import type { OurNode } from '../ours/node.ts'
import type { Served } from './worker.ts'

/** The node as it stands at one moment. Sizes in MB. */
interface Standing {
  rssMb: number
  heapUsedMb: number
  databaseMb: number
  walMb: number
  logsMb: number
  /** Of one core, since the sample before. */
  cpuPercent: number
}

/** One line of a soak; `minute` since the first wake was due. */
export type Sample = Standing & Served & { minute: number }

const mb = (bytes: number): number => Math.round(bytes / 10_000) / 100

/** Answers a look at the node, with its CPU since the look before. */
export function samplesOf(node: OurNode): () => Promise<Standing> {
  let before = { at: performance.now(), cpu: cpuSeconds(node.pid) }
  return async () => {
    const now = { at: performance.now(), cpu: cpuSeconds(node.pid) }
    const cpuPercent = Math.round(((now.cpu - before.cpu) / ((now.at - before.at) / 1000)) * 1000) / 10
    before = now
    const rss = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))
    return {
      rssMb: mb(Number(rss?.[1] ?? 0) * 1024),
      heapUsedMb: mb(await heapUsed(node.pid)),
      databaseMb: sizeOf(node, 'rouse.db'),
      walMb: sizeOf(node, 'rouse.db-wal'),
      logsMb: sizeOf(node, 'rouse.db-log1') + sizeOf(node, 'rouse.db-log2'),
      cpuPercent,
    }
  }
}

const sizeOf = (node: OurNode, name: string): number => {
  try {
    return mb(statSync(join(node.dir, name)).size)
  } catch {
    return 0
  }
}

/** Node writes its report into the folder it was started in. */
async function heapUsed(pid: number): Promise<number> {
  const reports = () => readdirSync('.').filter((name) => name.startsWith('report.') && name.includes(`.${pid}.`))
  process.kill(pid, 'SIGUSR2')
  for (let tries = 0; tries < 100; tries += 1) {
    await sleep(50)
    const [name] = reports()
    if (name === undefined) continue
    try {
      const report = JSON.parse(readFileSync(name, 'utf8')) as { javascriptHeap: { usedMemory: number } }
      rmSync(name)
      return report.javascriptHeap.usedMemory
    } catch {
      // Half written.
    }
  }
  throw new Error('the node wrote no report within 5 s')
}
