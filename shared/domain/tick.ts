import type { Instant } from '../time/index.ts'
import type { Reach } from './provenance.ts'
import type { Head } from './session.ts'

/** How an agent's idle sessions wake themselves. Stored as what differs from the defaults. */
export interface ProactiveSettings {
  readonly enabled: boolean
  /** How long a session is idle before its first tick, and how far from a tick its next schedule has to be. */
  readonly tickSeconds: number
  readonly minSleepSeconds: number
  readonly maxSleepSeconds: number
  /** It parks after so many ticks in a row that ended without `sleep`. */
  readonly idleTickLimit: number
  readonly maxTicksPerDay: number
  readonly maxTokensPerDay: number
  /** How long it stays armed after a person's word. */
  readonly maxWindowMinutes: number
  readonly allowYolo: boolean
}

/** S3-9 to S3-17. */
export const proactiveDefaults: ProactiveSettings = {
  enabled: true,
  tickSeconds: 300,
  minSleepSeconds: 30,
  maxSleepSeconds: 3600,
  idleTickLimit: 3,
  maxTicksPerDay: 48,
  maxTokensPerDay: 2_000_000,
  maxWindowMinutes: 480,
  allowYolo: false,
}

/** S3-47: the wait after the first, second, third unproductive tick in a row, and after all further ones. */
const backoffSeconds = [60, 300, 900, 3600] as const

/**
 * What a session plans to do when nobody does anything. Stands on its conversation's head; absent until a person has written.
 *
 * Written by ends of turns, ticks, a person's word, park and fork; read by all of them.
 */
export interface TickPlan {
  /** When it is looked at next; null: not while a turn runs, or not until a person writes. */
  readonly nextAt: Instant | null
  /** Why it is parked: only a person's word starts it again. Null: it is not. */
  readonly parked: string | null
  /** Since when: a word from before it does not start it again. Absent: not parked. */
  readonly parkedAt?: Instant
  /** A person has written since it was parked by hand. */
  readonly word?: true
  /** A tick that was put and is not begun; its place in the inbox. */
  readonly waiting: Instant | null
  /** Unproductive ticks in a row. */
  readonly idle: number
  /** When a person's word opened the window. */
  readonly windowFrom: Instant
  /** The day, in the owner's zone, that is counted. */
  readonly day: string
  readonly ticks: number
  readonly tokens: number
  /** Of the turn that it follows: what a tick sets in motion reaches no further. */
  readonly reach: Reach
}

/** What a tick would meet, read before it is decided. */
export interface TickSeat {
  /** The deployment's switch. */
  readonly switchedOn: boolean
  readonly settings: ProactiveSettings
  readonly head: Pick<
    Head,
    | 'main'
    | 'parent'
    | 'turn'
    | 'paused'
    | 'left'
    | 'pendingRequests'
    | 'compacting'
    | 'goal'
    | 'permission'
    | 'archivedAt'
    | 'deletedAt'
  >
  /** Messages that wait, the tick's own left out. */
  readonly queue: number
  /** The next time of a schedule that fires here; null: none. */
  readonly nextScheduleAt: Instant | null
  /** The budget that is used up, by its name; null: none is. */
  readonly short: string | null
  /** The day in the owner's zone, and when the next one begins. */
  readonly today: { readonly day: string; readonly to: Instant }
  readonly now: Instant
}

interface Gate {
  readonly reason: string
  /** `off`: for good, as long as things are so. `parks`: until a person writes. `waits`: looked at again. */
  readonly kind: 'off' | 'parks' | 'waits'
  /** True, or the reason where the gate has several. */
  readonly closed: (seat: TickSeat, plan: TickPlan) => boolean | string | null
  /** When it opens, where that is known; else it is looked at again after `tickSeconds`. */
  readonly opensAt?: (seat: TickSeat) => Instant
}

/** In this order; the first closed gate decides (S3-3 to S3-36). */
const gates: readonly Gate[] = [
  { reason: 'switch_off', kind: 'off', closed: (s) => !s.switchedOn },
  { reason: 'disabled', kind: 'off', closed: (s) => !s.settings.enabled },
  {
    reason: 'session_archived',
    kind: 'off',
    closed: ({ head }) => head.archivedAt !== null || head.deletedAt !== null,
  },
  { reason: 'child_session', kind: 'off', closed: ({ head }) => head.parent !== null },
  { reason: 'not_main', kind: 'off', closed: ({ head }) => !head.main },
  { reason: 'parked', kind: 'parks', closed: (_s, plan) => plan.parked },
  { reason: 'turn_running', kind: 'waits', closed: ({ head }) => head.turn !== null },
  { reason: 'paused', kind: 'waits', closed: ({ head }) => head.paused },
  { reason: 'agent_left', kind: 'waits', closed: ({ head }) => head.left },
  { reason: 'queue', kind: 'waits', closed: (s) => s.queue > 0 },
  { reason: 'pending_requests', kind: 'waits', closed: ({ head }) => head.pendingRequests > 0 },
  { reason: 'compacting', kind: 'waits', closed: ({ head }) => head.compacting },
  { reason: 'goal', kind: 'waits', closed: ({ head }) => head.goal !== null },
  {
    reason: 'schedule_soon',
    kind: 'waits',
    closed: (s) => s.nextScheduleAt !== null && s.nextScheduleAt - s.now <= s.settings.tickSeconds * 1000,
  },
  { reason: 'permission_manual', kind: 'waits', closed: ({ head }) => head.permission === 'manual' },
  {
    reason: 'permission_yolo',
    kind: 'waits',
    closed: ({ head, settings }) => head.permission === 'yolo' && !settings.allowYolo,
  },
  {
    reason: 'max_ticks_per_day',
    kind: 'waits',
    closed: (s, plan) => counted(plan, s.today.day).ticks >= s.settings.maxTicksPerDay,
    opensAt: (s) => s.today.to,
  },
  {
    reason: 'max_tokens_per_day',
    kind: 'waits',
    closed: (s, plan) => counted(plan, s.today.day).tokens >= s.settings.maxTokensPerDay,
    opensAt: (s) => s.today.to,
  },
  // The same budgets that every wake draws on.
  { reason: 'budget', kind: 'waits', closed: (s) => s.short, opensAt: (s) => s.today.to },
  { reason: 'max_window', kind: 'parks', closed: (s, plan) => s.now >= windowUntil(plan, s.settings) },
]

export interface ClosedGate {
  readonly kind: Gate['kind']
  readonly reason: string
  /** When it is looked at again; null for those that only somebody else opens. */
  readonly retryAt: Instant | null
}

/** The first closed gate of a session's next tick; null: it may go out. */
export function tickGate(seat: TickSeat, plan: TickPlan): ClosedGate | null {
  const found = firstClosed(seat, plan)
  if (found === null) return null
  const { gate, reason } = found
  return { kind: gate.kind, reason, retryAt: gate.kind === 'waits' ? (gate.opensAt?.(seat) ?? retryAt(seat)) : null }
}

/** When the first closed gate opens, where that is known; null: it is not. */
export const tickOpensAt = (seat: TickSeat, plan: TickPlan): Instant | null =>
  firstClosed(seat, plan)?.gate.opensAt?.(seat) ?? null

function firstClosed(seat: TickSeat, plan: TickPlan): { readonly gate: Gate; readonly reason: string } | null {
  for (const gate of gates) {
    const closed = gate.closed(seat, plan)
    if (closed === false || closed === null) continue
    return { gate, reason: closed === true ? gate.reason : closed }
  }
  return null
}

/** S3-33 to S3-35: after `tickSeconds`, and never beyond the next schedule. */
function retryAt({ now, settings, nextScheduleAt }: TickSeat): Instant {
  const later = now + settings.tickSeconds * 1000
  return nextScheduleAt !== null && nextScheduleAt > now ? Math.min(later, nextScheduleAt) : later
}

/** What becomes of a tick whose time has come. */
export function decideTick(seat: TickSeat, plan: TickPlan): { readonly plan: TickPlan; readonly put: boolean } {
  const gate = tickGate(seat, plan)
  if (gate === null) return { plan: { ...plan, nextAt: null, waiting: seat.now }, put: true }
  if (gate.kind === 'off') return { plan: { ...plan, nextAt: null }, put: false }
  const until = windowUntil(plan, seat.settings)
  // Whatever else it waits for: when its window is over, it waits no more.
  const parks = gate.kind === 'parks' ? gate.reason : until <= seat.now ? 'max_window' : null
  if (parks !== null) return { plan: { ...plan, nextAt: null, parked: parks }, put: false }
  return { plan: { ...plan, nextAt: Math.min(gate.retryAt!, until) }, put: false }
}

/** A turn that has ended, as the planner sees it. */
export interface TurnEnded {
  readonly kind: 'user' | 'tick' | 'other'
  /** When the person's word was put, that the turn works on; null: it is nobody's word. */
  readonly wordAt: Instant | null
  readonly cancelled: boolean
  readonly sleepSeconds: number | null
  readonly tokens: number
  readonly reach: Reach
  readonly settings: ProactiveSettings
  readonly day: string
  readonly now: Instant
}

/**
 * The plan after a turn. A person's word opens the window anew; a tick that asked for sleep has done its part, one that did not was
 * unproductive; what other wakes do leaves window and park as they are.
 *
 * @returns null: nobody has written yet, and nothing is planned
 */
export function afterTurn(plan: TickPlan | null, turn: TurnEnded): TickPlan | null {
  const next = planned(plan, turn)
  if (next === null || next.nextAt === null) return next
  const until = windowUntil(next, turn.settings)
  if (until <= turn.now) return { ...next, nextAt: null, parked: 'max_window' }
  // When the window ends it is looked at once more, and parks.
  return { ...next, nextAt: Math.min(next.nextAt, until) }
}

function planned(plan: TickPlan | null, turn: TurnEnded): TickPlan | null {
  const { now, settings } = turn
  const asked = turn.sleepSeconds === null ? settings.tickSeconds : clampedSleep(turn.sleepSeconds, settings)
  const isOlder = plan !== null && plan.parked !== null && turn.wordAt !== null && turn.wordAt <= (plan.parkedAt ?? -1)
  if (isOlder) return plan
  if (turn.kind === 'user')
    return {
      ...(plan === null ? { day: turn.day, ticks: 0, tokens: 0 } : counted(plan, turn.day)),
      nextAt: now + asked * 1000,
      parked: null,
      waiting: null,
      idle: 0,
      windowFrom: now,
      reach: turn.reach,
    }
  if (plan === null) return null
  if (plan.parked !== null && turn.kind === 'other') return plan
  const next = { ...plan, waiting: null, nextAt: now + asked * 1000, reach: turn.reach }
  if (turn.kind === 'other') return next
  const today = counted(plan, turn.day)
  const spent = { ...next, ...today, tokens: today.tokens + turn.tokens, reach: plan.reach }
  if (plan.parked !== null) return { ...spent, nextAt: null }
  if (turn.sleepSeconds !== null && !turn.cancelled) return { ...spent, idle: 0 }
  const idle = plan.idle + 1
  if (idle >= settings.idleTickLimit) return { ...spent, idle, nextAt: null, parked: 'idle_tick_limit' }
  return { ...spent, idle, nextAt: now + backoffSeconds[Math.min(idle, backoffSeconds.length) - 1]! * 1000 }
}

/** S3-38, S3-39: what is asked for, within the bounds. */
export const clampedSleep = (seconds: number, { minSleepSeconds, maxSleepSeconds }: ProactiveSettings): number =>
  Math.min(Math.max(seconds, minSleepSeconds), Math.max(minSleepSeconds, maxSleepSeconds))

/** The plan of a session while one of its turns runs: nothing is due. A tick that begins is counted. */
export function whileRunning(plan: TickPlan, begun: { readonly day: string } | null): TickPlan {
  const running = { ...plan, nextAt: null, waiting: null }
  if (begun === null) return running
  const today = counted(plan, begun.day)
  return { ...running, ...today, ticks: today.ticks + 1 }
}

/** Until a person writes. */
export function parkedPlan({ word: _, ...plan }: TickPlan, reason: string, now: Instant): TickPlan {
  return { ...plan, nextAt: null, waiting: null, parked: reason, parkedAt: now }
}

/** A person has written in a session whose ticks were parked by hand; null: they were not, or it is noted already. */
export const heardPlan = (plan: TickPlan): TickPlan | null =>
  plan.parkedAt !== undefined && plan.parked !== null && plan.word !== true ? { ...plan, word: true } : null

/** The plan of a session in which nobody has written yet. */
export const unplanned = (day: string, now: Instant): TickPlan => ({
  nextAt: null,
  parked: null,
  waiting: null,
  idle: 0,
  windowFrom: now,
  day,
  ticks: 0,
  tokens: 0,
  reach: { hops: 0, depth: 0 },
})

/** What a day has used; another day has used nothing yet. */
export const counted = (plan: TickPlan, day: string): Pick<TickPlan, 'day' | 'ticks' | 'tokens'> =>
  plan.day === day ? { day, ticks: plan.ticks, tokens: plan.tokens } : { day, ticks: 0, tokens: 0 }

export const windowUntil = (plan: TickPlan, { maxWindowMinutes }: ProactiveSettings): Instant =>
  plan.windowFrom + maxWindowMinutes * 60_000

/** S3-40, and the header that every automated message has. */
export const tickText = `[rouse tick · automated message from Rouse, not from the user; it approves nothing]
Nobody is writing to you now. Look whether work is left that you were asked for and can do without an answer. If so, do one bounded part of it; do not begin anything new and do not ask.
Then end with sleep: seconds until you want to look again, 300 or more unless something outside this session is about to happen sooner, and a reason. Every wake costs a model call.
If nothing is left, end with nothing to do.`
