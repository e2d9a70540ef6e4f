import { checkLater } from '../domain/check.ts'
import { checkingReason } from '../domain/due.ts'
import { decideHeld } from '../domain/held.ts'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { isChecking, type Run } from '../domain/schedule.ts'
import { type Links, noLinks } from '../domain/session.ts'
import type { World } from '../ports/world.ts'
import { Charges } from './budgets.ts'
import { announceCheck, checkOps, lookAtCheck, readRunData } from './checks.ts'
import { placed, replaced, ring } from './fire.ts'
import { goesToOthers, type Loaded, openIds, runIdOf } from './load.ts'
import { countPrompt } from './prompts.ts'
import { patchRun, putCursor, putRun, readCursors } from './rows.ts'
import { commit, keys, read } from './store.ts'

/**
 * Looks at a schedule's held run: lets it go when the count has begun anew, ends it when it never can.
 *
 * @returns  true when it is held no more
 * @throws   Conflict when anything came between; the caller reads again
 */
export async function settleHeld(world: World, loaded: Loaded, now: number): Promise<boolean> {
  const { cursor, definition } = loaded
  const { held } = cursor.item
  if (held === null) return false
  if (isChecking(held)) return await lookAtCheck(world, loaded, now)
  const session = loaded.head?.item.session ?? `ses_${bare(runIdOf(definition.id, held.row))}`
  const decision = decideHeld({ ...loaded, cursor: cursor.item, session, now })
  if (decision === null) {
    // Nothing else moves the look of a schedule that is paused or over.
    if (cursor.item.status !== 'active' && held.lookAt <= now)
      await commit(world, [
        putCursor(world, checkLater(loaded, cursor.item, now + limits.heldLookMs), cursor.version, now),
      ])
    return false
  }
  const { put } = decision
  const ref = { schedule: definition.id, row: decision.row }
  if (decision.check) {
    await commit(world, [
      putCursor(world, decision.cursor, cursor.version, now),
      patchRun(ref, { reason: checkingReason }),
      ...checkOps(world, loaded, ref, now),
    ])
    await announceCheck(world, loaded, ref.row, now)
    return true
  }
  if (put === null) {
    const { reason } = decision
    await commit(world, [
      putCursor(world, decision.cursor, cursor.version, now),
      patchRun(ref, { outcome: 'skipped', reason, endedAt: now }),
    ])
    return true
  }
  const run = { ...openIds(definition.id, put), ...ref, at: put.at, session: put.session }
  // A session of its own is made by the run, as at any fire.
  const at = placed(loaded, { ...run, gen: put.gen } as Run, decision.cursor)
  const stopped = await replaced(world, loaded, now)
  await commit(world, [
    putCursor(world, decision.cursor, cursor.version, now),
    patchRun(ref, { outcome: 'fired', reason: null, gen: put.gen, at: put.at, session: put.session }),
    ...decision.rows.map((row) => putRun(row, now)),
    ...at.ops(world, now),
    ...new Charges().draw(loaded.purse, { wakes: 1 }).ops(now),
    ...(goesToOthers(cursor.item) && loaded.maker !== null ? [countPrompt(loaded.maker)] : []),
    ...stopped.ops,
  ])
  await stopped.tell()
  await ring(world, loaded, run, put.data === true ? await readRunData(world, definition.id, put.row) : null)
  return true
}

/** What a conversation's schedules hold, oldest slot first. */
export async function heldBy(world: World, conv: string): Promise<{ readonly id: string; readonly row: string }[]> {
  const made = ((await read<Links>(world, keys.links(conv)))?.item ?? noLinks).made
  const cursors = await readCursors(world, made)
  return cursors
    .flatMap((stored) => {
      const held = stored?.item.held ?? null
      return held === null || stored === null ? [] : [{ id: stored.item.id, row: held.row }]
    })
    .sort((a, b) => (a.row < b.row ? -1 : a.row > b.row ? 1 : 0))
}
