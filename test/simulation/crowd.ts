import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Ask, Told } from './thread.ts'

/**
 * Plays what is asked for on every core, in order.
 *
 * @param each  hears of each as it ends; true: no more are begun
 */
export async function onEveryCore(file: string, asks: Iterable<Ask>, each: (told: Told) => boolean): Promise<void> {
  const all = asks[Symbol.iterator]()
  let isOver = false
  const thread = async (): Promise<void> => {
    // What a thread sees of zones and dates must not hang on where it runs.
    const worker = new Worker(file, { env: { ...process.env, TZ: 'UTC' }, execArgv: ['--enable-source-maps'] })
    try {
      for (let next = all.next(); !isOver && !next.done; next = all.next()) {
        const { value } = next
        const told = await new Promise<Told>((resolve, reject) => {
          worker.once('message', resolve)
          worker.once('error', reject)
          worker.postMessage(value)
        })
        worker.removeAllListeners('error')
        if (each(told) === true) isOver = true
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, thread))
}
