import { type Verdict, verdictOf } from './check.ts'
import { bare } from './ids.ts'

/**
 * Work that is done apart: by the agent's own machine, a check's script or a step of a tool; or by Rouse, a tool that looks.
 *
 * Written when it is made, claimed and ended; read by claims and by whoever waits for it; deleted by TTL. While it waits, an item in the
 * agent's partition names it.
 */
export interface Job {
  readonly id: string
  readonly kind: 'check' | 'host_step' | 'tool_check'
  readonly agent: string
  /** Person who answers for the agent. */
  readonly owner: string
  /** The session whose turn called the tool; null: none is known. */
  readonly session: string | null
  /** The step of a flow's run that waits for it, from 1; null or absent: none. */
  readonly flow?: { readonly run: string; readonly step: number } | null
  /** The run that waits for it; null for a host step. */
  readonly schedule: string | null
  readonly row: string | null
  readonly script: string | null
  readonly tool: string | null
  readonly args: unknown
  readonly timeoutSeconds: number
  readonly createdAt: number
  /** Unless somebody takes it within this, it is not done at all. */
  readonly waitMs: number
  readonly takenAt: number | null
  /** Hash of the key that its process was given; null: none. */
  readonly keySha: string | null
  readonly result: JobResult | null
  readonly endedAt: number | null
}

export interface JobResult {
  /** 0: well. As a shell has it: 124 timed out, 126 may not be run, 127 not found, 128+n ended by signal n. */
  readonly exit: number
  readonly output: string
}

/** A run has one check, whoever makes its job again. */
export const jobIdOf = (run: string): string => `job_${bare(run)}`

/** A step of a flow's run has one job. The worker passes it on, so that whoever it calls can tell a repeat. */
export const stepNameOf = (run: string, step: number): string => `${run}:${step}`

/** How long a worker that took it may be silent. */
export const leaseMs = (job: Pick<Job, 'timeoutSeconds'>): number => job.timeoutSeconds * 1000

export const jobVerdict = ({ exit, output }: JobResult): Verdict => verdictOf(exit, output)
