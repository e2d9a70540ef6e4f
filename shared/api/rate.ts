import { Refused } from '../domain/refused.ts'

/** So many calls a second, and so many more at once after a quiet time. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Hundreds of calls a second over one key are somebody's work, a few thousand at once an import; what this stops is a loop that has lost its mind. */
export const defaultRate: Rate = { perSecond: 1000, burst: 20_000 }

/** Wrong keys, for each address they come from. Generous: many may share one, and nobody guesses 256 bits. */
const wrongKeyRate: Rate = { perSecond: 50, burst: 1000 }

/**
 * Reads ROUSE_RATE_LIMIT: `perSecond:burst`, or `off`.
 *
 * @returns the default when it is not set, null for off
 * @throws Error that says what was expected
 */
export function rateFromEnv(env: Readonly<Record<string, string | undefined>>): Rate | null {
  const text = env.ROUSE_RATE_LIMIT
  if (text === undefined || text === '') return defaultRate
  if (text === 'off') return null
  const [, perSecond, burst] = /^(\d{1,7}):(\d{1,8})$/.exec(text) ?? []
  const rate = { perSecond: Number(perSecond), burst: Number(burst) }
  if (rate.perSecond > 0 && rate.burst > 0) return rate
  throw new Error(`ROUSE_RATE_LIMIT: expected "<calls a second>:<burst>", such as 300:1500, or "off", got "${text}"`)
}

/**
 * The buckets of one process; where several serve, each counts by itself. Times are milliseconds of a clock that never goes back: real
 * time, also where Rouse's clock stands still.
 */
export class RateLimits {
  readonly #calls: Buckets
  /** Apart from keys: whoever makes addresses up must not have a key's bucket forgotten. */
  readonly #addresses: Buckets
  readonly #wrongKeys = new Buckets(wrongKeyRate)

  constructor(rate: Rate) {
    this.#calls = new Buckets(rate)
    this.#addresses = new Buckets(rate)
  }

  /**
   * One call with this key.
   *
   * @returns the headers that tell what is left
   * @throws  RateLimited
   */
  take(key: string, nowMs: number): Standing {
    const waitMs = this.#calls.take(key, nowMs)
    if (waitMs > 0) throw new RateLimited('this key', this.#calls.rate, waitMs)
    const left = this.#calls.left(key)
    const more = Math.max(1, Math.ceil((1 - (left % 1)) / this.#calls.rate.perSecond))
    return standing(this.#calls.rate, Math.floor(left), more)
  }

  /** One call by an address that is a key itself: a webhook's, a calendar's. @throws RateLimited */
  takeAddress(sha256: string, nowMs: number): void {
    const waitMs = this.#addresses.take(sha256, nowMs)
    if (waitMs > 0) throw new RateLimited('this address', this.#addresses.rate, waitMs)
  }

  /** One call without a valid key. `address`: null where it is not known. @throws RateLimited */
  takeWrongKey(address: string | null, nowMs: number): void {
    const waitMs = this.#wrongKeys.take(address ?? '', nowMs)
    if (waitMs > 0) throw new RateLimited('wrong keys from one address', this.#wrongKeys.rate, waitMs)
  }
}

/** `RateLimit-Policy` and `RateLimit`. */
export type Standing = Readonly<Record<'ratelimit-policy' | 'ratelimit', string>>

/**
 * draft-ietf-httpapi-ratelimit-headers-10, structured fields. Policy: `q`, the calls at once; `w`, the seconds in which as many come
 * back. Limit: `r`, the calls left; `t`, the seconds until there is another one.
 */
const standing = ({ perSecond, burst }: Rate, left: number, seconds: number): Standing => ({
  'ratelimit-policy': `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
  ratelimit: `"default";r=${left};t=${seconds}`,
})

/** Answers 429; its headers say when to come again. */
export class RateLimited extends Refused {
  readonly headers: Readonly<Record<string, string>>
  constructor(what: string, rate: Rate, waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super(
      'rate_limited',
      `too many calls: ${what} may make ${rate.perSecond} a second, ${rate.burst} at once; try again in ${seconds} s`,
    )
    this.headers = { 'retry-after': String(seconds), ...standing(rate, 0, seconds) }
  }
}

interface Bucket {
  left: number
  atMs: number
}

/** Beyond so many names the one that came first is forgotten: it begins anew with a full bucket. */
const namesMax = 20_000

/** Token buckets, filled as time passes, by the look of whoever takes. */
export class Buckets {
  readonly rate: Rate
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate) {
    this.rate = rate
  }

  /** @returns 0, or in how many ms there will be one to take */
  take(name: string, nowMs: number): number {
    const { perSecond, burst } = this.rate
    const bucket = this.#buckets.get(name) ?? this.#add(name, nowMs)
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) * perSecond) / 1000)
    bucket.atMs = nowMs
    // A billionth short is a rounding, not a call too many.
    if (bucket.left < 1 - 1e-9) return ((1 - bucket.left) * 1000) / perSecond
    bucket.left -= 1
    return 0
  }

  /** How many more the last look left. */
  left(name: string): number {
    return this.#buckets.get(name)?.left ?? this.rate.burst
  }

  #add(name: string, atMs: number): Bucket {
    if (this.#buckets.size >= namesMax) this.#buckets.delete(this.#buckets.keys().next().value!)
    const bucket = { left: this.rate.burst, atMs }
    this.#buckets.set(name, bucket)
    return bucket
  }
}
