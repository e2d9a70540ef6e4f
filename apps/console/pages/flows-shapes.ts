/** What the API answers of flows, their runs and traces, as far as it is drawn. */

export interface Step {
  readonly tool: string
  readonly args: unknown
}

export interface Flow {
  readonly name: string
  readonly agent: string
  readonly steps: readonly Step[]
  readonly needsApproval: readonly string[]
  readonly from: readonly string[]
  readonly createdAt: string
  readonly by: string
  readonly shadow: { readonly agreed: number; readonly wanted: number } | null
}

export interface Suggestion {
  readonly fingerprint: string
  readonly count: number
  readonly tokens: number
  readonly usd: number
  readonly traces: readonly string[]
  readonly steps: readonly Step[]
  readonly lastAt: string
}

export interface FlowRun {
  readonly id: string
  readonly agent: string
  readonly flow: string
  readonly status: 'running' | 'ok' | 'failed' | 'blocked' | 'unknown'
  readonly step: number | null
  readonly steps: number | null
  readonly reason: string | null
  readonly detail: string | null
  readonly trace: string | null
  readonly schedule: string | null
  readonly by: string
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export interface Trace {
  readonly id: string
  readonly agent: string
  readonly session: string | null
  readonly project: string | null
  readonly source: 'turn' | 'flow' | 'import'
  readonly outcome: string
  readonly tokens: number | null
  readonly usd: number | null
  readonly at: string
  readonly calls: readonly (Step & {
    readonly status: string
    readonly result: unknown
    readonly argsClipped: boolean
    readonly resultClipped: boolean
  })[]
}
