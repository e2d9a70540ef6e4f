import { hasLimit, type Limits, noLimits, nothingUsed, type Scope, shortOf, type Used } from '../domain/budget.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { dayOf } from '../time/wall.ts'
import { type Agent, asItem, keys, type Person, readAll, ttlAfter } from './store.ts'

/** One limited budget on one day, as it was read. */
export interface Counter {
  readonly scope: Scope
  readonly id: string
  readonly day: string
  readonly key: Key
  readonly limits: Limits
  readonly used: Used
  /** Nothing was counted on that day yet. */
  readonly isNew: boolean
}

/** The budgets that a wake draws on; empty where no limit is set, and then nothing is counted. */
export interface Purse {
  readonly counters: readonly Counter[]
  /** The budget that is used up, by name; null: a wake may go out. */
  readonly short: string | null
}
export const noPurse: Purse = { counters: [], short: null }

export type Limited = { readonly scope: Scope; readonly id: string; readonly owner: string; readonly limits: Limits }

export const limitsOfAgent = (agent: Agent): Limits => ({ ...noLimits, ...agent.budget })

export function limitedAgent(agent: Agent | null): Limited[] {
  if (agent === null) return []
  const limits = limitsOfAgent(agent)
  return hasLimit(limits) ? [{ scope: 'agent', id: agent.id, owner: agent.owner, limits }] : []
}

export function limitedPerson(person: string, own: Limits | null): Limited[] {
  return own !== null && hasLimit(own) ? [{ scope: 'person', id: person, owner: person, limits: own }] : []
}

/** The limited budgets of an agent and of the person a wake is for (decision 17). */
export const limitedBy = (agent: Agent | null, person: string, own: Limits | null): Limited[] => [
  ...limitedAgent(agent),
  ...limitedPerson(person, own),
]

/** Reads what today has used of these budgets, each once, and answers per id. */
export async function countersOf(
  world: World,
  limited: readonly Limited[],
  now: number,
): Promise<ReadonlyMap<string, Counter>> {
  const byId = new Map(limited.map((one) => [one.id, one]))
  if (byId.size === 0) return new Map()
  const owners = [...new Set([...byId.values()].map(({ owner }) => owner))]
  const people = await readAll<Person>(world, owners.map(keys.person))
  const zones = new Map(owners.map((owner, i) => [owner, people[i]?.item.tz ?? 'UTC']))
  const all = [...byId.values()].map((one) => ({ ...one, day: dayOf(now, zones.get(one.owner)!).day }))
  const rows = await readAll<Used>(
    world,
    all.map(({ id, day }) => keys.budget(id, day)),
  )
  return new Map(
    all.map(({ scope, id, day, limits }, i) => [
      id,
      {
        scope,
        id,
        day,
        key: keys.budget(id, day),
        limits,
        used: { ...nothingUsed, ...rows[i]?.item },
        isNew: rows[i] == null,
      },
    ]),
  )
}

export function purseOf(counters: readonly (Counter | undefined)[]): Purse {
  const own = counters.filter((counter) => counter !== undefined)
  const short = own.map(({ scope, limits, used }) => shortOf(scope, limits, used)).find((name) => name !== null)
  return { counters: own, short: short ?? null }
}

export const purse = async (world: World, limited: readonly Limited[], now: number): Promise<Purse> =>
  purseOf([...(await countersOf(world, limited, now)).values()])

/**
 * What a commit draws on budgets, gathered: several draws on one counter are one write.
 *
 * A wake is reserved with a guard, so that of many at once exactly as many pass as are left; one that finds the counter changed is a
 * Conflict, and is decided anew.
 */
export class Charges {
  readonly #drawn = new Map<string, { counter: Counter; wakes: number; tokens: number; usd: number }>()

  draw(purse: Purse, what: Partial<Used>): this {
    for (const counter of purse.counters) {
      const drawn = this.#drawn.get(counter.key.join()) ?? { counter, wakes: 0, tokens: 0, usd: 0 }
      drawn.wakes += what.wakes ?? 0
      drawn.tokens += what.tokens ?? 0
      drawn.usd += what.usd ?? 0
      this.#drawn.set(counter.key.join(), drawn)
    }
    return this
  }

  ops(now: number): Op[] {
    return [...this.#drawn.values()].flatMap(({ counter, wakes, tokens, usd }): Op[] => {
      if (wakes === 0 && tokens === 0 && usd === 0) return []
      const { key, isNew, limits } = counter
      const ttl = ttlAfter(now)
      if (isNew) return [{ put: key, item: asItem({ wakes, tokens, usd }), expect: 'absent', ttl }]
      const most = limits.wakesPerDay
      const guards = wakes > 0 && most !== null ? [{ attr: 'wakes', is: '<=' as const, value: most - wakes }] : []
      return [{ patch: key, add: { wakes, tokens, usd }, guards, ttl }]
    })
  }
}

/** The limits a person has set for themselves. */
export const readOwnLimits = async (world: World, person: string): Promise<Stored<Limits> | null> =>
  (await readAll<Limits>(world, [keys.limits(person)]))[0] ?? null
