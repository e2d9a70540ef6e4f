/**
 * Values kept by key up to a number; what has not been used for long is forgotten.
 * Two generations instead of an order: a map from which the oldest is deleted again and again walks over its own holes.
 */
export class Remembered<V> {
  private readonly half: number
  private young = new Map<string, V>()
  private old = new Map<string, V>()

  constructor(max: number) {
    this.half = Math.ceil(max / 2)
  }

  get(key: string): V | undefined {
    const value = this.young.get(key)
    if (value !== undefined) return value
    const before = this.old.get(key)
    if (before !== undefined) this.set(key, before)
    return before
  }

  set(key: string, value: V): void {
    if (this.young.size >= this.half) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(key, value)
  }
}
