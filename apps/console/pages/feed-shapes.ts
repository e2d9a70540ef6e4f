/** What the API answers of the feed, as far as it is drawn. */

export const labels = ['money', 'promise', 'decide', 'nudge', 'risk', 'fyi'] as const
export type Label = (typeof labels)[number]
export type Action = 'allow' | 'deny' | 'run-now' | 'stop' | 'dismiss'

export interface Card {
  readonly id: string
  readonly kind: 'approval' | 'incident' | 'notice' | 'post'
  readonly title: string
  readonly body: string | null
  readonly group: string | null
  readonly label: Label | null
  readonly seen: number
  readonly autoSendOn: string | null
  /** Until `autoSendOn`, by the person's calendar; negative when it is past. */
  readonly daysLeft: number | null
  readonly actions: readonly Action[]
  readonly status: 'open' | 'allowed' | 'denied' | 'closed' | 'dismissed'
  readonly reason: string | null
  readonly schedule: string | null
  readonly session: string | null
  readonly agent: string | null
  readonly run: string | null
  readonly at: string
  readonly settledAt: string | null
}

export type LabelCounts = { readonly [label in Label]?: number }
