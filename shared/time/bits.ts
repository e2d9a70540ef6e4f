/** Sets of small numbers in the bits of integers: 0..31 in one, 0..63 in two. */

/** The lowest number in a set that is not empty. */
export function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

export function size(bits: number): number {
  let n = bits - ((bits >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The least member >= `from` of a set of 0..63 in two words, -1 for none. */
export function nextOf(low: number, high: number, from: number): number {
  if (from < 32) {
    const rest = low >>> from
    if (rest !== 0) return from + lowest(rest)
    return high === 0 ? -1 : 32 + lowest(high)
  }
  if (from > 63) return -1
  const rest = high >>> (from - 32)
  return rest === 0 ? -1 : from + lowest(rest)
}

/** How many members < `below`. */
export function rankOf(low: number, high: number, below: number): number {
  if (below <= 0) return 0
  if (below < 32) return size(low & ((1 << below) - 1))
  if (below === 32) return size(low)
  return size(low) + (below > 63 ? size(high) : size(high & ((1 << (below - 32)) - 1)))
}

/** The member with `rank` members before it; the caller knows that there is one. */
export function nthOf(low: number, high: number, rank: number): number {
  let bits = low
  let base = 0
  const inLow = size(low)
  if (rank >= inLow) {
    rank -= inLow
    bits = high
    base = 32
  }
  for (; rank > 0; rank--) bits &= bits - 1
  return base + lowest(bits)
}

export function members(low: number, high = 0): number[] {
  const all: number[] = []
  for (let n = nextOf(low, high, 0); n !== -1; n = nextOf(low, high, n + 1)) all.push(n)
  return all
}

/** Numbers up to 59 as two words; a second 60 is a leap second, which no clock here shows. */
export function bitsOf(numbers: readonly number[]): [number, number] {
  let low = 0
  let high = 0
  for (const n of numbers) {
    if (n < 32) low |= 1 << n
    else if (n < 60) high |= 1 << (n - 32)
  }
  return [low, high]
}
