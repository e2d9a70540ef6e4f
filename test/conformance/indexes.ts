import { expect } from 'vitest'
import { Defect, type IndexEntries, type Key } from '../../shared/ports/table.ts'
import { eventually, findAll } from './eventually.ts'
import type { Case } from './suite.ts'

export const indexCases: readonly Case[] = [
  {
    title: 'an index answers keys and sort values in order: numbers by value, text by its bytes',
    async run(pieces, fresh) {
      const { table } = pieces
      const shard = fresh('S')
      const times = [9, 100, 1e12, 1e12 + 1, 20]
      const names = ['b', 'B', 'é', '～', '😀']
      const keys = times.map((): Key => [fresh('S'), 'A'])
      await table.commit(
        keys.map((put, i) => {
          const index: IndexEntries = { due: [shard, times[i]!], schedulesByAgent: [shard, names[i]!] }
          return { put, item: {}, expect: 'absent', index }
        }),
        shard,
      )
      const at = (sk: string | number) => ({ key: keys[[...times, ...names].indexOf(sk) % 5], sk })
      await eventually(pieces, async () => {
        const due = [9, 20, 100, 1e12, 1e12 + 1].map(at)
        expect(await findAll(pieces, 'due', shard)).toEqual(due)
        expect(await findAll(pieces, 'due', shard, { descending: true, limit: 2 })).toEqual(due.toReversed())
        expect(await findAll(pieces, 'schedulesByAgent', shard)).toEqual(['B', 'b', 'é', '～', '😀'].map(at))
      })
    },
  },
  {
    title: 'index bounds are inclusive, and pages of any size add up to the whole, equal sort values included',
    async run(pieces, fresh) {
      const { table } = pieces
      const shard = fresh('T')
      const keys = Array.from({ length: 12 }, (): Key => [fresh('T'), 'A'])
      await table.commit(
        keys.map((put, i) => ({ put, item: {}, expect: 'absent', index: { leases: [shard, 10 + (i >> 2)] } })),
        shard,
      )
      const sorted = (found: readonly { key: Key }[]) => found.map(({ key }) => key[0]).sort()
      const pks = keys.map(([pk]) => pk)
      await eventually(pieces, async () => {
        expect(sorted(await findAll(pieces, 'leases', shard, { from: 11, to: 11 }))).toEqual(pks.slice(4, 8).sort())
        expect(sorted(await findAll(pieces, 'leases', shard, { from: 11 }))).toEqual(pks.slice(4).sort())
        expect(sorted(await findAll(pieces, 'leases', shard, { to: 10 }))).toEqual(pks.slice(0, 4).sort())
        for (const limit of [1, 3, 12, 13]) {
          for (const descending of [false, true]) {
            const found = await findAll(pieces, 'leases', shard, { limit, descending })
            expect(sorted(found)).toEqual(pks.toSorted())
            const times = found.map(({ sk }) => sk as number)
            expect(times).toEqual(times.toSorted((a, b) => (descending ? b - a : a - b)))
          }
        }
      })
    },
  },
  {
    title:
      'an item moves in its indexes with each write, leaves those that a write does not name, and all when deleted',
    async run(pieces, fresh) {
      const { table } = pieces
      const [shard, pk] = [fresh('S'), fresh('S')]
      const key: Key = [pk, 'A']
      let token = 0
      const places = async (expected: { due?: number; maker?: string }) => {
        await eventually(pieces, async () => {
          const due = await findAll(pieces, 'due', shard)
          const maker = await findAll(pieces, 'schedulesByMaker', shard)
          expect(due).toEqual(expected.due === undefined ? [] : [{ key, sk: expected.due }])
          expect(maker).toEqual(expected.maker === undefined ? [] : [{ key, sk: expected.maker }])
        })
      }
      const commit = (op: Parameters<typeof table.commit>[0][0]) => table.commit([op], `${pk} ${token++}`)
      await commit({ put: key, item: {}, expect: 'absent', index: { due: [shard, 5] } })
      await places({ due: 5 })
      await commit({ put: key, item: {}, expect: 1, index: { due: [shard, 6], schedulesByMaker: [shard, 'm'] } })
      await places({ due: 6, maker: 'm' })
      await commit({ patch: key, set: { a: 1 }, guards: [] })
      await places({ due: 6, maker: 'm' })
      await commit({ patch: key, guards: [], index: { schedulesByMaker: [shard, 'n'] } })
      await places({ maker: 'n' })
      await commit({ put: key, item: {}, expect: 4 })
      await places({})
      await commit({ patch: key, guards: [], index: { due: [shard, 7] } })
      await places({ due: 7 })
      await commit({ patch: key, guards: [], index: {} })
      await places({})
      await commit({ put: key, item: {}, expect: 'any', index: { due: [shard, 8] } })
      await commit({ delete: key, expect: 'present' })
      await places({})
      await commit({ put: key, item: {}, expect: 'absent', index: { due: [shard, 9] } })
      await places({ due: 9 })
    },
  },
  {
    title: 'an index partition holds its own items only',
    async run(pieces, fresh) {
      const [one, other] = [fresh('S'), fresh('S')]
      await pieces.table.commit(
        [
          { put: [one, 'A'], item: {}, expect: 'absent', index: { due: [one, 1] } },
          { put: [other, 'A'], item: {}, expect: 'absent', index: { due: [other, 1] } },
        ],
        one,
      )
      await eventually(pieces, async () => {
        expect(await findAll(pieces, 'due', one)).toEqual([{ key: [one, 'A'], sk: 1 }])
        expect(await findAll(pieces, 'due', other)).toEqual([{ key: [other, 'A'], sk: 1 }])
      })
      expect(await findAll(pieces, 'due', fresh('S'))).toEqual([])
    },
  },
  {
    title: 'a refused commit moves nothing in the indexes',
    async run(pieces, fresh) {
      const { table } = pieces
      const pk = fresh('S')
      await table.commit([{ put: [pk, 'A'], item: {}, expect: 'absent', index: { due: [pk, 1] } }], `${pk} 1`)
      const refused = table.commit(
        [
          { put: [pk, 'A'], item: {}, expect: 1, index: { due: [pk, 2] } },
          { check: [pk, 'B'], expect: 'present' },
        ],
        `${pk} 2`,
      )
      await expect(refused).rejects.toThrow()
      // Whatever the index shows, early or late, it never shows what was refused.
      await eventually(pieces, async () => {
        expect(await findAll(pieces, 'due', pk)).toEqual([{ key: [pk, 'A'], sk: 1 }])
      })
    },
  },
  {
    title: "another table's index, or a sort value of the wrong type, is a defect",
    async run({ table }, fresh) {
      const pk = fresh('S')
      for (const [i, index] of [
        { leases: [pk, 1] },
        { due: [pk, 'soon'] },
        { due: [pk, Number.NaN] },
        { schedulesByAgent: [pk, 1] },
      ].entries()) {
        const put = {
          put: [pk, 'A'] as const,
          item: {},
          expect: 'any',
          index: index as unknown as IndexEntries,
        } as const
        await expect(table.commit([put], `${pk} ${i}`)).rejects.toBeInstanceOf(Defect)
      }
      await expect(table.find('due', pk, { from: 'soon' })).rejects.toBeInstanceOf(Defect)
      expect(await table.get([[pk, 'A']])).toEqual([null])
    },
  },
]
