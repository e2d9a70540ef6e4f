import type { Run } from '../../shared/domain/schedule.ts'
import { compile, jitterOf } from '../../shared/time/index.ts'
import type { Books } from './books.ts'

/** The nominal times of a schedule, from its rule and when it was active alone. */
export interface Expected {
  /** Each has exactly one row. */
  readonly must: ReadonlySet<number>
  /** So near to a change that clocks and slow calls decide: at most one row. */
  readonly may: ReadonlySet<number>
}

/** @param to  up to when a row has to be there */
export function expectedOf(books: Books, id: string, o: { readonly to: number; readonly slackMs: number }): Expected {
  const must = new Set<number>()
  const may = new Set<number>()
  let covered = Number.NEGATIVE_INFINITY
  for (const span of books.spans.get(id) ?? []) {
    const { spec, until, jitterMs } = books.definition(id, span.gen)
    const recurrence = compile(spec)
    const from = Math.min(span.fromEarliest, span.from) - o.slackMs
    const end = Math.min(span.to + o.slackMs, until ?? Number.POSITIVE_INFINITY, o.to)
    for (let at = recurrence.next(from - 1)?.at; at !== undefined && at <= end; at = recurrence.next(at)?.at) {
      const next = recurrence.next(at)?.at ?? null
      const due = at + jitterOf({ seed: id, nominal: at, jitterMs, next })
      const isInside = at > span.from + o.slackMs && at < span.toEarliest - o.slackMs && due <= o.to - o.slackMs
      const isSure =
        isInside ||
        (at > span.from &&
          at <= span.toEarliest &&
          o.slackMs === 0 &&
          span.from === span.fromEarliest &&
          span.to === span.toEarliest &&
          due <= o.to)
      if (isSure && at > covered) must.add(at)
      else may.add(at)
    }
    covered = Math.max(covered, ...must)
  }
  for (const at of must) may.delete(at)
  return { must, may }
}

/** Holds the ledger of a schedule against what its rule says. @returns what is wrong, in words */
export function coverFaults(runs: Iterable<Run>, { must, may }: Expected, ahead: boolean): string[] {
  const faults: string[] = []
  const by = new Map<number, number>()
  const iso = (at: number): string => new Date(at).toISOString()
  for (const run of runs) {
    if (run.trigger !== 'slot' && run.trigger !== 'catch_up') continue
    const from = run.missedFrom ?? run.nominalAt
    let listed = 0
    let unsure = 0
    for (const times of [must, may])
      for (const at of times)
        if (at >= from && at <= run.nominalAt) {
          by.set(at, (by.get(at) ?? 0) + 1)
          if (times === must) listed += 1
          else unsure += 1
        }
    const says = Math.max(1, run.missed)
    // Decision 25: the run due next is written when its agent is deleted.
    if (ahead && run.reason === 'agent_deleted') continue
    if (says < listed || says > listed + unsure)
      faults.push(
        `row ${run.row} stands for ${says} times, and there were ${listed}${unsure > 0 ? ` to ${listed + unsure}` : ''}`,
      )
  }
  for (const at of must) if (by.get(at) !== 1) faults.push(`${iso(at)} has ${by.get(at) ?? 0} rows`)
  for (const at of may) if ((by.get(at) ?? 0) > 1) faults.push(`${iso(at)} has ${by.get(at)} rows`)
  return faults
}
