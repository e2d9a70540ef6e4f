/** Limits a day, each null for none (decision 36). Days begin at midnight in the zone of whoever owns the budget (decision 8). */
export interface Limits {
  readonly wakesPerDay: number | null
  readonly tokensPerDay: number | null
  readonly usdPerDay: number | null
}
export const noLimits: Limits = { wakesPerDay: null, tokensPerDay: null, usdPerDay: null }

/** What a day has used, counted only while a limit is set: each count costs a write. */
export interface Used {
  readonly wakes: number
  readonly tokens: number
  readonly usd: number
}
export const nothingUsed: Used = { wakes: 0, tokens: 0, usd: 0 }

export const hasLimit = (limits: Limits): boolean =>
  limits.wakesPerDay !== null || limits.tokensPerDay !== null || limits.usdPerDay !== null

export type Scope = 'agent' | 'person'

/**
 * The budget that forbids one more wake, by name, or null: it may go out. Wakes are reserved before they go; tokens and money are known only
 * after, so that a day may end a turn beyond them.
 */
export function shortOf(scope: Scope, limits: Limits, used: Used): string | null {
  if (limits.wakesPerDay !== null && used.wakes >= limits.wakesPerDay) return `${scope}_wakes_per_day`
  if (limits.tokensPerDay !== null && used.tokens >= limits.tokensPerDay) return `${scope}_tokens_per_day`
  if (limits.usdPerDay !== null && used.usd >= limits.usdPerDay) return `${scope}_usd_per_day`
  return null
}
