import type { JobResult } from './job.ts'
import { onOneLine } from './names.ts'
import type { Flow, FlowStep } from './promote.ts'

/** The steps that a run replays, by reference: they stand in items that are never rewritten. */
export type Plan = Pick<Flow, 'rev' | 'fingerprint' | 'steps' | 'chunks' | 'bytes'>

/** Why a run ended otherwise than well. */
export type StopReason =
  | 'cancelled_by_overlap'
  | 'agent_deleted'
  | 'unknown_flow'
  | 'not_auto_approved'
  | 'unknown_tool'
  | 'tool_changed'
  | 'no_worker'
  | 'not_taken'
  | 'step_failed'
  | 'outcome_unknown'

/**
 * One run of a flow: where it stands between two steps.
 *
 * Written when somebody or a schedule begins it, before and after each step, and at its end; read by whoever goes on with it; deleted by TTL
 * 90 days after its end. Nothing in it grows with the flow.
 */
export interface FlowRun {
  readonly id: string
  readonly agent: string
  /** The flow's name. */
  readonly flow: string
  /** Whose secrets and documents its steps use. */
  readonly principal: string
  /** Null until it begins: one that waits takes the flow as it is then. */
  readonly plan: Plan | null
  /** The schedule's row that it is; null: somebody asked for it. */
  readonly schedule: string | null
  readonly row: string | null
  /** The next step, or the one under way, from 0. */
  readonly step: number
  /**
   * `waiting`: for the run of its schedule before it. `ready`: its next step may begin. `calling`: the step's tool was called, or is about
   * to be. `host`: its step is a job of the agent's worker.
   */
  readonly phase: 'waiting' | 'ready' | 'calling' | 'host' | 'over'
  readonly status: 'running' | 'ok' | 'failed' | 'blocked' | 'unknown'
  readonly reason: string | null
  /** The reason in words, with the step. */
  readonly detail: string | null
  /** When somebody has to look at it, epoch ms; null while it waits, and when it is over. */
  readonly lookAt: number | null
  /** A newer run of its schedule takes its place: it ends before its next step. */
  readonly cancelled: 'overlap' | null
  readonly trace: string | null
  readonly createdAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
}

/**
 * A step that was begun. Written before the call and once more after it; read by what goes on after a crash, and for the run's trace;
 * deleted by TTL.
 */
export interface StepRecord {
  readonly tool: string
  readonly status: 'calling' | 'ok' | 'failed' | 'unknown'
  /** It may be called again when nobody knows what became of it. False for all that hosts do. */
  readonly readOnly: boolean
  /** Canonical JSON, or its beginning. */
  readonly result: string | null
  readonly resultClipped: boolean
  readonly startedAt: number
  readonly endedAt: number | null
}

/** What a look at a run sees. */
export interface ReplayLook {
  readonly run: FlowRun
  readonly now: number
  /** Null: it is gone. */
  readonly agent: { readonly autoApprove: readonly string[]; readonly runsHostSteps: boolean } | null
  /** Its flow was removed before it began. */
  readonly flowIsGone: boolean
  /** Null behind the last one. */
  readonly step: FlowStep | null
  /** The registered tool of the step's name, as it is now. */
  readonly tool: { readonly hash: string; readonly readOnly: boolean } | null
  /** Of the step under way; null before it. */
  readonly record: StepRecord | null
  /** Of a host step. */
  readonly job: { readonly taken: boolean; readonly until: number; readonly result: JobResult | null } | null
}

export type Replay =
  /** Somebody is at it. `lookAt`: when they are lost. */
  | { readonly kind: 'wait'; readonly lookAt: number | null }
  | { readonly kind: 'call'; readonly readOnly: boolean }
  | { readonly kind: 'host' }
  /** A host's step has ended well. */
  | { readonly kind: 'done'; readonly output: string }
  | ReplayEnd

export interface ReplayEnd {
  readonly kind: 'end'
  readonly status: Exclude<FlowRun['status'], 'running'>
  readonly reason: StopReason | null
  readonly detail: string | null
  /** What becomes of the record of the step under way; null: it was never called. */
  readonly record: Pick<StepRecord, 'status' | 'result'> | null
}

interface Stop {
  readonly reason: StopReason
  readonly status: 'failed' | 'blocked'
  /** Why it stops here, in words; null: it does not. */
  readonly stops: (look: ReplayLook) => string | null
}

/** Before a step is called, in this order; the first that stops decides. Those about a step do not see the end of the flow. */
const stops: readonly Stop[] = [
  {
    reason: 'cancelled_by_overlap',
    status: 'failed',
    stops: ({ run }) => (run.cancelled === null ? null : 'a newer run of its schedule took its place'),
  },
  {
    reason: 'agent_deleted',
    status: 'failed',
    stops: ({ agent }) => (agent === null ? 'its agent was deleted' : null),
  },
  {
    reason: 'unknown_flow',
    status: 'failed',
    stops: ({ run, flowIsGone }) => (flowIsGone ? `the agent has no flow named "${run.flow}" any more` : null),
  },
  {
    reason: 'not_auto_approved',
    status: 'blocked',
    stops: ({ step, agent }) =>
      step === null || agent!.autoApprove.includes(step.tool)
        ? null
        : "the agent may not call it unasked: add it to the agent's autoApprove",
  },
  {
    reason: 'unknown_tool',
    status: 'failed',
    stops: ({ step, tool }) => (step !== null && step.hash !== null && tool === null ? 'the tool was removed' : null),
  },
  {
    reason: 'tool_changed',
    status: 'failed',
    stops: ({ step, tool }) =>
      step === null || step.hash === (tool?.hash ?? null)
        ? null
        : 'the tool is another one than when the flow was promoted: promote it anew',
  },
  {
    reason: 'no_worker',
    status: 'blocked',
    stops: ({ step, agent }) =>
      step === null || step.hash !== null || agent!.runsHostSteps
        ? null
        : 'no worker that runs host steps is connected: attach one with rouse attach --tools tools.mjs',
  },
]

/**
 * Decides what a run does next. A step is called when nothing stops it, and never again when nobody knows what became of it, unless its
 * tool only reads (decision 32). There is no place in a replay where a model could be asked.
 */
export function decideReplay(look: ReplayLook): Replay {
  const { run, now, record, job } = look
  switch (run.phase) {
    case 'over':
    case 'waiting':
      return { kind: 'wait', lookAt: null }
    case 'calling':
      if (run.lookAt !== null && run.lookAt > now) return { kind: 'wait', lookAt: run.lookAt }
      if (record?.readOnly !== true) return outcomeUnknown(look, 'Rouse broke off while it was called')
      break
    case 'host':
      if (job === null) return outcomeUnknown(look, 'its job is gone')
      if (job.result !== null) return hostEnded(look, job.result)
      if (job.until > now) return { kind: 'wait', lookAt: job.until }
      if (job.taken) return outcomeUnknown(look, 'the worker that took it has not answered in time')
      return ended(look, 'failed', 'not_taken', 'no worker has taken it in time', null)
    case 'ready':
      break
    default:
      run.phase satisfies never
  }
  for (const { reason, status, stops: stopped } of stops) {
    const why = stopped(look)
    if (why !== null) return ended(look, status, reason, why, null)
  }
  if (look.step === null) return { kind: 'end', status: 'ok', reason: null, detail: null, record: null }
  return look.tool === null ? { kind: 'host' } : { kind: 'call', readOnly: look.tool.readOnly }
}

/** 127: as a shell says that there is no such thing. */
function hostEnded(look: ReplayLook, { exit, output }: JobResult): Replay {
  if (exit === 0) return { kind: 'done', output }
  if (exit === 127) return ended(look, 'failed', 'unknown_tool', onOneLine(output), { status: 'failed', result: null })
  return stepFailed(look, output.trim() === '' ? `it ended with exit ${exit}` : output)
}

/** The step was called and failed: the run ends here. */
export const stepFailed = (look: Pick<ReplayLook, 'run' | 'step'>, error: string): ReplayEnd =>
  ended(look, 'failed', 'step_failed', onOneLine(error), { status: 'failed', result: error })

const outcomeUnknown = (look: ReplayLook, why: string): ReplayEnd =>
  ended(look, 'unknown', 'outcome_unknown', `${why}: what it did is not known, and it is not called again`, {
    status: 'unknown',
    result: null,
  })

const ended = (
  { run, step }: Pick<ReplayLook, 'run' | 'step'>,
  status: ReplayEnd['status'],
  reason: StopReason,
  why: string,
  record: ReplayEnd['record'],
): ReplayEnd => ({
  kind: 'end',
  status,
  reason,
  detail: clipped(step === null ? why : `step ${run.step + 1} (${onOneLine(step.tool)}): ${why}`),
  record,
})

const detailCharsMax = 500
const clipped = (text: string): string =>
  text.length <= detailCharsMax ? text : `${text.slice(0, detailCharsMax - 1).toWellFormed()}…`

/** Which of the items that hold steps has this one, and where in it. */
export function placeOfStep(plan: Plan, step: number): { readonly chunk: number; readonly nth: number } | null {
  if (step >= plan.steps) return null
  const chunk = plan.chunks.findLastIndex((first) => first <= step)
  return { chunk, nth: step - plan.chunks[chunk]! }
}

export const planOf = ({ rev, fingerprint, steps, chunks, bytes }: Flow): Plan => ({
  rev,
  fingerprint,
  steps,
  chunks,
  bytes,
})
