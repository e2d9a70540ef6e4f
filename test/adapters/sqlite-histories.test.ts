import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openFile } from '../../shared/adapters/sqlite/file.ts'
import { type SqliteTable, tableOn } from '../../shared/adapters/sqlite/table.ts'
import { Conflict, type Op, Unavailable } from '../../shared/ports/table.ts'
import { applied, commit, type Model, opOf } from '../conformance/model.ts'
import { losable } from './losable.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('commit' as const), group: fc.array(commit, { maxLength: 5 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('lose' as const), group: fc.array(commit, { maxLength: 5 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('file' as const), ms: fc.constantFrom(50, 60, 200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
)

it.each([
  ['at once', false],
  ['beside the event loop', true],
])(
  'groups, lost groups, filing and crashes in any order leave what a plain map would hold: written %s',
  async (_how, slow) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const { file, lose } = losable(openFile({ file: ':memory:' }), slow)
        let table = tableOn(file, { clock: { now: () => 0 } })
        let model: Model = new Map()
        let tokens = 0
        for (const next of steps) {
          switch (next.kind) {
            case 'file':
              vi.advanceTimersByTime(next.ms)
              break
            case 'crash':
              // Another table on the same file, the old one and all it knew left behind.
              vi.clearAllTimers()
              table = tableOn(file, { clock: { now: () => 0 } })
              break
            default: {
              lose(next.kind === 'lose')
              const group = groupOf(next.group, model)
              const results = await Promise.allSettled(group.map(({ ops }) => table.commit(ops, `${tokens++}`)))
              lose(false)
              let lost = false
              for (const [i, result] of results.entries()) {
                if (group[i]!.refused) {
                  expect((result as PromiseRejectedResult).reason).toBeInstanceOf(Conflict)
                } else if (next.kind === 'lose' && result.status === 'rejected') {
                  expect(result.reason).toBeInstanceOf(Unavailable)
                  lost = true
                } else {
                  expect(result).toEqual({ status: 'fulfilled', value: undefined })
                }
              }
              if (!lost) model = group.at(-1)?.model ?? model
            }
          }
          await expectHolds(table, model)
        }
        vi.clearAllTimers()
        await table.close()
      }),
      { numRuns: 150 },
    )
  },
)

const pks = ['S#1', 'S#2', 'S#3']

/** The operations of each commit of a group, and what they give when the group is kept. */
function groupOf(changes: readonly (typeof commit extends fc.Arbitrary<infer C> ? C : never)[], start: Model) {
  let model = start
  return changes.map((parts) => {
    const ops: Op[] = parts.map(({ where, change }) => opOf([pks[where.partition]!, where.sk], change, model, '0'))
    const after = applied(model, ops)
    if (after !== null) model = after
    return { ops, refused: after === null, model }
  })
}

async function expectHolds(table: SqliteTable, model: Model) {
  const held = [...model.values()].sort((a, b) => Buffer.compare(Buffer.from(a.key[1]), Buffer.from(b.key[1])))
  for (const pk of pks) {
    const own = held.filter(({ key }) => key[0] === pk).map(({ key, version, item }) => ({ key, version, item }))
    expect((await table.list(pk)).items).toEqual(own)
    expect((await table.list(pk, { descending: true, limit: 2 })).items).toEqual(own.toReversed().slice(0, 2))
    expect(await table.get(own.map(({ key }) => key))).toEqual(own)
  }
  for (const index of ['due', 'schedulesByMaker'] as const) {
    const placed = held.flatMap(({ key, index: places }) => (places[index] ? [`${key} ${places[index][1]}`] : []))
    const found = await table.find(index, '0')
    expect(found.items.map(({ key, sk }) => `${key} ${sk}`).sort()).toEqual(placed.sort())
  }
}
