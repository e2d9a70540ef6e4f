import type { Caller } from '../domain/access.ts'
import type { IdPrefix } from '../domain/ids.ts'
import { Conflict, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'

/** One call of the API, read at the edge: who, when, from which session. */
export interface Call {
  readonly world: World
  readonly caller: Caller
  /** Epoch ms, read once. */
  readonly now: number
  /** X-Rouse-Session: the session an agent acts in; null: none named. */
  readonly session: string | null
  /** X-Rouse-Turn: a fence, the turn that must still be running. */
  readonly turn: string | null
  /** A new id; with an Idempotency-Key it follows from the key, so that a call repeated after a crash finds what the first one made. */
  readonly newId: (prefix: IdPrefix) => string
  /** True when `newId` follows from an Idempotency-Key: what it names may exist already. */
  readonly repeatable: boolean
  /** What the audit trail will say; none where nothing is audited. */
  readonly trail?: Trail
}

/** Filled while a call runs: whose agents and schedules it named, and the ids that it made. */
export interface Trail {
  readonly owners: Set<string>
  readonly made: string[]
}

const attemptsMax = 200
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One item is written by too many at once. It says nothing about the others. */
export class Contended extends Unavailable {}

/**
 * Runs load → decide → commit again when another commit came between. A lost race is no error of the caller's; losing this
 * often means that something writes one item without end.
 */
export async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      // A few losers look again at once; a crowd that does so only gets in its own way, and on AWS pays for it.
      if (tries > 3) await pause(Math.random() * Math.min(25, 2 ** tries))
      if (tries >= attemptsMax) throw new Contended(`${tries} commits in a row lost a race; try again`, error)
    }
  }
}
