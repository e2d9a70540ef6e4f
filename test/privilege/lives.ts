import type { Cloud } from './cloud.ts'
import { callsOfPeople } from './lives-people.ts'
import { rare, spoilt } from './lives-rare.ts'
import { schedules } from './lives-schedules.ts'
import { flows, tools } from './lives-tools.ts'
import { triggersAndMonitors } from './lives-watching.ts'
import { worker } from './lives-worker.ts'

/** What is done with Rouse: each with whoever finds what is due. */
export const lives: Readonly<Record<string, (cloud: Cloud) => Promise<void>>> = {
  'people and what is theirs': callsOfPeople,
  'schedules fire, are held, end and send on': schedules,
  'monitors and triggers': triggersAndMonitors,
  'tools are called and watched': tools,
  'flows are found, replayed and run': flows,
  'a worker listens and answers': worker,
  'what happens seldom': rare,
  'what is stored is spoilt': spoilt,
}
