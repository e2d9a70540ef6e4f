import { expect, it } from 'vitest'
import { drain } from '../../shared/engine/drain.ts'
import { runFlowsDue, stopFlows } from '../../shared/engine/flow-due.ts'
import { runFlow } from '../../shared/engine/flow-runs.ts'
import { endJob } from '../../shared/engine/job-claims.ts'
import { getTrace } from '../../shared/engine/traces.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { OutboundRequest, World } from '../../shared/ports/world.ts'
import { crashing } from './between.ts'
import { addFlowSchedule, flowRuns, latest, mixed, order, promote, takeJob, tools, worker } from './flowing.ts'
import { answered } from './outside.ts'
import { hour, inRoom, minute, type Room } from './room.ts'

/** How often each order went out. */
const bought = (room: Room): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { method, body } of room.outside.sent as OutboundRequest[])
    if (method === 'POST') counts[JSON.parse(body!).what] = (counts[JSON.parse(body!).what] ?? 0) + 1
  return counts
}

/** Whoever comes after a crash: another process, when all claims have run out. */
async function after(room: Room): Promise<void> {
  room.restart()
  await room.move(room.now() + 20 * minute)
  await room.settle()
}

/** The ends that a crash around the n-th commit led to, until a run needs no n-th commit. */
async function crashes(
  when: 'before' | 'after',
  prepare: (room: Room) => Promise<void>,
  act: (room: Room, world: World) => Promise<unknown>,
  check: (room: Room) => Promise<string>,
): Promise<string[]> {
  const ends: string[] = []
  for (let nth = 1; ; nth++) {
    const end = await inRoom(async (room) => {
      await prepare(room)
      const dying = crashing(room, nth, when)
      await act(room, dying.world).catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error
      })
      if (!dying.crashed()) return null
      await after(room)
      return await check(room)
    })
    if (end === null) return ends
    ends.push(end)
  }
}

async function whole(room: Room): Promise<string> {
  const run = await latest(room)
  const { calls } = await getTrace(room.call(), run.trace!)
  const counts = bought(room)
  for (const count of Object.values(counts)) expect(count, 'an order goes out once').toBe(1)
  if (run.status === 'ok') expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 'ok'))
  return run.status === 'ok' ? `ok ${Object.keys(counts).length}` : `${run.status} at ${run.step + 1}`
}

it('a process that is told to end lets go what it cuts off: it is called again where it only reads, and is unknown otherwise', async () => {
  for (const [cut, end] of [
    [1, ['ok', null]],
    [2, ['unknown', 'outcome_unknown']],
  ] as const)
    await inRoom(async (room) => {
      await tools(room)
      await promote(room, order)
      await runFlow(room.call(), room.agent, 'shopping')
      await room.table.catchUp()
      const { world } = room
      room.outside.answer = (_, nth) => {
        if (nth !== cut) return answered(200)
        void stopFlows(world)
        return { ok: false, reason: 'unreachable', error: 'cut off', retry: true }
      }
      await runFlowsDue(world, room.now())
      expect((await latest(room)).phase).toBe('calling')
      await after(room)
      const { status, reason } = await latest(room)
      expect([status, reason]).toEqual(end)
    })
})

const inCloud = async (room: Room, world: World) => await runFlowsDue(world, room.now())

for (const when of ['before', 'after'] as const)
  it(`a process that dies ${when} a commit: no run is lost, nothing that changes something is done twice, and what is not known is said`, async () => {
    const ends = await crashes(
      when,
      async (room) => {
        await tools(room)
        await promote(room, order)
        await runFlow(room.call(), room.agent, 'shopping')
        await room.table.catchUp()
      },
      inCloud,
      whole,
    )
    // Eight commits: before and after each of three steps, the trace, the end. Only a call that nobody knows the outcome of stops it.
    expect(ends).toEqual(
      when === 'before'
        ? ['ok 2', 'ok 2', 'ok 2', 'unknown at 2', 'ok 2', 'unknown at 3', 'ok 2', 'ok 2']
        : ['ok 2', 'ok 2', 'unknown at 2', 'ok 2', 'unknown at 3', 'ok 2', 'ok 2', 'ok 2'],
    )
  })

for (const when of ['before', 'after'] as const)
  it(`the same with a step of the host, whose job is handed over once: ${when} a commit`, async () => {
    const ends = await crashes(
      when,
      async (room) => {
        await tools(room)
        await promote(room, mixed)
        await worker(room, true)
        await runFlow(room.call(), room.agent, 'shopping')
        await room.table.catchUp()
      },
      async (room, world) => {
        await runFlowsDue(world, room.now())
        const { job } = (await takeJob(room)) ?? {}
        if (job === undefined) return
        await endJob(room.call({ world }), job.id, { exit: 0, output: '1' })
        await room.table.catchUp()
        await runFlowsDue(world, room.now())
      },
      async (room) => {
        const run = await latest(room)
        // It was taken by nobody in the rest of these rooms, or its worker died with the process.
        if (run.reason === 'not_taken') return `not taken at ${run.step + 1}`
        return await whole(room)
      },
    )
    expect(ends).toHaveLength(9)
    expect(new Set(ends)).toEqual(new Set(['ok 1', 'not taken at 2', 'unknown at 2', 'unknown at 3']))
  })

for (const when of ['before', 'after'] as const)
  it(`a scheduled run that dies ${when} a commit leaves its schedule free for the next, each with one result`, async () => {
    await crashes(
      when,
      async (room) => {
        await tools(room)
        await promote(room, order)
        await addFlowSchedule(room, { overlap: 'buffer' })
        room.jump(room.now() + hour)
        await room.table.catchUp()
      },
      async (room, world) => {
        await drain(world, room.now())
        await room.table.catchUp()
        await drain(world, room.now())
      },
      async (room) => {
        await room.move(room.now() + hour)
        const runs = await flowRuns(room)
        expect(runs.every(({ status }) => status !== 'running')).toBe(true)
        expect(runs.length).toBeGreaterThanOrEqual(2)
        expect(runs[0]!.status).toBe('ok')
        expect(room.errors).toEqual([])
        return 'free'
      },
    )
  })
