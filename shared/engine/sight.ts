import { checkingReason } from '../domain/due.ts'
import { derivedUlid, timeOf } from '../domain/ids.ts'
import type { Run } from '../domain/schedule.ts'
import type { CounterName } from '../ports/meter.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'

/**
 * Tells whoever watches over the installation what a commit has written into the ledger: as numbers, and where lines of the level
 * `debug` are kept, as a line for each step of a run. Every row is counted once, whatever wrote it, and only once it is written.
 *
 * A burst passes here a hundred operations at a time, so nothing is put together that nobody asked for.
 */
export function tellLedger(world: World, ops: readonly Op[]): void {
  let fires = 0
  for (const op of ops) {
    const key = 'put' in op ? op.put : 'patch' in op ? op.patch : null
    if (key === null || !isRunKey(key[1])) continue
    const row = ('put' in op ? op.item : 'patch' in op ? (op.set ?? {}) : {}) as Partial<Run>
    if (row.outcome === 'fired') fires += 1
    else if (row.outcome !== undefined) countRow(world, row)
    if (row.result != null) world.meter.count('ends', 1, row.result)
    if (world.log.isDebug === true) tellStep(world, key, row)
  }
  if (fires > 0) world.meter.count('fires', fires)
}

const isRunKey = (sk: string): boolean => sk.charCodeAt(0) === 82 && sk.charCodeAt(1) === 35

function countRow(world: World, row: Partial<Run>): void {
  // A check that is under way holds its run too, and nobody's word is waited for.
  if (row.outcome === 'held' && row.reason === checkingReason) return
  const [name, n, of] = countOf(row)
  world.meter.count(name, n, of)
}

function countOf({ outcome, reason, missed = 0 }: Partial<Run>): [name: CounterName, n: number, of: string] {
  switch (outcome) {
    case 'held':
      return ['held', 1, reason ?? 'held']
    case 'missed':
      return ['missed', Math.max(1, missed), reason ?? 'missed']
    case 'nothing':
      return ['checks', 1, 'nothing']
    case 'failed':
      return ['checks', 1, reason ?? 'failed']
    default:
      return ['skips', 1, reason ?? outcome ?? 'unknown']
  }
}

/** One step in the life of a run; the run's id leads from the first to the last. */
function tellStep(world: World, [pk, sk]: readonly [string, string], row: Partial<Run>): void {
  const schedule = `sch_${pk.slice(2)}`
  const run = `run_${derivedUlid(timeOf(sk.slice(2, 12)), `${schedule}|${sk}`)}`
  const { outcome, reason = null, result, turn = null, session = null } = row
  if (outcome === 'fired') world.log('debug', 'run fired', { run, schedule, ...(session === null ? {} : { session }) })
  else if (outcome !== undefined) world.log('debug', 'run left out', { run, schedule, outcome, reason })
  else if (result != null) world.log('debug', 'run ended', { run, schedule, turn, result, reason })
  else if (turn !== null) world.log('debug', 'run claimed', { run, schedule, turn })
}
