/** Time that passes from event to event. What runs between two events takes none of it. */
export class VirtualTime {
  #now: number
  #sequence = 0
  readonly #heap: Event[] = []

  constructor(now: number) {
    this.#now = now
  }

  now = (): number => this.#now

  /** Runs `act` at `at`, or next where that is past. Of one instant, in the order of asking. */
  at(at: number, act: () => void): void {
    push(this.#heap, { at: Math.max(at, this.#now), sequence: this.#sequence++, act })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.#now + ms, resolve))
  }

  /** Lets time pass up to `until`, or to when nothing is to come any more. */
  async run(until: number): Promise<void> {
    await settled()
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#now = next.at
      pop(this.#heap).act()
      if (this.#heap[0]?.at !== next.at) await settled()
    }
    this.#now = Math.max(this.#now, until)
  }
}

/** Everything that can go on without time passing has gone on: promises are settled before the event loop turns. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Event {
  readonly at: number
  readonly sequence: number
  readonly act: () => void
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.sequence < b.sequence)

function push(heap: Event[], event: Event): void {
  let i = heap.push(event) - 1
  while (i > 0) {
    const parent = (i - 1) >> 1
    if (!before(event, heap[parent]!)) break
    heap[i] = heap[parent]!
    i = parent
  }
  heap[i] = event
}

function pop(heap: Event[]): Event {
  const first = heap[0]!
  const last = heap.pop()!
  if (heap.length === 0) return first
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1
    if (!before(heap[child]!, last)) break
    heap[i] = heap[child]!
    i = child
  }
  heap[i] = last
  return first
}

/** Chance that is the same each time: mulberry32. @returns 0 up to 1, 1 left out */
export function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
