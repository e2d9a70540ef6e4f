import fc from 'fast-check'
import type { Definition, Misfire } from '../../shared/domain/schedule.ts'
import { drain, nextDue } from '../../shared/engine/drain.ts'
import { sendMessage } from '../../shared/engine/messages.ts'
import { backfill, runNow } from '../../shared/engine/runs.ts'
import { editSchedule, pauseSchedule, resumeSchedule, type SchedulePatch } from '../../shared/engine/schedule-edit.ts'
import { createSchedule, removeSchedule, type ScheduleInput } from '../../shared/engine/schedules.ts'
import { archiveSession, compactSession, setLeft } from '../../shared/engine/sessions.ts'
import { keys, read } from '../../shared/engine/store.ts'
import { cancelTurn, claimAgent, claimSession, endTurn, heartbeat } from '../../shared/engine/turns.ts'
import { compile } from '../../shared/time/index.ts'
import { cursorOf } from './ledger.ts'
import { addSession, minute, type Room, start } from './room.ts'

/** One step of a random walk. Numbers pick among what there is at that point. */
export type Step =
  | Act
  | { readonly do: 'move' | 'jump'; readonly minutes: number }
  | { readonly do: 'both'; readonly acts: readonly [Act, Act] }
/** What somebody does at one instant. */
type Act =
  | { readonly do: 'create'; readonly input: Partial<ScheduleInput>; readonly target: number }
  | { readonly do: 'edit'; readonly which: number; readonly patch: SchedulePatch; readonly target: number }
  | { readonly do: 'pause' | 'resume' | 'run' | 'remove' | 'backfill'; readonly which: number }
  | { readonly do: 'claim'; readonly target: number; readonly steer: boolean }
  | { readonly do: 'end'; readonly which: number; readonly outcome: 'ok' | 'failed' | 'blocked' | 'nothing_to_do' }
  | { readonly do: 'beat' | 'cancel'; readonly which: number }
  | { readonly do: 'send' | 'archive' | 'compact' | 'leave' | 'join'; readonly target: number }

const which = fc.nat(5)
/** 0 and 1: the two conversations; 2: fresh sessions of the agent. */
const target = fc.nat(2)
const time = fc.constantFrom<Partial<ScheduleInput>>(
  { every: '5m' },
  { every: '17m' },
  { every: '1h' },
  { cron: '*/30 * * * *' },
  { cron: '0 9 * * *', tz: 'Europe/Amsterdam' },
  { rrule: 'FREQ=HOURLY;INTERVAL=2' },
)
const policy = fc.record<Partial<ScheduleInput>>(
  {
    overlap: fc.constantFrom('skip', 'buffer', 'allow', 'cancel'),
    misfire: fc.constantFrom<Misfire>('once', 'skip', { within: '20m' }),
    onUnknown: fc.constantFrom('leave', 'retry'),
    jitter: fc.constantFrom('4m', '30m'),
    maxRuns: fc.integer({ min: 1, max: 6 }),
    pauseAfterFailures: fc.integer({ min: 1, max: 3 }),
    until: fc.constantFrom('2026-03-01T06:00:00Z', '2026-03-02T00:00:00Z'),
  },
  { requiredKeys: [] },
)
const input = fc.tuple(time, policy).map(([when, how]) => ({ ...when, ...how }))
const cleared = fc.constantFrom<SchedulePatch>({ jitter: null }, { maxRuns: null }, { until: null }, {})
const patch = fc.oneof(
  time,
  policy,
  cleared,
  fc.tuple(time, policy).map(([a, b]) => ({ ...a, ...b })),
)

const create = fc.record({ do: fc.constant('create' as const), input, target })
const move = fc.record({ do: fc.constant('move' as const), minutes: fc.integer({ min: 1, max: 40 }) })
/** Weighted so that most prompts are claimed and most turns end: what waits for good is soon said. */
const act = fc.oneof<fc.WeightedArbitrary<Act>[]>(
  { weight: 1, arbitrary: create },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), which, patch, target: fc.nat(6) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'run', 'remove', 'backfill'), which }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('claim' as const), target, steer: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which,
      outcome: fc.constantFrom('ok', 'ok', 'failed', 'blocked', 'nothing_to_do'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('beat', 'beat', 'cancel'), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('send', 'archive', 'compact', 'leave', 'join'), target: fc.nat(1) }),
  },
)
const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
  { weight: 30, arbitrary: act },
  { weight: 9, arbitrary: move },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('jump' as const), minutes: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('both' as const), acts: fc.tuple(act, act) }) },
)
export const walk: fc.Arbitrary<Step[]> = fc
  .tuple(fc.array(create, { minLength: 1, maxLength: 3 }), fc.array(step, { maxLength: 45, size: 'max' }))
  .map(([first, then]) => [...first, ...then])

/** Takes the steps in a room, and keeps what must hold afterwards: which nominal times passed while a schedule was active. */
export class Walker {
  readonly #room: Room
  readonly #sessions: string[]
  readonly #turns: string[] = []
  readonly #passed = new Map<string, Set<number>>()
  /** Every session that there was. */
  readonly everySession: string[]

  constructor(room: Room, second: string) {
    this.#room = room
    this.#sessions = [room.session, second]
    this.everySession = [...this.#sessions]
  }

  /** Schedule → the nominal times that it must have a row for. */
  get passed(): ReadonlyMap<string, ReadonlySet<number>> {
    return this.#passed
  }

  async take(step: Step): Promise<void> {
    try {
      await this.#take(step)
    } catch (error) {
      // A refusal is an answer: it changes nothing.
      if ((error as Error).name !== 'Refused') throw error
    }
  }

  async #take(step: Step): Promise<void> {
    const room = this.#room
    const call = room.call()
    switch (step.do) {
      case 'create': {
        if (this.#passed.size >= 6) return
        const made = { name: 'Walk', prompt: 'Look.', ...step.input, ...this.#targeted(step.target) }
        this.#passed.set((await createSchedule(call, made)).cursor.item.id, new Set())
        return
      }
      case 'edit': {
        const moved = step.target > 2 ? {} : this.#targeted(step.target)
        await editSchedule(call, this.#schedule(step.which), { ...step.patch, ...moved }, null)
        return
      }
      case 'pause':
        await pauseSchedule(call, this.#schedule(step.which), null)
        return
      case 'resume':
        await resumeSchedule(call, this.#schedule(step.which))
        return
      case 'run':
        await runNow(call, this.#schedule(step.which))
        return
      case 'remove':
        await removeSchedule(call, this.#schedule(step.which))
        return
      case 'backfill': {
        const [from, to] = [start, room.now()].map((at) => new Date(at).toISOString())
        await backfill(call, this.#schedule(step.which), { from: from!, to: to! })
        return
      }
      case 'both':
        await Promise.all(step.acts.map((act) => this.take(act)))
        return
      case 'move':
        await this.move(room.now() + step.minutes * minute)
        return
      case 'jump':
        await this.#to(room.now() + step.minutes * minute)
        return
      case 'claim': {
        await room.table.catchUp()
        const claimed =
          step.target === 2
            ? await claimAgent(call, room.agent, {})
            : await claimSession(call, this.#sessions[step.target]!, { steer: step.steer })
        if (claimed?.turn != null) this.#turns.push(claimed.turn.id)
        return
      }
      case 'end': {
        const [turn] = this.#turns.splice(step.which % Math.max(1, this.#turns.length), 1)
        if (turn === undefined) return
        await endTurn(call, turn, {
          outcome: step.outcome,
          answer: 'said',
          summary: null,
          tokens: null,
          usd: null,
          toolCalls: [],
          sleep: null,
        })
        return
      }
      case 'beat':
        await heartbeat(call, this.#turns[step.which % this.#turns.length] ?? '')
        return
      case 'cancel':
        await cancelTurn(call, this.#turns[step.which % this.#turns.length] ?? '')
        return
      case 'send':
        await sendMessage(call, this.#sessions[step.target]!, 'hello')
        return
      case 'archive': {
        // The main session stays, so that the walk does not end with it.
        await archiveSession(call, this.#sessions[1]!)
        this.#open(1, await addSession(room))
        return
      }
      case 'compact':
        this.#open(step.target, (await compactSession(call, this.#sessions[step.target]!)).row.id)
        return
      case 'leave':
        await setLeft(call, this.#sessions[step.target]!, true)
        return
      case 'join':
        await setLeft(call, this.#sessions[step.target]!, false)
        return
    }
  }

  /** Stops at every due instant on the way. */
  async move(to: number): Promise<void> {
    const room = this.#room
    for (let stops = 0; stops < 2000; stops++) {
      await room.table.catchUp()
      const due = await nextDue(room.world)
      if (due === null || due > to) break
      await this.#to(Math.max(due, room.now()))
      await room.table.catchUp()
      await drain(room.world, room.now())
    }
    await this.#to(to)
  }

  /** Lets time pass, and notes which nominal times went by meanwhile. */
  async #to(to: number): Promise<void> {
    const from = this.#room.now()
    if (to <= from) return
    for (const [id, passed] of this.#passed) {
      const cursor = await cursorOf(this.#room, id)
      if (cursor.status !== 'active') continue
      const stored = await read<Definition>(this.#room.world, keys.definition(id, cursor.gen))
      const { spec, until } = stored!.item
      for (let at = compile(spec).next(from)?.at; at !== undefined && at <= to; at = compile(spec).next(at)?.at)
        if (until === null || at <= until) passed.add(at)
    }
    this.#room.jump(to)
  }

  #open(place: number, session: string): void {
    this.#sessions[place] = session
    this.everySession.push(session)
  }

  #targeted(place: number): { session: string } | { agent: string } {
    return place === 2 ? { agent: this.#room.agent } : { session: this.#sessions[place]! }
  }

  #schedule(index: number): string {
    const ids = [...this.#passed.keys()]
    return ids[index % Math.max(1, ids.length)] ?? ''
  }
}
