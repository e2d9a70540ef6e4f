import { Counts } from '../../shared/adapters/counts.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openTable, type SqliteTable } from '../../shared/adapters/sqlite/table.ts'
import type { Caller } from '../../shared/domain/access.ts'
import { timePart } from '../../shared/domain/ids.ts'
import { createAgent, personOps } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { drain, nextDue } from '../../shared/engine/drain.ts'
import type { Loaded } from '../../shared/engine/load.ts'
import { createSchedule, type ScheduleInput } from '../../shared/engine/schedules.ts'
import { createSession, type SessionInput } from '../../shared/engine/sessions.ts'
import type { Agent } from '../../shared/engine/store.ts'
import { type Claimed, claimAgent, claimSession, type EndInput, endTurn } from '../../shared/engine/turns.ts'
import type { Table } from '../../shared/ports/table.ts'
import type { Envelope, Ids, World } from '../../shared/ports/world.ts'
import { type Outside, openOutside, openSecrets } from './outside.ts'

export const start = Date.parse('2026-03-01T00:00:00Z')
export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute

export interface Ring {
  readonly queue: string
  readonly envelope: Envelope
}

/** A world over the real SQLite adapter, with a clock that is moved by hand, a person, her agent and its main session. */
export interface Room {
  readonly world: World
  readonly table: SqliteTable
  readonly rings: Ring[]
  readonly errors: string[]
  /** Everything that is logged, whatever its level. */
  readonly said: string[]
  /** What the meter has counted, as the embedded node shows it. */
  readonly counts: Counts
  readonly outside: Outside
  readonly ann: Caller
  readonly agent: string
  readonly session: string
  now(): number
  /** The clock jumps and nothing is looked at, as if Rouse had been down. */
  jump(to: number): void
  /** What is due now, with indexes that are up to date. */
  settle(): Promise<void>
  /** Stops at every due instant up to `to`, in order. */
  move(to: number): Promise<void>
  call(over?: Partial<Call>): Call
  /** A new process on the same store: what the engine remembers of immutable items is gone. */
  restart(): void
  /** The same world, with this table in front of it. */
  through(wrap: (inner: Table) => Table): World
  close(): Promise<void>
}

export async function openRoom(ids: Ids = openIds()): Promise<Room> {
  let at = start
  const clock = { now: () => at }
  const table = openTable({ file: ':memory:', lagIndexes: true, clock })
  const bell = openBell()
  const rings: Ring[] = []
  bell.onRing((queue, envelope) => rings.push({ queue, envelope }))
  const errors: string[] = []
  const said: string[] = []
  const { outside, outbound } = openOutside()
  const counts = new Counts()
  let world: World = {
    table,
    bell,
    ears: bell,
    // Nothing is ever brought by an alarm here: everything that is found is found by looking.
    alarms: { set: async () => {} },
    secrets: openSecrets(),
    outbound,
    clock,
    ids,
    log: (level, what, ids) => {
      said.push(`${level} ${what} ${JSON.stringify(ids ?? {})}`)
      if (level === 'error') errors.push(what)
    },
    meter: counts,
    shards: 1,
    streamed: false,
    flowsApart: false,
    proactive: true,
  }
  const personId = `per_${ids.ulid(at)}`
  const ann: Caller = { kind: 'person', key: 'key_ann', person: personId, admin: true }
  await addPerson(world, personId)
  const call = (over: Partial<Call> = {}): Call => ({
    world,
    caller: ann,
    now: at,
    session: null,
    turn: null,
    newId: (prefix) => `${prefix}_${ids.ulid(at)}`,
    repeatable: false,
    ...over,
  })
  const agent = await createAgent(call(), { name: 'assistant' })
  const session = (await createSession(call(), { agent: agent.id, title: 'Main' })).row.id
  return {
    get world() {
      return world
    },
    table,
    rings,
    errors,
    said,
    counts,
    outside,
    ann,
    agent: agent.id,
    session,
    now: () => at,
    jump: (to) => {
      at = Math.max(at, to)
    },
    async settle() {
      await table.catchUp()
      await drain(world, at)
    },
    async move(to) {
      for (let steps = 0; steps < 5000; steps++) {
        await table.catchUp()
        const due = await nextDue(world)
        if (due === null || due > to) break
        at = Math.max(at, due)
        await drain(world, at)
      }
      at = Math.max(at, to)
    },
    call,
    restart() {
      world = { ...world }
    },
    through: (wrap) => ({ ...world, table: wrap(table) }),
    async close() {
      bell.closeAll()
      await table.close()
    },
  }
}

export async function addPerson(world: World, id: string): Promise<void> {
  const person = { id, name: id, tz: 'UTC', admin: false, createdAt: start }
  await world.table.commit(personOps(person, `key_${world.ids.ulid(start)}`, `sha-${id}`), `person:${id}`)
}

export async function newPerson(room: Room): Promise<Caller> {
  const person = `per_${room.world.ids.ulid(room.now())}`
  await addPerson(room.world, person)
  return { kind: 'person', key: `key_${person}`, person, admin: false }
}

export const keyOf = (agent: Agent): Caller => ({
  kind: 'agent',
  key: 'key_agent',
  agent: agent.id,
  owner: agent.owner,
})

export const addSchedule = async (room: Room, input: Partial<ScheduleInput> = {}): Promise<Loaded> =>
  await createSchedule(room.call(), {
    name: 'Review',
    prompt: 'Look.',
    ...(input.agent === undefined ? { session: room.session } : {}),
    ...((input.cron ?? input.rrule ?? input.at ?? input.every) ? {} : { every: '1h' }),
    ...input,
  })

export const addSession = async (room: Room, input: Partial<SessionInput> = {}): Promise<string> =>
  (await createSession(room.call(), { agent: room.agent, main: false, ...input })).row.id

export const claim = async (room: Room, session = room.session, steer = false): Promise<Claimed | null> =>
  await claimSession(room.call(), session, { steer })

export const claimFresh = async (room: Room): Promise<Claimed | null> => {
  await room.table.catchUp()
  return await claimAgent(room.call(), room.agent, {})
}

export const end = async (room: Room, claimed: Claimed | null, over: Partial<EndInput> = {}): Promise<string | null> =>
  await endTurn(room.call(), claimed!.turn!.id, {
    outcome: 'ok',
    answer: null,
    summary: null,
    tokens: null,
    usd: null,
    toolCalls: [],
    sleep: null,
    ...over,
  })

/** Ids that are the same at every run, so that a failure can be run again: jitter is a hash of them. */
export function countedIds(): Ids {
  let count = 0
  const next = (): string => timePart(++count)
  return {
    ulid: (at) => `${timePart(at)}000000${next()}`,
    secret: () => `secret-${next()}`,
    token: () => `token-${next()}`,
  }
}

/** Runs `scenario` in a room of its own. */
export async function inRoom<T>(scenario: (room: Room) => Promise<T>, ids?: Ids): Promise<T> {
  const room = await openRoom(ids)
  try {
    return await scenario(room)
  } finally {
    room.close()
  }
}

/** The code of the refusal that a call ends in, 'done' when it does not. Anything else than a refusal is thrown on. */
export async function refusalOf(act: Promise<unknown>): Promise<string> {
  try {
    await act
    return 'done'
  } catch (error) {
    const { code, name } = error as { code?: string; name: string }
    if (name === 'Refused' && code !== undefined) return code
    throw error
  }
}
