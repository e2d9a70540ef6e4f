import { configFromEnv } from '../shared/adapters/aws/config.ts'
import { openWorld } from '../shared/adapters/aws/world.ts'
import type { Log, World } from '../shared/ports/world.ts'

let world: World | null = null

/**
 * The world that the function's environment names. Made once per container, so that connections and what the adapters remember
 * outlive one call.
 *
 * @throws Error naming the variable that is missing: a fault of the deployment
 */
export function worldFromEnv(): World {
  world ??= openWorld(configFromEnv(process.env), log)
  return world
}

/** One object a line: Lambda's JSON log format puts the request's id and the time beside it. */
const log: Log = (level, what, ids = {}) => console[level]({ what, ...ids })
