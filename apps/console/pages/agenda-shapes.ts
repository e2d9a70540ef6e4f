/** What the API answers of the agenda, as far as it is drawn. */

export interface Entry {
  readonly at: string
  readonly adjusted: 'gap' | 'fold' | null
  readonly kind: 'prompt' | 'flow' | 'trigger' | 'held' | 'monitor' | 'look' | 'tick'
  /** Of the schedule, trigger or monitor; of a tick, its session. */
  readonly id: string
  readonly name: string
  readonly session: string | null
  readonly agent: string
  readonly who: { readonly person: string; readonly agent: string | null }
  readonly checked: boolean
  readonly budget: { readonly wakes: number | null; readonly tokens: number | null; readonly usd: number | null } | null
  readonly hold: { readonly code: string; readonly detail: string } | null
}

export interface Agenda {
  readonly from: string
  readonly to: string
  readonly tz: string
  readonly data: readonly Entry[]
  readonly truncated: boolean
}

/** All the times of one thing. */
export interface Planned {
  readonly first: Entry
  readonly entries: readonly Entry[]
}

/** In the order of their first times. */
export function plannedOf(entries: readonly Entry[]): readonly Planned[] {
  const byThing = new Map<string, Entry[]>()
  for (const entry of entries) {
    // A held run stands beside the schedule's next times: it waits for something else.
    const key = entry.kind === 'held' ? `held ${entry.id}` : entry.id
    byThing.set(key, [...(byThing.get(key) ?? []), entry])
  }
  return [...byThing.values()].map((all) => ({ first: all[0]!, entries: all }))
}

export const kindWords: Readonly<Record<Entry['kind'], string>> = {
  prompt: 'prompt',
  flow: 'flow',
  trigger: 'trigger',
  held: 'held',
  monitor: 'monitor',
  look: 'look of a monitor',
  tick: 'tick',
}

/** Where one reads more of it. */
export function placeOf({ kind, id }: Entry): string {
  switch (kind) {
    case 'monitor':
    case 'look':
      return `/monitors/${id}`
    case 'tick':
      return `/conversations/${id}`
    case 'trigger':
      return `/monitors/triggers/${id}`
    default:
      return `/schedules/${id}`
  }
}
