import { compile } from '../../shared/time/index.ts'
import type { Books } from './books.ts'
import type { Played } from './play.ts'

/** A schedule that nobody touched: its times follow from its rule alone. */
export interface Plain {
  readonly spec: string
  /** Every nominal time that a row of it stands for. */
  readonly times: readonly number[]
}

export function plainOf(books: Books, ids: Iterable<string>, to: number): ReadonlyMap<string, Plain> {
  const plain = new Map<string, Plain>()
  for (const id of ids) {
    const cursor = books.cursors.get(id)
    // One that was ended with its agent, or paused, is no longer its rule's alone.
    if (cursor === undefined || cursor.gen !== 1 || cursor.deleted || !['active', 'done'].includes(cursor.status))
      continue
    const { spec } = books.definition(id, 1)
    const recurrence = compile(spec)
    const times = new Set<number>()
    for (const run of books.runs.get(id)?.values() ?? []) {
      if (run.trigger !== 'slot' && run.trigger !== 'catch_up') continue
      const from = run.missedFrom ?? run.nominalAt
      for (let at: number | undefined = from; at !== undefined && at <= run.nominalAt; at = recurrence.next(at)?.at)
        if (at <= to) times.add(at)
    }
    plain.set(id, { spec: JSON.stringify(spec), times: [...times].sort((a, b) => a - b) })
  }
  return plain
}

/** What a run with faults came to otherwise than the one without, where nothing but time decides. */
export function differs(faulty: Played, calm: Played): string[] {
  const found = calm.found.map((what) => `without faults: ${what}`)
  for (const [id, { spec, times }] of faulty.plain) {
    const other = calm.plain.get(id)
    if (other === undefined || other.spec !== spec) continue
    if (times.join() !== other.times.join())
      found.push(`${id}: ${times.length} times have a row, and ${other.times.length} without faults (${spec})`)
  }
  return found
}
