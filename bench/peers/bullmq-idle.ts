import { Queue, Worker } from 'bullmq'
import { sayToParent, scriptOptions } from '../inside.ts'

/** A BullMQ worker, as it comes, beside delayed work that is months away. Ends when its stdin does. */
const QUEUE = 'wakes'
const DAY_MS = 86_400_000

const { port, armed } = scriptOptions<{ port: number; armed: number }>()
const connection = { host: '127.0.0.1', port }
const queue = new Queue(QUEUE, { connection })
for (let from = 0; from < armed; from += 1_000) {
  await queue.addBulk(
    Array.from({ length: Math.min(1_000, armed - from) }, (_, i) => ({
      name: 'wake',
      data: { session: `ses_${(from + i) % 5_000}`, prompt: `Look at the queue, number ${from + i}.` },
      opts: { delay: 90 * DAY_MS + (from + i) * 1_000 },
    })),
  )
}
await queue.close()
const worker = new Worker(QUEUE, async () => {}, { connection })
worker.on('error', (error) => console.error(error.message))
await worker.waitUntilReady()
sayToParent({ armed })
process.stdin.resume().once('end', () => process.exit(0))
