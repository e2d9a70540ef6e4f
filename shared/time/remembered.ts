/** Values kept by key up to a number, the least recently used forgotten first. */
export class Remembered<V> {
  private readonly max: number
  private readonly kept = new Map<string, V>()

  constructor(max: number) {
    this.max = max
  }

  get(key: string): V | undefined {
    const value = this.kept.get(key)
    if (value === undefined) return undefined
    // A map keeps the order of insertion: what is used goes to its end. Only when full, since order matters only then.
    if (this.kept.size >= this.max) {
      this.kept.delete(key)
      this.kept.set(key, value)
    }
    return value
  }

  set(key: string, value: V): void {
    if (this.kept.size >= this.max && !this.kept.has(key)) {
      for (const oldest of this.kept.keys()) {
        this.kept.delete(oldest)
        break
      }
    }
    this.kept.set(key, value)
  }
}
