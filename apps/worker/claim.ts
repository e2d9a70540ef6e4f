import { type Client, path } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'
import type { Message, Session } from '../client/shapes.ts'
import type { Job } from './jobs.ts'
import { persist, type Reachability } from './persist.ts'
import type { Claimed } from './turn.ts'

/** Whom a worker serves: one session, or an agent with all its sessions. */
export type Target = { readonly session: string } | { readonly agent: string }

/**
 * Takes the next message or job, waiting for it and for a server that is away.
 *
 * @param only    'jobs': takes no message and starts no turn
 * @param waitSeconds  0..20, how long the server holds the claim open; 0 only looks
 * @param signal  gives up once nothing is open
 * @param cut     gives up at once
 * @returns       null when nothing is there; where to go on when the session was compacted
 * @throws        ApiError when the target or the key does not hold (any more)
 */
export async function claim(o: {
  readonly client: Client
  readonly target: Target
  readonly leaseSeconds?: number
  readonly waitSeconds: number
  readonly steer?: boolean
  readonly only?: 'jobs'
  readonly reachability: Reachability
  readonly signal: AbortSignal
  readonly cut: AbortSignal
}): Promise<Handed | { readonly job: Job } | { readonly moved: string } | null> {
  const { target, reachability, signal } = o
  try {
    return await persist({ call: () => claimOnce(o), reachability, signal })
  } catch (error) {
    if (signal.aborted) return null
    if (!(error instanceof ApiError) || error.code !== 'session_archived' || 'agent' in target) throw error
    const moved = await compactedInto({ ...o, session: target.session })
    if (moved === null) throw error
    return { moved }
  }
}

/** What a claim hands out; without a turn when the message is to steer one that runs already. */
export interface Handed {
  readonly turn: Claimed['turn'] | null
  readonly message: Message
  readonly notes: readonly Message[]
}

async function claimOnce(o: Parameters<typeof claim>[0]): Promise<Handed | { readonly job: Job } | null> {
  const { client, target, leaseSeconds, waitSeconds } = o
  const steer = o.only !== 'jobs' && o.steer === true && !(await isBusy(client, target))
  const where = 'session' in target ? path`/v1/sessions/${target.session}` : path`/v1/agents/${target.agent}`
  // A server told to wait looks a second time at the end, also after no time.
  const wait = waitSeconds > 0 ? { wait: waitSeconds } : {}
  return await client.call('POST', `${where}/claim`, {
    body: o.only === 'jobs' ? { ...wait, jobs: 'only' } : { ...wait, leaseSeconds, ...(steer ? { steer } : {}) },
    signal: o.cut,
    timeoutMs: (waitSeconds + 20) * 1000,
  })
}

/**
 * Whether a turn runs that is not ours, of a worker that died, say. Claiming with `steer` would take its messages to steer it,
 * which we cannot: we wait for its end instead.
 */
async function isBusy(client: Client, target: Target): Promise<boolean> {
  if ('agent' in target) return false
  const { state } = await client.call<Session>('GET', path`/v1/sessions/${target.session}`, { timeoutMs: 20_000 })
  return state === 'running'
}

async function compactedInto(o: {
  readonly client: Client
  readonly session: string
  readonly reachability: Reachability
  readonly signal: AbortSignal
}): Promise<string | null> {
  const call = () => o.client.call<Session>('GET', path`/v1/sessions/${o.session}`, { timeoutMs: 20_000 })
  const session = await persist({ ...o, call }).catch(() => null)
  return session?.compactedInto ?? null
}
