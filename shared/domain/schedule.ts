import type { Spec } from '../time/index.ts'
import type { Reach } from './provenance.ts'

export type Misfire = 'once' | 'skip' | { readonly within: string | number }
export type Overlap = 'skip' | 'buffer' | 'allow' | 'cancel'

/** What a trigger follows. */
export interface TriggerOn {
  readonly source:
    | { readonly document: { readonly path: string } | { readonly prefix: string } }
    /** `hook`: SHA-256 of the token in its URL. `signed`: calls carry a Standard Webhooks signature. */
    | { readonly webhook: { readonly hook: string; readonly signed: boolean } }
  /** CEL; null: whatever happens counts. */
  readonly when: string | null
  /** It fires when nothing has happened for so long. */
  readonly settleMs: number
  /** As the caller wrote it. */
  readonly settle: string | number | null
  readonly maxPerDay: number | null
}

/** What is looked at before an agent is woken: a script in its folder, run by its worker, or a read-only tool, run by Rouse. */
export type Check = { readonly script: string } | { readonly tool: string; readonly args: JsonObject }
export interface JsonObject {
  readonly [name: string]: unknown
}

/**
 * What a schedule is, one item per generation and never rewritten: a message that waits keeps the text of the generation it
 * was fired from.
 *
 * Written by create and edit; read by fires, claims and lists; deleted by TTL with the schedule.
 */
export interface Definition {
  readonly id: string
  /** Counts the edits: 1 at creation. */
  readonly gen: number
  readonly kind: 'prompt' | 'flow'
  readonly name: string
  readonly agent: string
  /** Conversation it fires in; null: a fresh session of the agent for each run. */
  readonly conv: string | null
  readonly prompt: string | null
  /** Of `kind: 'flow'`: the name of one of the agent's flows. Absent or null: it wakes the agent. */
  readonly flow?: string | null
  readonly spec: Spec
  /** As the caller wrote them, so that what is stored reads back. */
  readonly every: string | number | null
  readonly jitter: string | number | null
  readonly jitterMs: number
  readonly channel: string | null
  readonly note: string | null
  /** Where the ends of its runs are told. Absent in items that are older than it: nowhere. */
  readonly deliver?: readonly string[]
  /** Absent or null: the agent is woken without a look. */
  readonly check?: Check | null
  /** A trigger: what happens brings its runs. Absent or null: its rule names times. */
  readonly on?: TriggerOn | null
  readonly misfire: Misfire
  /** Null: the latest missed time is made up however late. */
  readonly misfireWithinMs: number | null
  readonly overlap: Overlap
  readonly onUnknown: 'leave' | 'retry'
  /** Inclusive. */
  readonly until: number | null
  readonly maxRuns: number | null
  readonly pauseAfterFailures: number | null
  /** Person: who asked, or the owner of the agent that did. */
  readonly createdBy: string
  readonly makerAgent: string | null
  /** Conversation it was made in; null: a person's call. */
  readonly makerConv: string | null
  readonly makerTitle: string | null
  readonly reach: Reach
  readonly createdAt: number
  readonly editedAt: number
}

export type ScheduleStatus = 'active' | 'paused' | 'done' | 'ended'

/**
 * Where a schedule stands: the one item that a fire rewrites, kept small.
 *
 * It is also the inbox entry of its own prompt: what waits shows here, so that a fire need not write the conversation.
 * Written by fires, claims, ends and the schedule's calls; read by all of them; deleted by TTL after its end.
 */
export interface Cursor {
  readonly id: string
  readonly gen: number
  readonly status: ScheduleStatus
  /** Why it ended or was paused; null while active. */
  readonly reason: string | null
  readonly agent: string
  readonly conv: string | null
  readonly createdBy: string
  readonly makerAgent: string | null
  readonly makerConv: string | null
  /** The next nominal time, epoch ms; null when paused, done, ended. */
  readonly nextAt: number | null
  /** The latest nominal time that has a row: nothing is counted from before it, even where clocks differ. */
  readonly covered: number | null
  /** When to look: `nextAt` with its jitter. */
  readonly dueAt: number | null
  /** Prompts that wait or run, oldest first. */
  readonly open: readonly OpenRun[]
  /** A run that waits for the person's word (decision 20); no other of the schedule goes before it. */
  readonly held: HeldRun | null
  /** Something has happened to a trigger and settles. */
  readonly event?: SettlingEvent | null
  /** How many events have a row: keeps those of one instant in order. */
  readonly events?: number
  /** What a trigger with a limit has fired on a day of its zone. */
  readonly today?: { readonly day: string; readonly fired: number } | null
  /** An incident card of it is open, to be closed by the next good run. */
  readonly incident: boolean
  /** Overlap is not `allow`: a fresh session's prompt waits while another run of the schedule has the turn. */
  readonly serial: boolean
  /** Counts toward maxRuns. */
  readonly fires: number
  /** Counts toward pauseAfterFailures. */
  readonly failures: number
  /** Checks that failed one after the other; the third is told. */
  readonly checkFailures: number
  readonly counts: Counts
  /** Nominal times of a backfill that still have to go, oldest first. Empty but for a backfill under way. */
  readonly backfill: readonly number[]
  /** DELETE was called: it is gone for every call but its runs. */
  readonly deleted: boolean
}

export interface SettlingEvent {
  /** The first and the planned look, epoch ms. */
  readonly since: number
  readonly lookAt: number
  /** The documents that changed and what they were then, the latest last; null: a webhook was called. */
  readonly changed: readonly (readonly [path: string, mark: number])[] | null
}

export interface Counts {
  readonly fired: number
  readonly skipped: number
  readonly missed: number
  readonly ok: number
  readonly failed: number
}
export const noCounts: Counts = { fired: 0, skipped: 0, missed: 0, ok: 0, failed: 0 }

export interface OpenRun {
  /** Sort key of its run row; run and message ids follow from it. */
  readonly row: string
  readonly gen: number
  /** Its place in the inbox, epoch ms. */
  readonly at: number
  /** Where its message waits; of a flow, its flow run. */
  readonly session: string
  /** The turn that works on it, or the flow run that it is. Null while it waits. */
  readonly turn: string | null
  /** What its check or its event said stands beside its row, and goes into its message. */
  readonly data?: boolean
}

/** A row of the ledger without a message yet: a person has to say a word first, or its check has to find something. */
export interface HeldRun {
  readonly row: string
  readonly gen: number
  /** When it is looked at again though nobody said a word, epoch ms. */
  readonly lookAt: number
  /** `script`, `tool`: its check is under way. `done`: it found something, which stands beside the row. Null: it needs none. */
  readonly check: 'script' | 'tool' | 'done' | null
}

/** True while nobody's word but a check's end is waited for. */
export const isChecking = (held: HeldRun | null): held is HeldRun & { readonly check: 'script' | 'tool' } =>
  held !== null && (held.check === 'script' || held.check === 'tool')

export type Trigger = 'slot' | 'catch_up' | 'manual' | 'backfill' | 'retry' | 'event'
/** The fate of the slot; how its turn ended is `result` (decision 16). */
export type Outcome =
  | 'fired'
  | 'coalesced'
  | 'skipped'
  | 'held'
  | 'missed'
  | 'blocked'
  | 'nothing'
  | 'failed'
  | 'unknown'
export type Result = 'ok' | 'nothing_to_do' | 'blocked' | 'failed' | 'unknown'

/**
 * One line of the ledger. Each nominal time of an active schedule is covered by exactly one row of trigger `slot` or `catch_up`.
 *
 * Written by the fire, by claim (turn) and end (result); read by the run list; deleted by TTL after 90 days.
 */
export interface Run {
  readonly id: string
  readonly schedule: string
  readonly row: string
  readonly gen: number
  readonly trigger: Trigger
  readonly nominalAt: number
  /** The first nominal time of the stretch this row stands for; null when it stands for one, on time. */
  readonly missedFrom: number | null
  /** How many nominal times were missed, its own included; 0 on time. */
  readonly missed: number
  /** When it was decided. */
  readonly at: number
  readonly outcome: Outcome
  readonly reason: string | null
  readonly result: Result | null
  readonly message: string | null
  readonly turn: string | null
  /** What it runs instead of sending a message; absent or null: it sends one. */
  readonly flowRun?: string | null
  /** What its turn or its flow did; absent: nothing, or it has not ended. */
  readonly trace?: string | null
  readonly session: string | null
  readonly endedAt: number | null
}
