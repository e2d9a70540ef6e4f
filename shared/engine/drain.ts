import { limits } from '../domain/limits.ts'
import type { IndexName } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { doApart } from './apart.ts'
import { lapse, tick } from './lapse.ts'
import { look } from './look.ts'
import { lookAtMonitors } from './monitor-due.ts'
import { headOrSetAside, quarantine } from './set-aside.ts'
import { everyShard } from './store.ts'

/** The first prompts of a herd leave at once; then larger groups share one write to disk. */
const groupFirst = 32
const groupMost = 500

/**
 * Does everything that is due at `now`: leases that ran out first, so that a slot does not meet a turn that is dead, then
 * schedules in the order of their time, and what is to be sent out last. What no alarm brought is found here too: this is also the
 * sweep.
 *
 * Cost follows what is due, not what exists.
 *
 * @param apartMsMax  real time within which what waits for others is begun; each ends within its own bound
 * @returns           how many were looked at
 */
export async function drain(world: World, now: number, apartMsMax = Number.POSITIVE_INFINITY): Promise<number> {
  const looked = await drainWakes(world, now)
  return looked + (await doApart(world, now, apartMsMax))
}

/** Leases, schedules, and what monitors see without help: where receivers who take their time must not be waited for. */
export async function drainWakes(world: World, now: number): Promise<number> {
  const heads: string[] = []
  for (const shard of everyShard(world)) {
    for await (const convs of due(world, 'leases', shard, now)) {
      heads.push(...convs)
      await Promise.all(convs.map((conv) => headOrSetAside(world, conv, now, lapse)))
    }
  }
  let looked = heads.length
  const bad: string[] = []
  for (const shard of everyShard(world)) {
    for await (const ulids of due(world, 'due', shard, now)) {
      looked += ulids.length
      bad.push(
        ...(await look(
          world,
          ulids.map((ulid) => `sch_${ulid}`),
          now,
        )),
      )
    }
  }
  await quarantine(world, bad)
  looked += await lookAtMonitors(world, now)
  // What wakes by itself goes last.
  for (const conv of heads) await headOrSetAside(world, conv, now, tick)
  return looked
}

/** The next instant at which something is due, or null: nothing is armed. */
export async function nextDue(world: World): Promise<number | null> {
  let first: number | null = null
  for (const index of ['leases', 'due', 'deliveries', 'jobs', 'flowRuns', 'watches', 'toolRuns', 'changes'] as const)
    for (const shard of everyShard(world)) {
      const at = (await world.table.find(index, shard, { limit: 1 })).items[0]?.sk
      if (typeof at === 'number' && (first === null || at < first)) first = at
    }
  return first
}

/** Pages through what is due, one group at a time. The bare ids are those of the index's partition keys. */
async function* due(world: World, index: IndexName, shard: string, now: number): AsyncGenerator<string[]> {
  let after: string | null = null
  let limit = groupFirst
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find(index, shard, {
      to: now,
      limit,
      ...(after === null ? {} : { after }),
    })
    limit = groupMost
    const stranded = page.items.filter(({ sk }) => Number(sk) < now - limits.strandedMs).length
    if (stranded > 0) world.meter.count('stranded', stranded)
    if (page.items.length > 0) yield page.items.map((found) => found.key[0].slice(2))
    after = page.next
  } while (after !== null)
}
