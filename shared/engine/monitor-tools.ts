import { limits } from '../domain/limits.ts'
import { isOver, type Monitor, nextRunOf } from '../domain/monitor.ts'
import { later } from '../ports/later.ts'
import { faultOf } from '../ports/log.ts'
import { Conflict, type Stored, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Errands } from './errands.ts'
import { hint } from './fire.ts'
import { endChanged, endMonitor, lookAlone, type Sight } from './monitor-look.ts'
import { putMonitor, readMonitor, setAside } from './monitor-rows.ts'
import { type Agent, commit, everyShard, keys, read } from './store.ts'
import { readTool } from './tool-rows.ts'

const sights = later(() => import('./monitor-sight.ts'))
const tools = later(() => import('./tool-run.ts'))

const errandsOf = (world: World): Errands => Errands.of(world, 'monitors', limits.toolLooksAtOnce)

const send = (world: World, id: string): boolean => errandsOf(world).send(id, () => lookAtTool(world, id))

/**
 * Runs the watched tools that are due, so many at once, and answers when they are through. Never throws: what could not be run stays due.
 *
 * @param beginMsMax  real time within which runs are begun; what is left is for the next look
 * @returns           how many were begun
 */
export async function lookAtTools(world: World, now: number, beginMsMax = Number.POSITIVE_INFINITY): Promise<number> {
  const errands = errandsOf(world)
  const until = performance.now() + beginMsMax
  let begun = 0
  try {
    for (const shard of everyShard(world)) {
      let after: string | null = null
      do {
        const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find('toolRuns', shard, {
          to: now,
          limit: 100,
          ...(after === null ? {} : { after }),
        })
        for (const { key } of page.items) {
          await errands.room()
          if (performance.now() > until) break
          if (send(world, `mon_${key[0].slice(2)}`)) begun += 1
        }
        after = performance.now() > until ? null : page.next
      } while (after !== null)
    }
  } catch (error) {
    world.log('error', 'watched tools not looked at', faultOf(error))
  }
  await errands.idle()
  return begun
}

/** The same for what alarms name. */
export async function lookAtNamedTools(world: World, ids: readonly string[]): Promise<void> {
  const errands = errandsOf(world)
  for (const id of ids) {
    await errands.room()
    send(world, id)
  }
  await errands.idle()
}

/** Begins no more runs, and answers when those under way are recorded. */
export async function stopToolLooks(world: World): Promise<void> {
  const errands = errandsOf(world)
  errands.stop()
  await errands.idle()
}

/** Never throws. */
async function lookAtTool(world: World, id: string): Promise<void> {
  try {
    const claimed = await claim(world, id)
    if (claimed === null) return
    const sight = await ran(world, claimed)
    if (sight !== null) await lookAlone(world, id, sight, world.clock.now())
  } catch (error) {
    if (!(error instanceof Unavailable)) return await setAside(world, id, error)
    world.log('warn', 'a look at a tool could not be recorded; the next one is not far', { monitor: id })
  }
}

/** Takes a look that is due by setting the next one. @returns null when nothing is due, or somebody else was first */
async function claim(world: World, id: string): Promise<{ readonly monitor: Monitor; readonly dueAt: number } | null> {
  const stored = await readMonitor(world, id)
  if (stored === null || stored.item.status !== 'armed' || stored.item.watch.kind !== 'tool') return null
  const now = world.clock.now()
  const monitor = stored.item
  const dueAt = monitor.nextLookAt ?? monitor.expiresAt
  if (isOver(monitor, now)) {
    const { toolFailed } = await sights()
    await lookAlone(world, id, async () => toolFailed('', ''), now)
    return null
  }
  if (dueAt > now) return null
  const next = nextRunOf(monitor, stored.item.watch.everyMs, now)
  if (!(await isTaken(world, stored, next, now))) return null
  // Only by whoever took the look: were it set for one that came early, twice or second, alarms would become more with each round.
  await hint(world, () => world.alarms.set({ kind: 'monitor', id }, next))
  return { monitor, dueAt }
}

async function isTaken(world: World, stored: Stored<Monitor>, nextLookAt: number, now: number): Promise<boolean> {
  try {
    await commit(world, [putMonitor(world, { ...stored.item, nextLookAt }, stored.version, now)])
    return true
  } catch (error) {
    if (error instanceof Conflict) return false
    throw error
  }
}

/** Runs the tool, if it is still the one that was armed on. @returns null when the monitor has ended */
async function ran(world: World, o: { readonly monitor: Monitor; readonly dueAt: number }): Promise<Sight | null> {
  const { monitor, dueAt } = o
  const { id, watch } = monitor
  if (watch.kind !== 'tool') return null
  const now = world.clock.now()
  const [tool, agent] = await Promise.all([
    readTool(world, monitor.agent, watch.name),
    read<Agent>(world, keys.agent(monitor.agent)),
  ])
  if (agent === null || agent.item.deletedAt !== null) {
    await endMonitor(world, id, 'agent_deleted', now)
    return null
  }
  if (tool?.hash !== watch.hash || !tool.readOnly) {
    await endChanged(world, id, watch.name, tool === null, now)
    return null
  }
  const [{ toolFailed, toolSeen }, { runTool }] = await Promise.all([sights(), tools()])
  const end = await runTool({
    world,
    tool,
    agent: agent.item,
    principal: monitor.principal,
    args: watch.args,
    runId: `${id}:${dueAt}`,
    call: null,
    timeoutMs: limits.toolLookMs,
  })
  return async (current) =>
    end.ok ? toolSeen(current, watch.name, end.output, world.clock.now()) : toolFailed(watch.name, end.error)
}
