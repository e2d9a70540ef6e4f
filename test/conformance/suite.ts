import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Table } from '../../shared/ports/table.ts'
import type { AlarmClock, Bell, Clock, Envelope, Ids, Secrets } from '../../shared/ports/world.ts'
import { bellCases } from './bells.ts'
import { commitCases } from './commits.ts'
import { indexCases } from './indexes.ts'
import { modelCases } from './model.ts'
import { patchCases } from './patches.ts'
import { raceCases } from './races.ts'
import { readCases } from './reads.ts'
import { secretCases } from './secrets.ts'

/**
 * The adapters of one world, and what a test needs around them. One set serves a whole suite, since real tables are
 * slow to make: every case works in partitions of its own.
 */
export interface Pieces {
  readonly table: Table
  readonly bell: Bell
  readonly alarms: AlarmClock
  readonly secrets: Secrets
  readonly clock: Clock
  readonly ids: Ids
  /** Brings lagging indexes up to now, where that can be asked for; elsewhere it may do nothing. */
  catchUp(): Promise<void> | void
  /** Hears what is rung on a queue from now on. */
  hear(queue: string): Promise<Hearing> | Hearing
  /** Hears when the alarm clock calls: resolves with the engine's `now` of the next call. */
  nextAlarm(): Promise<number>
  close(): Promise<void>
}

export interface Hearing {
  /** The next envelope; never resolves when none comes. */
  next(): Promise<Envelope>
}

export interface Case {
  readonly title: string
  run(pieces: Pieces, fresh: (letter: string) => string): Promise<void>
}

const cases: readonly Case[] = [
  ...readCases,
  ...commitCases,
  ...patchCases,
  ...indexCases,
  ...raceCases,
  ...modelCases,
  ...bellCases,
  ...secretCases,
]

/**
 * Holds a set of adapters to the promises of `shared/ports`, and to nothing beyond them.
 *
 * @param skips  titles of cases that the adapters cannot meet, each with its reason; one that is met after all fails,
 *               as does one that
 *               names no case
 */
export function conformance(
  name: string,
  makePieces: () => Promise<Pieces>,
  skips: Readonly<Record<string, string>> = {},
) {
  describe(`${name} keeps the promises of the ports`, () => {
    let pieces: Pieces
    beforeAll(async () => {
      pieces = await makePieces()
    })
    afterAll(() => pieces.close())

    for (const { title, run } of cases) {
      const reason = skips[title]
      if (reason === undefined) {
        it(title, () => run(pieces, freshPartition))
        continue
      }
      it(`${title} (skipped: ${reason})`, async ({ skip }) => {
        const failed = await run(pieces, freshPartition).then(
          () => false,
          () => true,
        )
        if (!failed) throw new Error('this case passes: take its skip away')
        skip(reason)
      })
    }

    it('every skip names a case', () => {
      const unknown = Object.keys(skips).filter((title) => !cases.some((c) => c.title === title))
      if (unknown.length > 0) throw new Error(`no such case: ${unknown.join('; ')}`)
    })
  })
}

let partitions = 0
const run = Math.random().toString(36).slice(2)

/** A partition that nobody has used, of the table with this letter. */
function freshPartition(letter: string): string {
  partitions++
  return `${letter}#${run}-${partitions}`
}
