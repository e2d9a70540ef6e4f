import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFile, type StoreFile } from '../../shared/adapters/sqlite/file.ts'
import { openTable, tableOn } from '../../shared/adapters/sqlite/table.ts'
import { type Dice, dice } from './dice.ts'

/**
 * What a power cut may take: bytes that were written and not synced. The log of entries is synced before anybody is answered, so of
 * it the append that is under way may be torn. The WAL is synced by full commits and checkpoints alone: each sector that was written
 * since may hold what it held then, what was written, or rubbish; but for its header, which SQLite syncs when it begins again from the front.
 * The files are copied in the middle of the work, and so the copy is changed.
 */
interface Disk {
  readonly file: string
  /** Number of the last entry that is on disk for good. */
  entry: number
  /** The WAL as it was last synced. */
  wal: Buffer
}

const walOf = (file: string): string => `${file}-wal`
const bytesOf = (path: string): Buffer => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0))

/** The store's file, and what of it is on disk for good at each moment. */
function watched(file: string): { readonly store: StoreFile; readonly disk: Disk } {
  const opened = openFile({ file })
  const disk: Disk = { file, entry: 0, wal: bytesOf(walOf(file)) }
  let isFull = false
  const db = new Proxy(opened.db, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (name !== 'exec') return typeof value === 'function' ? value.bind(target) : value
      return (sql: string) => {
        const done = target.exec(sql)
        if (sql.includes('synchronous = FULL')) isFull = true
        if (sql.includes('synchronous = NORMAL')) isFull = false
        if (isFull && sql.includes('COMMIT')) disk.wal = bytesOf(walOf(file))
        return done
      }
    },
  })
  const log: StoreFile['log'] = {
    entries: () => opened.log.entries(),
    get size() {
      return opened.log.size
    },
    drop: (upTo) => opened.log.drop(upTo),
    close: (empty) => opened.log.close(empty),
    append(n, entry) {
      const appended = opened.log.append(n, entry)
      return (
        appended?.then(() => {
          disk.entry = n
        }) ?? null
      )
    },
  }
  const checkpoint = () => {
    opened.checkpoint()
    disk.wal = bytesOf(walOf(file))
  }
  return { store: { ...opened, db, log, checkpoint }, disk }
}

/** Where the last entry that must stay ends, in one file of the log; by the format that entry-log.ts writes. */
function endOfKept(bytes: Buffer, upTo: number): number {
  let at = 16
  let before = 0
  while (at + 16 <= bytes.length) {
    const n = Number(bytes.readBigUInt64LE(at + 8))
    if (n > upTo || (before !== 0 && n !== before + 1)) break
    before = n
    at += 16 + bytes.readUInt32LE(at)
  }
  return Math.min(at, bytes.length)
}

/** Cut short there, or filled with what the disk held before: zeros, or anything. */
function damage(path: string, from: number, by: Dice): void {
  const bytes = readFileSync(path)
  if (from >= bytes.length) return
  const at = from + by.below(bytes.length - from)
  if (by.below(3) === 0) {
    writeFileSync(path, bytes.subarray(0, at))
    return
  }
  const isZero = by.below(2) === 0
  for (let i = at; i < bytes.length; i++) if (by.below(4) > 0) bytes[i] = isZero ? 0 : by.below(256)
  writeFileSync(path, bytes)
}

const sectorBytes = 4096
const headerBytes = 32

function unsync(path: string, synced: Buffer, by: Dice): void {
  const written = readFileSync(path)
  const bytes = Buffer.from(written)
  // All of what is new, none of it, or anything between.
  const odds = by.below(5)
  for (let at = 0; at < bytes.length; at += sectorBytes) {
    const end = Math.min(at + sectorBytes, bytes.length)
    const before = synced.subarray(at, end)
    if (before.equals(written.subarray(at, end)) || by.below(4) >= odds) continue
    if (by.below(4) === 0) for (let i = at; i < end; i++) bytes[i] = by.below(256)
    else bytes.fill(0, at, end).set(before, at)
  }
  written.copy(bytes, 0, 0, headerBytes)
  writeFileSync(path, bytes)
}

function powerCut({ file, entry, wal }: Disk, to: string, by: Dice): void {
  for (const end of ['', '-wal', '-log1', '-log2']) if (existsSync(file + end)) copyFileSync(file + end, to + end)
  for (const end of ['-log1', '-log2'])
    if (existsSync(to + end)) damage(to + end, endOfKept(readFileSync(to + end), entry), by)
  if (existsSync(walOf(to))) unsync(walOf(to), wal, by)
}

it('a power cut at any moment takes nothing that was answered, and no half of anything', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rouse-power-'))
  const by = dice(20261130)
  const clock = { now: () => 1_780_000_000_000 }
  let cuts = 0
  let tornGroups = 0
  try {
    for (let round = 0; round < 30; round++) {
      const { store, disk } = watched(join(folder, `${round}.db`))
      const table = tableOn(store, { clock })
      // Two rows that only ever change together, and the last value that was answered.
      const answered = new Map<number, number>()
      const asked = new Map<number, number>()
      const write = async (pair: number, value: number): Promise<void> => {
        asked.set(pair, value)
        const text = 'x'.repeat(by.below(4000))
        const item = { value, text }
        await table.commit(
          [
            { put: [`S#${pair}`, 'A'], item, expect: 'any' },
            { put: [`S#${pair}-twin`, 'A'], item: { value }, expect: 'any' },
          ],
          `${round}-${pair}-${value}`,
        )
        answered.set(pair, value)
      }
      for (let step = 0; step < 40; step++) {
        const burst = Array.from({ length: 1 + by.below(30) }, () => by.below(60))
        const writing = [...new Set(burst)].map((pair) => write(pair, (asked.get(pair) ?? 0) + 1))
        // In the middle of what is on its way, or after it.
        if (by.below(2) === 0) for (let turns = by.below(6); turns > 0; turns--) await new Promise(setImmediate)
        else await Promise.all(writing)
        if (by.below(6) === 0) await new Promise((resolve) => setTimeout(resolve, by.below(120)))
        if (by.below(3) > 0) {
          await Promise.all(writing)
          continue
        }
        const copy = join(folder, `cut-${cuts++}.db`)
        const [must, may] = [new Map(answered), new Map(asked)]
        powerCut(disk, copy, by)
        const after = openTable({ file: copy, clock })
        for (const [pair, most] of may) {
          const [one, twin] = await after.get([
            [`S#${pair}`, 'A'],
            [`S#${pair}-twin`, 'A'],
          ])
          const value = Number(one?.item.value ?? 0)
          expect(Number(twin?.item.value ?? 0)).toBe(value)
          expect(value).toBeGreaterThanOrEqual(must.get(pair) ?? 0)
          expect(value).toBeLessThanOrEqual(most)
          if (value < most) tornGroups += 1
        }
        // And it goes on from there.
        await after.commit([{ put: ['S#later', 'A'], item: { value: 1 }, expect: 'any' }], 'later')
        await after.close()
        for (const end of ['', '-wal', '-log1', '-log2']) rmSync(copy + end, { force: true })
        await Promise.all(writing)
      }
      await table.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  expect(cuts).toBeGreaterThan(200)
  // Cuts that took nothing at all would prove nothing.
  expect(tornGroups).toBeGreaterThan(20)
})
