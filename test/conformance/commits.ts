import { expect } from 'vitest'
import { Conflict, Defect, type Key, type Op } from '../../shared/ports/table.ts'
import type { Case } from './suite.ts'

const conflictOn = (op: number, key: Key) => expect.objectContaining({ name: 'Conflict', op, key })

export const commitCases: readonly Case[] = [
  {
    title: 'a commit puts, patches, deletes and checks, all at once',
    async run({ table }, fresh) {
      const pk = fresh('S')
      await table.commit([{ put: [pk, 'old'], item: { n: 1 }, expect: 'absent' }], `${pk} 1`)
      await table.commit(
        [
          { check: [pk, 'none'], expect: 'absent' },
          { put: [pk, 'new'], item: { n: 2 }, expect: 'absent' },
          { patch: [pk, 'patched'], add: { n: 3 }, guards: [] },
          { delete: [pk, 'old'], expect: 1 },
        ],
        `${pk} 2`,
      )
      expect((await table.list(pk)).items).toEqual([
        { key: [pk, 'new'], version: 1, item: { n: 2 } },
        { key: [pk, 'patched'], version: expect.any(Number), item: { n: 3 } },
      ])
    },
  },
  {
    title:
      'put expects absent, a version, or anything; the version is 1 when new, one more after a known one, another after any',
    async run({ table }, fresh) {
      const key: Key = [fresh('S'), 'A']
      const put = (expected: number | 'absent' | 'any', n: number) =>
        table.commit([{ put: key, item: { n }, expect: expected }], `${key[0]} ${n}`)
      const version = async () => (await table.get([key]))[0]?.version
      await put('absent', 1)
      expect(await version()).toBe(1)
      await expect(put('absent', 2)).rejects.toEqual(conflictOn(0, key))
      await put(1, 3)
      expect(await version()).toBe(2)
      await expect(put(1, 4)).rejects.toEqual(conflictOn(0, key))
      await expect(put(3, 5)).rejects.toBeInstanceOf(Conflict)
      await put('any', 6)
      const [stored] = await table.get([key])
      expect(stored?.item).toEqual({ n: 6 })
      expect([1, 2]).not.toContain(stored?.version)
      await put(stored!.version, 7)
      expect(await version()).toBe(stored!.version + 1)
    },
  },
  {
    title: 'put on a missing item: any writes it, a version is a conflict',
    async run({ table }, fresh) {
      const [a, b]: Key[] = [
        [fresh('S'), 'A'],
        [fresh('S'), 'A'],
      ]
      await table.commit([{ put: a!, item: {}, expect: 'any' }], a![0])
      await expect(table.commit([{ put: b!, item: {}, expect: 1 }], b![0])).rejects.toEqual(conflictOn(0, b!))
      expect((await table.get([a!, b!])).map((s) => s?.item ?? null)).toEqual([{}, null])
    },
  },
  {
    title: 'put replaces the whole item',
    async run({ table }, fresh) {
      const key: Key = [fresh('S'), 'A']
      await table.commit([{ put: key, item: { a: 1, b: 2 }, expect: 'absent' }], `${key[0]} 1`)
      await table.commit([{ put: key, item: { c: 3 }, expect: 1 }], `${key[0]} 2`)
      expect((await table.get([key]))[0]?.item).toEqual({ c: 3 })
    },
  },
  {
    title: 'delete expects a version, a present item, or anything',
    async run({ table }, fresh) {
      const key: Key = [fresh('S'), 'A']
      let token = 0
      const commit = (op: Op) => table.commit([op], `${key[0]} ${token++}`)
      await expect(commit({ delete: key, expect: 'present' })).rejects.toEqual(conflictOn(0, key))
      await expect(commit({ delete: key, expect: 1 })).rejects.toBeInstanceOf(Conflict)
      await commit({ delete: key, expect: 'any' })
      for (const expected of ['any', 'present', 1] as const) {
        await commit({ put: key, item: {}, expect: 'absent' })
        await commit({ delete: key, expect: expected })
        expect(await table.get([key])).toEqual([null])
      }
      await commit({ put: key, item: {}, expect: 'absent' })
      await expect(commit({ delete: key, expect: 2 })).rejects.toBeInstanceOf(Conflict)
    },
  },
  {
    title: 'check expects a version, a present item or an absent one, and writes nothing',
    async run({ table }, fresh) {
      const pk = fresh('S')
      const key: Key = [pk, 'A']
      let token = 0
      const check = (expected: number | 'absent' | 'present') =>
        table.commit(
          [
            { put: [pk, `other${token}`], item: {}, expect: 'absent' },
            { check: key, expect: expected },
          ],
          `${pk} ${token++}`,
        )
      await check('absent')
      await expect(check('present')).rejects.toEqual(conflictOn(1, key))
      await expect(check(1)).rejects.toBeInstanceOf(Conflict)
      await table.commit([{ put: key, item: {}, expect: 'absent' }], pk)
      await check('present')
      await check(1)
      await expect(check('absent')).rejects.toEqual(conflictOn(1, key))
      await expect(check(2)).rejects.toBeInstanceOf(Conflict)
      expect((await table.get([key]))[0]?.version).toBe(1)
    },
  },
  {
    title: 'a refused commit leaves nothing, wherever its refused operation stands and whatever tables it spans',
    async run({ table }, fresh) {
      const keys: Key[] = [
        [fresh('S'), 'A'],
        [fresh('C'), 'A'],
        [fresh('K'), 'A'],
      ]
      const taken = fresh('T')
      await table.commit([{ put: [taken, 'A'], item: {}, expect: 'absent' }], taken)
      for (const at of [0, 1, 3]) {
        const ops: Op[] = keys.map((key) => ({ put: key, item: { at }, expect: 'absent' }))
        ops.splice(at, 0, { put: [taken, 'A'], item: {}, expect: 'absent' })
        await expect(table.commit(ops, `${taken} ${at}`)).rejects.toEqual(conflictOn(at, [taken, 'A']))
      }
      expect(await table.get(keys)).toEqual([null, null, null])
    },
  },
  {
    title: 'a commit takes 100 operations; none, 101, or one key twice is a defect that writes nothing',
    async run({ table }, fresh) {
      const pk = fresh('C')
      const ops = Array.from({ length: 101 }, (_, i): Op => ({ put: [pk, String(i)], item: { i }, expect: 'absent' }))
      await expect(table.commit(ops, `${pk} 1`)).rejects.toBeInstanceOf(Defect)
      await expect(table.commit([], `${pk} 2`)).rejects.toBeInstanceOf(Defect)
      const twice: Op[] = [ops[0]!, { check: [pk, '0'], expect: 'absent' }]
      await expect(table.commit(twice, `${pk} 3`)).rejects.toBeInstanceOf(Defect)
      expect((await table.list(pk)).items).toEqual([])
      await table.commit(ops.slice(0, 100), `${pk} 4`)
      expect((await table.list(pk)).items).toHaveLength(100)
    },
  },
  {
    title: 'a commit of 3.4 MB is stored, one of 3.6 MB is a defect that writes nothing',
    async run({ table }, fresh) {
      const pk = fresh('C')
      const ops = (count: number, sk: string) =>
        Array.from(
          { length: count },
          (_, i): Op => ({
            put: [pk, `${sk}${i}`],
            item: { text: 'x'.repeat(199_900) },
            expect: 'absent',
          }),
        )
      await expect(table.commit(ops(18, 'b'), `${pk} 1`)).rejects.toBeInstanceOf(Defect)
      await table.commit(ops(17, 'a'), `${pk} 2`)
      expect((await table.list(pk, { prefix: 'b' })).items).toEqual([])
      expect(await table.get([[pk, 'a16']])).toMatchObject([{ version: 1 }])
    },
  },
  {
    title: 'deleted and put again, an item is new: version 1, nothing of the old one left',
    async run({ table }, fresh) {
      const key: Key = [fresh('S'), 'A']
      await table.commit([{ put: key, item: { old: 1 }, expect: 'absent' }], `${key[0]} 1`)
      await table.commit([{ patch: key, set: { older: 1 }, guards: [] }], `${key[0]} 2`)
      await table.commit([{ delete: key, expect: 2 }], `${key[0]} 3`)
      await table.commit([{ put: key, item: { fresh: 1 }, expect: 'absent' }], `${key[0]} 4`)
      expect(await table.get([key])).toEqual([{ key, version: 1, item: { fresh: 1 } }])
    },
  },
  {
    title: 'the same commit with the same token is done, and writes once',
    async run({ table }, fresh) {
      const pk = fresh('S')
      const ops: Op[] = [
        { put: [pk, 'A'], item: { n: 1 }, expect: 'absent' },
        { patch: [pk, 'B'], add: { n: 1 }, guards: [] },
      ]
      await table.commit(ops, pk)
      await table.commit(ops, pk)
      await Promise.all([table.commit(ops, pk), table.commit(ops, pk)])
      expect((await table.list(pk)).items.map(({ item }) => item)).toEqual([{ n: 1 }, { n: 1 }])
    },
  },
  {
    title: 'a token that named another commit before is a defect',
    async run({ table }, fresh) {
      const pk = fresh('S')
      await table.commit([{ put: [pk, 'A'], item: {}, expect: 'absent' }], pk)
      const other = table.commit([{ put: [pk, 'B'], item: {}, expect: 'absent' }], pk)
      await expect(other).rejects.toBeInstanceOf(Defect)
      expect(await table.get([[pk, 'B']])).toEqual([null])
    },
  },
  {
    title: 'a token whose commit was refused is free: the same commit is decided again',
    async run({ table }, fresh) {
      const pk = fresh('S')
      const ops: Op[] = [{ patch: [pk, 'A'], set: { taken: true }, guards: [{ attr: 'open', is: '=', value: 1 }] }]
      await expect(table.commit(ops, pk)).rejects.toEqual(conflictOn(0, [pk, 'A']))
      await table.commit([{ put: [pk, 'A'], item: { open: 1 }, expect: 'absent' }], `${pk} open`)
      await table.commit(ops, pk)
      expect((await table.get([[pk, 'A']]))[0]?.item).toEqual({ open: 1, taken: true })
    },
  },
  {
    title: 'a read after the commit sees it, without waiting for anything',
    async run({ table }, fresh) {
      const pk = fresh('C')
      for (let i = 0; i < 20; i++) {
        await table.commit([{ put: [pk, String(i).padStart(2, '0')], item: { i }, expect: 'absent' }], `${pk} ${i}`)
        expect((await table.list(pk)).items).toHaveLength(i + 1)
        expect((await table.list(pk, { descending: true, limit: 1 })).items[0]?.item).toEqual({ i })
      }
    },
  },
]
