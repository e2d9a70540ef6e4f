import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFile } from '../../shared/adapters/sqlite/file.ts'
import { openTable, tableOn } from '../../shared/adapters/sqlite/table.ts'
import { type Op, Unavailable } from '../../shared/ports/table.ts'
import { scratchFolder } from './folder.ts'
import { losable } from './losable.ts'

const folder = scratchFolder()
let now = Date.UTC(2026, 10, 30)
const clock = { now: () => now }
let files = 0
const freshFile = () => join(folder, `${++files}.db`)
const put = (sk: string, text = ''): Op => ({ put: ['C#1', sk], item: { text }, expect: 'any' })

it('reads see what is applied before it is durable, and flush waits for that', async () => {
  const table = openTable({ file: freshFile(), clock })
  let durable = false
  const committed = table.commit([put('A')], '1').then(() => (durable = true))
  expect((await table.get([['C#1', 'A']]))[0]?.version).toBe(1)
  expect((await table.list('C#1')).items).toHaveLength(1)
  expect(durable).toBe(false)
  await table.flush()
  await committed
  await table.flush()
  await table.close()
})

it('everything committed in one turn of the event loop costs one write, up to 500 commits', async () => {
  const file = openFile({ file: freshFile() })
  const table = tableOn(file, { clock })
  const entries = () => [...file.log.entries()].length
  await Promise.all(Array.from({ length: 500 }, (_, i) => table.commit([put(`${i}`)], `${i}`)))
  expect(entries()).toBe(1)
  await Promise.all(Array.from({ length: 501 }, (_, i) => table.commit([put(`${i}`)], `again ${i}`)))
  expect(entries()).toBe(3)
  await table.close()
})

it('a full disk rejects the whole group and what was decided on it, and leaves nothing of it; with room again the table goes on', async () => {
  const { file, lose } = losable(openFile({ file: freshFile() }), true)
  const table = tableOn(file, { clock })
  await table.commit([put('A', 'before')], 'before')
  lose(true)
  const failure = (ops: Op[], token: string) =>
    table.commit(ops, token).then(
      () => null,
      (error: unknown) => error,
    )
  const group = [
    failure([put('A', 'lost')], 'small'),
    failure([put('B'), { delete: ['C#1', 'none'], expect: 'any' }], 'large'),
  ]
  // On its way to the disk now; what comes meanwhile is decided on it.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  group.push(failure([{ put: ['C#1', 'A'], item: { text: 'after' }, expect: 2 }], 'on it'))
  for (const failed of await Promise.all(group)) expect(failed).toBeInstanceOf(Unavailable)
  expect((await table.list('C#1')).items).toEqual([{ key: ['C#1', 'A'], version: 1, item: { text: 'before' } }])

  lose(false)
  await table.commit([put('C')], 'fits')
  // The token of a lost commit is free: the same commit is written now.
  await table.commit([put('A', 'lost')], 'small')
  await table.commit([put('B'), { delete: ['C#1', 'none'], expect: 'any' }], 'large')
  expect((await table.list('C#1')).items.map(({ key, version }) => `${key[1]}${version}`)).toEqual(['A2', 'B1', 'C1'])
  await table.close()
})

it('while one group is on its way to the disk the next one gathers, and each is through after the one before', async () => {
  const file = openFile({ file: freshFile() })
  const table = tableOn(file, { clock })
  const through: string[] = []
  const commit = (sk: string) => table.commit([put(sk)], sk).then(() => through.push(sk))
  const first = commit('A')
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const others = [commit('B'), commit('C')]
  let flushed: string[] = []
  await Promise.all([first, ...others, table.flush().then(() => (flushed = [...through]))])
  expect(through).toEqual(['A', 'B', 'C'])
  expect(flushed.length).toBeGreaterThanOrEqual(1)
  expect([...file.log.entries()].map(({ n }) => n)).toEqual([1, 2])
  await table.close()
})

it('commits larger together than what is remembered, into a partition larger than that, lose nothing', async () => {
  const file = openFile({ file: freshFile() })
  const table = tableOn(file, { clock })
  const sks = Array.from({ length: 2100 }, (_, i) => String(i).padStart(4, '0'))
  for (let i = 0; i < 2100; i += 100) {
    await table.commit(
      sks.slice(i, i + 100).map((sk) => put(sk)),
      sks[i]!,
    )
  }
  await expect.poll(() => file.log.size, { timeout: 20_000 }).toBe(0)
  const versions: (number | undefined)[] = []
  for (let i = 0; i < 2100; i += 100) {
    const found = await table.get(sks.slice(i, i + 100).map((sk) => ['C#1', sk]))
    versions.push(...found.map((stored) => stored?.version))
  }
  expect(versions).toEqual(sks.map(() => 1))
  const large = 'x'.repeat(300_000)
  const tens = Array.from({ length: 10 }, (_, i) => sks.slice(1000 + i * 10, 1010 + i * 10))
  await Promise.all(
    tens.map((ten) =>
      table.commit(
        ten.map((sk) => put(sk, large)),
        `large ${ten[0]}`,
      ),
    ),
  )
  const texts = (await table.get(sks.slice(1000, 1100).map((sk) => ['C#1', sk]))).map((stored) => stored?.item.text)
  expect(texts.every((text) => text === large)).toBe(true)
  expect((await table.list('C#1', { from: '1100', limit: 1000 })).items).toHaveLength(1000)
  await table.close()
})

it('after close every call is Unavailable', async () => {
  const table = openTable({ file: freshFile(), clock })
  await table.close()
  await table.close()
  await expect(table.get([['C#1', 'A']])).rejects.toBeInstanceOf(Unavailable)
  await expect(table.commit([put('A')], '1')).rejects.toBeInstanceOf(Unavailable)
})

it('close makes durable what was applied in the same turn', async () => {
  const path = freshFile()
  const table = openTable({ file: path, clock })
  const committed = table.commit([put('A')], '1')
  await table.close()
  await committed
  const again = openTable({ file: path, clock })
  expect((await again.get([['C#1', 'A']]))[0]?.version).toBe(1)
  await again.close()
})

it('expire deletes what has passed its ttl, a bounded walk at a time, and nothing that was written anew', async () => {
  const path = freshFile()
  const first = openTable({ file: path, clock })
  const seconds = Math.floor(now / 1000)
  const row = (i: number, ttl?: number): Op => ({
    put: ['T#1', String(i).padStart(3, '0')],
    item: {},
    expect: 'any',
    index: { leases: ['0', i] },
    ...(ttl === undefined ? {} : { ttl }),
  })
  await first.commit(
    Array.from({ length: 90 }, (_, i) => (i % 3 === 0 ? row(i) : row(i, seconds + (i % 3 === 1 ? -1 : 1)))),
    'rows',
  )
  await first.close()
  const table = openTable({ file: path, clock })
  await table.commit([row(1, seconds + 100)], 'renewed')
  const walks = Array.from({ length: 12 }, () => table.expire(now, 20))
  expect(walks.reduce((sum, deleted) => sum + deleted, 0)).toBe(29)
  expect(Math.max(...walks)).toBeLessThanOrEqual(7)
  expect((await table.list('T#1')).items).toHaveLength(61)
  expect((await table.find('leases', '0')).items).toHaveLength(61)
  await table.flush()
  expect((await table.get([['T#1', '004']]))[0]).toBeNull()
  const later = Array.from({ length: 6 }, () => table.expire(now + 5000, 1000))
  expect(later.reduce((sum, deleted) => sum + deleted, 0)).toBe(30)
  await table.close()
})

it('a token is forgotten after ten minutes', async () => {
  const table = openTable({ file: freshFile(), clock })
  const ops: Op[] = [{ patch: ['C#1', 'A'], add: { n: 1 }, guards: [] }]
  await table.commit(ops, 'same')
  now += 599_000
  await table.commit(ops, 'same')
  expect((await table.get([['C#1', 'A']]))[0]?.item).toEqual({ n: 1 })
  now += 1000
  await table.commit(ops, 'same')
  expect((await table.get([['C#1', 'A']]))[0]?.item).toEqual({ n: 2 })
  await table.close()
})

it('keys that a store cannot hold are defects', async () => {
  const table = openTable({ file: ':memory:', clock })
  for (const key of [
    ['C#1', ''],
    ['C#1', 'a\0b'],
    ['C#1', '\ud83d'],
    ['C#1', 'x'.repeat(1025)],
    [`C#${'x'.repeat(2048)}`, 'A'],
  ] as const) {
    await expect(table.commit([{ put: key, item: {}, expect: 'any' }], 'bad')).rejects.toThrow(/key|partition/)
  }
  await expect(table.list('C#1', { after: 'made up' })).rejects.toThrow("'made up' is not the next of a page")
  await table.close()
})

it('lagging indexes miss, keep and reorder entries for a few commits, the same way every time, until they catch up', async () => {
  const run = async () => {
    const table = openTable({ file: ':memory:', lagIndexes: true, clock })
    const seen: string[] = []
    for (let i = 0; i < 12; i++) {
      const index = { due: ['0', i] as const }
      await table.commit([{ put: [`S#${i % 4}`, 'A'], item: {}, expect: 'any', index }], `${i}`)
      seen.push((await table.find('due', '0')).items.map(({ key, sk }) => `${key[0]}@${sk}`).join(' '))
    }
    await table.commit([{ delete: ['S#0', 'A'], expect: 'any' }], 'gone')
    seen.push((await table.find('due', '0')).items.map(({ key, sk }) => `${key[0]}@${sk}`).join(' '))
    await table.catchUp()
    const last = (await table.find('due', '0')).items.map(({ key, sk }) => `${key[0]}@${sk}`)
    await table.close()
    return { seen, last }
  }
  const { seen, last } = await run()
  expect(last).toEqual(['S#1@9', 'S#2@10', 'S#3@11'])
  expect(seen[0]).toBe('')
  expect(seen.at(-1)).not.toBe(last.join(' '))
  expect(await run()).toEqual({ seen, last })
})
