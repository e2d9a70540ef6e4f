/** The parts of the API's answers that the console draws. The served OpenAPI document says the rest. */

export interface Agent {
  readonly id: string
  readonly name: string
  readonly owner: string
  readonly team: boolean
  readonly sharedWith: readonly string[]
  readonly project: string | null
  readonly mainSession: string | null
  readonly workerConnected: boolean | null
  readonly proactive: Readonly<Record<string, number | boolean>>
  readonly autoApprove: readonly string[]
  readonly budget: { readonly [limit: string]: number | null }
}

export interface Conversation {
  readonly id: string
  readonly agent: string
  readonly title: string | null
  readonly main: boolean
  readonly mode: string
  readonly permission: string
  readonly state: 'idle' | 'running' | 'paused' | 'compacting' | 'archived'
  readonly waiting: number
  readonly goal: string | null
  readonly left: boolean
  readonly scheduled: { readonly count: number; readonly nextAt: string | null }
  readonly badges: readonly string[]
  readonly workerConnected: boolean | null
  readonly compactedInto: string | null
  readonly turn: {
    readonly id: string
    readonly message: string
    readonly kind: string
    readonly startedAt: string
    readonly leaseUntil: string
    readonly cancelled: boolean
  } | null
  readonly createdAt: string
}

export interface Message {
  readonly id: string
  readonly kind: 'user' | 'agent' | 'schedule' | 'monitor' | 'tick' | 'answer' | 'note'
  readonly text: string
  readonly origin: {
    readonly kind: string
    readonly principal: string | null
    readonly agent: string | null
    readonly session: string | null
    readonly schedule: string | null
    readonly run: string | null
  } | null
  readonly automated: boolean
  readonly status: 'waiting' | 'taken' | 'dropped'
  readonly replyTo: string | null
  readonly at: string
}

export interface Occurrence {
  readonly at: string
  readonly local: string
  readonly adjusted: 'gap' | 'fold' | null
}

export interface Schedule {
  readonly id: string
  readonly kind: 'prompt' | 'flow'
  readonly name: string
  readonly status: 'active' | 'paused' | 'done' | 'ended'
  readonly endedReason: string | null
  readonly pausedReason: string | null
  readonly agent: string
  readonly session: string | null
  readonly prompt: string | null
  readonly flow: string | null
  readonly at: string | null
  readonly every: string | null
  readonly cron: string | null
  readonly rrule: string | null
  readonly dtstart: string | null
  readonly tz: string
  readonly channel: string | null
  readonly note: string | null
  readonly deliver: readonly string[]
  readonly check: { readonly script: string } | { readonly tool: string; readonly args?: unknown } | null
  readonly misfire: 'once' | 'skip' | { readonly within: string }
  readonly overlap: string
  readonly onUnknown: string
  readonly jitter: string | null
  readonly until: string | null
  readonly maxRuns: number | null
  readonly pauseAfterFailures: number | null
  readonly createdBy: string
  readonly createdIn: string | null
  readonly nextAt: string | null
  readonly next: readonly Occurrence[]
  readonly inWords: string
  readonly cronEquivalent: string | null
  readonly waitingFor: string | null
}

export interface Run {
  readonly id: string
  readonly schedule: string
  readonly trigger: string
  readonly nominalAt: string
  readonly missedFrom: string | null
  readonly missed: number
  readonly at: string
  readonly outcome: string
  readonly reason: string | null
  readonly result: string | null
  readonly session: string | null
  readonly flowRun: string | null
}

export interface Why {
  readonly status: string
  readonly reason: string | null
  readonly holds: readonly { readonly code: string; readonly detail: string }[]
  readonly next: readonly Occurrence[]
  readonly last: readonly Run[]
}

export interface Preview {
  readonly next: readonly Occurrence[]
  readonly inWords: string
  readonly cronEquivalent: string | null
  readonly notes: readonly string[]
  readonly refusal: { readonly code: string; readonly detail: string } | null
  readonly tz: string
}

export interface Ticks {
  readonly state: 'off' | 'armed' | 'waiting' | 'running' | 'parked'
  readonly reason: string | null
  readonly nextAt: string | null
  readonly today: { readonly ticks: number; readonly tokens: number }
  readonly windowUntil: string | null
}
