import { noMeter } from '../../shared/ports/meter.ts'
import type { Page } from '../../shared/ports/table.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { AlarmKey, World } from '../../shared/ports/world.ts'

/** What an entry point sees of a world: an empty store, which may be away, and an alarm clock that remembers. */
export interface Told {
  readonly world: World
  isAway: boolean
  readonly looked: string[]
  readonly set: { readonly key: AlarmKey; readonly at: number }[]
  readonly said: string[]
}

export const now = Date.UTC(2026, 10, 30, 8)

export function toldWorld(): Told {
  const told = { isAway: false, looked: [] as string[], set: [] as Told['set'][number][], said: [] as string[] }
  const answer = <T>(value: T): Promise<T> =>
    told.isAway ? Promise.reject(new Unavailable('the store is away')) : Promise.resolve(value)
  const world = {
    table: {
      get: (keys: readonly (readonly [string, string])[]) => {
        told.looked.push(...keys.map(([pk]) => pk))
        return answer(keys.map(() => null))
      },
      list: () => answer<Page<never>>({ items: [], next: null }),
      find: () => answer<Page<never>>({ items: [], next: null }),
      commit: () => answer(undefined),
    },
    alarms: {
      set: async (key: AlarmKey, at: number) => {
        if (told.isAway) throw new Unavailable('the queue is away')
        told.set.push({ key, at })
      },
    },
    clock: { now: () => now },
    log: (_level: string, what: string) => told.said.push(what),
    meter: noMeter,
    shards: 2,
    streamed: true,
    flowsApart: true,
    proactive: true,
  }
  return Object.assign(told, { world: world as unknown as World })
}
