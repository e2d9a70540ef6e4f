import { decideLook, type Found, type Monitor } from '../domain/monitor.ts'
import type { Event } from '../domain/monitor-text.ts'
import { type Links, noLinks } from '../domain/session.ts'
import { later } from '../ports/later.ts'
import { Conflict, type Op, type Stored, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended, retrying } from './call.ts'
import { readDebt, readDocument, settleDebt } from './document-state.ts'
import { failingCard } from './monitor-cards.ts'
import { type Fire, fireAlone, fireTogether } from './monitor-fire.ts'
import { overOps, putMonitor, readMonitor, readMonitors, setAside } from './monitor-rows.ts'
import { commit, keys, read } from './store.ts'
import { documentWatchers, toolWatchers, triggersOn, watchersIn } from './watchers.ts'

const sights = later(() => import('./monitor-sight.ts'))
const triggers = later(() => import('./trigger-fire.ts'))

/** What there is to be seen of what a monitor watches. */
export type Sight = (monitor: Monitor) => Promise<{ readonly found: Found; readonly event: Event }>

/**
 * A document was put or deleted: looks at everything that watches its path. The cost follows those, not what else is armed.
 *
 * Told twice, late or out of order does no harm: what is looked at is the document as it is now.
 *
 * @throws Unavailable when the store is away: the change is owed, and the sweep brings it
 */
export async function onDocumentChange(world: World, owner: string, path: string, now: number): Promise<void> {
  const debt = await readDebt(world, owner, path)
  let sight: Sight | null = null
  for await (const ids of watchersIn(world, documentWatchers(owner, path), 'mon_')) {
    // Most documents are watched by nobody, and are not read.
    sight ??= (await sights()).documentSight(world, await readDocument(world, owner, path), now)
    await lookAt(world, present(await readMonitors(world, ids)), sight, now)
  }
  let told = true
  for await (const ids of triggersOn(world, owner, path))
    told = (await (await triggers()).changedUnder(world, ids, await readDocument(world, owner, path), now)) && told
  // What could not be told is owed.
  if (told) await settleDebt(world, debt)
}

/** The tool of an agent does something else from now on, or nothing (`hash` null): its watches end, with a word to their sessions. */
export async function toolChanged(
  world: World,
  agent: string,
  name: string,
  hash: string | null,
  now: number,
): Promise<void> {
  for await (const ids of watchersIn(world, toolWatchers(agent, name), 'mon_'))
    for (const stored of present(await readMonitors(world, ids))) {
      const { watch } = stored.item
      if (watch.kind === 'tool' && watch.hash !== hash)
        await endChanged(world, stored.item.id, name, hash === null, now)
    }
}

/** S4-35 to S4-39. Ending twice does nothing. */
export async function endChanged(world: World, id: string, name: string, deleted: boolean, now: number): Promise<void> {
  await retrying(async () => {
    const stored = await readMonitor(world, id)
    if (stored?.item.status !== 'armed') return
    await fireAlone(world, { stored, event: { kind: 'tool_changed', name, deleted } }, now)
  })
}

/** What a conversation waited for, it waits for no longer: it was archived or deleted. */
export async function endMonitorsOf(world: World, conv: string, reason: string, now: number): Promise<void> {
  const links = (await read<Links>(world, keys.links(conv)))?.item ?? noLinks
  for (const id of links.monitors ?? []) await endMonitor(world, id, reason, now)
}

/** The same for all of an agent's. One that the index does not show yet ends when it would fire. */
export async function endMonitorsOfAgent(world: World, agent: string, now: number): Promise<void> {
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find('monitorsByAgent', agent, {
      descending: true,
      limit: 100,
      ...(after === null ? {} : { after }),
    })
    const rows = present(
      await readMonitors(
        world,
        page.items.map(({ sk }) => String(sk)),
      ),
    )
    for (const { item } of rows) if (item.status === 'armed') await endMonitor(world, item.id, 'agent_deleted', now)
    after = page.next
  } while (after !== null)
}

/** Without a message. Ending twice does nothing. */
export async function endMonitor(world: World, id: string, reason: string, now: number): Promise<void> {
  await retrying(async () => {
    const stored = await readMonitor(world, id)
    if (stored?.item.status === 'armed') await commit(world, overOps(world, stored, now, 'ended', { reason }))
  })
}

const present = <T>(rows: readonly (T | null)[]): T[] => rows.filter((row) => row !== null)

const opsPerCommit = 100
const charsPerCommit = 1_000_000

/**
 * Looks at monitors and commits what becomes of each, many in one commit. What a commit refuses is looked at again, one by one; a monitor
 * that cannot be looked at stops no other.
 */
export async function lookAt(
  world: World,
  monitors: readonly Stored<Monitor>[],
  sight: Sight,
  now: number,
): Promise<void> {
  const fires: Fire[] = []
  const writes: Write[] = []
  const alone: Stored<Monitor>[] = []
  for (const stored of monitors) {
    try {
      const { found, event } = await sight(stored.item)
      const decision = decideLook(stored.item, found, now)
      if (decision.kind === 'fire') fires.push({ stored, event })
      else if (decision.kind === 'expire')
        writes.push({ stored, ops: overOps(world, stored, now, 'expired'), chars: 0 })
      else if (decision.kind === 'keep' && decision.told) alone.push(stored)
      else if (decision.kind === 'keep') writes.push(keepWrite(world, stored, decision.monitor, now))
    } catch (error) {
      if (error instanceof Unavailable) throw error
      await setAside(world, `mon_${stored.key[0].slice(2)}`, error, stored.item.agent)
    }
  }
  const lost = await Promise.all(packed(writes).map((pack) => writeTogether(world, pack)))
  const left = fires.length === 0 ? [] : await fireTogether(world, fires, now)
  alone.push(...lost.flat(), ...left.map(({ stored }) => stored))
  await Promise.all(byPrincipal(alone).map((group) => lookInTurn(world, group, sight, now)))
}

interface Write {
  readonly stored: Stored<Monitor>
  readonly ops: readonly Op[]
  readonly chars: number
}

const keepWrite = (world: World, stored: Stored<Monitor>, next: Monitor, now: number): Write => ({
  stored,
  ops: [putMonitor(world, next, stored.version, now)],
  chars: next.before === null ? 0 : JSON.stringify(next.before).length,
})

function packed(writes: readonly Write[]): Write[][] {
  const packs: Write[][] = []
  let ops = 0
  let chars = 0
  for (const write of writes) {
    if (write.ops.length > ops || write.chars > chars) {
      packs.push([])
      ops = opsPerCommit
      chars = charsPerCommit
    }
    packs.at(-1)!.push(write)
    ops -= write.ops.length
    chars -= write.chars
  }
  return packs
}

async function writeTogether(world: World, writes: readonly Write[]): Promise<Stored<Monitor>[]> {
  try {
    await commit(
      world,
      writes.flatMap(({ ops }) => ops),
    )
    return []
  } catch (error) {
    if (error instanceof Conflict) return writes.map(({ stored }) => stored)
    throw error
  }
}

/** Those that draw on one budget come one after the other, so that none loses its race to its neighbours. */
function byPrincipal(monitors: readonly Stored<Monitor>[]): Stored<Monitor>[][] {
  const groups = new Map<string, Stored<Monitor>[]>()
  for (const stored of monitors)
    groups.set(stored.item.principal, [...(groups.get(stored.item.principal) ?? []), stored])
  return [...groups.values()]
}

async function lookInTurn(
  world: World,
  monitors: readonly Stored<Monitor>[],
  sight: Sight,
  now: number,
): Promise<void> {
  for (const { item } of monitors) {
    try {
      await lookAlone(world, item.id, sight, now)
    } catch (error) {
      if (error instanceof Contended)
        world.log('warn', 'monitor is written by many at once; the next look decides', { monitor: item.id })
      else if (error instanceof Unavailable) throw error
      else await setAside(world, item.id, error, item.agent)
    }
  }
}

/** One monitor: decides on what is there, and again on what another commit made of it. @throws what the sight throws */
export async function lookAlone(world: World, id: string, sight: Sight, now: number): Promise<void> {
  await retrying(async () => {
    const stored = await readMonitor(world, id)
    if (stored === null) return
    const { found, event } = await sight(stored.item)
    const decision = decideLook(stored.item, found, now)
    switch (decision.kind) {
      case 'nothing':
        return
      case 'fire':
        return await fireAlone(world, { stored, event }, now)
      case 'expire':
        return await commit(world, overOps(world, stored, now, 'expired'))
      case 'keep': {
        const card = decision.told ? [await failingCard(world, decision.monitor, now)] : []
        return await commit(world, [putMonitor(world, decision.monitor, stored.version, now), ...card])
      }
    }
  })
}
