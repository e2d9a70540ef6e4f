import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, path } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'
import type { Message } from '../client/shapes.ts'
import { persist, type Reachability } from './persist.ts'
import { type Steering, SteeringQueue } from './steering.ts'
import { CallLog, type Calls, type RunLimits, type ToolCall, tooLong } from './tool-calls.ts'

/** What a claim hands out. */
export interface Claimed {
  readonly turn: { readonly id: string; readonly session: string; readonly leaseUntil: string; readonly mode: string }
  readonly message: Message
  readonly notes: readonly Message[]
}

/** A turn in the hands of whoever does the work. */
export interface Turn extends Claimed {
  /** Aborts when the work must stop: the turn was cancelled or lost, passed a limit, or the worker is told to stop at once. */
  readonly signal: AbortSignal
  readonly steering: Steering
  /** For tool calls as they happen; they are reported with the turn's end, after those that its outcome names itself. */
  readonly calls: Calls
}

/** How a turn ended, as `POST /v1/turns/{id}/end` takes it. */
export interface Outcome {
  readonly outcome: 'ok' | 'nothing_to_do' | 'blocked' | 'failed'
  readonly answer?: string
  readonly summary?: string
  readonly tokens?: number
  readonly usd?: number
  readonly toolCalls?: readonly ToolCall[]
  readonly sleep?: { readonly seconds: number; readonly reason?: string }
}

/** `limited`: it went past what one turn may do, or in circles. */
export type Fate = 'finished' | 'cancelled' | 'lost' | 'halted' | 'limited'

/**
 * Works on one turn: runs it, keeps its lease, stops it when it is cancelled or passes a limit, and delivers its end, however long the server is away.
 *
 * A running command is never stopped because the server does not answer: the lease decides, and only the server knows it.
 *
 * @param halt  the worker is told to stop at once
 * @throws ApiError  the key no longer holds; the work has been stopped
 */
export async function workOn(o: {
  readonly client: Client
  readonly claimed: Claimed
  readonly leaseSeconds: number
  readonly run: (turn: Turn) => Promise<Outcome>
  readonly limits?: RunLimits
  readonly reachability: Reachability
  readonly halt: AbortSignal
}): Promise<{ readonly fate: Fate; readonly outcome: Outcome }> {
  const steering = new SteeringQueue()
  const stop = new AbortController()
  const delivered = new AbortController()
  const end = (fate: Fate) => stop.abort(fate)
  let limit = ''
  const limited = (summary: string) => {
    if (!stop.signal.aborted) limit = summary
    end('limited')
  }
  const { maxSeconds, maxToolCalls } = o.limits ?? {}
  const calls = new CallLog({ maxToolCalls, stop: limited })
  const late = maxSeconds === undefined ? undefined : setTimeout(() => limited(tooLong(maxSeconds)), maxSeconds * 1000)

  const onHalt = () => end('halted')
  o.halt.addEventListener('abort', onHalt)
  if (o.halt.aborted) onHalt()
  const beating = keepLease({ ...o, steering, end, until: delivered.signal }).catch((refusal: unknown) => {
    end('lost')
    return { refusal }
  })
  const finish = async () => {
    delivered.abort()
    o.halt.removeEventListener('abort', onHalt)
    const beat = await beating
    if (beat !== undefined) throw beat.refusal
  }

  const outcome = await runAll(o, { steering, calls, signal: stop.signal })
  clearTimeout(late)
  // Read before the end is delivered: a cancel that comes after the work was done changes nothing about it.
  const fate: Fate = stop.signal.aborted ? stop.signal.reason : 'finished'
  try {
    if (fate === 'lost') return { fate, outcome }
    if (fate === 'halted') await cancel(o.client, o.claimed)
    const said = withCalls(
      {
        finished: outcome,
        cancelled: { ...spentBy(outcome), ...failed('cancelled') },
        halted: { ...spentBy(outcome), ...failed('stopped by hand in the worker') },
        // S4-1: whoever waits for the answer is told, too.
        limited: { ...spentBy(outcome), outcome: 'blocked' as const, summary: limit, answer: limit },
      }[fate],
      calls,
    )
    return { fate: (await deliver(o, said)) ? fate : 'lost', outcome: said }
  } finally {
    await finish()
  }
}

/** What a turn has used counts, however it ended. */
function spentBy({ tokens, usd, toolCalls }: Outcome): Pick<Outcome, 'tokens' | 'usd' | 'toolCalls'> {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { usd }),
    ...(toolCalls === undefined ? {} : { toolCalls }),
  }
}

/** `end` takes 1 MB; a little of it holds the braces together. */
const endBytesMax = 1024 * 1024 - 1_000

function withCalls(outcome: Outcome, calls: CallLog): Outcome {
  const reported = calls.report(endBytesMax - Buffer.byteLength(JSON.stringify(outcome)))
  return reported.length === 0 ? outcome : { ...outcome, toolCalls: [...(outcome.toolCalls ?? []), ...reported] }
}

/** Ctrl-C is a person's stop, which parks the ticks too (S3-43). An agent's key may not say so; then the end alone has to do. */
async function cancel(client: Client, { turn, message }: Claimed): Promise<void> {
  const timeoutMs = 5_000
  const said = await client.call('POST', path`/v1/turns/${turn.id}/cancel`, { body: {}, timeoutMs }).then(
    () => true,
    () => false,
  )
  // Parking is the agent's to do too.
  if (said || message.kind !== 'tick') return
  const body = { reason: 'cancelled' }
  await client.call('POST', path`/v1/sessions/${turn.session}/ticks/park`, { body, timeoutMs }).catch(() => null)
}

const failed = (summary: string): Outcome => ({ outcome: 'failed', summary })

/** Runs the message, then what came to steer it and was not taken in time: a message handed out must not be lost. */
async function runAll(
  o: Parameters<typeof workOn>[0],
  hands: { readonly steering: SteeringQueue; readonly calls: Calls; readonly signal: AbortSignal },
): Promise<Outcome> {
  const { steering, signal } = hands
  const outcomes: Outcome[] = []
  let claimed: Claimed | null = o.claimed
  while (claimed !== null && !signal.aborted) {
    outcomes.push(await runOne(o.run, { ...claimed, ...hands }))
    const message = steering.take()
    claimed = message === null ? null : { turn: o.claimed.turn, message, notes: [] }
  }
  return outcomes.length === 0 ? failed('stopped before it began') : outcomes.reduce(together)
}

async function runOne(run: (turn: Turn) => Promise<Outcome>, turn: Turn): Promise<Outcome> {
  try {
    return await run(turn)
  } catch (error) {
    return failed(`the agent's code threw: ${error instanceof Error ? error.message : String(error)}`.slice(0, 2000))
  }
}

function together(a: Outcome, b: Outcome): Outcome {
  const worst = ['failed', 'blocked', 'ok', 'nothing_to_do'] as const
  const both = (x: string | undefined, y: string | undefined) => [x, y].filter((text) => text).join('\n\n')
  const [answer, summary] = [both(a.answer, b.answer), both(a.summary, b.summary)]
  return {
    ...a,
    ...b,
    outcome: worst.find((outcome) => a.outcome === outcome || b.outcome === outcome)!,
    ...(answer === '' ? {} : { answer }),
    ...(summary === '' ? {} : { summary }),
    ...(a.toolCalls === undefined ? {} : { toolCalls: [...a.toolCalls, ...(b.toolCalls ?? [])] }),
    ...(a.tokens === undefined ? {} : { tokens: a.tokens + (b.tokens ?? 0) }),
    ...(a.usd === undefined ? {} : { usd: a.usd + (b.usd ?? 0) }),
  }
}

/** Long-polls the heartbeat, so that the lease is renewed every third of it and a cancel is seen at once. */
async function keepLease(o: {
  readonly client: Client
  readonly claimed: Claimed
  readonly leaseSeconds: number
  readonly reachability: Reachability
  readonly steering: SteeringQueue
  readonly end: (fate: Fate) => void
  readonly until: AbortSignal
}): Promise<void> {
  const wait = Math.min(20, Math.floor(o.leaseSeconds / 3))
  const beat = () =>
    o.client.call<{ cancelled: boolean; steer?: readonly Message[] }>(
      'POST',
      path`/v1/turns/${o.claimed.turn.id}/heartbeat`,
      {
        body: { wait },
        signal: o.until,
        timeoutMs: (wait + 20) * 1000,
      },
    )
  while (!o.until.aborted) {
    const startedMs = performance.now()
    try {
      const { cancelled, steer = [] } = await persist({ call: beat, reachability: o.reachability, signal: o.until })
      if (cancelled) return o.end('cancelled')
      o.steering.add(steer)
      // A server that answers at once instead of waiting is not asked a hundred times a second.
      const leftMs = wait * 1000 - (performance.now() - startedMs)
      if (steer.length === 0 && leftMs > 1000) await sleep(leftMs, undefined, { signal: o.until }).catch(() => null)
    } catch (error) {
      if (o.until.aborted) return
      if (isGone(error)) return o.end('lost')
      throw error
    }
  }
}

/** @returns false when the turn was no longer ours to end */
async function deliver(o: Parameters<typeof workOn>[0], outcome: Outcome, isLast = false): Promise<boolean> {
  let attempts = 0
  const call = () => {
    attempts += 1
    return o.client.call('POST', path`/v1/turns/${o.claimed.turn.id}/end`, { body: outcome, timeoutMs: 60_000 })
  }
  // A second "stop at once" while the server is away gives the end up: the lease then ends the turn as unknown.
  const signal = o.halt.aborted ? AbortSignal.timeout(5_000) : o.halt
  try {
    await persist({ call, reachability: o.reachability, signal })
    return true
  } catch (error) {
    // After a lost answer the second try finds the turn ended, by the first.
    if (isGone(error)) return attempts > 1
    if (signal.aborted) return false
    // Nothing would wake the session: the turn ends as it was, and without a wish that cannot be.
    const { sleep, ...rest } = outcome
    if (sleep !== undefined && error instanceof ApiError && error.code === 'ticks_off') return deliver(o, rest)
    if (isLast || !isUnfit(error)) throw error
    // Better a turn that says why it failed than one that holds its session until the lease runs out.
    return deliver(o, failed(`the end of the turn was refused: ${error.detail}`), true)
  }
}

const isUnfit = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 422].includes(error.status)

const isGone = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || (error.status === 409 && error.code === 'turn_not_running'))
