import type { World } from '../ports/world.ts'
import { heldBy } from './held.ts'
import { look } from './look.ts'

/**
 * Lets go what a conversation's schedules hold, in the order of their slots, until the count is full again: a person has written in
 * it, or allowed its card. Done before that call answers (decision 20).
 */
export async function releaseHeld(world: World, conv: string, now: number): Promise<void> {
  for (const { id } of await heldBy(world, conv)) await look(world, [id], now)
}
