/**
 * Remembers what was used lately, up to a weight.
 *
 * Two maps: what is used moves to the young one; when that is full it becomes the old one and the old one is dropped
 * whole. So it holds between one and two times `weightMax`, and a use costs a map look-up, not a list of recency.
 */
export class Generations<V> {
  readonly #weightMax: number
  readonly #weigh: (value: V) => number
  #young = new Map<string, V>()
  #old = new Map<string, V>()
  #weight = 0

  constructor(weightMax: number, weigh: (value: V) => number) {
    this.#weightMax = weightMax
    this.#weigh = weigh
  }

  get(id: string): V | undefined {
    const young = this.#young.get(id)
    if (young !== undefined) return young
    const old = this.#old.get(id)
    if (old !== undefined) this.set(id, old)
    return old
  }

  set(id: string, value: V): void {
    // A value set again is weighed again: at worst a generation ends early.
    this.#weight += this.#weigh(value)
    if (this.#weight > this.#weightMax) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = this.#weigh(value)
    }
    this.#young.set(id, value)
  }

  delete(id: string): void {
    this.#young.delete(id)
    this.#old.delete(id)
  }
}
