import { isLocal } from '../client/access.ts'
import { type Client, path } from '../client/client.ts'
import type { Session } from '../client/shapes.ts'
import type { Handed, Target } from './claim.ts'
import { openHearing, type Way } from './hearing.ts'
import { persist, type Reachability, watchReachability } from './persist.ts'
import { mainSessionOf, tellConnected } from './presence.ts'
import { SteeringQueue } from './steering.ts'
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
  | { readonly kind: 'moved'; readonly session: string }
  | { readonly kind: 'warning'; readonly message: string }

export interface AttachOptions {
  readonly client: Client
  /** One session, or an agent with all its sessions, the fresh ones of its schedules included. */
  readonly target: Target
  /** Does the work of one turn. What it throws ends the turn as failed. */
  readonly run: (turn: Turn) => Promise<Outcome>
  /** Stops claiming; a turn that runs is worked on to its end. */
  readonly signal: AbortSignal
  /** Stops the running turn too, which then ends as failed. Default: never. */
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
 * Says `workerConnected: true` at the start and `false` at the end, so that Rouse knows whether anybody listens.
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
  const cut = (o.seesHangUp ?? isLocal(o.client.url)) ? o.signal : halt
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
    warn: (message) => on({ kind: 'warning', message }),
  })
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
      if (handed.turn === null) {
        on({ kind: 'warning', message: `message ${handed.message.id} steers a turn of another worker; ${onlyOne}` })
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
    await Promise.all([
      hearing.close(),
      tellConnected({
        client: o.client,
        sessions: 'session' in target ? [target.session] : sessions,
        connected: false,
      }),
    ])
  }
}

/** @returns the sessions that were told; null when stopped before the server was there */
async function announce(
  o: AttachOptions & { readonly on: (event: WorkerEvent) => void; readonly reachability: Reachability },
): Promise<readonly string[] | null> {
  const call = async () => {
    const sessions = 'session' in o.target ? [o.target.session] : await mainSessionOf(o.client, o.target.agent)
    const refusal = await tellConnected({ client: o.client, sessions, connected: true })
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
  await o.run({ turn, message, notes, signal: o.halt, steering: new SteeringQueue() }).catch(() => null)
}
