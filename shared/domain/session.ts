import { limits } from './limits.ts'
import type { MessageKind } from './message.ts'
import type { Origin } from './provenance.ts'
import { Refused } from './refused.ts'
import type { TickPlan } from './tick.ts'

export const modes = ['agent', 'ask', 'plan', 'autopilot'] as const
export type Mode = (typeof modes)[number]
export const permissions = ['auto', 'manual', 'yolo'] as const
export type Permission = (typeof permissions)[number]

/**
 * The head of a conversation. A conversation outlives its sessions: compacting gives it a new session id, and what hangs on the
 * conversation (schedules, waiting messages, the running turn) need not move.
 *
 * Written by the session's calls, by claim and end; read by every wake; deleted by TTL after DELETE.
 */
export interface Head {
  /** ULID, the one of its first session. */
  readonly conv: string
  /** The session that stands for it now. */
  readonly session: string
  readonly agent: string
  readonly owner: string
  readonly title: string | null
  readonly main: boolean
  readonly parent: string | null
  readonly forkedFrom: string | null
  readonly project: string | null
  readonly mode: Mode
  readonly permission: Permission
  readonly paused: boolean
  readonly compacting: boolean
  readonly goal: string | null
  readonly pendingRequests: number
  /** Null: no worker ever said anything. */
  readonly workerConnected: boolean | null
  readonly checks: boolean
  /** S2-20: the agent left the conversation. */
  readonly left: boolean
  /** A schedule fired here: the badge of S0-50. */
  readonly scheduledFired: boolean
  /** Prompts it sent to other sessions since the person's last word here; absent in heads of older stores: none. */
  readonly sends?: number
  /** In `ask` and `plan`: prompts to others that a person has allowed and that are not sent yet. */
  readonly grants?: number
  /** Set when a schedule's run made this session for itself: archived when its turn ends. */
  readonly fresh: RunRef | null
  readonly turn: RunningTurn | null
  /** What it plans to do when nobody does anything; absent: nothing, nobody has written yet. */
  readonly tick?: TickPlan | null
  readonly createdAt: number
  readonly archivedAt: number | null
  readonly deletedAt: number | null
  /** Archived or deleted, and what hangs on it has not all been ended yet. */
  readonly closing: boolean
}

/** Names a run row: the schedule and the row's sort key. */
export interface RunRef {
  readonly schedule: string
  readonly row: string
}

export interface RunningTurn {
  readonly id: string
  readonly message: string
  readonly kind: MessageKind
  readonly origin: Origin
  /** Runs whose messages this turn works on: the one that started it, and those that steered it. */
  readonly runs: readonly RunRef[]
  readonly startedAt: number
  readonly leaseUntil: number
  readonly leaseMs: number
  /** Its worker takes further messages while it runs. */
  readonly steerable: boolean
  /** `input`: a person wrote while a tick had it. */
  readonly cancelled: 'person' | 'overlap' | 'input' | null
  /** A person's message was handed to it while it ran. */
  readonly heard?: true
  /** Monitors that it has armed, counted where decision 27 bounds them; absent: none. */
  readonly armed?: number
}

/**
 * What hangs on a conversation: ids of schedules that fire in it and of those it made for others. Ids of finished ones may
 * still stand here; whoever writes the lists next leaves them out, so that an end need not write this item.
 */
export interface Links {
  readonly fires: readonly string[]
  readonly made: readonly string[]
  /** Monitors whose events come here. Absent in lists that are older than it: none. */
  readonly monitors?: readonly string[]
}
export const noLinks: Links = { fires: [], made: [] }

export type SessionState = 'idle' | 'running' | 'paused' | 'compacting' | 'archived'

export const promptsSent = (head: Head | null): number => head?.sends ?? 0

export const isGone = (head: Head): boolean => head.archivedAt !== null || head.deletedAt !== null

export function stateOf(head: Head): SessionState {
  if (isGone(head)) return 'archived'
  if (head.compacting) return 'compacting'
  if (head.turn !== null) return 'running'
  return head.paused ? 'paused' : 'idle'
}

/** True when the lease has run out: the worker is taken for dead, and the turn ends as `unknown`. */
export const hasLapsed = (turn: RunningTurn, now: number): boolean => turn.leaseUntil <= now

/** The running turn of this id. @throws Refused `turn_not_running` when it ended, lapsed or never was */
export function runningTurn(head: Head | null, turn: string, now: number): RunningTurn {
  const running = head?.turn ?? null
  if (running === null || running.id !== turn || hasLapsed(running, now))
    throw new Refused(
      'turn_not_running',
      `turn ${turn} is not running: it ended, its lease ran out or it was never started. Stop the work and claim again`,
    )
  return running
}

export const leaseMsOf = (seconds: number | undefined): number => (seconds ?? limits.leaseSecondsDefault) * 1000
