import type { World } from '../ports/world.ts'
import { deliverDue, stopDeliveries } from './deliver-due.ts'
import { runFlowsDue, stopFlows } from './flow-due.ts'
import { runJobsDue, stopJobs } from './job-run.ts'
import { lookAtTools, stopToolLooks } from './monitor-tools.ts'

/**
 * What is due and waits for somebody outside: it goes apart, so that a slow one holds up no wake.
 *
 * @param beginMsMax  real time within which it is begun; what is left is for the next look
 * @returns           how much there was
 */
export async function doApart(world: World, now: number, beginMsMax = Number.POSITIVE_INFINITY): Promise<number> {
  const done = await Promise.all([
    runJobsDue(world, now),
    deliverDue(world, now, beginMsMax),
    flowsDue(world, now, beginMsMax),
    lookAtTools(world, now, beginMsMax),
  ])
  return done.reduce((sum, one) => sum + one, 0)
}

/** What flows came to is sent out, too: nobody may come to look for it. */
async function flowsDue(world: World, now: number, beginMsMax: number): Promise<number> {
  const moved = await runFlowsDue(world, now)
  return moved === 0 || world.flowsApart ? moved : moved + (await deliverDue(world, now, beginMsMax))
}

/** Begins nothing any more, and answers when what is under way is recorded. */
export async function stopApart(world: World): Promise<void> {
  await Promise.all([stopJobs(world), stopDeliveries(world), stopFlows(world), stopToolLooks(world)])
}
