import { ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { openAlarms } from '../../shared/adapters/aws/alarms.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { Broken, sdkClients } from '../faults/aws/clients.ts'
import { AwsRefusal } from '../faults/aws/expressions.ts'

/** Time passes by pausing alone. */
function still(random = () => 0.5) {
  const paused: number[] = []
  let now = 0
  const pause = async (ms: number) => {
    paused.push(ms)
    now += ms
  }
  return { paused, patience: new Patience({ now: () => now, random, pause }) }
}

const busy = () => Promise.reject(new AwsRefusal('ThrottlingException'))

describe('whoever is refused for want of room', () => {
  test('tries again after pauses of any length up to a bound that doubles to a second, for ten seconds', async () => {
    const { paused, patience } = still(() => 0.999)
    await expect(patience.calling(busy)).rejects.toThrow('ThrottlingException')
    expect(paused.slice(0, 8).map(Math.round)).toEqual([25, 50, 100, 200, 400, 799, 999, 999])
    const all = paused.reduce((sum, ms) => sum + ms, 0)
    expect(all).toBeLessThanOrEqual(10_000)
    expect(all).toBeGreaterThan(9_000)
  })

  test('may come again at once: chance spreads over the whole of the pause, so that those who met do not meet again', async () => {
    const { paused, patience } = still(() => 0)
    let tries = 0
    await patience.calling(() => (++tries < 4 ? busy() : Promise.resolve()))
    expect(paused).toEqual([0, 0, 0])
  })

  test('gives up so early that the invocation can still tell it', async () => {
    const { paused, patience } = still()
    patience.begin(8_000)
    await expect(patience.calling(busy)).rejects.toThrow('ThrottlingException')
    expect(paused.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(2_000)
    patience.begin(20_000)
    let tries = 0
    expect(await patience.calling(() => (++tries < 3 ? busy() : Promise.resolve('there')))).toBe('there')
  })

  test('does not try again what is wrong in itself', async () => {
    const { paused, patience } = still()
    await expect(patience.calling(() => Promise.reject(new AwsRefusal('ValidationException')))).rejects.toThrow()
    expect(paused).toEqual([])
  })
})

describe("the SDK's clients", () => {
  /** How often a request was sent whose answers are these, one after the other; the last is given for ever. */
  async function sent(patience: Patience, answers: readonly (Error | object)[]): Promise<[number, string]> {
    let count = 0
    const { dynamo } = sdkClients(() => {
      const answer = answers[Math.min(count++, answers.length - 1)]!
      if (answer instanceof Error) throw answer
      return answer
    }, patience)
    const said = await dynamo.send(new ListTablesCommand({})).then(
      () => 'answered',
      (error) => error.name,
    )
    return [count, said]
  }

  test('send again what got lost, twice and no more, with a pause of full jitter before each', async () => {
    const { paused, patience } = still()
    expect(await sent(patience, [new Broken(), { TableNames: [] }])).toEqual([2, 'answered'])
    expect((await sent(patience, [new Broken()]))[0]).toBe(3)
    expect(paused).toEqual([50, 50, 100])
  })

  test('leave what was throttled to who called, so that nobody repeats what is repeated already', async () => {
    const { paused, patience } = still()
    expect(await sent(patience, [new AwsRefusal('ThrottlingException')])).toEqual([1, 'ThrottlingException'])
    expect(paused).toEqual([])
  })
})

test('of a batch of alarms that SQS takes in part, only the rest is sent again', async () => {
  const batches: string[][] = []
  const { patience } = still()
  const { sqs, scheduler } = sdkClients((_, action, input) => {
    const bodies =
      action === 'SendMessage' ? [input.MessageBody] : input.Entries.map((e: { MessageBody: string }) => e.MessageBody)
    batches.push(bodies.map((body: string) => JSON.parse(body).id))
    if (batches.length > 1) return { MessageId: 'm' }
    return { Successful: [], Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] }
  }, patience)
  const alarms = openAlarms({
    client: sqs,
    clock: { now: () => 0 },
    patience,
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/alarms',
    queueArn: 'arn:aws:sqs:eu-west-1:000000000000:alarms',
    flowsQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/flows',
    schedulerGroup: 'rouse',
    schedulerRoleArn: 'arn:aws:iam::000000000000:role/scheduler',
    scheduler: async () => scheduler,
  })
  await Promise.all(['a', 'b', 'c'].map((id) => alarms.set({ kind: 'schedule', id }, 60_000)))
  expect(batches).toEqual([['a', 'b', 'c'], ['b']])
})
