import { setTimeout as sleep } from 'node:timers/promises'
import PgBoss from 'pg-boss'
import { drained, nowMs } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'
import type { PeerDrainOptions } from './graphile-drain.ts'

/**
 * pg-boss on one queue, the session in the payload, polling as often as it allows (twice a second). One batch takes everything that is due:
 * tried against batches of 1,000 and 2,500, with `notifyWorker` after each full one, and best here.
 */
const POLL_MS = 500
const QUEUE = 'wakes'

const { url, due, sessions, phase } = scriptOptions<PeerDrainOptions>()
const boss = new PgBoss({ connectionString: url })
boss.on('error', (error) => console.error(error.message))

const dueAt = Date.now() + 8_000
await boss.start()
await boss.createQueue(QUEUE)
for (let from = 0; from < due; from += 1_000) {
  await boss.insert(
    Array.from({ length: Math.min(1_000, due - from) }, (_, i) => ({
      name: QUEUE,
      data: { session: `ses_${(from + i) % sessions}`, prompt: `Look at the queue, number ${from + i}.` },
      startAfter: new Date(dueAt),
    })),
  )
}
await boss.getDb().executeSql('vacuum analyze', [])

const startAt = dueAt + phase * POLL_MS - 3 * POLL_MS
if (Date.now() > startAt) throw new Error(`expected ${due} to be loaded in 6 s: is the machine busy?`)
await sleep(startAt - Date.now())

const lags: number[] = []
await new Promise<void>((resolve, reject) => {
  const polling = { batchSize: due, pollingIntervalSeconds: POLL_MS / 1000 }
  const working = boss.work(QUEUE, polling, async (jobs) => {
    const lag = nowMs() - dueAt
    for (const _ of jobs) lags.push(lag)
    if (lags.length === due) resolve()
  })
  working.catch(reject)
})
sayToParent(drained(lags))
await boss.stop({ wait: true, timeout: 5_000 })
process.exit(0)
