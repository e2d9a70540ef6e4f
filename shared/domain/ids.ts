/**
 * Ids that follow from what they name: the ULID's time is the nominal time, its 80 random bits a hash.
 * Whoever computes the id of the same thing again, after a crash or in another process, gets the same one.
 */

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Ten characters that sort as the instant does. `at`: epoch ms, 0..2^48-1. */
export function timePart(at: number): string {
  // Two halves of 25 bits: shifts work on 32.
  const high = Math.floor(at / 33_554_432)
  const low = at % 33_554_432
  return half(high) + half(low)
}

const half = (bits: number): string =>
  alphabet[bits >>> 20]! +
  alphabet[(bits >>> 15) & 31] +
  alphabet[(bits >>> 10) & 31] +
  alphabet[(bits >>> 5) & 31] +
  alphabet[bits & 31]

/** @returns epoch ms of a ULID's first ten characters */
export function timeOf(ulid: string): number {
  let at = 0
  for (let i = 0; i < 10; i++) at = at * 32 + alphabet.indexOf(ulid[i]!)
  return at
}

/** 26 characters: time and a hash of `named`. Not a secret: a hash that is fast, not one that resists forging. */
export function derivedUlid(at: number, named: string): string {
  const [a, b, c] = hash96(named)
  return timePart(at) + fiveBits(a) + fiveBits(b) + last20(c)
}

const last20 = (word: number): string =>
  alphabet[word >>> 27]! + alphabet[(word >>> 22) & 31] + alphabet[(word >>> 17) & 31] + alphabet[(word >>> 12) & 31]

/** The upper 30 bits of a word, five at a time. */
const fiveBits = (word: number): string =>
  alphabet[word >>> 27]! +
  alphabet[(word >>> 22) & 31] +
  alphabet[(word >>> 17) & 31] +
  alphabet[(word >>> 12) & 31] +
  alphabet[(word >>> 7) & 31] +
  alphabet[(word >>> 2) & 31]

/** Three 32-bit lanes, each a murmur-like mix with its own constants; avalanche at the end. */
function hash96(text: string): [number, number, number] {
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  let c = 0xc2b2ae35
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0xcc9e2d51)
    a = (a << 15) | (a >>> 17)
    b = Math.imul(b ^ code, 0x1b873593)
    b = (b << 13) | (b >>> 19)
    c = Math.imul(c ^ (code + i), 0xe6546b64)
    c = (c << 16) | (c >>> 16)
  }
  return [avalanche(a ^ b), avalanche(b ^ Math.imul(c, 5)), avalanche(c ^ Math.imul(a, 3))]
}

function avalanche(value: number): number {
  let h = value
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return h >>> 0
}

export type IdPrefix =
  | 'agt'
  | 'ses'
  | 'sch'
  | 'run'
  | 'msg'
  | 'trn'
  | 'trc'
  | 'mon'
  | 'crd'
  | 'key'
  | 'per'
  | 'dlv'
  | 'job'
  | 'flw'
  | 'flr'
  | 'cal'

const idShape = /^([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}$/

/** True for `<prefix>_<ULID>`; what is not an id cannot name anything, and need not be looked up. */
export const isId = (prefix: IdPrefix, text: string): boolean => idShape.exec(text)?.[1] === prefix

/** The ULID of a prefixed id. */
export const bare = (id: string): string => id.slice(4)
