import { type Operation, ok, operation } from '../../shared/api/operation.ts'
import * as schemas from '../../shared/api/schemas.ts'
import { bodyFault, durationMs, instantOf } from '../../shared/domain/define.ts'
import { Refused } from '../../shared/domain/refused.ts'
import { drain, nextDue } from '../../shared/engine/drain.ts'
import { assertPerson } from '../../shared/engine/reach.ts'
import type { Clock, World } from '../../shared/ports/world.ts'
import { formatInstant } from '../../shared/time/index.ts'

/** A clock that stands still until it is moved: for trying out what a schedule does, and for tests over HTTP. */
export interface FixedClock extends Clock {
  set(at: number): void
}

export function fixedClock(at: number): FixedClock {
  let current = at
  return {
    now: () => current,
    set: (to) => {
      current = to
    },
  }
}

const moveMsMax = 100 * 366 * 86_400_000
/** A node that is due again and again at one instant would never let the clock go on. */
const stepsMax = 1_000_000

/** `GET` and `POST /v1/clock`, only where the clock stands still. */
export function clockOperations(world: World, clock: FixedClock): readonly Operation[] {
  // One move at a time: two that interleave would pass each other's instants.
  let moving: Promise<unknown> = Promise.resolve()
  const tag = 'Clock'
  const now = () => ok({ now: formatInstant(clock.now()) })
  return [
    operation({
      name: 'getClock',
      method: 'get',
      path: '/v1/clock',
      summary: 'Read the clock',
      tag,
      run: async () => now(),
    }),
    operation({
      name: 'moveClock',
      method: 'post',
      audited: false,
      path: '/v1/clock',
      summary: 'Move the clock; it stops at every due instant in order',
      tag,
      body: schemas.clockMove,
      run: async (call, { body }) => {
        assertPerson(call, 'move the clock')
        const move = moving.then(async () => {
          const to = target(body, clock.now())
          if (to < clock.now())
            throw new Refused(
              'clock_backward',
              `the clock is at ${formatInstant(clock.now())} and moves forward only, not to ${formatInstant(to)}`,
            )
          if (body.down === true) clock.set(to)
          await run(world, clock, to)
          return now()
        })
        moving = move.catch(() => {})
        return await move
      },
    }),
  ]
}

function target(body: { to?: string | undefined; by?: string | number | undefined }, now: number): number {
  if ((body.to === undefined) === (body.by === undefined))
    throw bodyFault('to', 'expected either "to" (an instant) or "by" (a duration)')
  return body.to === undefined ? now + durationMs(body.by!, 'by', moveMsMax) : instantOf(body.to, 'to')
}

/** Stops at every due instant up to `to`, in order, and does what is due there. */
async function run(world: World, clock: FixedClock, to: number): Promise<void> {
  for (let steps = 0; steps < stepsMax; steps++) {
    const due = await nextDue(world)
    if (due === null || due > to) break
    clock.set(Math.max(due, clock.now()))
    await drain(world, clock.now())
  }
  clock.set(to)
}
