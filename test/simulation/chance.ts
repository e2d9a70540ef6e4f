export interface Random {
  /** True once in so many times. */
  readonly one: (in_: number) => boolean
  /** A whole number, 0 up to and without `n`. */
  readonly upTo: (n: number) => number
  /** A length of time around a mean, as arrivals that know nothing of each other have it. */
  readonly around: (mean: number) => number
}

/** The same numbers for the same seed (mulberry32). */
export function random(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    one: (in_) => next() * in_ < 1,
    upTo: (n) => Math.floor(next() * n),
    around: (mean) => Math.round(-Math.log(1 - next()) * mean),
  }
}

/** A number from 0 up to and without 1 that follows from names alone: what is left out elsewhere changes nothing here. */
export type Dice = (...names: readonly (string | number)[]) => number

export function dice(seed: number): Dice {
  return (...names) => {
    let hash = (seed ^ 0x811c9dc5) >>> 0
    for (const name of names) {
      const text = typeof name === 'string' ? name : String(name)
      for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
      hash = Math.imul(hash ^ 0x7c, 0x01000193)
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
  }
}

/** What is to come, in the order of its time, and of what was added first where times are equal. */
export class Queue<T> {
  readonly #heap: { readonly at: number; readonly order: number; readonly what: T }[] = []
  #added = 0

  /** When the next one is; null: there is none. */
  get first(): number | null {
    return this.#heap[0]?.at ?? null
  }

  add(at: number, what: T): void {
    const heap = this.#heap
    this.#added += 1
    heap.push({ at, order: this.#added, what })
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!this.#sooner(child, parent)) return
      this.#swap(child, parent)
      child = parent
    }
  }

  take(): T {
    const heap = this.#heap
    const [top] = heap
    const last = heap.pop()
    if (top === undefined || last === undefined) throw new Error('nothing is to come')
    if (heap.length === 0) return top.what
    heap[0] = last
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2]
      if (left >= heap.length) break
      const child = right < heap.length && this.#sooner(right, left) ? right : left
      if (!this.#sooner(child, parent)) break
      this.#swap(child, parent)
      parent = child
    }
    return top.what
  }

  #sooner(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a]!, this.#heap[b]!]
    return x.at === y.at ? x.order < y.order : x.at < y.at
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
}
