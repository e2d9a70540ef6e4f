import { checkingReason } from '../domain/due.ts'
import type { Cursor, Run } from '../domain/schedule.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges } from './budgets.ts'
import { announceCheck, checkOps } from './checks.ts'
import { placed, ring, withSession } from './fire.ts'
import { tellRows } from './incidents.ts'
import { linkOps, placeOf } from './links.ts'
import type { Loaded } from './load.ts'
import { putCursor, putRun } from './rows.ts'
import { commit, putRunData, type RunData } from './store.ts'

/** Writes a row that was asked for, with what its message needs, and rings if it was put. @throws Conflict */
export async function commitAsked(
  world: World,
  loaded: Loaded,
  asked: {
    readonly cursor: Cursor
    readonly row: Run
    readonly put: boolean
    /** What its message carries besides its prompt. */
    readonly data?: RunData | null
    /** Written in the same commit. */
    readonly more?: readonly Op[]
    readonly now: number
  },
): Promise<Run> {
  const { cursor, now, data = null, more = [] } = asked
  const at = asked.put ? placed(loaded, asked.row, cursor) : null
  const run = at?.run ?? asked.row
  const { status } = loaded.cursor.item
  // A finished schedule may have left its conversation's list, where a claim looks for what waits.
  const relisted =
    at !== null && status === 'done'
      ? [{ list: 'fires', key: placeOf(loaded.definition), uncounted: true } as const]
      : []
  const placedCursor = at === null ? cursor : withSession(cursor, run)
  const told = await tellRows(world, loaded, placedCursor, [run], now)
  await commit(world, [
    putCursor(world, told.cursor, loaded.cursor.version, now),
    putRun(run, now),
    ...(at?.ops(world, now) ?? []),
    ...(at === null ? [] : new Charges().draw(loaded.purse, { wakes: 1 }).ops(now)),
    ...(await linkOps(world, loaded.definition.id, relisted)),
    ...(run.reason === checkingReason ? checkOps(world, loaded, run, now) : []),
    ...told.ops,
    ...(data === null ? [] : [putRunData(run, data, now)]),
    ...more,
  ])
  if (at !== null) await ring(world, loaded, run, data)
  if (run.reason === checkingReason) await announceCheck(world, loaded, run.row, now)
  return run
}
