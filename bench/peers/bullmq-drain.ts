import { Queue, Worker } from 'bullmq'
import { drained, nowMs } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'

/**
 * BullMQ on one queue, the session in the payload: a queue has a worker and a blocking connection of its own, so 500 of them are no way to
 * run it. It does not poll: its worker blocks until the next delayed one is due. 100 at a time, nothing kept of what is done.
 */
const CONCURRENCY = 100
const QUEUE = 'wakes'

const { port, due, sessions } = scriptOptions<{ port: number; due: number; sessions: number }>()
const connection = { host: '127.0.0.1', port }
const queue = new Queue(QUEUE, { connection })

const dueAt = Date.now() + 8_000
for (let from = 0; from < due; from += 1_000) {
  const now = Date.now()
  await queue.addBulk(
    Array.from({ length: Math.min(1_000, due - from) }, (_, i) => ({
      name: 'wake',
      data: { session: `ses_${(from + i) % sessions}`, prompt: `Look at the queue, number ${from + i}.` },
      opts: { timestamp: now, delay: dueAt - now, removeOnComplete: { count: 0 } },
    })),
  )
}
if (Date.now() > dueAt - 2_000) throw new Error(`expected ${due} to be loaded in 6 s: is the machine busy?`)

const lags: number[] = []
await new Promise<void>((resolve, reject) => {
  const wake = async () => {
    lags.push(nowMs() - dueAt)
    if (lags.length === due) resolve()
  }
  new Worker(QUEUE, wake, { connection, concurrency: CONCURRENCY }).on('error', reject)
})
sayToParent(drained(lags))
process.exit(0)
