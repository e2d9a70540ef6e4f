import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openTable } from '../../shared/adapters/aws/table.ts'
import {
  Conflict,
  Defect,
  type IndexRange,
  type Op,
  type Range,
  type TableName,
  tables,
  Unavailable,
} from '../../shared/ports/table.ts'
import { type Answer, type Sent, wire } from './aws-wire.ts'

const names = Object.fromEntries(Object.keys(tables).map((name) => [name, `rouse-${name}`])) as Record<
  TableName,
  string
>

function open(answer: (sent: Sent, count: number) => Answer) {
  const { sent, options } = wire(answer)
  return { sent, table: openTable({ client: new DynamoDBClient(options), names }) }
}

const put = (sk: string): Op => ({ put: ['S#1', sk], item: { n: 1 }, expect: 'absent' })
const cancelled = (...codes: string[]): Answer => ({
  refused: 'TransactionCanceledException',
  with: { CancellationReasons: codes.map((Code) => ({ Code })) },
})

afterEach(() => {
  vi.useRealTimers()
})

/** Lets pauses pass at once, and tells how long they were together. */
async function hurried<T>(run: () => Promise<T>): Promise<{ result: PromiseSettledResult<T>; tookMs: number }> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  const began = performance.now()
  let ended = false
  const settled = Promise.allSettled([run()]).finally(() => {
    ended = true
  })
  // Steps of its own length, since the SDK takes turns of the real event loop in between.
  while (!ended) {
    await vi.advanceTimersByTimeAsync(20)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { result: (await settled)[0], tookMs: performance.now() - began }
}

describe('a transaction that is cancelled', () => {
  it('is a conflict on the first operation whose condition failed, and is not tried again', async () => {
    const { sent, table } = open(() =>
      cancelled('None', 'TransactionConflict', 'ConditionalCheckFailed', 'ConditionalCheckFailed'),
    )
    const failed = table.commit(['a', 'b', 'c', 'd'].map(put), 't')
    await expect(failed).rejects.toMatchObject({ name: 'Conflict', op: 2, key: ['S#1', 'c'] })
    expect(sent).toHaveLength(1)
  })

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'because of %s passes with another try, under the same token',
    async (code) => {
      const { sent, table } = open((_, count) => (count < 4 ? cancelled('None', code) : { ok: {} }))
      await table.commit([put('a'), put('b')], 'token')
      expect(sent.map(({ input }) => input.ClientRequestToken)).toEqual(['token', 'token', 'token', 'token'])
      expect(sent[3]).toEqual(sent[0])
    },
  )

  it('again and again is Unavailable, after ten seconds at most', async () => {
    const { sent, table } = open(() => cancelled('TransactionConflict', 'None'))
    const { result, tookMs } = await hurried(() => table.commit([put('a'), put('b')], 't'))
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } })
    expect(tookMs).toBeGreaterThan(5_000)
    expect(tookMs).toBeLessThan(10_500)
    expect(sent.length).toBeGreaterThan(10)
    expect(sent.length).toBeLessThan(100)
  })

  it('because an operation is wrong in itself is a defect that quotes nothing', async () => {
    const { sent, table } = open(() => ({
      refused: 'TransactionCanceledException',
      with: {
        message: 'secret',
        CancellationReasons: [{ Code: 'None' }, { Code: 'ValidationError', Message: 'secret' }],
      },
    }))
    const error = await table.commit([put('a'), put('b')], 't').catch((e) => e)
    expect(error).toBeInstanceOf(Defect)
    expect(error.message).toContain('S#1 / b: ValidationError')
    expect(String(error.stack)).not.toContain('secret')
    expect(sent).toHaveLength(1)
  })
})

describe('what is refused', () => {
  it.each(['IdempotentParameterMismatchException', 'ValidationException'])('%s is a defect', async (refused) => {
    const { table } = open(() => ({ refused }))
    await expect(table.commit([put('a'), put('b')], 't')).rejects.toBeInstanceOf(Defect)
  })

  it.each([
    'TransactionInProgressException',
    'ThrottlingException',
    'ProvisionedThroughputExceededException',
    'TransactionConflictException',
  ])("%s passes with another try, also beyond the SDK's own", async (refused) => {
    const { sent, table } = open((_, count) => (count < 6 ? { refused } : { ok: {} }))
    const { result } = await hurried(() => table.commit([put('a'), put('b')], 't'))
    expect(result.status).toBe('fulfilled')
    expect(sent).toHaveLength(6)
  })

  it.each(['AccessDeniedException', 'ResourceNotFoundException', 'ExpiredTokenException'])(
    '%s is Unavailable, and its name is told',
    async (refused) => {
      const { table } = open(() => ({ refused }))
      const failed = await table.get([['S#1', 'A']]).catch((e) => e)
      expect(failed).toBeInstanceOf(Unavailable)
      expect(failed.message).toContain(refused)
    },
  )

  it('a line that stays broken is Unavailable', async () => {
    const { table } = open(() => ({ broken: 'ECONNRESET' }))
    await expect(table.commit([put('a')], 't')).rejects.toBeInstanceOf(Unavailable)
  })
})

describe('a single write', () => {
  it('is one conditional request that carries the mark of its token', async () => {
    const { sent, table } = open(() => ({ ok: {} }))
    await table.commit([put('a')], 't')
    expect(sent).toMatchObject([
      {
        action: 'PutItem',
        input: {
          TableName: 'rouse-schedules',
          Item: {
            pk: { S: 'S#1' },
            sk: { S: 'a' },
            v: { N: '1' },
            n: { N: '1' },
            _t: { S: expect.stringMatching(/^.{8}$/) },
          },
          ConditionExpression: 'attribute_not_exists(#0)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
    ])
  })

  it.each([
    ['put', put('a')],
    ['patch', { patch: ['S#1', 'a'], set: { n: 2 }, guards: [] } satisfies Op],
  ])('%s whose answer got lost is recognised by its mark, and is no conflict', async (_, op) => {
    let applied: unknown
    const { sent, table } = open(({ input }, count) => {
      const mark =
        input.Item?._t ??
        Object.values(input.ExpressionAttributeValues).find((v) => /^.{8}$/.test((v as { S?: string }).S ?? ''))
      if (count === 1) {
        applied = mark
        return { broken: 'ECONNRESET' }
      }
      return { refused: 'ConditionalCheckFailedException', with: { Item: { pk: { S: 'S#1' }, _t: applied } } }
    })
    await table.commit([op], 't')
    expect(sent).toHaveLength(2)
    expect(applied).toBeDefined()
  })

  it('that is a patch writes only over what does not carry its mark, whatever its guards', async () => {
    const { sent, table } = open(() => ({ ok: {} }))
    await table.commit([{ patch: ['S#1', 'a'], set: { n: 2 }, guards: [] }], 't')
    const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = sent[0]!.input
    const [, name, value] = /^\(attribute_not_exists\((#\d)\) OR \1 <> (:\d)\)$/.exec(ConditionExpression)!
    expect(ExpressionAttributeNames[name!]).toBe('_t')
    expect(ExpressionAttributeValues[value!].S).toMatch(/^.{8}$/)
  })

  it("is a conflict when the item carries another's mark, or none", async () => {
    for (const Item of [{ _t: { S: 'another1' } }, {}, undefined]) {
      const { table } = open(() => ({ refused: 'ConditionalCheckFailedException', with: { Item } }))
      await expect(table.commit([put('a')], 't')).rejects.toMatchObject({ name: 'Conflict', op: 0, key: ['S#1', 'a'] })
    }
  })

  it('that could not be told from its repetition goes as a transaction of one', async () => {
    const ops: Op[] = [
      { patch: ['S#1', 'a'], add: { n: 1 }, guards: [] },
      { delete: ['S#1', 'a'], expect: 3 },
      { delete: ['S#1', 'a'], expect: 'present' },
    ]
    const { sent, table } = open(() => ({ ok: {} }))
    for (const [i, op] of ops.entries()) await table.commit([op], `t${i}`)
    expect(sent.map(({ action }) => action)).toEqual(['TransactWriteItems', 'TransactWriteItems', 'TransactWriteItems'])
  })

  it('check reads, strongly consistent, and writes nothing', async () => {
    const answers: Answer[] = [{ ok: { Item: { v: { N: '3' } } } }, { ok: {} }]
    const { sent, table } = open((_, count) => answers[count - 1]!)
    await table.commit([{ check: ['S#1', 'a'], expect: 3 }], 't1')
    await expect(table.commit([{ check: ['S#1', 'a'], expect: 'present' }], 't2')).rejects.toBeInstanceOf(Conflict)
    expect(sent.map(({ action, input }) => [action, input.ConsistentRead])).toEqual([
      ['GetItem', true],
      ['GetItem', true],
    ])
  })
})

describe('tokens', () => {
  it('of more than 36 characters are hashed to what DynamoDB takes, alike for the same token', async () => {
    const { sent, table } = open(() => ({ ok: {} }))
    const long = 'x'.repeat(37)
    for (const token of [long, `${long}y`, 'x'.repeat(36)]) await table.commit([put('a'), put('b')], token)
    const tokens = sent.map(({ input }) => input.ClientRequestToken as string)
    expect(tokens.map((token) => token.length)).toEqual([36, 36, 36])
    expect(new Set(tokens).size).toBe(3)
  })

  it('make a repeated commit say the same, versions of `any` included', async () => {
    const bodies: unknown[] = []
    for (let i = 0; i < 2; i++) {
      const { sent, table } = open(() => ({ ok: {} }))
      await table.commit([{ put: ['S#1', 'a'], item: {}, expect: 'any' }, put('b')], 'token')
      bodies.push(sent[0]!.input)
    }
    expect(bodies[0]).toEqual(bodies[1])
    const version = Number(
      (bodies[0] as { TransactItems: { Put: { Item: { v: { N: string } } } }[] }).TransactItems[0]!.Put.Item.v.N,
    )
    expect(version).toBeGreaterThan(2 ** 51 - 1)
    expect(Number.isSafeInteger(version + 2 ** 20)).toBe(true)
  })

  it('are remembered once they passed, and forgotten when they were refused', async () => {
    const { sent, table } = open((_, count) => (count === 1 ? cancelled('ConditionalCheckFailed', 'None') : { ok: {} }))
    const ops = [put('a'), put('b')]
    await expect(table.commit(ops, 't')).rejects.toBeInstanceOf(Conflict)
    await Promise.all([table.commit(ops, 't'), table.commit(ops, 't')])
    await table.commit(ops, 't')
    expect(sent).toHaveLength(2)
    await expect(table.commit([put('a')], 't')).rejects.toBeInstanceOf(Defect)
  })
})

describe('get', () => {
  const item = (sk: string, n: number) => ({ pk: { S: 'S#1' }, sk: { S: sk }, v: { N: '1' }, n: { N: String(n) } })

  it('asks again for the keys that DynamoDB left unread, and answers in the order asked, duplicates too', async () => {
    const { sent, table } = open(({ input }) => {
      const keys = input.RequestItems['rouse-schedules'].Keys as { sk: { S: string } }[]
      const [first, ...left] = keys
      const UnprocessedKeys = left.length === 0 ? {} : { 'rouse-schedules': { Keys: left, ConsistentRead: true } }
      return { ok: { Responses: { 'rouse-schedules': [item(first!.sk.S, keys.length)] }, UnprocessedKeys } }
    })
    const found = await table.get(['c', 'a', 'c', 'b'].map((sk) => ['S#1', sk] as const))
    expect(found.map((stored) => stored?.key[1])).toEqual(['c', 'a', 'c', 'b'])
    expect(sent.map(({ input }) => input.RequestItems['rouse-schedules'].Keys.length)).toEqual([3, 2, 1])
    expect(sent.every(({ input }) => input.RequestItems['rouse-schedules'].ConsistentRead)).toBe(true)
  })

  it('gives up after ten seconds on keys that stay unread', async () => {
    const { table } = open(({ input }) => ({ ok: { Responses: {}, UnprocessedKeys: input.RequestItems } }))
    const { result, tookMs } = await hurried(() =>
      table.get([
        ['S#1', 'a'],
        ['S#1', 'b'],
      ]),
    )
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } })
    expect(tookMs).toBeLessThan(10_500)
  })

  it('of one key is a single read', async () => {
    const { sent, table } = open(() => ({ ok: { Item: item('a', 7) } }))
    expect(await table.get([['S#1', 'a']])).toEqual([{ key: ['S#1', 'a'], version: 1, item: { n: 7 } }])
    expect(sent).toMatchObject([{ action: 'GetItem', input: { ConsistentRead: true } }])
  })
})

describe('bounds are defects before any request', () => {
  it.each<[string, Op[]]>([
    ['an empty sort key', [{ check: ['S#1', ''], expect: 'absent' }]],
    ['a partition of 2,049 bytes', [{ check: [`S#${'é'.repeat(1024)}`, 'A'], expect: 'absent' }]],
    ['a sort key of 1,025 bytes', [{ check: ['S#1', 'x'.repeat(1025)], expect: 'absent' }]],
    ['an unknown partition', [{ check: ['?#1', 'A'], expect: 'absent' }]],
    ['an attribute that is set and added to', [{ patch: ['S#1', 'A'], set: { n: 1 }, add: { n: 1 }, guards: [] }]],
    ['an item of 350 KB', [{ put: ['S#1', 'A'], item: { text: 'x'.repeat(350_000) }, expect: 'any' }]],
    [
      'a guard on infinity',
      [{ patch: ['S#1', 'A'], guards: [{ attr: 'n', is: '<', value: Number.POSITIVE_INFINITY }] }],
    ],
  ])('%s', async (_, ops) => {
    const { sent, table } = open(() => ({ ok: {} }))
    await expect(table.commit(ops, 't')).rejects.toBeInstanceOf(Defect)
    expect(sent).toEqual([])
  })
})

describe('ranges', () => {
  const asked = async (run: (table: ReturnType<typeof openTable>) => Promise<unknown>) => {
    const { sent, table } = open(() => ({ ok: { Items: [] } }))
    await run(table)
    return sent.map(({ input }) => {
      const values = Object.values(input.ExpressionAttributeValues as object)
      return [input.KeyConditionExpression, ...values.map((value) => Object.values(value as object)[0])]
    })[0]
  }

  it.each<[Range, unknown]>([
    [{}, ['#0 = :0', 'S#1']],
    [{ prefix: 'R#' }, ['#0 = :0 AND begins_with(#1, :1)', 'S#1', 'R#']],
    [{ prefix: 'R#', from: 'R#5' }, ['#0 = :0 AND #1 BETWEEN :1 AND :2', 'S#1', 'R#5', 'R$']],
    [{ prefix: 'R#', to: 'R#5' }, ['#0 = :0 AND #1 BETWEEN :1 AND :2', 'S#1', 'R#', 'R#5']],
    [{ prefix: 'R#', from: 'A', to: 'Z' }, ['#0 = :0 AND begins_with(#1, :1)', 'S#1', 'R#']],
    [{ from: 'b' }, ['#0 = :0 AND #1 >= :1', 'S#1', 'b']],
    [{ to: 'b' }, ['#0 = :0 AND #1 <= :1', 'S#1', 'b']],
    [{ from: 'c', to: 'b' }, undefined],
    [{ prefix: 'R#', from: 'S' }, undefined],
    [{ to: '' }, undefined],
  ])('%j of a partition is one condition', async (range, expected) => {
    expect(await asked((table) => table.list('S#1', range))).toEqual(expected)
  })

  it.each<[IndexRange, unknown]>([
    [{ from: 1, to: 2 }, ['#0 = :0 AND #1 BETWEEN :1 AND :2', '0', '1', '2']],
    [{ from: Number.NEGATIVE_INFINITY, to: 2 }, ['#0 = :0 AND #1 <= :1', '0', '2']],
    [{ from: 2, to: 1 }, undefined],
  ])('%j of an index is one condition', async (range, expected) => {
    expect(await asked((table) => table.find('due', '0', range))).toEqual(expected)
  })

  it.each(['nonsense', Buffer.from('["a","b"]').toString('base64url'), Buffer.from('[1]').toString('base64url')])(
    'a cursor that is none (%s) is a defect',
    async (after) => {
      const { sent, table } = open(() => ({ ok: {} }))
      await expect(table.list('S#1', { after })).rejects.toBeInstanceOf(Defect)
      await expect(table.find('due', '0', { after })).rejects.toBeInstanceOf(Defect)
      expect(sent).toEqual([])
    },
  )
})
