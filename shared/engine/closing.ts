import { cover, disarmed } from '../domain/due.ts'
import { leftOut } from '../domain/held.ts'
import type { Message } from '../domain/message.ts'
import type { Cursor } from '../domain/schedule.ts'
import { type Head, type Links, noLinks } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { retrying } from './call.ts'
import { hint } from './fire.ts'
import { droppedTick, dropWaiting } from './inbox.ts'
import { closeIncident, tellRows } from './incidents.ts'
import { loadSchedules } from './load.ts'
import { look } from './look.ts'
import { endMonitorsOf } from './monitor-look.ts'
import { patchRun, putCursor, putRun, readCursor } from './rows.ts'
import { commit, expireDefinition, keys, putHead, putHistory, putLinks, read } from './store.ts'

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
  await look(world, [id], now)
  const emptied = await retrying(async () => {
    const loaded = (await loadSchedules(world, [id]))[0] ?? null
    if (loaded === null) return []
    const { cursor } = loaded
    const { item } = cursor
    const over = item.status === 'ended'
    const deleted = reason === 'deleted' || item.deleted
    if (over && item.deleted === deleted && item.held === null && !item.open.some((run) => run.turn === null)) return []
    const dropped = await dropWaiting(world, item, reason, now)
    const covered = cover({ ...loaded, cursor: dropped.cursor, now }, reason, reason === 'agent_deleted')
    const told = await tellRows(world, loaded, covered.cursor, covered.rows, now)
    const held: Op[] =
      item.held === null
        ? []
        : [patchRun({ schedule: id, row: item.held.row }, { outcome: 'skipped', reason, endedAt: now })]
    const next: Cursor = {
      ...disarmed(item.held === null ? told.cursor : leftOut(told.cursor), 'ended', over ? item.reason : reason),
      backfill: [],
      deleted,
    }
    await commit(world, [
      putCursor(world, next, cursor.version, now),
      expireDefinition(loaded.definition, now),
      ...dropped.ops,
      ...covered.rows.map((row) => putRun(row, now)),
      ...held,
      ...told.ops,
      ...(reason === 'deleted' ? await closeIncident(world, loaded, now) : []),
    ])
    return dropped.emptied
  })
  for (const conv of emptied) await closeConversation(world, conv, now)
}

/**
 * Ends everything that hangs on a conversation that was archived or deleted: schedules that fire in it, those it made, and
 * what waits in it.
 *
 * Until all of it is done the head says `closing` and stands in the index of what is due, so that whoever looks next goes on
 * where a crash cut it off. Doing it twice does nothing.
 */
export async function closeConversation(world: World, conv: string, now: number): Promise<void> {
  const head = await read<Head>(world, keys.head(conv))
  if (head === null || !head.item.closing) return
  const deleted = head.item.deletedAt !== null
  const links = (await read<Links>(world, keys.links(conv)))?.item ?? noLinks
  for (const id of links.fires) await endSchedule(world, id, deleted ? 'session_deleted' : 'session_archived', now)
  for (const id of links.made) await endSchedule(world, id, deleted ? 'creator_deleted' : 'creator_archived', now)
  await endMonitorsOf(world, conv, deleted ? 'session_deleted' : 'session_archived', now)
  await dropFresh(world, head.item, deleted ? 'session_deleted' : 'session_archived', now)
  await dropRows(world, conv, now)
  await hint(world, () => world.bell.close(head.item.session))
  await retrying(async () => {
    const stored = await read<Head>(world, keys.head(conv))
    const left = await read<Links>(world, keys.links(conv))
    if (stored === null || !stored.item.closing) return
    const emptied: Op[] = left === null ? [] : [putLinks(keys.links(conv), noLinks, left.version)]
    const { item } = stored
    const quiet = item.tick == null ? item : { ...item, tick: { ...item.tick, waiting: null, nextAt: null } }
    await commit(world, [
      putHead(world, { ...quiet, closing: false }, stored.version, now),
      ...droppedTick(item, now),
      ...emptied,
    ])
  })
}

/** The prompt of a session that was made for it stands in its schedule's cursor: it must not wait there for ever. */
async function dropFresh(world: World, head: Head, reason: string, now: number): Promise<void> {
  const { fresh } = head
  if (fresh === null) return
  await retrying(async () => {
    const cursor = await readCursor(world, fresh.schedule)
    if (cursor === null || !cursor.item.open.some((run) => run.row === fresh.row && run.turn === null)) return
    const dropped = await dropWaiting(world, cursor.item, reason, now, fresh.row)
    await commit(world, [putCursor(world, dropped.cursor, cursor.version, now), ...dropped.ops])
  })
}

/** Messages that still wait are dropped, page by page. */
async function dropRows(world: World, conv: string, now: number): Promise<void> {
  // Another may close it at the same moment; whoever loses looks at what is left.
  const isLeft = (): Promise<boolean> =>
    retrying(async () => {
      const { items } = await world.table.list(`C#${conv}`, { prefix: 'W#', limit: 40 })
      if (items.length === 0) return false
      const rows = items as readonly Stored<unknown>[] as readonly Stored<Message>[]
      await commit(
        world,
        rows.flatMap((row): Op[] => [
          { delete: row.key, expect: 'any' },
          putHistory(conv, { ...row.item, status: 'dropped' }, now),
        ]),
      )
      return true
    })
  while (await isLeft());
}
