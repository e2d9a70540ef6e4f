import { configFromEnv } from '../shared/adapters/aws/config.ts'
import { openWorld } from '../shared/adapters/aws/world.ts'
import type { World } from '../shared/ports/world.ts'
import { log, meter, patience } from './sight.ts'

let world: World | null = null

/**
 * The world that the function's environment names. Made once per container, so that connections and what the adapters remember
 * outlive one call.
 *
 * @throws Error naming the variable that is missing: a fault of the deployment
 */
export function worldFromEnv(): World {
  world ??= openWorld(configFromEnv(process.env), log, meter, patience)
  return world
}
