import type { Json } from '../cel/index.ts'
import { limits } from './limits.ts'
import type { Reach } from './provenance.ts'
import { Refused } from './refused.ts'

export const monitorStatuses = ['armed', 'fired', 'expired', 'cancelled', 'ended'] as const
export type MonitorStatus = (typeof monitorStatuses)[number]

/** What is waited for. */
export type Watch =
  | { readonly kind: 'document'; readonly path: string }
  | { readonly kind: 'time'; readonly at: number }
  | {
      readonly kind: 'tool'
      readonly name: string
      readonly args: { readonly [name: string]: Json }
      readonly everyMs: number
      /** Of the tool as it was when the monitor was armed (decision 29). */
      readonly hash: string
    }

/**
 * A monitor: waits for one thing, and says so once in the conversation it was armed for.
 *
 * Written by the call that arms it, by looks that have something to keep, and by whatever ends it; read by looks; deleted by TTL 90 days after
 * it was over.
 */
export interface Monitor {
  readonly id: string
  /** Where its event goes: compaction moves nothing. */
  readonly conv: string
  readonly agent: string
  /** The person whose agent it is: their days count its fires (decision 8). */
  readonly owner: string
  /** Whose documents and secrets it looks at, and whose budget its wake uses (decision 17). */
  readonly principal: string
  /** The agent that armed it; null: a person did. */
  readonly makerAgent: string | null
  /** The session it was armed in; null: none was named. */
  readonly madeIn: string | null
  /** Of the wake that its event is: one deeper than the turn that armed it. */
  readonly reach: Reach
  readonly note: string
  readonly watch: Watch
  readonly when: string | null
  readonly status: MonitorStatus
  /** Why it ended; null for every other status. */
  readonly reason: string | null
  readonly armedAt: number
  readonly expiresAt: number
  /** When something has to be looked at: the time, the next run of the tool, the expiry. Null when it is over. */
  readonly nextLookAt: number | null
  /** Looks that failed one after the other. */
  readonly failures: number
  /** What the last look that failed said; null after a good one. */
  readonly error: string | null
  /** What the last look found, where the next one needs it. */
  readonly before: { readonly value: Json } | null
  /** The state of the document at the last look that was recorded; null for other watches. */
  readonly mark: number | null
  /** The message that told of it. */
  readonly message: string | null
  readonly endedAt: number | null
}

/** What a condition said of what a look found. `none`: there is no condition, so that any change is one. */
export type Verdict =
  | { readonly is: 'true' }
  | { readonly is: 'false' }
  | { readonly is: 'none' }
  | { readonly is: 'fault'; readonly error: string }

export type Found =
  | { readonly kind: 'time' }
  | {
      readonly kind: 'document'
      /** Another one for every state of a document. */
      readonly mark: number
      readonly value: Json
      readonly verdict: Verdict
      /** The condition asks for `before`. */
      readonly keeps: boolean
    }
  | { readonly kind: 'tool'; readonly value: Json; readonly verdict: Verdict; readonly keeps: boolean }

export type Decision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'fire' }
  | { readonly kind: 'expire' }
  /** It stays armed, and something is to be kept. `told`: it has failed so often that its person is told, once. */
  | { readonly kind: 'keep'; readonly monitor: Monitor; readonly told: boolean }

const nothing: Decision = { kind: 'nothing' }

/** Decides what a look comes to. Pure: the same monitor, found and now give the same. */
export function decideLook(monitor: Monitor, found: Found, now: number): Decision {
  if (monitor.status !== 'armed') return nothing
  if (isOver(monitor, now)) return { kind: 'expire' }
  if (found.kind === 'time')
    return monitor.watch.kind === 'time' && monitor.watch.at <= now ? { kind: 'fire' } : nothing
  const mark = found.kind === 'document' ? found.mark : null
  const isFirst = found.kind === 'document' ? monitor.mark === null : monitor.before === null
  // The same state of a document was looked at: a notification that came twice.
  if (found.kind === 'document' && monitor.mark === mark) return caughtUp(monitor, now)
  const before = found.keeps ? { value: found.value } : monitor.before
  const looked: Monitor = { ...monitor, mark, before, failures: 0, error: null, nextLookAt: nextLook(monitor, now) }
  switch (found.verdict.is) {
    case 'fault': {
      const failures = monitor.failures + 1
      const { error } = found.verdict
      const failed: Monitor = { ...looked, before: monitor.before, failures, error }
      return { kind: 'keep', monitor: failed, told: failures === limits.failuresTold }
    }
    case 'true':
      return { kind: 'fire' }
    case 'none':
      if (!isFirst && (found.kind === 'document' || !isSame(monitor.before!.value, found.value)))
        return { kind: 'fire' }
      return kept(monitor, looked, isFirst)
    case 'false':
      return kept(monitor, looked, found.keeps && (isFirst || !isSame(monitor.before?.value ?? null, found.value)))
  }
}

/** A look that changes nothing costs no write, and one that found what it was due for is due no more. */
function kept(monitor: Monitor, looked: Monitor, hasNews: boolean): Decision {
  const isStale = monitor.nextLookAt !== looked.nextLookAt
  if (!hasNews && monitor.failures === 0 && !isStale) return nothing
  return { kind: 'keep', monitor: looked, told: false }
}

const caughtUp = (monitor: Monitor, now: number): Decision => {
  const nextLookAt = nextLook(monitor, now)
  return nextLookAt === monitor.nextLookAt
    ? nothing
    : { kind: 'keep', monitor: { ...monitor, nextLookAt }, told: false }
}

/** A tool's next run was set when this one was claimed. */
const nextLook = (monitor: Monitor, now: number): number =>
  monitor.nextLookAt !== null && monitor.nextLookAt > now ? monitor.nextLookAt : monitor.expiresAt

/**
 * S4-44: from here on it never fires. A time that it was armed for may come at its very end, and is looked at a moment later: up to
 * that it is on time (decision 11).
 */
export const isOver = ({ watch, expiresAt }: Pick<Monitor, 'watch' | 'expiresAt'>, now: number): boolean =>
  now >= (watch.kind === 'time' ? expiresAt + limits.lateMs : expiresAt)

/** As it is shown and counted: one whose time is over is expired, whether or not somebody has written it yet. */
export const statusOf = (monitor: Monitor, now: number): MonitorStatus =>
  monitor.status === 'armed' && isOver(monitor, now) ? 'expired' : monitor.status

/** When a tool is run next: on the grid that began with the arming, so that a late look moves nothing. Never after the expiry. */
export function nextRunOf(monitor: Pick<Monitor, 'armedAt' | 'expiresAt'>, everyMs: number, now: number): number {
  const runs = Math.floor((now - monitor.armedAt) / everyMs) + 1
  return Math.min(monitor.armedAt + runs * everyMs, monitor.expiresAt)
}

export const over = (
  monitor: Monitor,
  status: Exclude<MonitorStatus, 'armed'>,
  now: number,
  more: { readonly reason?: string; readonly message?: string } = {},
): Monitor => ({
  ...monitor,
  status,
  reason: more.reason ?? null,
  message: more.message ?? null,
  nextLookAt: null,
  // What a finished one found is no use to anybody.
  before: null,
  endedAt: now,
})

/** JSON values, whatever the order of their keys. */
export function isSame(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]!))
  const [x, y] = [a, b] as [{ readonly [name: string]: Json }, { readonly [name: string]: Json }]
  const names = Object.keys(x)
  return (
    names.length === Object.keys(y).length &&
    names.every((name) => Object.hasOwn(y, name) && isSame(x[name]!, y[name]!))
  )
}

/** What is wrong with a monitor that somebody wants to arm. */
export const monitorFault = (path: string, message: string): Refused =>
  new Refused('monitor_invalid', `${path}: ${message}`, [{ path, message }])
