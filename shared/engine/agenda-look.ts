import { shortOf } from '../domain/budget.ts'
import { dayOf, type Instant, type Occurrence } from '../time/index.ts'
import type { Counter, Purse } from './budgets.ts'
import type { Call } from './call.ts'
import { type Agent, keys, type Person, readAll } from './store.ts'

/**
 * `prompt`, `flow`: a time of a schedule. `trigger`: something has happened to one, and settles. `held`: a run that waits for somebody's word
 * or for its check, shown at the time it was due. `monitor`: a time that is waited for. `look`: a tool that is run for a monitor, which wakes
 * only if it finds something. `tick`: an idle session that looks for work.
 */
export type AgendaKind = 'prompt' | 'flow' | 'trigger' | 'held' | 'monitor' | 'look' | 'tick'

/** Something that will wake somebody. */
export interface AgendaEntry extends Occurrence {
  readonly kind: AgendaKind
  /** Of the schedule, trigger or monitor; of a tick, its session. */
  readonly id: string
  readonly name: string
  /** Null: a fresh session. */
  readonly session: string | null
  readonly agent: string
  /** Who asked: the person in whose name it wakes, and the agent that made it, if one did. */
  readonly who: { readonly person: string; readonly agent: string | null }
  /** A script or a tool is looked at first, and the wake comes only if that says something. */
  readonly checked: boolean
  /** What is left of today for such a wake; null: no limit is set, or it is not today. */
  readonly budget: BudgetLeft | null
  /** Why it would not go out as things stand; null: it would. */
  readonly hold: Hold | null
  /** What the agent is told; null for what has no words of its own. */
  readonly text: string | null
}

export interface Hold {
  readonly code: string
  readonly detail: string
}

/** Null: no limit. */
export interface BudgetLeft {
  readonly wakes: number | null
  readonly tokens: number | null
  readonly usd: number | null
}

/** What the collectors share. */
export interface AgendaLook {
  readonly call: Call
  readonly agents: readonly Agent[]
  readonly to: Instant
  readonly each: number
  readonly ends: DayEnds
}

/** What one collector found; `more`: it left something out. */
export interface Collected {
  readonly entries: readonly AgendaEntry[]
  readonly more: boolean
}

/** When the day ends in which a budget counts, for whoever's day it is. */
export class DayEnds {
  readonly #call: Call
  readonly #ends = new Map<string, Instant>()

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads the zones of people; those asked for later must be among them. */
  async load(people: readonly string[]): Promise<void> {
    const missing = [...new Set(people)].filter((id) => !this.#ends.has(id))
    const rows = await readAll<Person>(this.#call.world, missing.map(keys.person))
    for (const [i, id] of missing.entries()) this.#ends.set(id, dayOf(this.#call.now, rows[i]?.item.tz ?? 'UTC').to)
  }

  of(person: string): Instant {
    return this.#ends.get(person) ?? this.#call.now
  }
}

/** What a purse says of one time: the budget that is used up then, and what is left. A new day begins with all of it. */
export class PurseLook {
  readonly #purse: Purse
  readonly #endOf: (counter: Counter) => Instant

  constructor(purse: Purse, owner: string, ends: DayEnds) {
    this.#purse = purse
    this.#endOf = ({ scope, id }) => ends.of(scope === 'agent' ? owner : id)
  }

  /** The budget that would stop a wake then, by name; null: none. */
  shortAt(at: Instant): string | null {
    const short = this.#purse.counters
      .filter((counter) => at < this.#endOf(counter))
      .map(({ scope, limits, used }) => shortOf(scope, limits, used))
    return short.find((name) => name !== null) ?? null
  }

  leftAt(at: Instant): BudgetLeft | null {
    const today = this.#purse.counters.filter((counter) => at < this.#endOf(counter))
    if (today.length === 0) return null
    const least = (limit: 'wakes' | 'tokens' | 'usd'): number | null => {
      const left = today.flatMap(({ limits, used }) => {
        const most = limits[`${limit}PerDay`]
        return most === null ? [] : [Math.max(0, most - used[limit])]
      })
      return left.length === 0 ? null : Math.min(...left)
    }
    return { wakes: least('wakes'), tokens: least('tokens'), usd: least('usd') }
  }
}
