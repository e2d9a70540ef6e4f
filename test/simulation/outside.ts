import type { OutboundAnswer, OutboundRequest } from '../../shared/ports/world.ts'
import { type Dice, dice } from './chance.ts'

/** What left a simulated world. */
export interface Sent {
  readonly method: string
  readonly host: string
  /** The id of a delivery, or the idempotency key of a step; null: it only reads. */
  readonly key: string | null
  readonly at: number
  /** The receiver took it. */
  readonly taken: boolean
}

/** Receivers: most take what they get, some are away for a while. What they say follows from the seed and the hour. */
export class Outside {
  readonly sent: Sent[] = []
  /** Calls by key. */
  readonly byKey = new Map<string, Sent[]>()
  readonly #dice: Dice
  readonly #now: () => number
  isCalm = false

  constructor(seed: number, now: () => number) {
    this.#dice = dice(seed)
    this.#now = now
  }

  answer(request: OutboundRequest): OutboundAnswer {
    const { method, url, headers } = request
    const { host } = new URL(url)
    const key = headers['webhook-id'] ?? headers['idempotency-key'] ?? null
    const at = this.#now()
    const hour = Math.floor(at / 3_600_000)
    const isAway = !this.isCalm && this.#dice('away', host, Math.floor(at / 600_000)) < 0.12
    const sent: Sent = { method, host, key, at, taken: !isAway }
    this.sent.push(sent)
    if (key !== null) this.byKey.set(key, [...(this.byKey.get(key) ?? []), sent])
    const value = Math.floor(this.#dice('value', host, hour) * 4)
    return { ok: true, status: isAway ? 503 : 200, headers: {}, body: JSON.stringify({ value }) }
  }
}
