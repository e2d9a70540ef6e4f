import type { Found, IndexName, Table } from '../../ports/table.ts'
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
  readonly shards: number
  /** Does what is due. What it leaves due is taken up again after a backoff. */
  due(now: number): Promise<void>
  readonly log?: Log
  /** The partition of a shard in the indexes `due` and `leases`. */
  readonly shardKey?: (shard: number) => string
}

export function openAlarms(options: AlarmOptions): LocalAlarms {
  return new OneTimer(options)
}

/** The timer counts elapsed time, alarms are wall time: looking again within the hour bounds what a clock that was set makes late. */
const lookMsMax = 3_600_000
const backoffMsMin = 100
const backoffMsMax = 60_000
const timed = ['due', 'leases'] as const satisfies readonly IndexName[]

class OneTimer implements LocalAlarms {
  readonly #options: AlarmOptions
  #timer: NodeJS.Timeout | null = null
  /** The instant that the timer waits for; infinite: nothing is known to be due. */
  #next = Number.POSITIVE_INFINITY
  #running: Promise<void> | null = null
  #started = false
  #backoffMs = 0

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
    const untilDue = Math.max(0, this.#next - this.#options.clock.now())
    const waitMs = Math.min(Math.max(untilDue, this.#backoffMs), lookMsMax)
    this.#timer = setTimeout(() => this.#fire(), waitMs)
  }

  #fire() {
    this.#timer = null
    // Early: a timer may fire up to 1 ms before its time, and a long wait ends at `lookMsMax`.
    if (this.#next > this.#options.clock.now()) {
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
    const rungFor = this.#next
    this.#next = Number.POSITIVE_INFINITY
    try {
      await due(now)
      const earliest = await this.#earliest()
      this.#next = Math.min(this.#next, earliest)
      // What is still due after `due` would fire again at once, for ever: a row that nobody can handle must not eat the process.
      this.#backoffMs = earliest <= now ? this.#longer() : 0
    } catch (error) {
      this.#next = Math.min(this.#next, rungFor)
      this.#backoffMs = this.#longer()
      log?.('error', 'alarms failed', { error: String(error), retryMs: this.#backoffMs })
    }
  }

  #longer() {
    return Math.min(backoffMsMax, Math.max(backoffMsMin, this.#backoffMs * 2))
  }

  async #earliest(): Promise<number> {
    const { table, shards, shardKey = String } = this.#options
    const pages = timed.flatMap((index) =>
      Array.from({ length: shards }, (_, shard) => table.find(index, shardKey(shard), { limit: 1 })),
    )
    const first = (await Promise.all(pages)).flatMap((page): readonly Found[] => page.items)
    return Math.min(...first.map((found) => found.sk as number), Number.POSITIVE_INFINITY)
  }
}
