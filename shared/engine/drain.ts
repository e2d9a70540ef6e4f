import type { Cursor } from '../domain/schedule.ts'
import { type IndexEntries, type IndexName, type Key, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { doApart } from './apart.ts'
import { Contended } from './call.ts'
import { lapse, tick } from './lapse.ts'
import { look } from './look.ts'
import { lookAtMonitors } from './monitor-due.ts'
import { commit, everyShard, keys, read } from './store.ts'

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
    if (page.items.length > 0) yield page.items.map((found) => found.key[0].slice(2))
    after = page.next
  } while (after !== null)
}

/** A conversation that cannot be looked at stops nobody else. */
export async function headOrSetAside(
  world: World,
  conv: string,
  now: number,
  look: typeof lapse | typeof tick,
): Promise<void> {
  try {
    await look(world, conv, now)
  } catch (error) {
    if (error instanceof Unavailable && !(error instanceof Contended)) throw error
    const what = error instanceof Error ? error.message : 'unknown fault'
    world.log('error', `conversation could not be looked at: ${what}`, { conversation: conv })
    if (!(error instanceof Contended)) await setAside(world, ['C#'.concat(conv), 'A'], {}, 'conv')
  }
}

/**
 * Takes schedules that cannot be looked at out of the due index, so that they are not met again every minute. They stay stored and
 * listed, and are named in the log for whoever mends them.
 */
export async function quarantine(world: World, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const cursor = await read<Partial<Cursor>>(world, keys.cursor(id))
    const { agent, createdBy } = cursor?.item ?? {}
    const index: IndexEntries = {
      ...(typeof agent === 'string' ? { schedulesByAgent: [agent, id] as const } : {}),
      ...(typeof createdBy === 'string' ? { schedulesByMaker: [createdBy, id] as const } : {}),
    }
    await setAside(world, keys.cursor(id), index, 'id')
    world.log('error', 'schedule quarantined: it fires no more; its stored item has to be mended', { schedule: id })
  }
}

/** Leaves the item as it is but for its place among what is due. */
async function setAside(world: World, key: Key, index: IndexEntries, present: string): Promise<void> {
  try {
    await commit(world, [{ patch: key, set: { quarantined: true }, guards: [{ attr: present, is: 'present' }], index }])
  } catch (error) {
    world.log('error', `could not be set aside: ${error instanceof Error ? error.message : 'unknown fault'}`, {
      item: key[0],
    })
  }
}
