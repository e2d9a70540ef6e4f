import { noMeter } from '../../shared/ports/meter.ts'
import {
  Conflict,
  type IndexName,
  type IndexRange,
  type Range,
  type Table,
  Unavailable,
} from '../../shared/ports/table.ts'
import type { Bell, Ids, OutboundAnswer, World } from '../../shared/ports/world.ts'
import { openSecrets } from '../engine/outside.ts'
import type { Fault } from './faults.ts'
import type { Simulation } from './simulation.ts'

/** How a piece of work ended. `lost`: with its process, so that nobody knows. */
export type Ended<T> =
  | { readonly how: 'done'; readonly value: T }
  | { readonly how: 'failed'; readonly error: Error }
  | { readonly how: 'lost' }

interface Life {
  dead: boolean
  /** Calls that wait for the simulated clock. */
  waiting: number
}
interface Work {
  readonly name: string
  readonly since: number
  readonly lost: () => void
}

/** Says that a fault was meant: what is logged with it is nobody's fault. */
export const meant = 'simulated'
const away = (what: string): Unavailable => new Unavailable(`${meant}: ${what}`)

/** One process of a deployment: a world of its own over the shared store, and what it is at. It may die at any call of a port. */
export class Process {
  readonly name: string
  readonly #simulation: Simulation
  readonly #work = new Set<Work>()
  readonly #secrets: World['secrets']
  /** Its clock differs from the others' by so much, ms. */
  readonly skewMs: number
  world: World
  #life: Life = { dead: false, waiting: 0 }

  constructor(simulation: Simulation, name: string, skewMs: number, secrets = openSecrets()) {
    this.#simulation = simulation
    this.name = name
    this.skewMs = skewMs
    this.#secrets = secrets
    this.world = this.#open()
  }

  now(): number {
    return this.#simulation.now - this.#simulation.behindMs + this.skewMs
  }

  /** Since when what it is at now may have decided. */
  get since(): number {
    let first = this.now()
    for (const { since } of this.#work) first = Math.min(first, since)
    return first
  }

  get doing(): string {
    return [...this.#work].map(({ name }) => name).join(', ')
  }

  /** True while it is at something that waits for no clock. */
  get isBusy(): boolean {
    return this.#work.size > 0 && this.#life.waiting === 0
  }

  /** What it does; when the process dies, it is lost. Never rejects. */
  run<T>(name: string, act: (world: World) => Promise<T>): Promise<Ended<T>> {
    return new Promise((resolve) => {
      const work: Work = { name, since: this.now(), lost: () => resolve({ how: 'lost' }) }
      this.#work.add(work)
      const end = (ended: Ended<T>): void => {
        if (!this.#work.delete(work)) return
        resolve(ended)
      }
      act(this.world).then(
        (value) => end({ how: 'done', value }),
        (error: Error) => end({ how: 'failed', error }),
      )
    })
  }

  /** It dies and starts again: whatever it was at does nothing any more, and what it remembered is gone. */
  restart(): void {
    this.#life.dead = true
    this.#life = { dead: false, waiting: 0 }
    this.world = this.#open()
    const lost = [...this.#work]
    this.#work.clear()
    for (const work of lost) work.lost()
  }

  #open(): World {
    const simulation = this.#simulation
    const life = this.#life
    const port = <T>(name: string, kinds: readonly Fault[], act: () => Promise<T>): Promise<T> =>
      this.#port(life, name, kinds, act)
    const { table, options } = simulation
    const reads: readonly Fault[] = ['lost', 'slow', 'crash', 'slow']
    const writes: readonly Fault[] = ['lost', 'after', 'conflict', 'slow', 'late', 'crash', 'crash-after', 'conflict']
    const wrapped: Table = {
      get: (keys) => port(`get ${keys[0]![0]}`, reads, () => table.get(keys)),
      list: (pk, range?: Range) => port(`list ${pk}`, reads, () => table.list(pk, range)),
      find: (index: IndexName, pk, range?: IndexRange) =>
        port(`find ${index}`, reads, () => table.find(index, pk, range)),
      commit: (ops, token) => {
        const [first] = ops
        const key =
          'put' in first!
            ? first.put
            : 'patch' in first!
              ? first.patch
              : 'delete' in first!
                ? first.delete
                : first!.check
        return port(`commit ${key[0]} ${key[1]}`, writes, () => {
          simulation.committing = this
          return table.commit(ops, token)
        })
      },
    }
    const hints: readonly Fault[] = [
      'silent',
      'silent',
      'twice',
      'late',
      'lost',
      'after',
      'slow',
      'crash',
      'crash-after',
    ]
    const bell: Bell = {
      ring: (queue, envelope) => port(`ring ${queue}`, hints, async () => simulation.rung(queue, envelope)),
      close: async () => {},
      grant: async () => null,
    }
    return {
      table: wrapped,
      bell,
      ears: { listen: () => ({ rung: async () => false, close: () => {} }) },
      alarms: {
        set: (key, at) =>
          port(`alarm ${key.kind} ${key.id}`, hints, async () => simulation.alarmSet(key, at, this.now())),
      },
      secrets: this.#secrets,
      outbound: {
        telegramApi: 'https://telegram.test',
        request: (request) => {
          const key = request.headers['webhook-id'] ?? request.headers['idempotency-key'] ?? ''
          return this.#send(life, `${request.method} ${key}`, () => simulation.outside.answer(request))
        },
        publish: async () => null,
        invoke: async () => ({ ok: true, text: 'null' }),
        mcpCall: async () => ({ ok: true, text: 'null' }),
        mcpTool: async () => ({ ok: true, readOnly: true }),
        refusal: () => null,
      },
      clock: { now: () => this.now() },
      ids: simulation.ids as Ids,
      log: (level, what, ids) => {
        if (!life.dead) simulation.logged(level, what, ids)
      },
      meter: noMeter,
      shards: options.shards,
      proactive: true,
      streamed: options.cloud,
      flowsApart: options.cloud,
    }
  }

  #port<T>(life: Life, name: string, kinds: readonly Fault[], act: () => Promise<T>): Promise<T> {
    if (life.dead) return new Promise(() => {})
    const fault = this.#simulation.faults.at(name, kinds)
    return fault === null ? act() : this.#faulty(life, name, fault, act)
  }

  async #faulty<T>(life: Life, name: string, fault: Fault, act: () => Promise<T>): Promise<T> {
    switch (fault) {
      case 'lost':
        throw away('not done')
      case 'silent':
        return undefined as T
      case 'after':
        await act()
        throw away('done, but nobody heard')
      case 'conflict':
        throw new Conflict(0, [name, ''])
      case 'slow':
        await this.#wait(life, name)
        return await act()
      case 'late': {
        const value = await act()
        await this.#wait(life, name)
        return value
      }
      case 'twice':
        await act()
        return await act()
      case 'crash':
        this.#die(life)
        return await new Promise(() => {})
      case 'crash-after':
        await act()
        this.#die(life)
        return await new Promise(() => {})
    }
  }

  /** The way out never throws: what went wrong is an answer. */
  async #send(life: Life, name: string, act: () => OutboundAnswer): Promise<OutboundAnswer> {
    const failed = (error: string): OutboundAnswer => ({ ok: false, reason: 'timeout', error, retry: true })
    const kinds: readonly Fault[] = ['lost', 'after', 'slow', 'late', 'crash', 'crash-after']
    try {
      return await this.#port(life, name, kinds, async () => act())
    } catch (error) {
      return failed((error as Error).message)
    }
  }

  #die(life: Life): void {
    if (!life.dead) this.restart()
  }

  /** Some moments, or longer than a lease. */
  async #wait(life: Life, name: string): Promise<void> {
    const ms = this.#simulation.slowness(name)
    life.waiting += 1
    await new Promise<void>((resolve) => {
      this.#simulation.queue.add(this.#simulation.now + ms, () => {
        if (life.dead) return
        life.waiting -= 1
        resolve()
      })
    })
  }
}
