import fc from 'fast-check'
import { expect } from 'vitest'
import {
  Conflict,
  type Guard,
  type IndexEntries,
  type Item,
  type Key,
  type Op,
  type Table,
} from '../../shared/ports/table.ts'
import { eventually, findAll } from './eventually.ts'
import type { Case } from './suite.ts'

/** What a table should hold, in the plainest form. */
export type Model = Map<string, { key: Key; version: number; item: Item; index: IndexEntries }>

const guardHolds = (guard: Guard, item: Item): boolean => {
  const value = item[guard.attr] as number | undefined
  if (!('value' in guard)) return (value === undefined) === (guard.is === 'absent')
  if (value === undefined) return false
  const bound = guard.value as number
  return { '<': value < bound, '<=': value <= bound, '=': value === bound, '>=': value >= bound, '>': value > bound }[
    guard.is
  ]
}

/** Applies a commit to the model; null when it is refused. */
export function applied(model: Model, ops: readonly Op[]): Model | null {
  const next: Model = new Map(model)
  for (const op of ops) {
    const key = 'put' in op ? op.put : 'patch' in op ? op.patch : 'delete' in op ? op.delete : op.check
    const id = key.join(' ')
    const before = model.get(id)
    if ('patch' in op) {
      if (!op.guards.every((guard) => guardHolds(guard, before?.item ?? {}))) return null
      const item: Record<string, Item[string]> = { ...before?.item, ...op.set }
      for (const attr of op.unset ?? []) delete item[attr]
      for (const [attr, by] of Object.entries(op.add ?? {})) item[attr] = ((item[attr] as number | undefined) ?? 0) + by
      next.set(id, { key, version: (before?.version ?? 0) + 1, item, index: op.index ?? before?.index ?? {} })
    } else {
      const { expect: expected } = op
      if (expected === 'absent' && before !== undefined) return null
      if (expected === 'present' && before === undefined) return null
      if (typeof expected === 'number' && before?.version !== expected) return null
      if ('put' in op) {
        next.set(id, { key, version: (before?.version ?? 0) + 1, item: op.item, index: op.index ?? {} })
      } else if ('delete' in op) next.delete(id)
    }
  }
  return next
}

const attr = fc.constantFrom('a', 'b', 'c')
const number = fc.integer({ min: -3, max: 3 })
const item = fc.dictionary(attr, number, { maxKeys: 3 }).map((d): Item => ({ ...d }))
const place = fc.record({ due: fc.option(number), maker: fc.option(fc.constantFrom('x', 'y')) })
const guard = fc.oneof(
  fc.record({ attr, is: fc.constantFrom('<', '<=', '=', '>=', '>'), value: number }),
  fc.record({ attr, is: fc.constantFrom('absent', 'present') }),
) as fc.Arbitrary<Guard>
const where = fc.record({ partition: fc.nat(2), sk: fc.constantFrom('A', 'B', 'é', 'Z#1') })
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), item, place, expects: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('patch' as const),
      item,
      by: number,
      guards: fc.array(guard, { maxLength: 1 }),
      place: fc.option(place),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), expects: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const), expects: fc.nat(2) }) },
)
/** The items and changes of one commit. */
export const commit = fc.uniqueArray(fc.record({ where, change }), {
  minLength: 1,
  maxLength: 4,
  selector: ({ where: { partition, sk } }) => `${partition} ${sk}`,
})

export const modelCases: readonly Case[] = [
  {
    title: 'any sequence of commits leaves what a plain map would hold',
    async run(pieces, fresh) {
      const { table } = pieces
      await fc.assert(
        fc.asyncProperty(fc.array(commit, { maxLength: 25 }), async (commits) => {
          const pks = [fresh('S'), fresh('S'), fresh('S')]
          const shard = pks[0]!
          let model: Model = new Map()
          for (const [i, changes] of commits.entries()) {
            const ops = changes.map(({ where, change }) =>
              opOf([pks[where.partition]!, where.sk], change, model, shard),
            )
            const expected = applied(model, ops)
            if (expected === null) {
              await expect(table.commit(ops, `${shard} ${i}`)).rejects.toBeInstanceOf(Conflict)
            } else {
              await table.commit(ops, `${shard} ${i}`)
              model = await versioned(table, expected, ops)
            }
          }
          for (const pk of pks) {
            const held = [...model.values()].filter(({ key }) => key[0] === pk)
            held.sort((a, b) => Buffer.compare(Buffer.from(a.key[1]), Buffer.from(b.key[1])))
            expect((await table.list(pk)).items).toEqual(held.map(({ key, version, item }) => ({ key, version, item })))
          }
          await eventually(pieces, async () => {
            for (const index of ['due', 'schedulesByMaker'] as const) {
              const placed = [...model.values()].flatMap((h) =>
                h.index[index] ? [`${h.key} ${h.index[index][1]}`] : [],
              )
              const found = await findAll(pieces, index, shard)
              expect(found.map(({ key, sk }) => `${key} ${sk}`).sort()).toEqual(placed.sort())
            }
          })
        }),
        { numRuns: 60 },
      )
    },
  },
]

/** The model with the versions that only the store can tell: those of items put whatever they were, or patched. */
async function versioned(table: Table, model: Model, ops: readonly Op[]): Promise<Model> {
  const next: Model = new Map(model)
  for (const op of ops) {
    const key = 'patch' in op ? op.patch : 'put' in op && op.expect === 'any' ? op.put : null
    const held = key === null ? undefined : next.get(key.join(' '))
    if (key === null || held === undefined) continue
    const [stored] = await table.get([key])
    next.set(key.join(' '), { ...held, version: stored!.version })
  }
  return next
}

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

/** What a change asks of the store, given what the model holds. */
export function opOf(key: Key, change: Change, model: Model, shard: string): Op {
  const version = model.get(key.join(' '))?.version ?? 0
  // Mostly what holds, so that commits pass; sometimes what does not.
  const holding = version === 0 ? 'absent' : version
  switch (change.kind) {
    case 'put': {
      const expected = [holding, holding, 'any', version + 1][change.expects]! as number | 'absent' | 'any'
      return { put: key, item: change.item, expect: expected, index: entries(change.place, shard) }
    }
    case 'patch': {
      const { a, ...set } = change.item
      return {
        patch: key,
        set,
        ...(a === undefined ? { unset: ['a'] } : { add: { a: change.by } }),
        guards: change.guards,
        ...(change.place === null ? {} : { index: entries(change.place, shard) }),
      }
    }
    case 'delete':
      return { delete: key, expect: (['any', 'present', version + 1] as const)[change.expects]! }
    case 'check':
      return { check: key, expect: ([holding, holding, 'present'] as const)[change.expects]! }
  }
}

function entries({ due, maker }: { due: number | null; maker: string | null }, shard: string): IndexEntries {
  return {
    ...(due === null ? {} : { due: [shard, due] as const }),
    ...(maker === null ? {} : { schedulesByMaker: [shard, maker] as const }),
  }
}
