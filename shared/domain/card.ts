import { derivedUlid } from './ids.ts'

export const labels = ['money', 'promise', 'decide', 'nudge', 'risk', 'fyi'] as const
export type Label = (typeof labels)[number]

/**
 * `approval`: an agent's prompt that waits for a person's word; agents never see one. `incident`: a run that could not happen.
 * `notice`: something that Rouse tells once. `post`: what an agent or a person put there.
 */
export type CardKind = 'approval' | 'incident' | 'notice' | 'post'

/** `open`, or how it was settled: approvals `allowed` or `denied`, incidents `closed` by the next good run, others `dismissed`. */
export type CardStatus = 'open' | 'allowed' | 'denied' | 'closed' | 'dismissed'

export type CardAction = 'allow' | 'deny' | 'run-now' | 'stop' | 'dismiss'

/**
 * One card of a person's feed.
 *
 * Written by agents' and persons' posts, by fires and ends that went wrong, by approvals; read by the person's feed; deleted by TTL 90
 * days after it was last brought up.
 */
export interface Card {
  readonly id: string
  readonly person: string
  readonly kind: CardKind
  readonly title: string
  readonly body: string | null
  readonly group: string | null
  readonly label: Label | null
  /** Posting again under the same key moves the card and counts; null: a card of its own. */
  readonly loop: string | null
  /** How often it was brought up: 1 at first. */
  readonly seen: number
  /** `YYYY-MM-DD`: what the card proposes is sent on that day unless it is stopped; null: nothing counts down. */
  readonly autoSendOn: string | null
  /** Why, for an incident: the run's reason. */
  readonly reason: string | null
  readonly status: CardStatus
  readonly schedule: string | null
  /** The session that it is about, or that posted it. */
  readonly session: string | null
  readonly agent: string | null
  readonly run: string | null
  /** What a person's Allow sets in motion, as the approval's maker wrote it; null: only the count begins anew. */
  readonly request: { readonly [field: string]: unknown } | null
  readonly createdAt: number
  /** When it was last brought up: the feed's order. */
  readonly at: number
  /**
   * A ULID of `at` that sorts cards brought up within one millisecond as they came, which is every card where the clock stands
   * still. Absent where the writer keeps no such order.
   */
  readonly order?: string
  readonly settledAt: number | null
}

/** What a person may do with a card as it stands. */
export function actionsOf(card: Card): CardAction[] {
  if (card.status !== 'open') return card.kind === 'incident' && card.schedule !== null ? ['run-now'] : []
  switch (card.kind) {
    case 'approval':
      return ['allow', 'deny']
    case 'incident':
      return card.schedule === null ? ['dismiss'] : ['run-now', 'dismiss']
    default:
      return card.autoSendOn === null ? ['dismiss'] : ['stop', 'dismiss']
  }
}

/**
 * The id of a card that can come up again: the same for the same thing, so that bringing it back is one write (decision 18).
 *
 * @param what  `incident|sch_…`, `approval|conv`, `loop|per_…|key`
 */
export const cardIdOf = (what: string): string => `crd_${derivedUlid(0, what)}`
