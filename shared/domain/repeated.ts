import { limits } from './limits.ts'
import type { Trace } from './trace.ts'

/**
 * How often an agent did the very same: one item per fingerprint, counted by the day, so that what has gone by its retention counts no more.
 *
 * Written in the commit of each clean trace; read for suggestions; deleted by TTL a month after the last one.
 */
export interface Repeated {
  readonly agent: string
  readonly fingerprint: string
  /** By the day they came on, counted from 1970-01-01 UTC: traces, tokens, US dollars. */
  readonly days: { readonly [day: string]: readonly [traces: number, tokens: number, usd: number] }
  /** The latest traces, the newest first: id, and when it came, epoch ms. At most `limits.repeatedTracesMax`. */
  readonly recent: readonly (readonly [id: string, storedAt: number])[]
  /** A person wants no flow of it: it is suggested no more. */
  readonly declined?: true
}

export interface Totals {
  readonly traces: number
  readonly tokens: number
  readonly usd: number
}

/** Counts one more trace, and leaves out what has gone by its retention. */
export function counted(
  before: Repeated | null,
  trace: Pick<Trace, 'id' | 'agent' | 'tokens' | 'usd' | 'storedAt'>,
  fingerprint: string,
): Repeated {
  const now = trace.storedAt
  const today = String(dayOf(now))
  const kept = Object.entries(before?.days ?? {}).filter(([day]) => isKept(day, now))
  const [traces, tokens, usd] = before?.days[today] ?? [0, 0, 0]
  return {
    agent: trace.agent,
    fingerprint,
    days: {
      ...Object.fromEntries(kept),
      [today]: [traces + 1, tokens + (trace.tokens ?? 0), usd + (trace.usd ?? 0)],
    },
    recent: [[trace.id, now] as const, ...recentOf(before, now)].slice(0, limits.repeatedTracesMax),
    ...(before?.declined === true ? { declined: true } : {}),
  }
}

/** What the traces that are still kept came to. */
export function totalsOf(repeated: Repeated, now: number): Totals {
  const kept = Object.entries(repeated.days).flatMap(([day, counts]) => (isKept(day, now) ? [counts] : []))
  const sum = (of: 0 | 1 | 2): number => kept.reduce((total, counts) => total + counts[of], 0)
  return { traces: sum(0), tokens: sum(1), usd: sum(2) }
}

/** Those of the latest traces that are still kept, the newest first. */
export const recentOf = (repeated: Repeated | null, now: number): Repeated['recent'] =>
  (repeated?.recent ?? []).filter(([, storedAt]) => storedAt + limits.traceMs > now)

const dayMs = 86_400_000
const dayOf = (at: number): number => Math.floor(at / dayMs)
/** To the day: a day counts until its last trace has gone. */
const isKept = (day: string, now: number): boolean => (Number(day) + 1) * dayMs + limits.traceMs > now
