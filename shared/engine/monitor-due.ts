import { isOver } from '../domain/monitor.ts'
import { later } from '../ports/later.ts'
import { faultOf } from '../ports/log.ts'
import { type Key, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { owedAt, readDocument } from './document-state.ts'
import { lookAt, onDocumentChange, type Sight } from './monitor-look.ts'
import { readMonitors } from './monitor-rows.ts'
import { lookAtNamedTools } from './monitor-tools.ts'
import { everyShard } from './store.ts'

const sights = later(() => import('./monitor-sight.ts'))

const perPage = 500

/**
 * What is due of monitors and needs nobody outside: times that have come, monitors that have expired, changes of documents that were not
 * brought to all who watch. Tools are run apart (`lookAtTools`).
 *
 * @returns how many were looked at
 */
export async function lookAtMonitors(world: World, now: number): Promise<number> {
  let looked = 0
  for (const shard of everyShard(world)) {
    for await (const keys of dueAt(world, 'watches', shard, now)) {
      looked += keys.length
      await lookAtIds(world, keys.map(idOf), now)
    }
    for await (const keys of dueAt(world, 'changes', shard, now)) {
      looked += keys.length
      for (const key of keys) await bring(world, key, now)
    }
  }
  return looked
}

/** The same for what alarms name, tools included. */
export async function lookAtNamedMonitors(world: World, ids: readonly string[], now: number): Promise<void> {
  await lookAtNamedTools(world, await lookAtIds(world, ids, now))
}

const idOf = (key: Key): string => `mon_${key[0].slice(2)}`

/** @returns the ids of those that watch a tool, which are not looked at here */
async function lookAtIds(world: World, ids: readonly string[], now: number): Promise<string[]> {
  const found = (await readMonitors(world, ids)).filter((row) => row !== null)
  const tools = found.filter(({ item }) => item.watch?.kind === 'tool')
  const rest = found.filter(({ item }) => item.watch?.kind !== 'tool')
  const sight: Sight = async (monitor) => {
    const { watch } = monitor
    // What has expired is not read first.
    if (watch.kind !== 'document' || isOver(monitor, now)) return { found: { kind: 'time' }, event: { kind: 'time' } }
    const state = await readDocument(world, monitor.principal, watch.path)
    return await (await sights()).documentSight(world, state, now)(monitor)
  }
  await lookAt(world, rest, sight, now)
  return tools.map(({ item }) => item.id)
}

/** One document that cannot be brought stops no other: it is owed still. */
async function bring(world: World, key: Key, now: number): Promise<void> {
  try {
    const owed = await owedAt(world, key)
    if (owed !== null) await onDocumentChange(world, owed.owner, owed.path, now)
  } catch (error) {
    if (error instanceof Unavailable) throw error
    world.log('error', 'change of a document not told', faultOf(error))
  }
}

async function* dueAt(world: World, index: 'watches' | 'changes', shard: string, now: number): AsyncGenerator<Key[]> {
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find(index, shard, {
      to: now,
      limit: perPage,
      ...(after === null ? {} : { after }),
    })
    if (page.items.length > 0) yield page.items.map(({ key }) => key)
    after = page.next
  } while (after !== null)
}
