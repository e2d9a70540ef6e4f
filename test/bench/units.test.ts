import { describe, expect, test } from 'vitest'
import { nothing, usdOf } from '../../bench/aws/prices.ts'
import {
  type Attributes,
  apiCalls,
  gbSeconds,
  indexUnits,
  itemBytes,
  readUnits,
  sqsRequests,
  writeUnits,
} from '../../bench/aws/units.ts'

const kb = 1024

// docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html, and …/CapacityUnitCalculations.html for sizes
describe('DynamoDB, as its developer guide has it', () => {
  test.each([
    ['a 3.5 KB item is rounded up to 4 KB', 3.5 * kb, 1],
    ['a 10 KB item is rounded up to 12 KB', 10 * kb, 3],
    ['an 8 KB item takes two units', 8 * kb, 2],
    ['an item that is not there takes one', 0, 1],
  ])('a strongly consistent read: %s', (_, bytes, units) => {
    expect(readUnits(bytes, true)).toBe(units)
    expect(readUnits(bytes, false)).toBe(units / 2)
  })

  test('a batch rounds each item by itself: 1.5 KB and 6.5 KB are 12 KB, not 8', () => {
    expect(readUnits(1.5 * kb, true) + readUnits(6.5 * kb, true)).toBe(3)
  })

  test('a query rounds the sum: ten items of 40.8 KB in all are 44 KB', () => {
    expect(readUnits(40.8 * kb, true)).toBe(11)
  })

  test.each([
    ['500 bytes are rounded up to 1 KB', 500, 1],
    ['1.2 KB are rounded up to 2 KB', 1.2 * kb, 2],
    ['3 KB take three units', 3 * kb, 3],
  ])('a write: %s, and twice that in a transaction', (_, bytes, units) => {
    expect(writeUnits(null, bytes, false)).toBe(units)
    expect(writeUnits(null, bytes, true)).toBe(units * 2)
  })

  test('an update takes the larger of both versions, a deletion what was there, and what is not there one', () => {
    expect(writeUnits(3 * kb, 200, false)).toBe(3)
    expect(writeUnits(2.5 * kb, null, false)).toBe(3)
    expect(writeUnits(null, null, false)).toBe(1)
  })

  test('an index costs one write for what comes or goes, two for what moves, none for what stays', () => {
    const at = ['ip', 'is', 'pk', 'sk']
    const item = (place: object, more: object = {}): Attributes => ({
      pk: { S: 'a' },
      sk: { S: 'b' },
      ...place,
      ...more,
    })
    const here = { ip: { S: '1' }, is: { N: '10' } }
    const there = { ip: { S: '1' }, is: { N: '20' } }
    expect(indexUnits(null, item(here), at)).toBe(1)
    expect(indexUnits(item(here), item({}), at)).toBe(1)
    expect(indexUnits(item(here), null, at)).toBe(1)
    expect(indexUnits(item(here), item(there), at)).toBe(2)
    expect(indexUnits(item(here), item(here, { text: { S: 'x'.repeat(5000) } }), at)).toBe(0)
    expect(indexUnits(item({}), item({}), at)).toBe(0)
  })

  test('a size is that of names and values: text in UTF-8, a number by its digits, three bytes for a list or a map and one for each place', () => {
    const value = (one: Attributes[string]): number => itemBytes({ n: one }) - 1
    expect(value({ S: 'Grüße' })).toBe(7)
    expect(value({ N: '27' })).toBe(2)
    expect(value({ N: '-27' })).toBe(3)
    expect(value({ N: '1796284800001' })).toBe(8)
    expect(value({ N: '1796284800000' })).toBe(5)
    expect(value({ N: '0.0010' })).toBe(2)
    expect(value({ B: new Uint8Array(5) })).toBe(5)
    expect(value({ BOOL: true })).toBe(1)
    expect(value({ NULL: true })).toBe(1)
    expect(value({ SS: ['ab', 'c'] })).toBe(3)
    expect(value({ L: [{ S: 'ab' }, { BOOL: false }] })).toBe(3 + 2 + 2 + 1)
    expect(value({ M: { key: { S: 'ab' } } })).toBe(3 + 1 + 5)
    expect(itemBytes({ pk: { S: 'a' }, name: { S: 'bc' } })).toBe(9)
  })
})

// aws.amazon.com/sqs/pricing
test.each([
  [0, 1],
  [64 * kb, 1],
  [64 * kb + 1, 2],
  [256 * kb, 4],
])('SQS: a payload of %i bytes is %i requests', (bytes, requests) => {
  expect(sqsRequests(bytes)).toBe(requests)
})

// aws.amazon.com/api-gateway/pricing
test('API Gateway: a call of an HTTP API is metered in 512 KB', () => {
  expect([apiCalls(0), apiCalls(512 * kb), apiCalls(513 * kb)]).toEqual([1, 1, 2])
})

// aws.amazon.com/lambda/pricing
test('Lambda: three million invocations of 120 ms with 1,536 MB are 540,000 GB-seconds, and a millisecond that began counts', () => {
  expect(3_000_000 * gbSeconds(120, 1536)).toBeCloseTo(540_000, 3)
  expect(gbSeconds(0.2, 1024)).toBe(0.001)
})

test('a bill is the sum of its parts: a million of each, us-east-1', () => {
  const million = 1_000_000
  const bill = { ...nothing(), writeUnits: 4 * million, sqsRequests: 2 * million, schedulerFires: million }
  expect(usdOf(bill)).toBeCloseTo(4 * 0.625 + 2 * 0.4 + 1, 10)
  expect(usdOf({ ...nothing(), logBytes: 2 ** 30 })).toBe(0.5)
})
