import { limits } from '../domain/limits.ts'
import { Refused } from '../domain/refused.ts'
import type { Cursor } from '../domain/schedule.ts'
import { type Links, noLinks } from '../domain/session.ts'
import type { Key, Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { readCursors } from './rows.ts'
import { keys, putLinks, read } from './store.ts'

type List = 'fires' | 'made'

/** One of the lists a schedule's id stands in. */
export interface Place {
  readonly list: List
  readonly key: Key
  /** A finished schedule that is run by hand: its prompt must be found there, and it counts for nothing. */
  readonly uncounted?: boolean
}

/**
 * The writes that enter a schedule into its lists, with the bounds of S0-60, S0-61 and decision 23.
 *
 * The lists are read and written with their version, so the bounds are exact however many create at once. Ids of schedules
 * that are over are left out here, and not when they end: an end is frequent, a full list is rare.
 *
 * @throws Refused `schedule_limit`
 */
export async function linkOps(world: World, id: string, places: readonly Place[]): Promise<Op[]> {
  const ops: Op[] = []
  const byKey = new Map<string, Place[]>()
  for (const place of places) byKey.set(place.key[0], [...(byKey.get(place.key[0]) ?? []), place])
  for (const group of byKey.values()) {
    const stored = await read<Links>(world, group[0]!.key)
    let links = stored?.item ?? noLinks
    for (const { list, uncounted } of group) {
      const most = list === 'fires' ? limits.schedulesPerTarget : limits.schedulesMadeForOthers
      const others = links[list].filter((other) => other !== id)
      const kept =
        others.length < most
          ? others
          : await stillThere(world, list, group[0]!.key, others, uncounted === true ? Number.MAX_SAFE_INTEGER : most)
      links = { ...links, [list]: [...kept, id] }
    }
    ops.push(putLinks(group[0]!.key, links, stored?.version ?? 'absent'))
  }
  return ops
}

/** The ids that still belong: live schedules count, finished ones whose prompt is on its way stay until it has gone. */
async function stillThere(world: World, list: List, key: Key, ids: readonly string[], most: number): Promise<string[]> {
  const cursors = (await readCursors(world, ids)).flatMap((row) => (row === null ? [] : [row.item]))
  const here = cursors.filter((cursor) => list === 'made' || placeOf(cursor)[0] === key[0])
  const isLive = (cursor: Cursor): boolean => cursor.status === 'active' || cursor.status === 'paused'
  if (here.filter(isLive).length >= most) throw full(list, most)
  return here.filter((cursor) => isLive(cursor) || cursor.open.length > 0).map((cursor) => cursor.id)
}

/** Where the ids of a target's schedules stand: on its conversation, or on the agent for fresh sessions. */
export const placeOf = (schedule: { readonly conv: string | null; readonly agent: string }): Key =>
  schedule.conv === null ? keys.agentLinks(schedule.agent) : keys.links(schedule.conv)

const full = (list: List, most: number): Refused =>
  new Refused(
    'schedule_limit',
    list === 'fires'
      ? `at most ${most} schedules may fire in one conversation, paused ones included; remove one first`
      : `a conversation may have at most ${most} schedules for other sessions, paused ones included; remove one first`,
  )
