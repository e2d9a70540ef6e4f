import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type EntryLog, fileLog } from '../../shared/adapters/sqlite/entry-log.ts'
import { scratchFolder } from './folder.ts'

const folder = scratchFolder()
let files = 0
const freshFile = () => join(folder, `${++files}.db`)
const held = (log: EntryLog) => [...log.entries()].map(({ n, entry }) => `${n}:${entry.slice(0, 8)}`)

async function filled(file: string, entries: readonly string[], from = 1): Promise<EntryLog> {
  const log = fileLog(file)
  for (const [i, entry] of entries.entries()) await log.append(from + i, entry)
  return log
}

it('what was appended is there for the next process, in order, any text', async () => {
  const file = freshFile()
  const log = await filled(file, ['one', 'Zürich 東京 😀', ''])
  log.close(false)
  expect(held(fileLog(file))).toEqual(['1:one', '2:Zürich 東', '3:'])
})

it('an append that was torn, at any byte, is left out, and the next one takes its place', async () => {
  const whole = freshFile()
  const log = await filled(whole, ['first', 'second one'])
  log.close(false)
  const bytes = readFileSync(`${whole}-log1`)
  for (let length = bytes.length - 1; length > bytes.length - 26; length--) {
    const file = freshFile()
    writeFileSync(`${file}-log1`, bytes.subarray(0, length))
    const again = fileLog(file)
    expect(held(again), `${length} bytes`).toEqual(['1:first'])
    await again.append(2, 'another')
    again.close(false)
    expect(held(fileLog(file))).toEqual(['1:first', '2:another'])
  }
})

it('a byte that changed on the disk ends the log there', async () => {
  const file = freshFile()
  const log = await filled(file, ['first', 'second'])
  log.close(false)
  const bytes = readFileSync(`${file}-log1`)
  bytes[bytes.length - 2]! ^= 1
  writeFileSync(`${file}-log1`, bytes)
  expect(held(fileLog(file))).toEqual(['1:first'])
})

it('room that was dropped is written again, and what is left over behind it is not read', async () => {
  const file = freshFile()
  const log = await filled(
    file,
    Array.from({ length: 20 }, (_, i) => `old ${i}`),
  )
  const before = statSync(`${file}-log1`).size
  log.drop(20)
  expect(log.size).toBe(0)
  await log.append(21, 'new')
  await log.append(22, 'newer')
  expect(statSync(`${file}-log1`).size).toBe(before)
  log.close(false)
  expect(held(fileLog(file))).toEqual(['21:new', '22:newer'])
})

it('what is still needed is not dropped', async () => {
  const log = await filled(freshFile(), ['a', 'b', 'c'])
  log.drop(2)
  expect(held(log)).toEqual(['1:a', '2:b', '3:c'])
  log.drop(3)
  expect(held(log)).toEqual([])
})

it('a full file is left for the other once that is free, and both are read in order', async () => {
  const file = freshFile()
  const large = 'x'.repeat(33_000_000)
  const log = await filled(file, [large, large, 'third', 'fourth'])
  expect(statSync(`${file}-log2`).size).toBeLessThan(1000)
  expect(held(log)).toEqual(['1:xxxxxxxx', '2:xxxxxxxx', '3:third', '4:fourth'])
  // The second file is not free while it holds what is needed: the first one, dropped, takes over when the second is full.
  log.drop(2)
  expect(held(log)).toEqual(['3:third', '4:fourth'])
  expect(statSync(`${file}-log1`).size).toBeLessThan(1000)
  log.close(false)
  const again = fileLog(file)
  expect(held(again)).toEqual(['3:third', '4:fourth'])
  await again.append(5, 'fifth')
  expect(held(again)).toEqual(['3:third', '4:fourth', '5:fifth'])
})

it("another program's file is refused by name and left as it is", () => {
  const file = freshFile()
  writeFileSync(`${file}-log1`, 'something of somebody else, longer than the first line of a log')
  expect(() => fileLog(file)).toThrow(`${file}-log1 belongs to another program`)
  expect(readFileSync(`${file}-log1`, 'utf8')).toMatch(/^something/)
})

it('closed with nothing needed, it leaves no file', async () => {
  const file = freshFile()
  const log = await filled(file, ['a'])
  log.drop(1)
  log.close(true)
  expect(readdirSync(folder).filter((name) => name.startsWith(`${files}.db`))).toEqual([])
})

it('a file cut to nothing, or with zeros behind its entries, is read as far as it goes', async () => {
  const file = freshFile()
  const log = await filled(file, ['a', 'b'])
  log.close(false)
  appendFileSync(`${file}-log1`, Buffer.alloc(5000))
  expect(held(fileLog(file))).toEqual(['1:a', '2:b'])
  truncateSync(`${file}-log1`, 0)
  expect(held(fileLog(file))).toEqual([])
})

it('room that is dropped while an append is under way takes nothing of it', async () => {
  const file = freshFile()
  // More than a file may keep when nothing in it is needed.
  const log = await filled(file, ['x'.repeat(17_000_000)])
  const underWay = log.append(2, 'under way')
  log.drop(1)
  await underWay
  expect(held(log)).toContain('2:under wa')
  log.close(false)
  expect(held(fileLog(file))).toContain('2:under wa')
})
