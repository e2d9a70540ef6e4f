import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { drained, nowMs } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'

export interface PeerDrainOptions {
  url: string
  due: number
  sessions: number
  /** How long after the moment the next poll comes, 0..1 of the polling interval. Left to chance it would be most of what three rounds show. */
  phase: number
}

/**
 * graphile-worker, tuned as its documentation (worker.graphile.org/docs/performance) has it for throughput: 24 at a time, a pool of 25, a
 * local queue, completions in batches without delay. A local queue of 2,500 was tried against 500, 1,000 and 10,000, and 24 against 100 at
 * a time: best here. It polls twice a second; its default is every two seconds. The session rides in the payload: with 500 queue names, which
 * its documentation advises against, it does 1,600 a second.
 */
const POLL_MS = 500
/** From `run()` to its first look, and from one look to the next: seen, and only used to aim at `phase`. */
const FIRST_LOOK_MS = 50
const LOOK_MS = POLL_MS + 3

const { url, due, sessions, phase } = scriptOptions<PeerDrainOptions>()
const logger = new Logger(() => () => {})
const worker = {
  connectionString: url,
  concurrentJobs: 24,
  maxPoolSize: 25,
  pollInterval: POLL_MS,
  localQueue: { size: 2_500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  logger,
}

const dueAt = Date.now() + 8_000
const utils = await makeWorkerUtils({ connectionString: url, logger })
await utils.migrate()
for (let from = 0; from < due; from += 1_000) {
  await utils.addJobs(
    Array.from({ length: Math.min(1_000, due - from) }, (_, i) => ({
      identifier: 'wake',
      payload: { session: `ses_${(from + i) % sessions}`, prompt: `Look at the queue, number ${from + i}.` },
      runAt: new Date(dueAt),
    })),
  )
}
await utils.withPgClient((client) => client.query('vacuum analyze'))
await utils.release()

const startAt = dueAt + phase * POLL_MS - 3 * LOOK_MS - FIRST_LOOK_MS
if (Date.now() > startAt) throw new Error(`expected ${due} to be loaded in 6 s: is the machine busy?`)
await sleep(startAt - Date.now())

const lags: number[] = []
const runner = await new Promise<Awaited<ReturnType<typeof run>>>((resolve, reject) => {
  const running = run({
    preset: { worker },
    noHandleSignals: true,
    taskList: {
      wake: () => {
        lags.push(nowMs() - dueAt)
        if (lags.length === due) resolve(running)
      },
    },
  })
  running.catch(reject)
})
sayToParent(drained(lags))
await runner.stop()
