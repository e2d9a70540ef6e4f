import { type World, worldOf } from '../ports/world.ts'

/**
 * Work that waits for somebody outside, apart from what wakes: each piece once at a time in this process, and so many at once.
 *
 * A piece is named by what it works on. Whoever begins one has claimed it in the store, so that another process does not; what breaks off
 * with the process is due again when the claim runs out.
 */
export class Errands {
  /** The same for the same name in one world; `atOnce` is that of the first who asks. */
  static of(world: World, name: string, atOnce: number): Errands {
    const named = byWorld.get(worldOf(world)) ?? new Map<string, Errands>()
    byWorld.set(worldOf(world), named)
    const known = named.get(name) ?? new Errands(atOnce)
    named.set(name, known)
    return known
  }

  readonly #atOnce: number
  readonly #going = new Map<string, Promise<void>>()
  #stopped = false

  private constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /**
   * Begins a piece of work.
   *
   * @param run  never rejects
   * @returns    false when this piece is under way already, or nothing is begun any more
   */
  send(key: string, run: () => Promise<void>): boolean {
    if (this.#stopped || this.#going.has(key)) return false
    this.#going.set(
      key,
      run().finally(() => this.#going.delete(key)),
    )
    return true
  }

  /** Waits until another one may begin. */
  async room(): Promise<void> {
    while (this.#going.size >= this.#atOnce) await Promise.race(this.#going.values())
  }

  /** Waits until nothing is under way. */
  async idle(): Promise<void> {
    while (this.#going.size > 0) await Promise.all(this.#going.values())
  }

  /** True once nothing more is begun: a piece that has several parts ends after the one under way. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** Begins nothing from now on. */
  stop(): void {
    this.#stopped = true
  }
}

const byWorld = new WeakMap<World, Map<string, Errands>>()
