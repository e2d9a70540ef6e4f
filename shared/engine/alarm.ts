import { later } from '../ports/later.ts'
import type { AlarmKey, World } from '../ports/world.ts'
import { lapse, tick } from './lapse.ts'
import { look } from './look.ts'
import { headOrSetAside, quarantine } from './set-aside.ts'

const deliveries = later(() => import('./deliver-due.ts'))
const jobs = later(() => import('./job-run.ts'))
const monitors = later(() => import('./monitor-due.ts'))

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
  await quarantine(world, await look(world, named('schedule'), now, 'alarm'))
  const [seen, run, sent] = [named('monitor'), named('job'), named('delivery')]
  await Promise.all([
    seen.length > 0 && monitors().then((by) => by.lookAtNamedMonitors(world, seen, now)),
    run.length > 0 && jobs().then((by) => by.runJobsNamed(world, run)),
    sent.length > 0 && deliveries().then((by) => by.deliverNamed(world, sent)),
    // What wakes by itself goes last.
    Promise.all(named('turn').map((conv) => headOrSetAside(world, conv, now, tick))),
  ])
}
