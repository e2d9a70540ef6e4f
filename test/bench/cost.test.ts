import { readFileSync } from 'node:fs'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { Meter } from '../../bench/aws/meter.ts'
import { monthsTable } from '../../bench/aws/months.ts'
import { daily } from '../../bench/aws/steps.ts'
import { openTable } from '../../shared/adapters/aws/table.ts'
import type { Op } from '../../shared/ports/table.ts'
import { wire } from '../adapters/aws-wire.ts'
import { MemoryAws, tableNames } from '../faults/aws/memory-aws.ts'

/** A table over a client with a meter. @param broken  so many requests are applied and their answers lost */
function metered(broken = 0) {
  const aws = new MemoryAws(() => Date.parse('2026-11-30T12:00:00Z'))
  const { options } = wire(({ action, input }, count) => {
    const ok = aws.call('dynamodb', action, input)
    return count <= broken ? { broken: 'ECONNRESET' } : { ok }
  })
  const client = new DynamoDBClient({ ...options, maxAttempts: 3 })
  const meter = new Meter(
    tableNames,
    (TableName, { pk, sk }) =>
      (aws.dynamo.call('GetItem', { TableName, Key: { pk, sk } }) as { Item?: never }).Item ?? null,
  )
  meter.watch(client)
  return { table: openTable({ client, names: tableNames }), meter }
}

const put = (id: string, more: Partial<Extract<Op, { put: unknown }>> = {}): Op => ({
  put: [`S#${id}`, 'A'],
  item: { text: 'x' },
  expect: 'any',
  ...more,
})

test('a meter on a client counts a write alone once, in a transaction twice, and what moves in an index by two', async () => {
  const { table, meter } = metered()
  await table.commit([put('a')], 't1')
  expect(meter.taken()).toMatchObject({ requests: 1, bill: { writeUnits: 1, readUnits: 0 } })
  await table.commit([put('a'), put('b')], 't2')
  expect(meter.taken()).toMatchObject({ requests: 1, bill: { writeUnits: 4 } })
  await table.commit([put('a', { index: { due: ['0', 1] } }), put('b', { item: { text: 'x'.repeat(3000) } })], 't3')
  expect(meter.taken().bill.writeUnits).toBe(2 + 1 + 6)
  await table.commit([put('a', { index: { due: ['0', 2] } })], 't4')
  expect(meter.taken().bill.writeUnits).toBe(1 + 2)
})

test('a meter on a client counts reads by key and by range as strong, by an index as eventual, and what is not there', async () => {
  const { table, meter } = metered()
  await table.commit([put('a', { index: { due: ['0', 1] } }), put('b', { item: { text: 'x'.repeat(5000) } })], 't1')
  meter.taken()
  await table.get([['S#a', 'A']])
  expect(meter.taken().bill.readUnits).toBe(1)
  await table.get([
    ['S#a', 'A'],
    ['S#b', 'A'],
    ['S#c', 'A'],
  ])
  expect(meter.taken()).toMatchObject({ requests: 1, bill: { readUnits: 1 + 2 + 1 } })
  await table.list('S#b')
  expect(meter.taken().bill.readUnits).toBe(2)
  await table.find('due', '0')
  expect(meter.taken().bill.readUnits).toBe(0.5)
})

test('a meter on a client counts each attempt of a request whose answer got lost', async () => {
  const { table, meter } = metered(1)
  await table.commit([put('a')], 't1')
  expect(meter.taken()).toMatchObject({ requests: 2, bill: { writeUnits: 2 } })
})

test('the README tells the months that the bench counts; a wake is six write units, and no more than seven requests', async () => {
  const counted = await daily(1)
  expect(counted.wake.bill.writeUnits).toBe(6)
  expect(counted.wake.requests).toBeLessThanOrEqual(7)
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [, told] = /<!-- months[^>]*-->\n\n(.*?)\n\n<!-- \/months -->/s.exec(readme) ?? []
  expect(told, '`npm run bench -- cost` writes it').toBe(monthsTable(counted))
}, 30_000)
