import { isLocal } from '../client/access.ts'
import { type Client, path } from '../client/client.ts'
import type { Session } from '../client/shapes.ts'
import type { Handed, Target } from './claim.ts'
import { openHearing, type Way } from './hearing.ts'
import { type Bench, type Job, type JobEnd, openBench, serveJobs, type Work } from './jobs.ts'
import { persist, type Reachability, watchReachability } from './persist.ts'
import { mainSessionOf, tellConnected } from './presence.ts'
import { SteeringQueue } from './steering.ts'
import { CallLog, type RunLimits } from './tool-calls.ts'
import { type Claimed, type Fate, type Outcome, type Turn, workOn } from './turn.ts'

/** What a worker tells whoever started it, as it happens. */
export type WorkerEvent =
  | { readonly kind: 'attached'; readonly target: Target; readonly way: Way }
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'back' }
  | { readonly kind: 'started'; readonly claimed: Claimed }
  | {
      readonly kind: 'ended'
      readonly claimed: Claimed
      readonly fate: Fate
      readonly outcome: Outcome
      readonly ms: number
    }
  | { readonly kind: 'job'; readonly job: Job; readonly end: JobEnd; readonly ms: number }
  | { readonly kind: 'moved'; readonly session: string }
  | { readonly kind: 'warning'; readonly message: string }

export interface AttachOptions {
  readonly client: Client
  /** One session, or an agent with all its sessions, the fresh ones of its schedules included. */
  readonly target: Target
  /** Does the work of one turn. What it throws ends the turn as failed. */
  readonly run: (turn: Turn) => Promise<Outcome>
  /** Does a check or a host step, also while a turn runs. Default: this worker takes none, and says so. */
  readonly work?: Work | undefined
  /** Of one turn; what passes them is ended as `blocked`. Default: none. */
  readonly limits?: RunLimits
  /** Stops claiming; a turn and jobs that run are worked on to their end. */
  readonly signal: AbortSignal
  /** Stops the running turn and jobs too, which then end as failed. Default: never. */
  readonly halt?: AbortSignal
  /** 30..7200, default 120: how long after the last sign of life the turn is taken for lost. */
  readonly leaseSeconds?: number
  /**
   * Takes messages that come while a turn runs (`turn.steering`), instead of leaving them for the next turn. One that the server
   * hands to a heartbeat in the very moment the turn ends is taken and worked on by nobody; without `steer` that cannot be.
   */
  readonly steer?: boolean
  /** Returns after one turn. */
  readonly once?: boolean
  /**
   * Whether the server notices that a call was hung up and then hands out nothing; default: it does on this machine.
   * Where it does not, a worker told to stop waits for its open claim: the message it might be answered with is handed out once.
   */
  readonly seesHangUp?: boolean
  /** Default 60,000: how often it looks into the inbox though no bell rang, while it listens on a session's queue. */
  readonly slowClaimMs?: number
  /** Default 60,000: how long after a queue could not be heard it is tried again; then twice as long each time, up to half an hour. */
  readonly queueRetryMs?: number
  readonly on?: (event: WorkerEvent) => void
}

const onlyOne = 'it is worked on, but its answer goes nowhere: serve a session with `steer` from one worker only'

/**
 * Serves a session or an agent: claims one turn after another, runs it and reports its end. Waits for a server that is away.
 *
 * Says `workerConnected: true` at the start and `false` at the end, so that Rouse knows whether anybody listens, and `checks` likewise.
 * A session that was compacted is followed to the new one. Where Rouse runs in the cloud, a session's bell is heard on its SQS queue.
 *
 * @returns after `signal`, or after one turn with `once`
 * @throws  ApiError when the target or the key does not hold (any more)
 */
export async function attach(o: AttachOptions): Promise<void> {
  const on = o.on ?? (() => {})
  const halt = o.halt ?? new AbortController().signal
  const reachability = watchReachability({
    away: (why) => on({ kind: 'away', why }),
    back: () => on({ kind: 'back' }),
  })
  const leaseSeconds = o.leaseSeconds ?? 120
  const seesHangUp = o.seesHangUp ?? isLocal(o.client.url)
  const cut = seesHangUp ? o.signal : halt
  const warn = (message: string) => on({ kind: 'warning', message })
  let target = o.target

  const sessions = await announce({ ...o, target, on, reachability })
  if (sessions === null) return
  const hearing = openHearing({
    ...o,
    leaseSeconds,
    reachability,
    cut,
    slowClaimMs: o.slowClaimMs ?? 60_000,
    queueRetryMs: o.queueRetryMs ?? 60_000,
    warn,
  })
  const jobs =
    o.work === undefined ? null : openJobs({ ...o, target, work: o.work, seesHangUp, on, warn, reachability, halt })
  try {
    on({ kind: 'attached', target, way: await hearing.begin(target) })
    while (!o.signal.aborted) {
      const handed = await hearing.next(target)
      if (handed === null) continue
      if ('moved' in handed) {
        target = { session: handed.moved }
        on({ kind: 'moved', session: handed.moved })
        continue
      }
      if ('job' in handed) {
        if (jobs === null) await refuse(o.client, handed.job)
        else jobs.bench.take(handed.job)
        continue
      }
      if (handed.turn === null) {
        warn(`message ${handed.message.id} steers a turn of another worker; ${onlyOne}`)
        await workWithoutTurn({ ...o, target, handed, halt })
        continue
      }
      const claimed = { ...handed, turn: handed.turn }
      on({ kind: 'started', claimed })
      const startedMs = performance.now()
      const ended = await workOn({ ...o, claimed, leaseSeconds, reachability, halt })
      on({ kind: 'ended', claimed, ...ended, ms: performance.now() - startedMs })
      if (o.once) return
    }
  } finally {
    await jobs?.close()
    await Promise.all([
      hearing.close(),
      tellConnected({
        client: o.client,
        sessions: 'session' in target ? [target.session] : sessions,
        connected: false,
        checks: false,
      }),
    ])
  }
}

/** Serves jobs beside the turns, from now on. */
function openJobs(
  o: Pick<AttachOptions, 'client' | 'target' | 'signal'> & {
    readonly work: Work
    readonly seesHangUp: boolean
    readonly halt: AbortSignal
    readonly reachability: Reachability
    readonly on: (event: WorkerEvent) => void
    readonly warn: (message: string) => void
  },
): { readonly bench: Bench; close(): Promise<void> } {
  const bench = openBench({ ...o, ended: (job, end, ms) => o.on({ kind: 'job', job, end, ms }) })
  const stop = new AbortController()
  const onStop = () => stop.abort()
  o.signal.addEventListener('abort', onStop)
  if (o.signal.aborted) onStop()
  const serving = serveJobs({ ...o, bench, signal: stop.signal, cut: o.seesHangUp ? stop.signal : o.halt })
  return {
    bench,
    async close() {
      o.signal.removeEventListener('abort', onStop)
      onStop()
      await serving
      await bench.idle()
    },
  }
}

/** None should come, since the worker says that it runs none; one that does is answered, not left to its lease. */
async function refuse(client: Client, job: Job): Promise<void> {
  const body = { exit: 126, output: 'this worker runs no checks and no host steps' }
  await client.call('POST', path`/v1/jobs/${job.id}/end`, { body }).catch(() => null)
}

/** @returns the sessions that were told; null when stopped before the server was there */
async function announce(
  o: AttachOptions & { readonly on: (event: WorkerEvent) => void; readonly reachability: Reachability },
): Promise<readonly string[] | null> {
  const call = async () => {
    const sessions = 'session' in o.target ? [o.target.session] : await mainSessionOf(o.client, o.target.agent)
    const refusal = await tellConnected({ client: o.client, sessions, connected: true, checks: o.work !== undefined })
    if (refusal !== null)
      o.on({ kind: 'warning', message: `Rouse was not told that a worker listens: ${refusal.detail}` })
    return sessions
  }
  try {
    return await persist({ call, reachability: o.reachability, signal: o.signal })
  } catch (error) {
    if (o.signal.aborted) return null
    throw error
  }
}

/** A message that was handed out is worked on, though the turn it belongs to is not ours to end. */
async function workWithoutTurn(
  o: AttachOptions & { readonly handed: Handed; readonly halt: AbortSignal },
): Promise<void> {
  const id = 'session' in o.target ? o.target.session : ''
  const session = await o.client.call<Session>('GET', path`/v1/sessions/${id}`).catch(() => null)
  const turn = { id: session?.turn?.id ?? '', session: id, leaseUntil: '', mode: session?.mode ?? '' }
  const { message, notes } = o.handed
  const calls = new CallLog({ stop: () => {} })
  await o.run({ turn, message, notes, signal: o.halt, steering: new SteeringQueue(), calls }).catch(() => null)
}
