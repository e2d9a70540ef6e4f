import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../shared/domain/access.ts'
import { createAgent, deleteAgent, editAgent, editSettings } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { createKey } from '../../shared/engine/keys.ts'
import { listMessages } from '../../shared/engine/message-list.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { backfill, listRuns, runNow, why } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule, resumeSchedule } from '../../shared/engine/schedule-edit.ts'
import { listSchedules } from '../../shared/engine/schedule-list.ts'
import { createSchedule, removeSchedule } from '../../shared/engine/schedules.ts'
import {
  archiveSession,
  compactSession,
  editSession,
  forkSession,
  listSessions,
  viewSession,
} from '../../shared/engine/sessions.ts'
import type { Agent } from '../../shared/engine/store.ts'
import { claimAgent, claimSession, endTurn } from '../../shared/engine/turns.ts'
import { cursorOf } from './ledger.ts'
import {
  addSchedule,
  addSession,
  claim,
  end,
  hour,
  keyOf,
  minute,
  newPerson,
  openRoom,
  type Room,
  refusalOf,
  start,
} from './room.ts'

let room: Room
let eve: Caller
beforeEach(async () => {
  room = await openRoom()
  eve = await newPerson(room)
})
afterEach(() => room.close())

const by = (caller: Caller, over: Partial<Call> = {}): Call => room.call({ caller, ...over })
const agentOf = async (name: string, caller: Caller = room.ann): Promise<Agent> =>
  await createAgent(by(caller), { name })
const everything = { agent: null, session: null, createdIn: null, status: null }
const page = { limit: 100, before: null }

/** An agent of Ann's that runs a turn in a session of its own. */
async function actingAgent(hops = 0): Promise<{ call: Call; session: string; agent: Agent }> {
  await editSettings(room.call(), { agentSessions: true })
  const agent = await agentOf(`actor ${hops}`)
  const session = await addSession(room, { agent: agent.id })
  let from: Call | null = null
  if (hops > 0) from = (await actingAgent(hops - 1)).call
  await sendMessage(from ?? room.call(), session, 'go')
  const claimed = await claim(room, session)
  return { call: by(keyOf(agent), { session, turn: claimed!.turn!.id }), session, agent }
}

describe('what a stranger is told', () => {
  it('S2-54 is the same as of what does not exist, whatever the call', async () => {
    const id = (await addSchedule(room)).cursor.item.id
    await room.move(start + hour)
    const turn = (await claim(room))!.turn!.id
    const admin: Caller = { ...eve, admin: true } as Caller
    for (const caller of [eve, admin, keyOf(await agentOf('hers', eve))]) {
      const call = by(caller)
      const calls: (() => Promise<unknown>)[] = [
        () => viewSession(call, room.session),
        () => listMessages(call, room.session, { limit: 1, after: null }),
        () => claimSession(call, room.session, {}),
        () => claimAgent(call, room.agent, {}),
        () => archiveSession(call, room.session),
        () => compactSession(call, room.session),
        () => forkSession(call, room.session),
        () => editSession(call, room.session, { title: 'mine' }),
        () => listRuns(call, id, { limit: 1, before: null }),
        () => why(call, id),
        () => pauseSchedule(call, id, null),
        () => resumeSchedule(call, id),
        () => removeSchedule(call, id),
        () => runNow(call, id),
        () => editSchedule(call, id, { name: 'mine' }, null),
        () => backfill(call, id, { from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }),
        () =>
          endTurn(call, turn, {
            outcome: 'ok',
            answer: null,
            summary: null,
            tokens: null,
            usd: null,
            toolCalls: [],
            sleep: null,
          }),
        () => deleteAgent(call, room.agent),
        () => editAgent(call, room.agent, { team: true }),
      ]
      for (const act of calls) expect(await refusalOf(act()), act.toString()).toBe('not_found')
      await room.table.catchUp()
      expect((await listSchedules(call, everything, page)).items).toEqual([])
      expect((await listSessions(call, null, page)).items).toEqual([])
    }
  })

  it('S2-55 a schedule for an agent one cannot talk to is refused alike, whether it exists or not', async () => {
    const nobody = `agt_${room.world.ids.ulid(start)}`
    const codes: string[] = []
    for (const agent of [room.agent, nobody])
      codes.push(await refusalOf(createSchedule(by(eve), { name: 'A', prompt: 'B', every: '1h', agent })))
    expect(codes).toEqual(['schedule_agent_not_allowed', 'schedule_agent_not_allowed'])
  })
})

describe('people an agent is shared with', () => {
  it('S2-52 use its schedules, and are not its owner', async () => {
    const id = (await addSchedule(room)).cursor.item.id
    const { person } = eve as Extract<Caller, { kind: 'person' }>
    await editAgent(room.call(), room.agent, { sharedWith: [person] })
    await editSchedule(by(eve), id, { prompt: 'Together.' }, null)
    await pauseSchedule(by(eve), id, null)
    await resumeSchedule(by(eve), id)
    expect(await refusalOf(editAgent(by(eve), room.agent, { team: true }))).not.toBe('done')
    const secret = () => ({ key: 'k', sha256: 's', prefix: 'k' })
    expect(await refusalOf(createKey(by(eve), { agent: room.agent }, secret))).not.toBe('done')
    expect(await refusalOf(deleteAgent(by(eve), room.agent))).not.toBe('done')
  })
})

describe("an agent's key", () => {
  it('S0-7 creates, edits, runs and resumes nothing while the setting is off', async () => {
    const { call, session } = await actingAgent()
    const id = (await addSchedule(room, { session })).cursor.item.id
    await pauseSchedule(room.call(), id, null)
    await editSettings(room.call(), { agentSessions: false })
    const input = { name: 'A', prompt: 'B', every: '1h' }
    expect(await refusalOf(createSchedule(call, input))).toBe('agent_sessions_off')
    expect(await refusalOf(editSchedule(call, id, { prompt: 'Mine.' }, null))).toBe('agent_sessions_off')
    expect(await refusalOf(runNow(call, id))).toBe('agent_sessions_off')
    expect(await refusalOf(resumeSchedule(call, id))).toBe('agent_sessions_off')
    expect(await refusalOf(forkSession(call, session))).toBe('agent_sessions_off')
    expect(await refusalOf(sendMessage(call, session, 'hello'))).toBe('agent_sessions_off')
  })

  it('S0-7 with the setting turned off its schedules do not fire, and go on when it is on again', async () => {
    const { call, session } = await actingAgent()
    const made = await createSchedule(call, { name: 'A', prompt: 'B', every: '1h' })
    await end(room, { turn: { id: call.turn! } } as never)
    await editSettings(room.call(), { agentSessions: false })
    await room.move(start + hour)
    expect(await claim(room, session)).toBeNull()
    await editSettings(room.call(), { agentSessions: true })
    await room.move(start + 2 * hour)
    expect((await claim(room, session))?.message.origin).toMatchObject({ schedule: made.cursor.item.id })
  })

  it('S0-56 what it made ends when the conversation that made it is archived', async () => {
    const { call, session } = await actingAgent()
    const other = await addSession(room)
    const { cursor } = await createSchedule(call, { name: 'A', prompt: 'B', every: '1h', session: other })
    await archiveSession(room.call(), session)
    expect(await cursorOf(room, cursor.item.id)).toMatchObject({ status: 'ended', reason: 'creator_archived' })
  })

  it('S0-61 moves no 21st schedule to another session by an edit', async () => {
    const { call } = await actingAgent()
    const others: string[] = []
    for (let i = 0; i < 3; i++) others.push(await addSession(room))
    const input = { name: 'A', prompt: 'B', every: '1h' }
    for (let i = 0; i < 20; i++) await createSchedule(call, { ...input, session: others[i % 2] })
    const own = await createSchedule(call, input)
    expect(await refusalOf(createSchedule(call, { ...input, session: others[2] }))).toBe('schedule_limit')
    expect(await refusalOf(editSchedule(call, own.cursor.item.id, { session: others[2] }, null))).toBe('schedule_limit')
  })

  it('S0-44 its schedules keep the hops of its turn, one more toward another session', async () => {
    const { call } = await actingAgent(1)
    const other = await addSession(room)
    const own = await createSchedule(call, { name: 'A', prompt: 'B', every: '1h' })
    const away = await createSchedule(call, { name: 'A', prompt: 'B', every: '1h', session: other })
    expect([own.definition.reach.hops, away.definition.reach.hops]).toEqual([1, 2])
  })

  it('S0-45 rewriting a schedule reaches no further than making one', async () => {
    const { call, session } = await actingAgent(2)
    const id = (await addSchedule(room, { session })).cursor.item.id
    const other = await addSession(room)
    expect(await refusalOf(editSchedule(call, id, { session: other }, null))).toBe('hop_limit')
    const edited = await editSchedule(call, id, { prompt: 'Pass it on.' }, null)
    expect(edited.definition.reach.hops).toBe(2)
  })

  it('is fenced by a turn that runs no more', async () => {
    const { call } = await actingAgent()
    room.jump(room.now() + 10 * minute)
    const late = { ...call, now: room.now() }
    const input = { name: 'A', prompt: 'B', every: '1h' }
    expect(await refusalOf(createSchedule(late, input))).toBe('turn_not_running')
  })

  it('sees only sessions of its own agent', async () => {
    const { call, session } = await actingAgent()
    expect(await refusalOf(viewSession(call, session))).toBe('done')
    expect(await refusalOf(viewSession(call, room.session))).toBe('not_found')
  })
})

describe('a call that is repeated under its key', () => {
  it('S0-6 sends one message, however late it is repeated', async () => {
    const ids = [`msg_${room.world.ids.ulid(start)}`]
    const call = (): Call => room.call({ repeatable: true, newId: () => ids[0]! })
    await sendMessage(call(), room.session, 'hello')
    room.jump(start + 90_000)
    await sendMessage(call(), room.session, 'hello')
    await end(room, await claim(room))
    await sendMessage(call(), room.session, 'hello')
    expect(await claim(room)).toBeNull()
    expect((await listMessages(room.call(), room.session, { limit: 10, after: null })).items).toHaveLength(1)
  })

  it('S2-64 runs once', async () => {
    const id = (await addSchedule(room)).cursor.item.id
    const name = `run_${room.world.ids.ulid(start)}`
    const call = (): Call => room.call({ repeatable: true, newId: () => name })
    const first = await runNow(call(), id)
    await end(room, await claim(room))
    room.jump(start + 90_000)
    expect((await runNow(call(), id)).id).toBe(first.id)
    expect(await claim(room)).toBeNull()
  })
})
