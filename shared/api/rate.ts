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
  readonly #wrongKeys = new Buckets(wrongKeyRate)

  constructor(rate: Rate) {
    this.#calls = new Buckets(rate)
  }

  /** One call with this key. @throws RateLimited */
  take(key: string, nowMs: number): void {
    const waitMs = this.#calls.take(key, nowMs)
    if (waitMs > 0) throw new RateLimited('this key', this.#calls.rate, waitMs)
  }

  /** One call without a valid key. `address`: null where it is not known. @throws RateLimited */
  takeWrongKey(address: string | null, nowMs: number): void {
    const waitMs = this.#wrongKeys.take(address ?? '', nowMs)
    if (waitMs > 0) throw new RateLimited('wrong keys from one address', this.#wrongKeys.rate, waitMs)
  }
}

/** Answers 429; its headers say when to come again. */
export class RateLimited extends Refused {
  readonly headers: Readonly<Record<string, string>>
  constructor(what: string, rate: Rate, waitMs: number) {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    super(
      'rate_limited',
      `too many calls: ${what} may make ${rate.perSecond} a second, ${rate.burst} at once; try again in ${seconds} s`,
    )
    // draft-ietf-httpapi-ratelimit-headers-10: quota and window of the policy; calls left and seconds until there are some.
    this.headers = {
      'retry-after': String(seconds),
      'ratelimit-policy': `"default";q=${rate.burst};w=${Math.ceil(rate.burst / rate.perSecond)}`,
      ratelimit: `"default";r=0;t=${seconds}`,
    }
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

  #add(name: string, atMs: number): Bucket {
    if (this.#buckets.size >= namesMax) this.#buckets.delete(this.#buckets.keys().next().value!)
    const bucket = { left: this.rate.burst, atMs }
    this.#buckets.set(name, bucket)
    return bucket
  }
}
