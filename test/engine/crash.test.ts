import { describe, expect, it } from 'vitest'
import { deleteAgent } from '../../shared/engine/agents.ts'
import { drain } from '../../shared/engine/drain.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { backfill, runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule } from '../../shared/engine/schedule-edit.ts'
import { createSchedule, removeSchedule } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession, deleteSession } from '../../shared/engine/sessions.ts'
import { claimSession, endTurn } from '../../shared/engine/turns.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { World } from '../../shared/ports/world.ts'
import { crashing } from './between.ts'
import { checkSchedule, checkSession } from './ledger.ts'
import { addSchedule, addSession, claim, claimFresh, hour, inRoom, minute, type Room, start } from './room.ts'

/** What is prepared, then the call that dies, then who has to be whole again. */
interface Scenario {
  readonly prepare: (room: Room) => Promise<Prepared>
  readonly act: (room: Room, world: World, prepared: Prepared) => Promise<unknown>
}
interface Prepared {
  readonly schedules: string[]
  readonly turn?: string
}

const into = async (room: Room, input = {}): Promise<string> => (await addSchedule(room, input)).cursor.item.id
const iso = (at: number): string => new Date(at).toISOString()

/** A waiting prompt, a paused and a finished schedule, a person's message, and a fresh session that waits. */
const full = async (room: Room): Promise<Prepared> => {
  const schedules = [
    await into(room),
    await into(room),
    await into(room, { at: '2026-03-01T01:00' }),
    await into(room, { agent: room.agent }),
    await into(room, { every: '1h', jitter: '59m' }),
  ]
  await pauseSchedule(room.call(), schedules[1]!, null)
  await sendMessage(room.call(), room.session, 'hello')
  await room.move(start + hour + minute)
  return { schedules }
}

const running = async (room: Room, input = {}): Promise<Prepared> => {
  const schedules = [await into(room, input)]
  await room.move(start + hour)
  const claimed = 'agent' in input ? await claimFresh(room) : await claim(room)
  return { schedules, turn: claimed!.turn!.id }
}

const done = {
  outcome: 'ok',
  answer: 'done',
  summary: 'done',
  tokens: 1,
  usd: null,
  toolCalls: [],
  sleep: null,
} as const

const scenarios: Record<string, Scenario> = {
  'a create': {
    prepare: async () => ({ schedules: [] }),
    act: async (room, world, { schedules }) => {
      const id = `sch_${room.world.ids.ulid(start)}`
      const call = room.call({ world, newId: () => id })
      await createSchedule(call, { name: 'A', prompt: 'B', session: room.session, every: '1h' })
      schedules.push(id)
    },
  },
  'a fire': {
    prepare: async (room) => {
      const schedules = [await into(room), await into(room, { agent: room.agent })]
      room.jump(start + 3 * hour + minute)
      await room.table.catchUp()
      return { schedules }
    },
    act: async (room, world) => await drain(world, room.now()),
  },
  'a claim': { prepare: full, act: async (room, world) => await claimSession(room.call({ world }), room.session, {}) },
  'an end': {
    prepare: async (room) => await running(room),
    act: async (room, world, { turn }) => await endTurn(room.call({ world }), turn!, done),
  },
  'the end of a fresh session': {
    prepare: async (room) => await running(room, { agent: room.agent }),
    act: async (room, world, { turn }) => await endTurn(room.call({ world }), turn!, done),
  },
  'a lease that runs out, with a retry': {
    prepare: async (room) => {
      const prepared = await running(room, { onUnknown: 'retry' })
      room.jump(room.now() + 2 * minute)
      await room.table.catchUp()
      return prepared
    },
    act: async (room, world) => await drain(world, room.now()),
  },
  'an overlap that cancels': {
    prepare: async (room) => {
      const schedules = [await into(room, { every: '5m', overlap: 'cancel' })]
      await room.move(start + 5 * minute)
      await claimSession(room.call(), room.session, { leaseSeconds: 7200 })
      room.jump(start + 10 * minute)
      await room.table.catchUp()
      return { schedules }
    },
    act: async (room, world) => await drain(world, room.now()),
  },
  'an archive': { prepare: full, act: async (room, world) => await archiveSession(room.call({ world }), room.session) },
  'a delete of a session': {
    prepare: full,
    act: async (room, world) => await deleteSession(room.call({ world }), room.session),
  },
  'a delete of an agent': {
    prepare: full,
    act: async (room, world) => await deleteAgent(room.call({ world }), room.agent),
  },
  'a delete of a schedule': {
    prepare: full,
    act: async (room, world, { schedules }) => {
      for (const id of schedules) await removeSchedule(room.call({ world }), id)
    },
  },
  'an edit that moves': {
    prepare: full,
    act: async (room, world, { schedules }) => {
      await editSchedule(room.call({ world }), schedules[0]!, { agent: room.agent }, null)
      await editSchedule(room.call({ world }), schedules[3]!, { session: room.session }, null)
    },
  },
  'a pause': {
    prepare: full,
    act: async (room, world, { schedules }) => {
      for (const id of schedules) await pauseSchedule(room.call({ world }), id, null).catch(onlyRefused)
    },
  },
  'a run now': {
    prepare: full,
    act: async (room, world, { schedules }) => {
      for (const id of schedules) await runNow(room.call({ world }), id)
    },
  },
  'a backfill': {
    prepare: async (room) => {
      const schedules = [await into(room, { cron: '0 * * * *' })]
      await pauseSchedule(room.call(), schedules[0]!, null)
      room.jump(start + 4 * hour)
      return { schedules }
    },
    act: async (room, world, { schedules }) =>
      await backfill(room.call({ world }), schedules[0]!, { from: iso(start), to: iso(start + 4 * hour) }),
  },
  'a compaction': {
    prepare: full,
    act: async (room, world) => await compactSession(room.call({ world }), room.session),
  },
  'a send': { prepare: full, act: async (room, world) => await sendMessage(room.call({ world }), room.session, 'hey') },
}

const onlyRefused = (error: unknown): void => {
  if ((error as Error).name !== 'Refused') throw error
}

/** Runs the call so that it dies around its n-th commit. @returns false when it had fewer */
async function crashOnce(
  scenario: Scenario,
  o: { readonly nth: number; readonly when: 'before' | 'after'; readonly repeated: boolean },
): Promise<boolean> {
  return await inRoom(async (room) => {
    const prepared = await scenario.prepare(room)
    const dying = crashing(room, o.nth, o.when)
    await scenario.act(room, dying.world, prepared).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) onlyRefused(error)
    })
    if (!dying.crashed()) return false
    if (o.repeated) await scenario.act(room, room.world, prepared).catch(onlyRefused)
    // The sweep comes twice: what the first one finds may leave something for the second.
    for (let sweep = 0; sweep < 2; sweep++) await room.settle()
    for (const id of prepared.schedules) await checkSchedule(room, id)
    await checkSession(room, room.session)
    expect(room.errors).toEqual([])
    return true
  })
}

describe('whatever dies around a commit', () => {
  for (const [what, scenario] of Object.entries(scenarios))
    for (const when of ['before', 'after'] as const)
      for (const repeated of [true, false])
        it(`${what}, ${when} it is applied: ${repeated ? 'the call that is repeated' : 'the sweep'} leaves all whole`, async () => {
          let nth = 1
          while (await crashOnce(scenario, { nth, when, repeated })) nth++
          expect(nth, 'the call commits').toBeGreaterThan(1)
        })
})

describe('two sessions of one agent', () => {
  it('the archive of one that dies leaves the other alone', async () => {
    await inRoom(async (room) => {
      const other = await addSession(room)
      const id = await into(room, { session: other })
      const dying = crashing(room, 2, 'before')
      await archiveSession(room.call({ world: dying.world }), room.session).catch(() => {})
      await room.move(start + hour)
      expect((await claim(room, other))?.message.origin.schedule).toBe(id)
    })
  })
})
