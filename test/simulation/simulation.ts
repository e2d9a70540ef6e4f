import { timePart } from '../../shared/domain/ids.ts'
import { onAlarms } from '../../shared/engine/alarm.ts'
import { drain } from '../../shared/engine/drain.ts'
import { stepOrSetAside } from '../../shared/engine/flow-due.ts'
import { onDocumentChange } from '../../shared/engine/monitor-look.ts'
import type { LogIds, LogLevel } from '../../shared/ports/log.ts'
import type { AlarmKey, Envelope, Ids, World } from '../../shared/ports/world.ts'
import { type Dice, dice, Queue } from './chance.ts'
import { type FaultAt, Faults } from './faults.ts'
import { Outside } from './outside.ts'
import { type Ended, meant, Process } from './process.ts'
import { type Change, MemoryTable, timed } from './table.ts'

/** What kind of deployment a history runs on. */
export interface Options {
  readonly seed: number
  readonly start: number
  /** Several processes, a stream of changes, flows apart and alarms by name; else one process that drains. */
  readonly cloud: boolean
  readonly shards: number
  /** How far the clocks of processes may be apart, ms. */
  readonly skewMs: number
  /** One call of a port in so many goes wrong, as a share of 1. */
  readonly faultRate: number
  readonly only: readonly FaultAt[] | null
}

const sweepMs = 60_000
/** A message that could not be worked on comes again after this, and so often. */
const againMs = 30_000
const againMax = 4
/** An alarm too many does no harm; were each to leave another, they would become more without end. */
const armedMost = 60

/** Time, the store, what is on its way, and the processes that serve it. Everything follows from the seed. */
export class Simulation {
  readonly options: Options
  readonly table: MemoryTable
  readonly faults: Faults
  readonly outside: Outside
  readonly ids: Ids
  readonly queue = new Queue<() => void>()
  readonly processes: readonly Process[]
  readonly dice: Dice
  /** What must not be: a history that says anything here has failed. */
  readonly found: string[] = []
  /** Where the last commit came from. */
  committing: Process | null = null
  /** Clocks were set back by so much. */
  behindMs = 0
  /** The most they were set back by, so far. */
  #behindMost = 0
  now: number
  onRing: (queue: string, envelope: Envelope) => void = () => {}
  events = 0
  #timers = 0
  /** Alarms that are set and have not rung, by what they are for. */
  readonly #armed = new Map<string, number>()

  constructor(options: Options) {
    const { seed, cloud } = options
    this.options = options
    this.now = options.start
    this.dice = dice(seed)
    const now = () => this.now
    this.table = new MemoryTable(now, seed)
    this.faults = new Faults(seed, options.faultRate, options.only)
    this.outside = new Outside(seed, now)
    this.ids = idsOf(this.dice)
    const count = cloud ? 3 : 1
    const skew = (n: number): number => Math.round((this.dice('skew', n) * 2 - 1) * options.skewMs)
    this.processes = Array.from({ length: count }, (_, n) => new Process(this, `p${n}`, cloud ? skew(n) : 0))
  }

  say(what: string): void {
    if (this.found.length < 20) this.found.push(`${new Date(this.now).toISOString()} ${what}`)
  }

  /** How far what two processes, or two moments, call now may be apart. */
  get clocksApartMs(): number {
    return 2 * this.options.skewMs + this.#behindMost
  }

  setBack(ms: number): void {
    this.behindMs += ms
    this.#behindMost = Math.max(this.#behindMost, this.behindMs)
    this.queue.add(this.now + 120_000, () => {
      this.behindMs -= ms
    })
  }

  /** Those that change no state of their own may be run anywhere. */
  process(...names: readonly (string | number)[]): Process {
    return this.processes[Math.floor(this.dice('process', ...names) * this.processes.length)]!
  }

  /** Lets time pass up to `to`, with everything that is to come by then. */
  async until(to: number): Promise<void> {
    await this.#quiet()
    while (this.found.length === 0) {
      const at = this.queue.first
      if (at === null || at > to) break
      this.now = Math.max(this.now, Math.ceil(at))
      this.events += 1
      this.queue.take()()
      await this.#quiet()
    }
    this.now = Math.max(this.now, to)
  }

  /** Nobody runs in between: what was to come meanwhile comes late. */
  async down(ms: number): Promise<void> {
    for (const process of this.processes) process.restart()
    this.now += ms
  }

  /** Until everything that can go on without the clock has. */
  async #quiet(): Promise<void> {
    for (let turns = 0; ; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (this.#timers > 0 || !this.processes.some(({ isBusy }) => isBusy)) return
      if (turns > 100_000)
        throw new Error(`a process never ends: ${this.processes.map(({ doing }) => doing).join('; ')}`)
    }
  }

  /** Real timers and chance would make each run another: here they follow the simulated clock and the seed. */
  async controlled<T>(act: () => Promise<T>): Promise<T> {
    const kept = { setTimeout: globalThis.setTimeout, random: Math.random }
    let rolls = 0
    Math.random = () => this.dice('random', rolls++)
    globalThis.setTimeout = ((act: () => void, ms = 0) => {
      this.#timers += 1
      this.queue.add(this.now + ms, () => {
        this.#timers -= 1
        act()
      })
    }) as unknown as typeof setTimeout
    try {
      return await act()
    } finally {
      globalThis.setTimeout = kept.setTimeout
      Math.random = kept.random
    }
  }

  /** Every minute, what no alarm brought. A sweep that would find nothing is left out. */
  sweeping(): void {
    const next = (Math.floor(this.now / sweepMs) + 1) * sweepMs
    this.queue.add(next, () => {
      this.sweeping()
      if (this.table.earliest(timed) > this.now + this.options.skewMs) return
      void this.sweep(`sweep ${next}`)
    })
  }

  async sweep(name: string): Promise<void> {
    this.#judge(await this.process(name).run(name, (world) => drain(world, world.clock.now())), name)
  }

  /** @param clock  of the process that sets it; a queue waits whole seconds, by its own clock */
  alarmSet(key: AlarmKey, at: number, clock: number): void {
    const name = `${key.kind} ${key.id}`
    const late = Math.floor(this.dice('late', name, at) * 2_000)
    const armed = (this.#armed.get(name) ?? 0) + 1
    this.#armed.set(name, armed)
    // Each message that is served sets those of its turn; they go with it.
    if (armed === armedMost && this.faults.isOn && key.kind !== 'turn') this.say(`${name} has ${armed} alarms at once`)
    const waitMs = Math.max(0, this.options.cloud ? Math.ceil((at - clock) / 1_000) * 1_000 : at - this.now)
    this.queue.add(this.now + waitMs + late, () => {
      this.#armed.set(name, this.#armed.get(name)! - 1)
      void this.#ring(key, at, 0)
    })
    // Now and then one comes too early, or again.
    if (this.dice('early', name, at, armed) < 0.03)
      this.queue.add(this.now + waitMs / 2, () => void this.#ring(key, at, 0))
    if (this.dice('again', name, at, armed) < 0.03)
      this.queue.add(this.now + waitMs + 70_000, () => void this.#ring(key, at, 0))
  }

  async #ring(key: AlarmKey, at: number, tries: number): Promise<void> {
    // One process has one timer, for whatever is due next.
    if (!this.options.cloud && this.table.earliest(timed) > this.now) return
    const name = `ring ${key.kind} ${key.id} ${at} ${tries}`
    const ended = await this.process(name).run(name, (world) => this.#rung(world, key, at))
    this.#judge(ended, name)
    if (ended.how === 'done' || !this.options.cloud || tries >= againMax) return
    this.queue.add(this.now + againMs, () => void this.#ring(key, at, tries + 1))
  }

  async #rung(world: World, key: AlarmKey, at: number): Promise<void> {
    if (!this.options.cloud) return void (await drain(world, world.clock.now()))
    if (key.kind !== 'flow') {
      // Half of those that come early are set again before anybody looks, as the adapter does.
      if (at > world.clock.now() && this.dice('set again', key.id, at) < 0.5) return await world.alarms.set(key, at)
      return await onAlarms(world, [key], world.clock.now())
    }
    if ((await stepOrSetAside(world, key.id)) === 'on') await world.alarms.set(key, world.clock.now())
  }

  /** The stream of documents: at least once, late, and now and then given up. */
  streamed(changes: readonly Change[]): void {
    if (!this.options.cloud) return
    for (const { key, after } of changes) {
      if (!key[0].startsWith('D#') || !key[1].startsWith('H#')) continue
      const [owner, path] = [`per_${key[0].slice(2)}`, key[1].slice(2)]
      const mark = `${path} ${JSON.stringify(after)?.length ?? 0} ${this.now}`
      if (this.faults.isOn && this.dice('stream', mark) < 0.1) continue
      const times = this.dice('stream twice', mark) < 0.1 ? 2 : 1
      for (let n = 0; n < times; n++)
        this.queue.add(this.now + this.dice('stream late', mark, n) ** 4 * 90_000, () => {
          const process = this.process('stream', mark, n)
          void process
            .run(mark, (world) => onDocumentChange(world, owner, path, world.clock.now()))
            .then((ended) => this.#judge(ended, 'stream'))
        })
    }
  }

  rung(queue: string, envelope: Envelope): void {
    this.onRing(queue, envelope)
  }

  slowness(name: string): number {
    const roll = this.dice('slow', name, this.now)
    return Math.ceil(roll < 0.7 ? roll * 1_500 : roll * 90_000)
  }

  logged(level: LogLevel, what: string, ids: LogIds = {}): void {
    if (level === 'error' && !String(ids.error ?? '').includes(meant))
      this.say(`logged: ${what} ${JSON.stringify(ids)}`)
  }

  /** Only what was made to fail may. */
  #judge(ended: Ended<unknown>, name: string): void {
    if (ended.how === 'failed' && !ended.error.message.includes(meant)) this.say(`${name} failed: ${ended.error.stack}`)
  }
}

/** Ids that follow from when they are made: what is left out of a history changes no other. */
function idsOf(roll: Dice): Ids {
  const counts = new Map<number, number>()
  let made = 0
  return {
    ulid(at) {
      const nth = (counts.get(at) ?? 0) + 1
      counts.set(at, nth)
      const hash = timePart(Math.floor(roll('ulid', at, nth) * 2 ** 40))
      return `${timePart(at)}${timePart(nth).slice(4)}${hash}`
    },
    secret: () => `secret-${++made}`,
    token: () => `token-${++made}`,
  }
}
