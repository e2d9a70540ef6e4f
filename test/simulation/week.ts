import { openTable } from '../../shared/adapters/sqlite/table.ts'
import type { Caller } from '../../shared/domain/access.ts'
import { createAgent, editAgent, personOps } from '../../shared/engine/agents.ts'
import { onAlarms } from '../../shared/engine/alarm.ts'
import type { Call } from '../../shared/engine/call.ts'
import { drain } from '../../shared/engine/drain.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { createSchedule } from '../../shared/engine/schedules.ts'
import { compactSession, createSession, editSession, forkSession, setLeft } from '../../shared/engine/sessions.ts'
import { parkTicks, type TicksView, viewTicks } from '../../shared/engine/tick-calls.ts'
import { cancelTurn, claimSession, endTurn } from '../../shared/engine/turns.ts'
import { noMeter } from '../../shared/ports/meter.ts'
import type { AlarmKey, World } from '../../shared/ports/world.ts'
import { openOutside, openSecrets } from '../engine/outside.ts'
import { countedIds, hour, minute, second, start } from '../engine/room.ts'
import { Queue, type Random, random } from './chance.ts'
import { iso, Watch } from './watch.ts'

const zones = ['UTC', 'Europe/Amsterdam', 'America/Santiago', 'Asia/Kathmandu']
/** What agents have set: mostly nothing, some little, some odd. */
const settings: readonly object[] = [
  {},
  {},
  { tickSeconds: 60, idleTickLimit: 5 },
  { maxTicksPerDay: 6, maxWindowMinutes: 2880 },
  { maxTokensPerDay: 20_000, idleTickLimit: 9 },
  { maxWindowMinutes: 45 },
  { minSleepSeconds: 900, maxSleepSeconds: 7200, allowYolo: true },
  { enabled: false },
]
const sessionsPerAgent = 10
const sweepMs = 2 * minute

interface Seat {
  id: string
  readonly conv: string
  readonly agent: string
  readonly owner: Caller
  turn: string | null
  /** How often its person writes: the mean, in ms. */
  readonly gapMs: number
}

/** A week in which everybody does what they like, and the machine dies now and then. */
export class Week {
  readonly watch: Watch
  readonly seed: number
  readonly #chance: Random
  readonly #queue = new Queue<() => Promise<unknown>>()
  readonly #ids = countedIds()
  readonly #zones = new Map<string, string>()
  readonly #seats: Seat[] = []
  readonly #table: ReturnType<typeof openTable>
  readonly errors: string[] = []
  #world: World
  #now = start

  constructor(seed: number) {
    this.seed = seed
    this.#chance = random(seed)
    const clock = { now: () => this.#now }
    this.watch = new Watch(clock.now, (person) => this.#zones.get(person) ?? 'UTC')
    this.#table = openTable({ file: ':memory:', clock })
    this.#world = {
      table: this.watch.through(this.#table),
      bell: { ring: async (queue) => this.#rung(queue), close: async () => {}, grant: async () => null },
      ears: { listen: () => ({ rung: async () => false, close: () => {} }) },
      alarms: { set: async (key, at) => this.#alarmSet(key, at) },
      secrets: openSecrets(),
      outbound: openOutside().outbound,
      clock,
      ids: this.#ids,
      log: (level, what) => {
        if (level === 'error') this.errors.push(what)
      },
      meter: noMeter,
      shards: 1,
      proactive: true,
      streamed: false,
      flowsApart: false,
    }
  }

  get now(): number {
    return this.#now
  }

  async prepare(sessions: number): Promise<void> {
    for (const tz of zones) {
      const id = `per_${this.#ids.ulid(start)}`
      this.#zones.set(id, tz)
      const person = { id, name: id, tz, admin: false, createdAt: start }
      await this.#world.table.commit(personOps(person, `key_${this.#ids.ulid(start)}`, `sha-${id}`), id)
    }
    const owners: Caller[] = [...this.#zones.keys()].map((person) => ({
      kind: 'person',
      key: `key_${person}`,
      person,
      admin: false,
    }))
    for (let n = 0; this.#seats.length < sessions; n += 1) {
      const owner = owners[n % owners.length]!
      const proactive = settings[n % settings.length]!
      const agent = await createAgent(this.#call(owner), { name: `assistant-${n}`, proactive } as never)
      for (let m = 0; m < sessionsPerAgent && this.#seats.length < sessions; m += 1) {
        const permission = (['auto', 'auto', 'auto', 'auto', 'yolo', 'manual'] as const)[m % 6]!
        const main = m % 9 !== 8
        const { row, head } = await createSession(this.#call(owner), { agent: agent.id, permission, main })
        const gapMs = [5, 11, 30, 90][m % 4]! * hour
        const seat: Seat = { id: row.id, conv: head.conv, agent: agent.id, owner, turn: null, gapMs }
        this.#seats.push(seat)
        const every = [null, null, '47m', '5h', null][m % 5]
        if (every != null)
          await createSchedule(this.#call(owner), { name: 'Round', prompt: 'Look.', session: row.id, every })
        this.#live(seat)
      }
    }
    await this.#sweep()
  }

  /** Lets time pass up to `to`; what no alarm brought is found by the next sweep. */
  async run(to: number): Promise<void> {
    for (let at = this.#queue.first; at !== null && at <= to; at = this.#queue.first) {
      this.#now = Math.max(this.#now, at)
      await this.#act(this.#queue.take())
    }
    this.#now = to
  }

  async #sweep(): Promise<void> {
    this.#in(sweepMs, () => this.#sweep())
    await drain(this.#world, this.#now)
    this.watch.afterSweep()
  }

  /** Everything at rest for once: nobody dies, and what is due is done. Then each planner has to say how it stands. */
  async views(): Promise<
    readonly { readonly seat: { readonly id: string; readonly conv: string }; view: TicksView }[]
  > {
    this.watch.deaths.next = null
    await drain(this.#world, this.#now)
    this.watch.afterSweep()
    const found = []
    for (const seat of this.#seats) found.push({ seat, view: await viewTicks(this.#call(seat.owner), seat.id) })
    return found
  }

  async close(): Promise<void> {
    await this.#table.close()
  }

  /** One step of somebody; now and then the process dies in it, and another goes on. */
  async #act(step: () => Promise<unknown>): Promise<boolean> {
    const dies = this.#chance.one(60)
    if (dies) this.watch.deaths.next = { nth: this.#chance.upTo(2) + 1, when: this.#chance.one(2) ? 'before' : 'after' }
    try {
      await step()
      return true
    } catch (error) {
      const { name } = error as Error
      if (name === 'Refused') return true
      if (!dies || name !== 'Unavailable') throw error
      this.#world = { ...this.#world }
      return false
    } finally {
      this.watch.deaths.next = null
    }
  }

  #call(caller: Caller): Call {
    return {
      world: this.#world,
      caller,
      now: this.#now,
      session: null,
      turn: null,
      newId: (prefix) => `${prefix}_${this.#ids.ulid(this.#now)}`,
      repeatable: false,
    }
  }

  #in(ms: number, step: () => Promise<unknown>): void {
    this.#queue.add(this.#now + Math.max(1, Math.round(ms)), step)
  }

  /** A person who writes and meddles, and a worker who looks now and then though nobody rang. */
  #live(seat: Seat): void {
    const chance = this.#chance
    const speak = async (): Promise<void> => {
      this.#in(chance.around(seat.gapMs), speak)
      // Several words at once, now and then.
      for (let n = chance.one(6) ? 3 : 1; n > 0; n -= 1) await sendMessage(this.#call(seat.owner), seat.id, 'a word')
      // The heartbeat of a tick's worker answers at once.
      if (seat.turn !== null && this.watch.heads.get(seat.conv)?.turn?.cancelled === 'input')
        this.#in(second, () => this.#end(seat, seat.turn))
    }
    const meddle = async (): Promise<void> => {
      this.#in(chance.around(9 * hour), meddle)
      await this.#meddle(seat)
    }
    const look = async (): Promise<void> => {
      this.#in(chance.around(3 * hour), look)
      await this.#serve(seat)
    }
    this.#in(chance.around(seat.gapMs / 2), speak)
    this.#in(chance.around(9 * hour), meddle)
    this.#in(chance.around(3 * hour), look)
  }

  async #meddle(seat: Seat): Promise<void> {
    const { id, owner } = seat
    const call = this.#call(owner)
    const later = (undo: () => Promise<unknown>): void => this.#in(this.#chance.around(hour), undo)
    const patch = (change: object) => editSession(this.#call(owner), seat.id, change)
    switch (this.#chance.upTo(12)) {
      case 0:
        later(() => patch({ paused: false }))
        return void (await patch({ paused: true }))
      case 1:
        later(() => patch({ goal: null }))
        return void (await patch({ goal: 'ship it' }))
      case 2:
        later(() => patch({ pendingRequests: 0 }))
        return void (await patch({ pendingRequests: 1 }))
      case 3:
        later(() => patch({ compacting: false }))
        return void (await patch({ compacting: true }))
      case 4:
        later(() => setLeft(this.#call(owner), seat.id, false))
        return void (await setLeft(call, id, true))
      case 5:
        later(() => patch({ permission: 'auto' }))
        return void (await patch({ permission: this.#chance.one(2) ? 'manual' : 'yolo' }))
      case 6:
        return void (await parkTicks(call, id))
      case 7:
        seat.id = (await compactSession(call, id)).row.id
        return
      case 8:
        later(() => editAgent(this.#call(owner), seat.agent, { proactive: { enabled: true } } as never))
        return void (await editAgent(call, seat.agent, { proactive: { enabled: false } } as never))
      case 9:
        return seat.turn === null ? undefined : await cancelTurn(call, seat.turn)
      case 10: {
        const inAWhile = new Date(this.#now + this.#chance.around(40 * minute) + minute).toISOString()
        await createSchedule(call, { name: 'Once', prompt: 'Look.', session: id, at: inAWhile })
        return
      }
      default:
        await forkSession(call, id)
    }
  }

  #rung(queue: string): void {
    const seat = this.#seats.find(({ id }) => id === queue)
    // Some rings are lost, and some workers are asleep.
    if (seat === undefined || this.#chance.one(25)) return
    this.#in(this.#chance.one(20) ? this.#chance.around(4 * hour) : this.#chance.around(20 * second), () =>
      this.#serve(seat),
    )
  }

  async #serve(seat: Seat): Promise<void> {
    const claimed = await claimSession(this.#call(seat.owner), seat.id, { leaseSeconds: 300 })
    const turn = claimed?.turn?.id ?? null
    if (turn === null) return
    seat.turn = turn
    // One in twenty is never heard of again: its lease runs out.
    if (this.#chance.one(20)) return
    this.#in(Math.min(280 * second, this.#chance.around(40 * second)), () => this.#end(seat, turn))
  }

  async #end(seat: Seat, turn: string | null): Promise<void> {
    if (turn === null) return
    const { upTo, one } = this.#chance
    const sleep = one(2) ? { seconds: upTo(5_000), reason: null } : null
    const done = await this.#act(() =>
      endTurn(this.#call(seat.owner), turn, {
        outcome: one(8) ? 'failed' : 'ok',
        answer: null,
        summary: null,
        tokens: upTo(4_000),
        usd: null,
        toolCalls: [],
        sleep,
      } as never),
    )
    if (seat.turn === turn) seat.turn = null
    // A worker whose Rouse died asks again, and takes what waits when it is through.
    if (done) await this.#serve(seat)
    else this.#in(5 * second, () => this.#end(seat, turn))
  }

  /** Alarms come late, twice, or not at all. */
  #alarmSet(key: AlarmKey, at: number): void {
    if (this.#chance.one(4)) return
    const ring = () => onAlarms(this.#world, [key], this.#now)
    const when = Math.max(at, this.#now) + this.#chance.upTo(3) * second
    this.#queue.add(when, ring)
    if (this.#chance.one(10)) this.#queue.add(when + this.#chance.upTo(hour), ring)
  }

  describe = (): string => `seed ${this.seed}, ${iso(this.#now)}`
}
