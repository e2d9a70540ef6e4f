/** Numbers by chance that are the same for the same seed (mulberry32). */
export interface Dice {
  /** 0 to n - 1. */
  below(n: number): number
}

export function dice(seed: number): Dice {
  let state = seed >>> 0
  return {
    below(n) {
      state = (state + 0x6d2b79f5) >>> 0
      let t = state
      t = Math.imul(t ^ (t >>> 15), t | 1)
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
      return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * n)
    },
  }
}
