import { setTimeout } from 'node:timers/promises'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { GetScheduleCommand } from '@aws-sdk/client-scheduler'
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openAlarms, readAlarms } from '../../shared/adapters/aws/alarms.ts'
import { openWorld } from '../../shared/adapters/aws/world.ts'
import { Defect, type Op } from '../../shared/ports/table.ts'
import { type EmulatorWorld, openEmulatorWorld } from './emulator-world.ts'

/** What the ports leave to each world, and what only shows between two processes. */
let emulated: EmulatorWorld
beforeAll(async () => {
  emulated = await openEmulatorWorld(inject('aws'))
})
afterAll(() => emulated.close())

/** The same stack as another process sees it: nothing remembered. */
const another = () => openWorld(emulated.config, () => {})

describe('two processes', () => {
  it('a commit that one repeats after the other writes once, alone or together', async () => {
    const together: Op[] = [
      { put: ['S#two', 'A'], item: { n: 1 }, expect: 'any' },
      { patch: ['S#two', 'B'], add: { n: 1 }, guards: [] },
    ]
    const commits: Op[][] = [
      together,
      [{ put: ['S#two', 'C'], item: { n: 1 }, expect: 'absent' }],
      [{ patch: ['S#two', 'D'], add: { n: 1 }, guards: [] }],
      [{ patch: ['S#two', 'E'], set: { n: 1 }, guards: [{ attr: 'n', is: 'absent' }] }],
      [{ delete: ['S#two', 'C'], expect: 1 }],
    ]
    for (const [i, ops] of commits.entries()) {
      for (const { table } of [emulated.world, another()]) await table.commit(ops, `two ${i}`)
    }
    const { items } = await emulated.world.table.list('S#two')
    expect(items.map(({ key, item }) => [key[1], item])).toEqual(['A', 'B', 'D', 'E'].map((sk) => [sk, { n: 1 }]))
  })

  it('a token that has named another transaction in the other process is a defect', async () => {
    const put = (sk: string): Op => ({ put: ['S#token', sk], item: {}, expect: 'absent' })
    await emulated.world.table.commit([put('A'), put('B')], 'token')
    await expect(another().table.commit([put('A'), put('C')], 'token')).rejects.toBeInstanceOf(Defect)
  })
})

describe('an item', () => {
  it('has its time to live and its places as attributes of its own, beside those of the caller that are called alike', async () => {
    const item = {
      ttl: 'mine',
      pk: 'mine',
      v: 'mine',
      _dp: 'mine',
      _t: 'mine',
      __proto: [1],
      list: { deep: [[[1e300]]] },
    }
    const index = { due: ['0', 5] as const }
    await emulated.world.table.commit([{ put: ['S#own', 'A'], item, expect: 'absent', ttl: 4e9, index }], 'own')
    expect(await emulated.world.table.get([['S#own', 'A']])).toEqual([{ key: ['S#own', 'A'], version: 1, item }])
    const client = new DynamoDBClient(inject('aws'))
    const Key = { pk: { S: 'S#own' }, sk: { S: 'A' } }
    const { Item } = await client.send(new GetItemCommand({ TableName: emulated.config.tables.schedules, Key }))
    expect(Item).toMatchObject({ v: { N: '1' }, ttl: { N: '4000000000' }, _dp: { S: '0' }, _ds: { N: '5' } })
    client.destroy()
  })
})

describe('an alarm far ahead', () => {
  it('is called by the Scheduler, early, and is set again until its time', async () => {
    const { world, config, sqs, scheduler } = emulated
    // A clock that is behind makes of a minute more than fifteen.
    const behind = { now: () => Date.now() - 900_000 }
    const alarms = openAlarms({
      client: sqs,
      clock: behind,
      queueUrl: config.alarmsQueueUrl,
      queueArn: config.alarmsQueueArn,
      flowsQueueUrl: config.flowsQueueUrl,
      schedulerGroup: config.schedulerGroup,
      schedulerRoleArn: config.schedulerRoleArn,
      scheduler: async () => scheduler,
    })
    const key = { kind: 'schedule', id: 'sch_01J0000000000000000000ABCD' } as const
    const at = Date.now() + 63_000
    await alarms.set(key, at)
    await alarms.set(key, at)
    const Name = `${key.id}-${Math.ceil(at / 1000)}`
    expect(await scheduler.send(new GetScheduleCommand({ Name, GroupName: config.schedulerGroup }))).toMatchObject({
      ActionAfterCompletion: 'DELETE',
      ScheduleExpression: `at(${new Date(at - 60_000).toISOString().slice(0, 19)})`,
    })
    let earlyMs: number | null = null
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: config.alarmsQueueUrl, WaitTimeSeconds: 5, MaxNumberOfMessages: 10 }),
      )
      for (const { ReceiptHandle } of Messages)
        await sqs.send(new DeleteMessageCommand({ QueueUrl: config.alarmsQueueUrl, ReceiptHandle }))
      const now = Date.now()
      const bodies = Messages.map(({ Body }) => Body!)
      const { due, bad, unset } = await readAlarms(world.alarms, bodies, now)
      expect([bad, unset]).toEqual([[], []])
      if (due.length > 0) {
        expect(due).toEqual([key])
        expect(now).toBeGreaterThanOrEqual(at)
        expect(now).toBeLessThan(at + 5000)
        break
      }
      if (bodies.length > 0) earlyMs ??= at - now
    }
    expect(earlyMs).toBeGreaterThan(40_000)
  })
})

describe('a grant', () => {
  it('hears its queue, which it makes when nobody has rung it yet', async () => {
    const grant = await emulated.world.bell.grant('ses_granted')
    expect(grant).toMatchObject({ region: 'eu-west-1', endpoint: emulated.config.endpoint })
    expect(grant!.expiresAt).toBeGreaterThan(Date.now() + 3_000_000)
    const { accessKeyId, secretAccessKey, sessionToken } = grant!
    const credentials = { accessKeyId, secretAccessKey, sessionToken }
    const sqs = new SQSClient({ region: grant!.region, endpoint: grant!.endpoint!, credentials })
    const envelope = {
      kind: 'cancelled',
      session: 'ses_granted',
      agent: 'agt_1',
      id: 'trn_1',
      message: () => null,
    } as const
    await emulated.world.bell.ring('ses_granted', envelope)
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: grant!.url, WaitTimeSeconds: 5 }))
    expect(JSON.parse(Messages![0]!.Body!)).toMatchObject({ kind: 'cancelled', id: 'trn_1', message: null })
    await emulated.world.bell.close('ses_granted')
    await setTimeout(10)
    await expect(sqs.send(new ReceiveMessageCommand({ QueueUrl: grant!.url }))).rejects.toThrow()
    sqs.destroy()
  })
})
