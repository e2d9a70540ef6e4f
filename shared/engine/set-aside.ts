import type { Cursor } from '../domain/schedule.ts'
import { faultOf } from '../ports/log.ts'
import { type IndexEntries, type Key, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended } from './call.ts'
import { commit, keys, read } from './store.ts'

/** A conversation that cannot be looked at stops nobody else. */
export async function headOrSetAside(
  world: World,
  conv: string,
  now: number,
  look: (world: World, conv: string, now: number) => Promise<void>,
): Promise<void> {
  try {
    await look(world, conv, now)
  } catch (error) {
    if (error instanceof Unavailable && !(error instanceof Contended)) throw error
    world.log('error', 'conversation could not be looked at', { conversation: conv, ...faultOf(error) })
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
    world.meter.count('set_aside', 1)
  } catch (error) {
    world.log('error', 'item could not be set aside', { item: key[0], ...faultOf(error) })
  }
}
