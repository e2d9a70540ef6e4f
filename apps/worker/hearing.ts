import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../client/client.ts'
import { claim, type Handed, type Target } from './claim.ts'
import type { Job } from './jobs.ts'
import type { Reachability } from './persist.ts'
import { Deaf, type Listener, openListener } from './queue.ts'

/** How word of a message comes: `queue` long-polls the session's SQS queue, `claims` holds a claim open. */
export type Way = 'queue' | 'claims'

/** Where a worker gets its messages from. The inbox decides what there is; a bell only says when to look. */
export interface Hearing {
  /** Finds out which way there is for a target. */
  begin(target: Target): Promise<Way>
  /**
   * @returns the next message or job; where to go on when the session was compacted; null when it is time to look again
   * @throws  ApiError when the target or the key does not hold (any more)
   */
  next(target: Target): Promise<Handed | { readonly job: Job } | { readonly moved: string } | null>
  close(): Promise<void>
}

const waitSeconds = 20
const renewBeforeMs = 5 * 60_000
const retryMsMax = 30 * 60_000
const refusalsMax = 2
/** AWS asks for a second before a queue that was just made is used; the first to attach to a session meets that. */
const settlingMs = 1_000

/**
 * The one place that chooses between the two ways.
 *
 * With a queue: claim until nothing is left, then listen, then claim again; without a bell after `slowClaimMs`, so that a lost one
 * costs no more than that. Without, or while it cannot be heard: claims with wait, and another try at the queue later.
 */
export function openHearing(o: {
  readonly client: Client
  readonly leaseSeconds: number
  readonly steer?: boolean
  readonly reachability: Reachability
  readonly signal: AbortSignal
  readonly cut: AbortSignal
  readonly slowClaimMs: number
  /** Before the second try at a queue; later ones wait twice as long each, up to half an hour. */
  readonly queueRetryMs: number
  readonly warn: (message: string) => void
}): Hearing {
  let open: { readonly listener: Listener; readonly session: string; readonly renewAt: number } | null = null
  let tries = 0
  let retryAtMs = 0
  let refusals = 0
  let isTold = false

  const drop = () => {
    void open?.listener.close()
    open = null
  }
  const later = () => {
    drop()
    const ms = Math.min(retryMsMax, o.queueRetryMs * 2 ** tries)
    tries += 1
    retryAtMs = performance.now() + ms * (0.75 + Math.random() / 2)
  }
  const soon = () => {
    drop()
    tries = 0
    retryAtMs = 0
    refusals = 0
  }
  const heard = () => {
    tries = 0
    refusals = 0
    isTold = false
  }
  const failed = async (error: unknown): Promise<void> => {
    if (!(error instanceof Deaf)) throw error
    if (o.signal.aborted) return
    refusals += 1
    if (error.kind === 'refused' && refusals <= refusalsMax) {
      // Credentials that ended, or a queue that went with its session: the next claim says where to go on. If it is here, ask anew.
      drop()
      if (refusals === refusalsMax) await sleep(settlingMs, undefined, { signal: o.signal }).catch(() => null)
      return
    }
    later()
    if (!isTold)
      o.warn(
        `the session's queue cannot be heard (${error.message}) · waits by claims, and tries the queue again every few minutes`,
      )
    isTold = true
  }

  /**
   * An agent is never served from a queue: its own one rings only for the fresh sessions of schedules, each standing session has
   * one of its own, and to listen to all of them would take a long poll and credentials for each.
   */
  const mayListen = (target: Target): target is { readonly session: string } =>
    'session' in target && (open !== null || performance.now() >= retryAtMs)

  const tune = async (session: string): Promise<Listener | null> => {
    if (open !== null && (open.session !== session || Date.now() >= open.renewAt)) drop()
    if (open !== null) return open.listener
    const listener = await openListener({ ...o, session })
    if (listener === null) {
      later()
      return null
    }
    // Not at each look, should the clock of this machine be ahead.
    const renewAt = Math.max(listener.expiresAt - renewBeforeMs, Date.now() + o.slowClaimMs)
    open = { listener, session, renewAt }
    return listener
  }

  /** Returns when a claim is due. */
  const listen = async (session: string): Promise<void> => {
    const untilMs = performance.now() + o.slowClaimMs
    try {
      const listener = await tune(session)
      if (listener === null) return
      for (let leftMs = o.slowClaimMs; leftMs > 0 && !o.signal.aborted; leftMs = untilMs - performance.now()) {
        const word = await listener.rung(Math.min(waitSeconds, Math.ceil(leftMs / 1000)), o.signal)
        if (!o.signal.aborted) heard()
        if (word === 'rung') return
      }
    } catch (error) {
      await failed(error)
    }
  }

  return {
    async begin(target) {
      if (!mayListen(target)) return 'claims'
      try {
        return (await tune(target.session)) === null ? 'claims' : 'queue'
      } catch (error) {
        await failed(error)
        return 'claims'
      }
    },
    async next(target) {
      const listens = mayListen(target)
      const handed = await claim({ ...o, target, waitSeconds: listens ? 0 : waitSeconds })
      // Told to stop, there may have been no claim.
      if (handed !== null || !o.signal.aborted) open?.listener.settle()
      if (handed !== null && 'moved' in handed) soon()
      if (listens && handed === null && !o.signal.aborted) await listen(target.session)
      return handed
    },
    close: async () => open?.listener.close(),
  }
}
