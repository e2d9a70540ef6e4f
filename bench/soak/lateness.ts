/** Lateness of many wakes, counted by the millisecond: an hour of them would be a list of 720,000. */
export class LatenessCount {
  #counts = new Map<number, number>()
  #total = 0

  add(ms: number): void {
    this.#counts.set(ms, (this.#counts.get(ms) ?? 0) + 1)
    this.#total += 1
  }

  /** What was counted since the last take. */
  take(): { count: number; p50: number; p99: number; most: number } {
    const sorted = [...this.#counts].sort(([a], [b]) => a - b)
    const at = (share: number): number => {
      let left = Math.max(1, Math.ceil(this.#total * share))
      for (const [ms, count] of sorted) {
        left -= count
        if (left <= 0) return ms
      }
      return 0
    }
    const taken = { count: this.#total, p50: at(0.5), p99: at(0.99), most: at(1) }
    this.#counts = new Map()
    this.#total = 0
    return taken
  }
}
