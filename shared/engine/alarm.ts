import type { AlarmKey, World } from '../ports/world.ts'
import { deliverNamed } from './deliver-due.ts'
import { headOrSetAside, quarantine } from './drain.ts'
import { runJobsNamed } from './job-run.ts'
import { lapse, tick } from './lapse.ts'
import { look } from './look.ts'
import { lookAtNamedMonitors } from './monitor-due.ts'

/**
 * What an alarm means: look at what it names. Leases first, so that a slot does not meet a turn that is dead; what is sent out last, since
 * its receivers may take their time.
 *
 * Early, late, delivered twice or for something that is gone: all of it goes down the same path, and does no harm.
 *
 * @throws Unavailable when the store is away: the alarm has to come again
 */
export async function onAlarms(world: World, keys: readonly AlarmKey[], now: number): Promise<void> {
  const named = (kind: AlarmKey['kind']) => [...new Set(keys.flatMap((key) => (key.kind === kind ? [key.id] : [])))]
  await Promise.all(named('turn').map((conv) => headOrSetAside(world, conv, now, lapse)))
  await quarantine(world, await look(world, named('schedule'), now))
  await Promise.all([
    lookAtNamedMonitors(world, named('monitor'), now),
    runJobsNamed(world, named('job')),
    deliverNamed(world, named('delivery')),
    // What wakes by itself goes last.
    Promise.all(named('turn').map((conv) => headOrSetAside(world, conv, now, tick))),
  ])
}
