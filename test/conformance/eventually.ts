import { setTimeout } from 'node:timers/promises'
import type { Found, IndexName, IndexRange } from '../../shared/ports/table.ts'
import type { Pieces } from './suite.ts'

/** Repeats an assertion on a lagging index until it holds; its last failure is the test's. */
export async function eventually(pieces: Pieces, holds: () => Promise<void>): Promise<void> {
  for (let pauseMs = 1; ; pauseMs *= 2) {
    try {
      return await holds()
    } catch (failure) {
      if (pauseMs > 10_000) throw failure
    }
    await pieces.catchUp()
    await setTimeout(pauseMs)
  }
}

/** All pages of an index partition. */
export async function findAll(pieces: Pieces, index: IndexName, pk: string, range: IndexRange = {}): Promise<Found[]> {
  const all: Found[] = []
  for (let after: string | undefined; ; ) {
    const page = await pieces.table.find(index, pk, after === undefined ? range : { ...range, after })
    all.push(...page.items)
    if (page.next === null) return all
    after = page.next
  }
}
