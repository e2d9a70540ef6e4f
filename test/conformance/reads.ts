import { expect } from 'vitest'
import { Defect, type Key, type Op, type Range, type Stored, type Table } from '../../shared/ports/table.ts'
import type { Case } from './suite.ts'

const put = (key: Key, item: object = {}): Op => ({ put: key, item: item as Record<string, never>, expect: 'any' })

async function fill(table: Table, pk: string, sks: readonly string[]) {
  for (let from = 0; from < sks.length; from += 100) {
    await table.commit(
      sks.slice(from, from + 100).map((sk) => put([pk, sk], { sk })),
      `${pk} ${sks[from]} ${sks.length}`,
    )
  }
}

async function listAll(table: Table, pk: string, range: Range = {}): Promise<{ sks: string[]; pages: Stored[][] }> {
  const pages: Stored[][] = []
  for (let after: string | undefined; ; ) {
    const page = await table.list(pk, after === undefined ? range : { ...range, after })
    pages.push([...page.items])
    if (page.next === null) return { sks: pages.flat().map(({ key }) => key[1]), pages }
    after = page.next
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `R#${String(i).padStart(4, '0')}`)
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

export const readCases: readonly Case[] = [
  {
    title: 'get answers one place per key, in the order asked, null where nothing is stored',
    async run({ table }, fresh) {
      const [a, b] = [fresh('S'), fresh('K')]
      await table.commit([put([a, 'A'], { n: 1 }), put([b, 'A'], { n: 2 })], a)
      expect(
        await table.get([
          [b, 'A'],
          [a, 'B'],
          [a, 'A'],
        ]),
      ).toMatchObject([{ key: [b, 'A'], item: { n: 2 } }, null, { key: [a, 'A'], item: { n: 1 } }])
    },
  },
  {
    title: 'get of no keys answers nothing',
    run: async ({ table }) => expect(await table.get([])).toEqual([]),
  },
  {
    title: 'get takes 100 keys and refuses 101 as a defect',
    async run({ table }, fresh) {
      const pk = fresh('C')
      await fill(table, pk, numbered(100))
      const keys = numbered(101).map((sk): Key => [pk, sk])
      const found = await table.get(keys.slice(0, 100).reverse())
      expect(found.map((stored) => stored?.key[1])).toEqual(numbered(100).reverse())
      await expect(table.get(keys)).rejects.toBeInstanceOf(Defect)
    },
  },
  {
    title: 'a partition whose letter is not declared is a defect, for reads and writes',
    async run({ table }) {
      await expect(table.get([['?#1', 'A']])).rejects.toBeInstanceOf(Defect)
      await expect(table.list('S1')).rejects.toBeInstanceOf(Defect)
      await expect(table.commit([put(['z#1', 'A'])], 'undeclared')).rejects.toBeInstanceOf(Defect)
    },
  },
  {
    title: 'items come back as they were put: nesting, null, empty text, fractions, unicode',
    async run({ table }, fresh) {
      const item = {
        text: 'Zürich — 東京 — 😀 — "quoted" \\ \u2028',
        empty: '',
        nothing: null,
        yes: true,
        fraction: 0.1,
        negative: -1.5,
        large: 9_007_199_254_740_991,
        list: [1, 'two', [3], { four: 4 }, null],
        nested: { deep: { deeper: [] } },
      }
      const key: Key = [fresh('S'), 'ключ 😀']
      await table.commit([put(key, item)], key[0])
      expect((await table.get([key]))[0]?.item).toEqual(item)
    },
  },
  {
    title: 'what the caller does to an item after the commit does not reach the store',
    async run({ table }, fresh) {
      const key: Key = [fresh('S'), 'A']
      const item = { list: [1] }
      await table.commit([put(key, item)], key[0])
      item.list.push(2)
      const [read] = await table.get([key])
      expect(read?.item).toEqual({ list: [1] })
    },
  },
  {
    title: 'list answers a partition in the byte order of sk, and no other partition',
    async run({ table }, fresh) {
      const pk = fresh('C')
      const sks = ['a', 'B', 'A', 'Z#10', 'Z#2', 'Z#1', 'é', 'z', '～', '😀', '~', 'AA', 'A#']
      await fill(table, pk, sks)
      await fill(table, `${pk}0`, ['other'])
      expect((await listAll(table, pk)).sks).toEqual([...sks].sort(byBytes))
      expect((await listAll(table, pk, { descending: true })).sks).toEqual([...sks].sort(byBytes).reverse())
    },
  },
  {
    title: 'list of a partition that is not there is empty',
    run: async ({ table }, fresh) => expect(await table.list(fresh('C'))).toEqual({ items: [], next: null }),
  },
  {
    title: 'from and to are inclusive, alone and together, in both directions',
    async run({ table }, fresh) {
      const pk = fresh('S')
      await fill(table, pk, ['a', 'b', 'c', 'd'])
      const sks = async (range: Range) => (await listAll(table, pk, range)).sks.join('')
      expect(await sks({ from: 'b' })).toBe('bcd')
      expect(await sks({ to: 'b' })).toBe('ab')
      expect(await sks({ from: 'b', to: 'c' })).toBe('bc')
      expect(await sks({ from: 'b', to: 'c', descending: true })).toBe('cb')
      expect(await sks({ from: 'bb', to: 'bc' })).toBe('')
    },
  },
  {
    title: 'prefix answers what begins with it, characters beyond the first plane included',
    async run({ table }, fresh) {
      const pk = fresh('S')
      await fill(table, pk, ['R', 'R#', 'R#1', 'R#\u{10FFFF}', 'R#😀', 'R$', 'S#1', 'Q#1'])
      const sks = async (range: Range) => (await listAll(table, pk, range)).sks
      expect(await sks({ prefix: 'R#' })).toEqual(['R#', 'R#1', 'R#😀', 'R#\u{10FFFF}'])
      expect(await sks({ prefix: 'R#', descending: true, limit: 1 })).toHaveLength(4)
      expect(await sks({ prefix: 'T' })).toEqual([])
    },
  },
  {
    title: 'pages of any size, in both directions, add up to the whole',
    async run({ table }, fresh) {
      const pk = fresh('C')
      const sks = numbered(23)
      await fill(table, pk, sks)
      for (const limit of [1, 5, 22, 23, 24]) {
        for (const descending of [false, true]) {
          const { sks: seen, pages } = await listAll(table, pk, { limit, descending })
          expect(seen).toEqual(descending ? sks.toReversed() : sks)
          expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit)
        }
      }
    },
  },
  {
    title: 'a page has 100 items unless it says otherwise, 1000 at most',
    async run({ table }, fresh) {
      const pk = fresh('C')
      await fill(table, pk, numbered(1005))
      expect((await table.list(pk)).items).toHaveLength(100)
      expect((await table.list(pk, { limit: 1000 })).items).toHaveLength(1000)
      expect((await listAll(table, pk, { limit: 1000 })).sks).toEqual(numbered(1005))
      for (const limit of [0, 1001, 1.5]) await expect(table.list(pk, { limit })).rejects.toBeInstanceOf(Defect)
    },
  },
  {
    title: 'a cursor keeps its place while items are added and deleted around it',
    async run({ table }, fresh) {
      const pk = fresh('C')
      await fill(table, pk, ['b', 'd', 'f', 'h'])
      const first = await table.list(pk, { limit: 2 })
      expect(first.items.map(({ key }) => key[1])).toEqual(['b', 'd'])
      await fill(table, pk, ['a', 'c', 'e'])
      await table.commit([{ delete: [pk, 'd'], expect: 'present' }], `${pk} delete`)
      const second = await table.list(pk, { limit: 10, after: first.next! })
      expect(second.items.map(({ key }) => key[1])).toEqual(['e', 'f', 'h'])
    },
  },
  {
    title: 'a page ends before it has 1 MB, and the next goes on there',
    async run({ table }, fresh) {
      const pk = fresh('C')
      for (const sk of numbered(5)) await table.commit([put([pk, sk], { big: 'x'.repeat(300_000) })], `${pk} ${sk}`)
      const { sks, pages } = await listAll(table, pk)
      expect(sks).toEqual(numbered(5))
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(3)
    },
  },
  {
    title: 'an item of 340 KB is stored, one of 351 KB is a defect, counted in bytes',
    async run({ table }, fresh) {
      const key: Key = [fresh('C'), 'A']
      const fits = { text: 'x'.repeat(340_000) }
      await table.commit([put(key, fits)], `${key[0]} 1`)
      expect((await table.get([key]))[0]?.item).toEqual(fits)
      await expect(table.commit([put(key, { text: 'x'.repeat(351_000) })], '2')).rejects.toBeInstanceOf(Defect)
      await expect(table.commit([put(key, { text: '東'.repeat(120_000) })], '3')).rejects.toBeInstanceOf(Defect)
      await table.commit([put(key, { text: '東'.repeat(110_000) })], `${key[0]} 4`)
      expect((await table.get([key]))[0]?.item).toEqual({ text: '東'.repeat(110_000) })
    },
  },
]
