import { Generations } from '../../domain/generations.ts'
import { Defect, type Op, tableBounds } from '../../ports/table.ts'
import type { Clock } from '../../ports/world.ts'
import { keyOf } from './bounds.ts'

interface Commit {
  readonly at: number
  readonly keys: string
  readonly done: Promise<void>
}

/** A commit weighs 1 and one more per 4,000 characters of its keys. */
const weightMax = 4096

/**
 * The commits of this process that passed in the last ten minutes, by token: the same one again is answered from here,
 * another under its name is a defect. What another process committed is told by DynamoDB (transactions) or by the mark
 * on the item.
 */
export class Tokens {
  readonly #clock: Clock
  readonly #commits = new Generations<Commit>(weightMax, ({ keys }) => 1 + keys.length / 4000)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async once(ops: readonly Op[], token: string, write: () => Promise<void>): Promise<void> {
    const now = this.#clock.now()
    const keys = ops.map((op) => keyOf(op).join('\0')).join('\0\0')
    const before = this.#commits.get(token)
    if (before !== undefined && now - before.at < tableBounds.tokenMemoryMs) {
      if (before.keys !== keys) throw new Defect(`token ${token} has named another commit within ten minutes`)
      return before.done
    }
    // What was refused or got lost is forgotten: its token is free, and the store tells what became of it.
    const done = write().catch((error) => {
      this.#commits.delete(token)
      throw error
    })
    this.#commits.set(token, { at: now, keys, done })
    return done
  }
}
