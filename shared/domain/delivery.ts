import { formatInstant, jitterOf } from '../time/index.ts'
import { derivedUlid } from './ids.ts'
import { limits } from './limits.ts'
import { onOneLine } from './names.ts'
import type { Result } from './schedule.ts'

/**
 * What the end of one run sends out: one item, however many targets, so that a turn's end stays one commit.
 *
 * Written by the end of the turn, by each try and by a retry that was asked for; read by tries and by the list of deliveries; deleted by
 * TTL 90 days after it was last written.
 */
export interface Outgoing {
  readonly schedule: string
  readonly run: string
  /** As they were when the turn ended. */
  readonly name: string
  readonly nominalAt: number
  readonly result: Result
  readonly reason: string | null
  readonly summary: string | null
  /** Sort key of the answer in the history of `conv`, where it is stored once for everybody; null: there was none. */
  readonly answer: string | null
  /** Null for a flow's run, which works in no session. */
  readonly conv: string | null
  readonly session: string | null
  readonly agent: string
  /** Whose secrets, whose feed, and whose right to talk to a session. */
  readonly principal: string
  /** When the turn ended, epoch ms. */
  readonly at: number
  readonly targets: readonly Sending[]
}

/** `dead`: given up; it is kept, and sent again only when asked. */
export type SendingStatus = 'waiting' | 'sent' | 'dead'

export interface Sending {
  readonly to: string
  readonly status: SendingStatus
  /** Begun ones: it is counted before it leaves, so that one that kills its sender is given up too. */
  readonly tries: number
  /** Of the next try, epoch ms; while one is under way, when it counts as lost. Null when none comes. */
  readonly nextAt: number | null
  readonly error: string | null
}

/** How a try ended. */
export type Tried =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed'
      readonly error: string
      readonly retry: boolean
      /** What the receiver asked for; null: nothing. */
      readonly retryAfterMs: number | null
    }

/** Names it to the receiver, who can tell a repeat by it: it follows from the run and the target. */
export const deliveryIdOf = (out: Pick<Outgoing, 'at' | 'run'>, to: string): string =>
  `dlv_${derivedUlid(out.at, `${out.run}|${to}`)}`

/** A run's own place in its schedule's partition. */
export const outgoingRow = (out: Pick<Outgoing, 'at' | 'run'>): string => `V#${derivedUlid(out.at, out.run)}`

export const newSending = (to: string, now: number): Sending => ({
  to,
  status: 'waiting',
  tries: 0,
  nextAt: now,
  error: null,
})

export const isDue = (sending: Sending, now: number): boolean =>
  sending.status === 'waiting' && sending.nextAt !== null && sending.nextAt <= now

/**
 * A try begins: it is counted, and taken by nobody else until it counts as lost. One that was lost as often as it may be tried is given
 * up: nobody knows whether it arrived.
 */
export const begun = (sending: Sending, now: number): Sending =>
  sending.tries >= triesMax
    ? { ...sending, status: 'dead', nextAt: null, error: 'the last try broke off: it is not known whether it arrived' }
    : { ...sending, tries: sending.tries + 1, nextAt: now + limits.deliverClaimMs }

/** Waits before the second try and so on. Source: the schedule that Standard Webhooks recommends, with the day after it. */
const backoffMs = [5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000] as const
export const triesMax = backoffMs.length + 1

/** What becomes of it after a try. `id` seeds the jitter: whatever a dead receiver was owed does not come all at once. */
export function afterTry(sending: Sending, tried: Tried, o: { readonly id: string; readonly now: number }): Sending {
  if (tried.kind === 'sent') return { ...sending, status: 'sent', nextAt: null, error: null }
  const waitMs = backoffMs[sending.tries - 1]
  if (!tried.retry || waitMs === undefined) return { ...sending, status: 'dead', nextAt: null, error: tried.error }
  const jitterMs = jitterOf({ seed: o.id, nominal: o.now, jitterMs: waitMs / 5, next: null })
  const askedMs = Math.min(tried.retryAfterMs ?? 0, limits.deliverRetryAfterMsMax)
  return { ...sending, nextAt: o.now + Math.max(waitMs + jitterMs, askedMs), error: tried.error }
}

/** When anything of it has to be looked at; null: never again. */
export function nextTryOf({ targets }: Pick<Outgoing, 'targets'>): number | null {
  const times = targets.flatMap(({ status, nextAt }) => (status === 'waiting' && nextAt !== null ? [nextAt] : []))
  return times.length === 0 ? null : Math.min(...times)
}

/** Whether an answer means that it arrived, and if not, whether trying again makes sense: a request that is wrong stays wrong. */
export function judged(status: number, host: string, retryAfterMs: number | null): Tried {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const error = `${host} answered ${status}`
  if (status >= 300 && status < 400)
    return {
      kind: 'failed',
      error: `${error}: name the address that it redirects to`,
      retry: false,
      retryAfterMs: null,
    }
  const retry = status >= 500 || [408, 409, 425, 429].includes(status)
  return { kind: 'failed', error, retry, retryAfterMs }
}

/** `Retry-After`, RFC 9110 10.2.3: seconds or a date. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined || header.trim() === '') return null
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms > 0 ? ms : null
}

/** What a program gets. */
export const eventOf = (out: Outgoing, answer: string | null) => ({
  type: 'run.ended',
  timestamp: formatInstant(out.at),
  data: {
    schedule: out.schedule,
    name: out.name,
    run: out.run,
    nominalAt: formatInstant(out.nominalAt),
    outcome: 'fired',
    result: out.result,
    summary: out.summary,
    answer,
  },
})

/** What a person reads: what ran and how it ended, then what was said. */
export function textOf(out: Outgoing, answer: string | null, charsMax: number): string {
  const how = out.reason === null ? out.result : `${out.result}, ${out.reason.replaceAll('_', ' ')}`
  const head = `Scheduled run: ${onOneLine(out.name)} (${how})`
  const said = saidOf(out, answer)
  return cutAtWord(said === '' ? head : `${head}\n\n${said}`, charsMax)
}

/** Summary and answer, each once. */
export const saidOf = (out: Pick<Outgoing, 'summary'>, answer: string | null): string =>
  [...new Set([out.summary, answer])].filter((text) => text !== null && text.trim() !== '').join('\n\n')

/** Cut after a word and marked, in UTF-16 units, as Telegram counts; never inside a character. */
export function cutAtWord(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const room = text.slice(0, charsMax - 2)
  const blank = room.search(/\s\S*$/)
  // One word without end would leave next to nothing.
  const cut = blank > charsMax / 2 ? room.slice(0, blank) : room.replace(/[\ud800-\udbff]$/, '')
  return `${cut.trimEnd()} …`
}
