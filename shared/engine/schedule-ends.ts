import { disarmed, newRun, slotKey } from '../domain/due.ts'
import type { Cursor } from '../domain/schedule.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { retrying } from './call.ts'
import { look } from './fire.ts'
import { dropWaiting } from './inbox.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { putCursor, putRun, tokenOf } from './store.ts'

export type EndReason =
  | 'deleted'
  | 'agent_deleted'
  | 'session_archived'
  | 'session_deleted'
  | 'creator_archived'
  | 'creator_deleted'

/**
 * Ends a schedule: no next time, and what waits of it leaves the inbox. A turn that runs goes on. Ending twice does nothing.
 */
export async function endSchedule(world: World, id: string, reason: EndReason, now: number): Promise<void> {
  // A slot that came due before this call is decided first: the ledger leaves out no time of an active schedule.
  if (reason !== 'agent_deleted') await look(world, [id], now)
  await retrying(async () => {
    const loaded = (await loadSchedules(world, [id]))[0] ?? null
    if (loaded === null) return
    const { cursor } = loaded
    const deleted = reason === 'deleted' || cursor.item.deleted
    if (cursor.item.status === 'ended' && cursor.item.deleted === deleted) return
    const dropped = await dropWaiting(world, cursor.item, reason, now)
    const covered = coverOpenSlot(loaded, reason, now)
    const next: Cursor = {
      ...disarmed(dropped.cursor, 'ended', cursor.item.status === 'ended' ? cursor.item.reason : reason),
      backfill: [],
      deleted,
    }
    await world.table.commit(
      [putCursor(world, next, cursor.version, now), ...dropped.ops, ...covered],
      tokenOf('end-schedule', id, cursor.version),
    )
  })
}

/**
 * A nominal time that has passed but waits for its jitter is still a time of an active schedule: whoever stops it writes its
 * row. A deleted agent's next run is written although it lies ahead (decision 25), so that the ledger says why it will not be.
 */
export function coverOpenSlot(loaded: Loaded, reason: string, now: number): Op[] {
  const { cursor, definition } = loaded
  const { nextAt } = cursor.item
  if (cursor.item.status !== 'active' || nextAt === null || (nextAt > now && reason !== 'agent_deleted')) return []
  const row = newRun(
    { definition, cursor: cursor.item, now },
    { trigger: 'slot', nominal: nextAt, row: slotKey(nextAt), outcome: 'skipped' },
  )
  return [putRun({ ...row, message: null, session: null, reason }, now)]
}
