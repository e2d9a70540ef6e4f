/** The parts of the API's answers that the CLI and the worker read. The served OpenAPI document says the rest. */

export interface Page<T> {
  readonly data: readonly T[]
  readonly nextCursor: string | null
}

export interface Agent {
  readonly id: string
  readonly name: string
  readonly mainSession?: string | null
}

export interface Session {
  readonly id: string
  readonly agent: string
  readonly title: string | null
  readonly main: boolean
  readonly mode: string
  readonly state: string
  readonly waiting: number
  readonly scheduled: { readonly count: number; readonly nextAt: string | null } | null
  readonly compactedInto?: string | null
  readonly turn?: { readonly id: string; readonly leaseUntil: string } | null
}

export interface Message {
  readonly id: string
  readonly kind: string
  readonly text: string
  readonly origin?: {
    readonly agent?: string | null
    readonly session?: string | null
    readonly schedule?: string | null
    readonly run?: string | null
  } | null
  readonly status: string
  readonly replyTo: string | null
  readonly at: string
}

export interface Occurrence {
  readonly at: string
  /** `2026-03-29T03:00:00+02:00[Europe/Amsterdam]` */
  readonly local: string
  readonly adjusted: 'gap' | 'fold' | null
}

export interface Schedule {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly endedReason: string | null
  readonly pausedReason?: string | null
  readonly tz: string
  readonly inWords: string
  readonly nextAt: string | null
  readonly next: readonly Occurrence[]
  readonly waitingFor: string | null
}

/** What one run's end sent to one target. */
export interface Delivery {
  readonly id: string
  readonly run: string
  readonly to: string
  readonly status: string
  readonly tries: number
  readonly nextTryAt: string | null
  readonly lastError: string | null
  readonly at: string
}

export interface Run {
  readonly id: string
  readonly trigger: string
  readonly nominalAt: string | null
  readonly missedFrom: string | null
  readonly missed: number
  readonly at: string
  readonly outcome: string
  readonly reason: string | null
  readonly result: string | null
  readonly session: string | null
}
