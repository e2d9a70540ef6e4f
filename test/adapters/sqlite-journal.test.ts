import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openFile } from '../../shared/adapters/sqlite/file.ts'
import { openTable, tableOn } from '../../shared/adapters/sqlite/table.ts'
import type { Op } from '../../shared/ports/table.ts'
import { scratchFolder } from './folder.ts'

const folder = scratchFolder()
const clock = { now: () => Date.UTC(2026, 10, 30) }
let files = 0
const freshFile = () => join(folder, `${++files}.db`)

/** Commits without end, two rows each, and prints the number of each commit that is durable. */
const writer = `
const [, file] = process.argv
const { openTable } = await import(${JSON.stringify(new URL('../../shared/adapters/sqlite/table.ts', import.meta.url).href)})
const table = openTable({ file, clock: { now: Date.now } })
const { writeSync } = await import('node:fs')
// A pipe that is full for a moment is no failure: whoever reads it is slower than whoever writes.
const say = (text) => {
  for (;;)
    try {
      return writeSync(1, text)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
}
for (let from = 0; ; from += 40) {
  await Promise.all(Array.from({ length: 40 }, async (_, i) => {
    const n = from + i
    const sk = String(n).padStart(6, '0')
    await table.commit([
      { put: ['S#' + sk, 'R'], item: { n, text: 'x'.repeat(300) }, expect: 'absent' },
      { put: ['S#' + sk, 'A'], item: { n }, expect: 'absent', index: { due: ['0', n] } },
      { patch: ['C#1', 'A'], add: { count: 1 }, set: { last: n }, guards: [] },
    ], sk)
    say(n + '\\n')
  }))
}`

it('killed with -9, a node has kept every commit that it answered, and of the others all or nothing', async () => {
  for (const answeredMin of [1, 500, 3000]) {
    const file = freshFile()
    const answered = await killedAfter(file, answeredMin)
    const table = openTable({ file, clock })
    const due = new Set<number>()
    for (let after: string | null = ''; after !== null; ) {
      const page = await table.find('due', '0', { limit: 1000, ...(after === '' ? {} : { after }) })
      for (const { sk } of page.items) due.add(sk as number)
      after = page.next
    }
    expect(answered.filter((n) => !due.has(n))).toEqual([])
    for (let n = 0; n < due.size + 40; n++) {
      const pk = `S#${String(n).padStart(6, '0')}`
      const found = (
        await table.get([
          [pk, 'A'],
          [pk, 'R'],
        ])
      ).map((stored) => stored !== null)
      expect(found, pk).toEqual([due.has(n), due.has(n)])
    }
    expect((await table.get([['C#1', 'A']]))[0]?.item).toEqual({ count: due.size, last: due.size - 1 })
    await table.close()
  }
})

it('rows that are not in the tables yet are read, listed and found as if they were', async () => {
  const path = freshFile()
  const file = openFile({ file: path })
  const table = tableOn(file, { clock })
  const op = (i: number, due: number): Op => ({
    put: ['S#1', `R#${i}`],
    item: { i, due },
    expect: 'any',
    index: { due: ['0', due] },
  })
  await table.commit(
    [0, 2, 4, 6, 8].map((i) => op(i, i)),
    'filed',
  )
  await table.close()
  const again = tableOn(openFile({ file: path }), { clock })
  await again.commit(
    [
      op(1, 1),
      op(4, 40),
      op(5, 5),
      { delete: ['S#1', 'R#6'], expect: 'present' },
      { patch: ['S#1', 'R#8'], set: { x: 1 }, guards: [] },
    ],
    'waiting',
  )
  const sks = async (range: object) => (await again.list('S#1', range)).items.map(({ key }) => key[1].slice(2)).join('')
  expect(await sks({})).toBe('012458')
  expect(await sks({ descending: true, limit: 3 })).toBe('854')
  expect(await sks({ from: 'R#2', to: 'R#5' })).toBe('245')
  const due = async (range: object) => (await again.find('due', '0', range)).items.map(({ sk }) => sk)
  expect(await due({})).toEqual([0, 1, 2, 5, 8, 40])
  expect(await due({ descending: true, limit: 2 })).toEqual([40, 8])
  const first = await again.find('due', '0', { limit: 3 })
  expect((await again.find('due', '0', { limit: 3, after: first.next! })).items.map(({ sk }) => sk)).toEqual([5, 8, 40])
  await again.close()
})

it('what the log holds is filed and dropped when the burst is over, and every row is in its table', async () => {
  const file = openFile({ file: freshFile() })
  const table = tableOn(file, { clock })
  const count = (from: string) => (file.db.prepare(`SELECT count(*) FROM ${from}`).raw().get() as [number])[0]
  for (let i = 0; i < 1200; i += 100) {
    await table.commit(
      Array.from({ length: 100 }, (_, j): Op => ({ put: ['C#1', `${i + j}`], item: {}, expect: 'absent' })),
      `${i}`,
    )
  }
  expect(file.log.size).toBeGreaterThan(0)
  await expect.poll(() => file.log.size, { timeout: 20_000 }).toBe(0)
  expect(count('sessions')).toBe(1200)
  await table.close()
})

it('a crash between two slices of the filing loses neither what is filed nor what waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const file = openFile({ file: ':memory:' })
  const count = (from: string) => (file.db.prepare(`SELECT count(*) FROM ${from}`).raw().get() as [number])[0]
  const table = tableOn(file, { clock })
  const sks = Array.from({ length: 1000 }, (_, i) => String(i).padStart(4, '0'))
  for (let i = 0; i < 1000; i += 100) {
    const ops = sks.slice(i, i + 100).map((sk): Op => ({ put: ['C#1', sk], item: { n: 1 }, expect: 'absent' }))
    await table.commit(ops, `${i}`)
  }
  const again = sks.slice(490, 510).map((sk): Op => ({ patch: ['C#1', sk], add: { n: 1 }, guards: [] }))
  await table.commit(again, 'again')
  // The first look finds it busy, the second quiet.
  vi.advanceTimersByTime(100)
  expect(count('sessions')).toBe(500)
  expect(file.log.size).toBeGreaterThan(1)
  vi.clearAllTimers()
  const after = tableOn(file, { clock })
  const rows = (await after.list('C#1', { limit: 1000 })).items
  expect(rows.map(({ version, item }) => version * 10 + (item.n as number))).toEqual(
    sks.map((_, i) => (i >= 490 && i < 510 ? 22 : 11)),
  )
  await after.close()
  vi.useRealTimers()
})

function killedAfter(file: string, answeredMin: number): Promise<number[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', writer, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (text.split('\n').length > answeredMin) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (_code, signal) => {
      // A line cut in the middle was not answered to the end.
      if (signal === 'SIGKILL') resolve(text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number))
      else reject(new Error('the writer ended by itself'))
    })
  })
}
