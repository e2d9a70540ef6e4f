import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, path } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'
import { claim, type Target } from './claim.ts'
import { persist, type Reachability } from './persist.ts'

/** What Rouse asks a worker to run besides turns. */
export interface Job {
  readonly id: string
  readonly kind: string
  readonly agent: string
  readonly session?: string | null
  readonly schedule: string | null
  readonly timeoutSeconds: number
  /** Of a `check`: relative to the agent's folder. */
  readonly script?: string
  /** Of a `check`: an agent's key that reads, and dies with the job. */
  readonly key?: string
  /** Of a `host_step`. */
  readonly tool?: string
  readonly args?: unknown
  /** Of a step of a flow: names it, the same for a repeat. */
  readonly idempotencyKey?: string
}

/** How a job ended: its exit code as a shell would say it, and what it printed, or why it failed. */
export interface JobEnd {
  readonly exit: number
  readonly output: string
}

/** Does one job. @param stop  aborts when it must end now */
export type Work = (job: Job, stop: AbortSignal) => Promise<JobEnd>

/** Runs jobs side by side, a few at once, and tells Rouse how they ended. */
export interface Bench {
  /** Runs it, when a place is free. */
  take(job: Job): void
  /** Resolves when another one would begin at once. */
  room(): Promise<void>
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>
}

const atOnce = 4
const waitSeconds = 20
/** Of what is handed over when all of it was too much; it is what reaches the agent at most. */
const outputCharsMin = 8_000

export function openBench(o: {
  readonly client: Client
  readonly work: Work
  readonly reachability: Reachability
  /** What runs is stopped. */
  readonly halt: AbortSignal
  readonly ended: (job: Job, end: JobEnd, ms: number) => void
  readonly warn: (message: string) => void
}): Bench {
  const waiting: Job[] = []
  const running = new Set<Promise<void>>()
  const next = () => {
    while (running.size < atOnce && waiting.length > 0) {
      const done: Promise<void> = doOne(o, waiting.shift()!).finally(() => {
        running.delete(done)
        next()
      })
      running.add(done)
    }
  }
  return {
    take(job) {
      waiting.push(job)
      next()
    },
    async room() {
      while (running.size >= atOnce) await Promise.race(running)
    },
    async idle() {
      while (running.size > 0) await Promise.race(running)
    },
  }
}

async function doOne(o: Parameters<typeof openBench>[0], job: Job): Promise<void> {
  const startedMs = performance.now()
  const end = await o.work(job, o.halt).catch((error: unknown) => ({ exit: 1, output: String(error) }))
  o.ended(job, end, performance.now() - startedMs)
  try {
    await deliver(o, job, end)
  } catch (error) {
    o.warn(`the end of job ${job.id} was not taken: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** @throws ApiError, or the reason why it was given up */
async function deliver(
  o: { readonly client: Client; readonly reachability: Reachability; readonly halt: AbortSignal },
  job: Job,
  end: JobEnd,
): Promise<void> {
  const signal = o.halt.aborted ? AbortSignal.timeout(5_000) : o.halt
  let attempts = 0
  const call = () => {
    attempts += 1
    return o.client.call('POST', path`/v1/jobs/${job.id}/end`, { body: end, timeoutMs: 60_000 })
  }
  try {
    await persist({ call, reachability: o.reachability, signal })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // After a lost answer the second try finds the job ended, by the first.
    if ((error.status === 404 || error.status === 409) && attempts > 1) return
    if (error.status !== 413 || end.output.length <= outputCharsMin) throw error
    await deliver(o, job, { ...end, output: end.output.slice(0, outputCharsMin).replace(/[\uD800-\uDBFF]$/, '') })
  }
}

/**
 * Takes jobs while turns run or none waits, until told to stop: each of its claims waits for jobs alone.
 *
 * Refusals end it without an error, since the claims for messages meet and tell them too.
 *
 * @param o.signal  stops once nothing is open
 * @param o.cut     stops at once
 */
export async function serveJobs(o: {
  readonly client: Client
  readonly target: Target
  readonly bench: Bench
  readonly reachability: Reachability
  readonly signal: AbortSignal
  readonly cut: AbortSignal
  readonly warn: (message: string) => void
}): Promise<void> {
  let { target } = o
  try {
    for (;;) {
      await o.bench.room()
      if (o.signal.aborted) return
      const sinceMs = performance.now()
      const handed = await claim({ ...o, target, waitSeconds, only: 'jobs' })
      if (handed !== null && 'moved' in handed) target = { session: handed.moved }
      if (handed !== null && 'job' in handed) o.bench.take(handed.job)
      // A server that answers at once instead of waiting is not asked a hundred times a second.
      if (handed === null && performance.now() - sinceMs < 1_000)
        await sleep(1_000, undefined, { signal: o.signal }).catch(() => null)
    }
  } catch (error) {
    if (o.signal.aborted) return
    if (error instanceof ApiError && [401, 404, 409].includes(error.status)) return
    o.warn(`no checks and host steps are taken: ${error instanceof Error ? error.message : String(error)}`)
  }
}
