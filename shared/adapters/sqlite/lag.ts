import type { Found, IndexName, IndexRange, Key, Page } from '../../ports/table.ts'
import type { Layout, Places } from './layout.ts'
import { cursorAt, findBounds, inOrder, isWithin, type Position } from './range.ts'

/** Where an item stands from one commit on. */
export interface Placement {
  readonly layout: Layout
  readonly key: Key
  readonly places: Places
}

interface Waiting {
  readonly placement: Placement
  readonly id: string
  /** The commit after which it is seen. */
  readonly due: number
}

/** The longest that a placement stays unseen, in later commits. */
const lagCommitsMax = 8

/**
 * Indexes that are behind on purpose, as a DynamoDB index may be.
 *
 * A placement is seen 1 to `lagCommitsMax` commits later, by a fixed pseudo-random sequence: so entries are missing,
 * stale, or point to items that are gone, and items overtake each other, but one item's placements never do. The same
 * commits give the same answers.
 */
export class LaggingIndexes {
  readonly #seen = new Map<IndexName, Map<string, Found & { readonly pk: string }>>()
  #waiting: Waiting[] = []
  /** When the last waiting placement of an item is due: its next one may not be due earlier. */
  readonly #dueById = new Map<string, number>()
  #commits = 0
  #random = 1

  load(layout: Layout, placed: readonly { key: Key; places: Places }[]) {
    for (const { key, places } of placed) this.#see({ layout, key, places }, key.join('\0'))
  }

  /** Takes in the placements of a durable group and lets its commits pass. */
  passed(commits: number, placements: readonly Placement[]) {
    for (const placement of placements) {
      const id = placement.key.join('\0')
      this.#random = (Math.imul(this.#random, 1103515245) + 12345) & 0x7fffffff
      const due = this.#commits + commits + 1 + ((this.#random >> 8) % lagCommitsMax)
      const later = Math.max(due, this.#dueById.get(id) ?? 0)
      this.#dueById.set(id, later)
      this.#waiting.push({ placement, id, due: later })
    }
    this.#commits += commits
    this.#show(this.#commits)
  }

  catchUp() {
    this.#show(Number.POSITIVE_INFINITY)
  }

  find(index: IndexName, pk: string, range: IndexRange): Page<Found> {
    const bounds = findBounds(index, range)
    const position = ({ sk, key }: Found): Position => [sk, ...key]
    const entries = [...(this.#seen.get(index)?.values() ?? [])]
    const within = entries.filter((entry) => entry.pk === pk && isWithin(bounds, position(entry)))
    const page = inOrder(bounds, within, position).slice(0, bounds.limit)
    return {
      items: page.map(({ key, sk }) => ({ key, sk })),
      next: within.length > bounds.limit ? cursorAt(position(page.at(-1)!)) : null,
    }
  }

  #show(until: number) {
    const still: Waiting[] = []
    for (const waiting of this.#waiting) {
      if (waiting.due > until) {
        still.push(waiting)
        continue
      }
      this.#see(waiting.placement, waiting.id)
      if (this.#dueById.get(waiting.id) === waiting.due) this.#dueById.delete(waiting.id)
    }
    this.#waiting = still
  }

  #see({ layout, key, places }: Placement, id: string) {
    layout.indexes.forEach((name, i) => {
      const entries = this.#seen.get(name) ?? new Map()
      this.#seen.set(name, entries)
      const pk = places[i * 2]
      if (pk === null) entries.delete(id)
      else entries.set(id, { pk, key, sk: places[i * 2 + 1] })
    })
  }
}
