/** What the API answers of monitors, triggers, tools and documents, as far as it is drawn. */

export type Watch =
  | { readonly document: { readonly path: string } }
  | { readonly time: { readonly at: string } }
  | {
      readonly tool: { readonly name: string; readonly args: Readonly<Record<string, unknown>>; readonly every: number }
    }

export const monitorStates = ['armed', 'fired', 'expired', 'cancelled', 'ended'] as const

export interface Monitor {
  readonly id: string
  readonly status: (typeof monitorStates)[number]
  readonly reason: string | null
  readonly session: string | null
  readonly agent: string
  readonly note: string
  readonly watch: Watch
  readonly when: string | null
  readonly depth: number
  readonly createdBy: string
  readonly createdIn: string | null
  readonly armedAt: string
  readonly expiresAt: string
  readonly nextLookAt: string | null
  readonly failures: number
  readonly found: { readonly value: unknown } | null
  readonly error: string | null
  readonly firedAt: string | null
  readonly endedAt: string | null
}

export type On =
  | { readonly document: { readonly path: string } | { readonly prefix: string } }
  | { readonly webhook: { readonly signed: boolean } }

export interface Trigger {
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
  readonly on: On
  readonly when: string | null
  readonly settle: string | null
  readonly maxPerDay: number | null
  readonly until: string | null
  readonly inWords: string
  readonly settlesAt: string | null
  readonly createdBy: string
  readonly createdIn: string | null
  readonly createdAt: string
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly readOnly: boolean
}

export interface DocumentHead {
  readonly path: string
  readonly version: number
  readonly updatedAt: string
  readonly type: 'json' | 'text'
  readonly bytes: number
}
