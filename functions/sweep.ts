import { drain } from '../shared/engine/drain.ts'
import { observed } from './sight.ts'
import { worldFromEnv } from './world.ts'

/** A try to send that is begun by then ends well before the function has to. */
const deliverMsMax = 20_000

/** Every minute: finds what no alarm brought. What one sweep does not finish is still due for the next. */
export const handler = observed(async (_event: object): Promise<{ readonly looked: number }> => {
  const world = worldFromEnv()
  return { looked: await drain(world, world.clock.now(), deliverMsMax) }
})
