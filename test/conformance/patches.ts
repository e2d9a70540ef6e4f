import { expect } from 'vitest'
import { Conflict, Defect, type Guard, type Item, type Key, type Table } from '../../shared/ports/table.ts'
import type { Case } from './suite.ts'

async function given(table: Table, key: Key, item: Item) {
  await table.commit([{ put: key, item, expect: 'absent' }], key.join())
}

const item = async (table: Table, key: Key) => (await table.get([key]))[0]?.item ?? null

/** Guards on `{ n: 5, s: 'é', f: true, nil: null }`, and whether they hold. */
const guards: readonly [holds: boolean, guard: Guard][] = [
  [true, { attr: 'n', is: '=', value: 5 }],
  [false, { attr: 'n', is: '=', value: 6 }],
  [true, { attr: 'n', is: '<', value: 6 }],
  [false, { attr: 'n', is: '<', value: 5 }],
  [true, { attr: 'n', is: '<=', value: 5 }],
  [false, { attr: 'n', is: '<=', value: 4 }],
  [true, { attr: 'n', is: '>', value: 4.5 }],
  [false, { attr: 'n', is: '>', value: 5 }],
  [true, { attr: 'n', is: '>=', value: 5 }],
  [false, { attr: 'n', is: '>=', value: 6 }],
  [true, { attr: 's', is: '=', value: 'é' }],
  [true, { attr: 's', is: '>', value: 'z' }],
  [true, { attr: 's', is: '<', value: '～' }],
  [false, { attr: 'n', is: '=', value: '5' }],
  [false, { attr: 'n', is: '<', value: '9' }],
  [false, { attr: 's', is: '>', value: 0 }],
  [false, { attr: 'f', is: '=', value: 1 }],
  [true, { attr: 'n', is: 'present' }],
  [false, { attr: 'n', is: 'absent' }],
  [true, { attr: 'none', is: 'absent' }],
  [false, { attr: 'none', is: 'present' }],
  [false, { attr: 'none', is: '=', value: 0 }],
  [false, { attr: 'none', is: '<', value: 1 }],
  [false, { attr: 'none', is: '>=', value: '' }],
]

export const patchCases: readonly Case[] = [
  {
    title: 'patch sets, unsets and adds, and leaves the rest',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      await given(table, key, { keep: { a: [1] }, change: 1, drop: 1, count: 5 })
      await table.commit(
        [
          {
            patch: key,
            set: { change: 'two', extra: [3] },
            unset: ['drop', 'never'],
            add: { count: -2, born: 0.5 },
            guards: [],
          },
        ],
        `${key[0]} patch`,
      )
      const after = { keep: { a: [1] }, change: 'two', extra: [3], count: 3, born: 0.5 }
      expect(await table.get([key])).toEqual([{ key, version: 2, item: after }])
    },
  },
  {
    title: 'patch of a missing item creates it, when its guards hold for one that has no attributes',
    async run({ table }, fresh) {
      const pk = fresh('C')
      await table.commit(
        [{ patch: [pk, 'A'], set: { a: 1 }, unset: ['b'], add: { n: 2 }, guards: [{ attr: 'turn', is: 'absent' }] }],
        `${pk} 1`,
      )
      expect(await table.get([[pk, 'A']])).toEqual([{ key: [pk, 'A'], version: 1, item: { a: 1, n: 2 } }])
      for (const guard of [
        { attr: 'n', is: 'present' },
        { attr: 'n', is: '<', value: 30 },
        { attr: 'n', is: '=', value: 0 },
      ] as const) {
        await expect(
          table.commit([{ patch: [pk, 'B'], add: { n: 1 }, guards: [guard] }], `${pk} ${guard.is}`),
        ).rejects.toBeInstanceOf(Conflict)
      }
      expect(await item(table, [pk, 'B'])).toBeNull()
    },
  },
  {
    title:
      'each guard holds or is a conflict: numbers, text in byte order, presence; other types and absent attributes never compare',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      await given(table, key, { n: 5, s: 'é', f: true })
      let tries = 0
      for (const [i, [holds, guard]] of guards.entries()) {
        const patched = table.commit([{ patch: key, add: { tries: 1 }, guards: [guard] }], `${key[0]} ${i}`)
        if (holds) {
          await patched
          tries++
        } else await expect(patched, JSON.stringify(guard)).rejects.toBeInstanceOf(Conflict)
        expect((await item(table, key))?.tries ?? 0, JSON.stringify(guard)).toBe(tries)
      }
    },
  },
  {
    title: 'all guards of a patch have to hold',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      await given(table, key, { a: 1, b: 2 })
      const patch = (b: number) =>
        table.commit(
          [
            {
              patch: key,
              set: { done: true },
              guards: [
                { attr: 'a', is: '=', value: 1 },
                { attr: 'b', is: '=', value: b },
              ],
            },
          ],
          `${key[0]} ${b}`,
        )
      await expect(patch(3)).rejects.toEqual(expect.objectContaining({ op: 0, key }))
      expect(await item(table, key)).toEqual({ a: 1, b: 2 })
      await patch(2)
      expect(await item(table, key)).toEqual({ a: 1, b: 2, done: true })
    },
  },
  {
    title: 'adding to what is no number, or changing one attribute twice in a patch, is a defect',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      await given(table, key, { text: 'one' })
      for (const [i, change] of [
        { add: { text: 1 } },
        { set: { n: 1 }, add: { n: 1 } },
        { set: { n: 1 }, unset: ['n'] },
      ].entries()) {
        const patched = table.commit([{ patch: key, guards: [], ...change }], `${key[0]} ${i}`)
        await expect(patched).rejects.toBeInstanceOf(Defect)
      }
      expect(await table.get([key])).toEqual([{ key, version: 1, item: { text: 'one' } }])
    },
  },
  {
    title: 'many patches of one item in turn are all in it',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      for (let i = 0; i < 30; i++) {
        await table.commit([{ patch: key, add: { n: 1 }, set: { [`k${i % 3}`]: i }, guards: [] }], `${key[0]} ${i}`)
      }
      expect(await table.get([key])).toEqual([{ key, version: 30, item: { n: 30, k0: 27, k1: 28, k2: 29 } }])
    },
  },
]
