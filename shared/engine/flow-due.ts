import type { FlowRun } from '../domain/replay.ts'
import { later } from '../ports/later.ts'
import { faultOf } from '../ports/log.ts'
import { Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended } from './call.ts'
import { Errands } from './errands.ts'
import { announceFlowRun } from './fire.ts'
import { flowRunKey } from './flow-rows.ts'
import type { Went } from './flow-step.ts'
import { commit, everyShard, read } from './store.ts'

const steps = later(() => import('./flow-step.ts'))

const runsAtOnce = 16
const pageOfDue = 500

const runner = (world: World): Errands => Errands.of(world, 'flows', runsAtOnce)

/**
 * Goes on with every run of a flow that is due, so many side by side and each step by step, and answers when they have ended or wait for
 * others. Where they have a function of their own it only wakes that. Never throws: what could not be looked at stays due.
 *
 * @returns how many went on
 */
export async function runFlowsDue(world: World, now: number): Promise<number> {
  let moved = 0
  try {
    if (world.flowsApart) return await wakeFlowsDue(world, now)
    // What ends lets others begin, which are due then.
    for (let found = -1; found !== 0; ) {
      found = 0
      for await (const id of due(world, now)) {
        await runner(world).room()
        runner(world).send(id, async () => {
          if (await goOn(world, id)) found += 1
        })
      }
      await runner(world).idle()
      moved += found
    }
  } catch (error) {
    world.log('error', 'flows could not be looked at', faultOf(error))
  }
  return moved
}

/** Begins no more steps, and answers when those under way are recorded. */
export async function stopFlows(world: World): Promise<void> {
  runner(world).stop()
  await runner(world).idle()
}

async function wakeFlowsDue(world: World, now: number): Promise<number> {
  let woken = 0
  for await (const id of due(world, now)) {
    await announceFlowRun(world, id)
    woken += 1
  }
  return woken
}

async function* due(world: World, now: number): AsyncGenerator<string> {
  for (const shard of everyShard(world)) {
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<World['table']['find']>> = await world.table.find('flowRuns', shard, {
        to: now,
        limit: pageOfDue,
        ...(after === null ? {} : { after }),
      })
      for (const { key } of page.items) yield `flr_${key[0].slice(2)}`
      after = page.next
    } while (after !== null)
  }
}

/** Steps until it has ended or waits. Never throws. @returns true when anything came of it */
async function goOn(world: World, id: string): Promise<boolean> {
  let moved = false
  for (let went: Went = 'on'; went === 'on' && !runner(world).stopped; ) {
    went = await stepOrSetAside(world, id, () => runner(world).stopped).catch(() => 'nowhere' as const)
    if (went !== 'nowhere') moved = true
  }
  return moved
}

/**
 * One step of a run that an alarm names.
 *
 * @returns what came of it: `on` asks for the next
 * @throws  Unavailable when the store is away: it stays due
 */
export async function stepOrSetAside(world: World, id: string, stopped?: () => boolean): Promise<Went> {
  try {
    return await (await steps()).stepFlowRun(world, id, stopped)
  } catch (error) {
    if (error instanceof Unavailable) {
      const said = error instanceof Contended ? 'is written by many at once' : 'could not be stepped'
      world.log('warn', `flow run ${said}; the next look goes on`, { flowRun: id, ...faultOf(error) })
      throw error
    }
    world.log('error', 'flow run set aside', { flowRun: id, ...faultOf(error) })
    world.meter.count('set_aside', 1)
    await setAside(world, id)
    return 'nowhere'
  }
}

/** Whoever is met again and again and never changes must not stop the clock. It stays stored and listed. */
async function setAside(world: World, id: string): Promise<void> {
  const stored = await read<FlowRun>(world, flowRunKey(id))
  if (stored === null) return
  const index = { flowRunsByAgent: [stored.item.agent, id] } as const
  const guards = [{ attr: 'id', is: 'present' }] as const
  await commit(world, [{ patch: stored.key, set: { quarantined: true }, guards, index }])
}
