import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type LocalAlarms, openAlarms } from '../../shared/adapters/sqlite/alarms.ts'
import { openTable, type SqliteTable } from '../../shared/adapters/sqlite/table.ts'
import type { Op } from '../../shared/ports/table.ts'

const hour = 3_600_000
const start = Date.UTC(2026, 10, 30)
const clock = { now: () => Date.now() }
let table: SqliteTable
let alarms: LocalAlarms
let calls: number[]
/** What `due` does beside noting its call. */
let work: () => Promise<void>
let tokens = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: start })
  table = openTable({ file: ':memory:', clock })
  calls = []
  work = async () => {}
  alarms = openAlarms({
    table,
    clock,
    shards: 2,
    async due(now) {
      calls.push(now - start)
      await work()
    },
  })
})

afterEach(async () => {
  await alarms.stop()
  await table.close()
  vi.useRealTimers()
})

const commit = (...ops: Op[]) => table.commit(ops, String(tokens++))
const dueAt = (id: string, shard: string, at: number): Op => ({
  put: [`S#${id}`, 'A'],
  item: {},
  expect: 'any',
  index: { due: [shard, at] },
})

async function passes(ms: number) {
  await vi.advanceTimersByTimeAsync(ms)
  // Commits become durable by setImmediate, which runs in real time.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

it('calls at the time that was set, not before, and looks into the indexes for the next', async () => {
  await commit(dueAt('1', '1', start + 5000), {
    put: ['T#1', 'A'],
    item: {},
    expect: 'any',
    index: { leases: ['0', start + 9000] },
  })
  work = async () => {
    if (calls.length === 2) await commit(dueAt('1', '1', start + 90_000))
    if (calls.length === 3) await commit({ delete: ['T#1', 'A'], expect: 'any' })
  }
  alarms.start()
  await passes(0)
  expect(calls).toEqual([0])
  await passes(4999)
  expect(calls).toEqual([0])
  await passes(1)
  expect(calls).toEqual([0, 5000])
  await passes(4000)
  expect(calls).toEqual([0, 5000, 9000])
  await passes(81_000)
  expect(calls).toEqual([0, 5000, 9000, 90_000])
})

it('set brings the call forward and never puts it off', async () => {
  alarms.start()
  await passes(0)
  await alarms.set({ kind: 'schedule', id: 'sch_1' }, start + 8000)
  await alarms.set({ kind: 'schedule', id: 'sch_2' }, start + 3000)
  await alarms.set({ kind: 'schedule', id: 'sch_3' }, start + 6000)
  await passes(3000)
  expect(calls).toEqual([0, 3000])
})

it('an alarm years away waits in steps that setTimeout can count, without calling', async () => {
  alarms.start()
  await passes(0)
  await alarms.set({ kind: 'schedule', id: 'sch_1' }, start + 60 * 24 * hour)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(2)
  await passes(59 * 24 * hour)
  expect(calls).toEqual([0])
  await passes(24 * hour)
  expect(calls).toEqual([0, 60 * 24 * hour])
})

it('with nothing due, nothing is called and no short timer runs', async () => {
  alarms.start()
  await passes(0)
  await passes(100 * hour)
  expect(calls).toEqual([0])
})

it('a clock set forward is noticed within the hour', async () => {
  alarms.start()
  await passes(0)
  await alarms.set({ kind: 'schedule', id: 'sch_1' }, start + 48 * hour)
  vi.setSystemTime(start + 47 * hour + 1)
  await passes(hour)
  expect(calls).toEqual([0, 48 * hour + 1])
})

it('a failing due is called again, ever later, and is at ease after a success', async () => {
  let failing = true
  await commit(dueAt('1', '0', start))
  work = async () => {
    if (failing) throw new Error('no disk')
    await commit({ delete: ['S#1', 'A'], expect: 'any' })
  }
  alarms.start()
  await passes(0)
  for (const waitMs of [100, 200, 400, 800]) {
    const before = calls.length
    await passes(waitMs - 1)
    expect(calls).toHaveLength(before)
    await passes(1)
    expect(calls).toHaveLength(before + 1)
  }
  failing = false
  await passes(1600)
  const done = calls.length
  await passes(10 * 60_000)
  expect(calls).toHaveLength(done)
})

it('what stays due is not called in a loop', async () => {
  await commit(dueAt('1', '0', start))
  alarms.start()
  await passes(0)
  await passes(60_000)
  expect(calls.length).toBeLessThan(12)
})

it('what stays due, or fails, puts off no other alarm', async () => {
  await commit(dueAt('stuck', '0', start), dueAt('2', '0', start + 20_000))
  alarms.start()
  await passes(0)
  await passes(19_999)
  const before = calls.length
  await passes(1)
  expect(calls.slice(before)).toEqual([20_000])
  await alarms.set({ kind: 'schedule', id: 'sch_3' }, start + 20_500)
  await alarms.set({ kind: 'schedule', id: 'sch_4' }, start + 20_400)
  await passes(400)
  expect(calls.at(-1)).toBe(20_400)
})

it('stop waits for a due that runs, and nothing is called after it', async () => {
  let finish = () => {}
  work = () => new Promise((resolve) => (finish = resolve))
  alarms.start()
  await passes(0)
  let stopped = false
  const stopping = alarms.stop().then(() => (stopped = true))
  await passes(0)
  expect(stopped).toBe(false)
  finish()
  await stopping
  await alarms.set({ kind: 'schedule', id: 'sch_1' }, start)
  await passes(hour)
  expect(calls).toEqual([0])
})
