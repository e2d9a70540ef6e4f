import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkCounts, checkSchedule, checkSession, cursorOf, rowsOf } from './ledger.ts'
import { addSession, countedIds, inRoom } from './room.ts'
import { type Step, Walker, walk } from './walk.ts'

/** Stays the same, so that a run fails for what was changed; WALK_SEED and WALK_RUNS look further. */
const seed = Number(process.env.WALK_SEED ?? 20_260_301)
const numRuns = Number(process.env.WALK_RUNS ?? 60)

async function holds(steps: readonly Step[]): Promise<void> {
  await inRoom(async (room) => {
    const walker = new Walker(room, await addSession(room))
    for (const step of steps) await walker.take(step)
    for (let sweep = 0; sweep < 2; sweep++) await room.settle()
    for (const [id, passed] of walker.passed) {
      await checkSchedule(room, id, passed)
      await checkCounts(room, id)
      const cursor = await cursorOf(room, id)
      const fired = (await rowsOf(room, id)).filter((r) => r.outcome === 'fired')
      expect(cursor.fires).toBeLessThanOrEqual(
        fired.filter((r) => r.trigger === 'slot' || r.trigger === 'catch_up').length,
      )
    }
    for (const session of walker.everySession) await checkSession(room, session)
    expect(room.errors).toEqual([])
  }, countedIds())
}

it('whatever people, workers and the clock do, each nominal time has one row, and each message one fate', async () => {
  await fc.assert(fc.asyncProperty(walk, holds), { seed, numRuns })
}, 120_000)
