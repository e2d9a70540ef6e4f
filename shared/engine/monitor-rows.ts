import { bare } from '../domain/ids.ts'
import { type Monitor, over } from '../domain/monitor.ts'
import { faultOf } from '../ports/log.ts'
import type { IndexEntries, Key, Op, Stored, Version } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { asItem, commit, readAll, shardOf, ttlAfter } from './store.ts'
import { documentWatchers, pointer, toolWatchers } from './watchers.ts'

export const monitorKey = (id: string): Key => [`N#${bare(id)}`, 'A']

export const readMonitors = (world: World, ids: readonly string[]): Promise<(Stored<Monitor> | null)[]> =>
  readAll<Monitor>(world, ids.map(monitorKey))

export const readMonitor = async (world: World, id: string): Promise<Stored<Monitor> | null> =>
  (await readMonitors(world, [id]))[0] ?? null

/** One that is over stays readable as long as the ledger. */
export function putMonitor(world: World, monitor: Monitor, expect: Version | 'absent', now: number): Op {
  return {
    put: monitorKey(monitor.id),
    item: asItem(monitor),
    expect,
    index: indexOf(world, monitor),
    ...(monitor.status === 'armed' ? {} : { ttl: ttlAfter(now) }),
  }
}

function indexOf(world: World, { id, agent, watch, nextLookAt }: Monitor): IndexEntries {
  const listed = { monitorsByAgent: [agent, id] } as const
  if (nextLookAt === null) return listed
  const place = [shardOf(world, id), nextLookAt] as const
  return watch.kind === 'tool' ? { ...listed, toolRuns: place } : { ...listed, watches: place }
}

/** How whoever changes what is watched finds the monitor; null: nobody can change a time. */
export function pointerOf({ id, agent, principal, watch }: Monitor): Key | null {
  if (watch.kind === 'time') return null
  const pk = watch.kind === 'document' ? documentWatchers(principal, watch.path) : toolWatchers(agent, watch.name)
  return pointer(pk, id)
}

/** The writes of a monitor that is over: nobody finds it any more. */
export function overOps(world: World, stored: Stored<Monitor>, now: number, ...how: How): Op[] {
  const [status, more] = how
  const pointed = pointerOf(stored.item)
  return [
    putMonitor(world, over(stored.item, status, now, more), stored.version, now),
    ...(pointed === null ? [] : [{ delete: pointed, expect: 'any' as const }]),
  ]
}
type How = [status: Parameters<typeof over>[1], more?: Parameters<typeof over>[3]]

/** Takes a monitor that cannot be looked at out of what is due, so that it is not met again every minute. It stays stored and listed. */
export async function setAside(world: World, id: string, error: unknown, agent?: unknown): Promise<void> {
  world.log('error', 'monitor set aside', { monitor: id, ...faultOf(error) })
  try {
    const index: IndexEntries = typeof agent === 'string' ? { monitorsByAgent: [agent, id] } : {}
    await commit(world, [
      { patch: monitorKey(id), set: { quarantined: true }, guards: [{ attr: 'id', is: 'present' }], index },
    ])
    world.meter.count('set_aside', 1)
  } catch (failed) {
    world.log('error', 'item could not be set aside', { monitor: id, ...faultOf(failed) })
  }
}
