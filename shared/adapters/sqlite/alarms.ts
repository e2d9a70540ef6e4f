import type { Found, IndexName, IndexRange, Table } from '../../ports/table.ts'
import type { AlarmClock, AlarmKey, Clock, Log } from '../../ports/world.ts'

/** The alarm clock of an embedded node: one timer for the next instant at which something is due. Nothing polls. */
export interface LocalAlarms extends AlarmClock {
  /** Looks up what is due next, overdue included, and sets the timer. Before that, `set` only remembers. */
  start(): void
  /** Stops the timer and waits for a `due` that runs. */
  stop(): Promise<void>
}

export interface AlarmOptions {
  readonly table: Table
  readonly clock: Clock
  /** Shards are the partitions '0' to `shards - 1` of the indexes of what is due. */
  readonly shards: number
  /** Does what is due. What it leaves due is taken up again after a backoff. */
  due(now: number): Promise<void>
  readonly log?: Log
}

export function openAlarms(options: AlarmOptions): LocalAlarms {
  return new OneTimer(options)
}

/**
 * The timer counts elapsed time, alarms are wall time: looking again within the hour bounds what a clock that was set
 * makes late.
 */
const lookMsMax = 3_600_000
const backoffMsMin = 100
const backoffMsMax = 60_000
const timed = [
  'due',
  'leases',
  'deliveries',
  'jobs',
  'flowRuns',
  'watches',
  'toolRuns',
  'changes',
] as const satisfies readonly IndexName[]

class OneTimer implements LocalAlarms {
  readonly #options: AlarmOptions
  #timer: NodeJS.Timeout | null = null
  /** The next instant at which something is known to become due. */
  #next = Number.POSITIVE_INFINITY
  /** When to take up again what failed or stayed due. Apart from `#next`, so that it puts off no other alarm. */
  #retryAt = Number.POSITIVE_INFINITY
  #backoffMs = 0
  #running: Promise<void> | null = null
  #started = false

  constructor(options: AlarmOptions) {
    this.#options = options
  }

  async set(_key: AlarmKey, at: number): Promise<void> {
    if (at >= this.#next) return
    this.#next = at
    // While `due` runs, the timer is set at its end.
    if (this.#started && this.#running === null) this.#wind()
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    this.#next = Number.NEGATIVE_INFINITY
    this.#wind()
  }

  async stop(): Promise<void> {
    this.#started = false
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#running
  }

  #wind() {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const waitMs = Math.min(this.#next, this.#retryAt) - this.#options.clock.now()
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(0, waitMs), lookMsMax))
  }

  #fire() {
    this.#timer = null
    // Early: a timer may fire up to 1 ms before its time, and a long wait ends at `lookMsMax`.
    if (Math.min(this.#next, this.#retryAt) > this.#options.clock.now()) {
      this.#wind()
      return
    }
    this.#running = this.#ring().finally(() => {
      this.#running = null
      if (this.#started) this.#wind()
    })
  }

  /** Never rejects. */
  async #ring() {
    const { clock, due, log } = this.#options
    const now = clock.now()
    this.#next = Number.POSITIVE_INFINITY
    this.#retryAt = Number.POSITIVE_INFINITY
    let isDone = false
    try {
      await due(now)
      // A row that nobody can handle stays due, and must neither ring without end nor hide what comes after it.
      isDone = (await this.#earliest({ to: now })) === Number.POSITIVE_INFINITY
    } catch (error) {
      log?.('error', 'due failed', { error: String(error) })
    }
    try {
      this.#next = Math.min(this.#next, await this.#earliest({ from: now + 1 }))
    } catch (error) {
      isDone = false
      log?.('error', 'alarms unreadable', { error: String(error) })
    }
    this.#backoffMs = isDone ? 0 : Math.min(backoffMsMax, Math.max(backoffMsMin, this.#backoffMs * 2))
    if (!isDone) this.#retryAt = clock.now() + this.#backoffMs
  }

  async #earliest(range: IndexRange): Promise<number> {
    const { table, shards } = this.#options
    const pages = timed.flatMap((index) =>
      Array.from({ length: shards }, (_, shard) => table.find(index, String(shard), { ...range, limit: 1 })),
    )
    const first = (await Promise.all(pages)).flatMap((page): readonly Found[] => page.items)
    return Math.min(...first.map((found) => found.sk as number), Number.POSITIVE_INFINITY)
  }
}
