import { beforeEach, describe, expect, test } from 'vitest'
import { type RedriveOptions, redrive } from '../../apps/cli/redrive.ts'
import { report } from '../../apps/cli/report.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { sdkClients } from '../faults/aws/clients.ts'
import { AwsRefusal } from '../faults/aws/expressions.ts'
import { MemoryAws, type Service } from '../faults/aws/memory-aws.ts'
import { collecting, rouse } from './rouse.ts'

const now = Date.parse('2026-11-30T08:00:00Z')
const alarm = (kind: string, id: string) => JSON.stringify({ kind, id, at: now - 60_000 })
const changes = JSON.stringify({ DDBStreamBatchInfo: { shardId: 'shardId-1', batchSize: 1 } })

let aws: MemoryAws
let answers: (service: Service, action: string, input: object) => object
beforeEach(() => {
  aws = new MemoryAws(() => now)
  answers = (service, action, input) => aws.call(service, action, input)
  aws.queues.make('rouse-test-changes-dead')
  const dead = aws.queues.make('rouse-test-alarms-dead')
  for (let n = 0; n < 23; n++) aws.queues.send(dead, alarm('schedule', `sch_${n}`), 0)
  aws.queues.send(dead, alarm('turn', 'CONV'), 0)
  aws.queues.send(dead, 'what is this', 0)
  aws.queues.send(aws.queues.make('rouse-test-flows-dead'), alarm('flow', 'flr_1'), 0)
  aws.queues.send(aws.queues.make('rouse-test-changes-dead'), changes, 0)
})

const bodies = (queue: string) => [...aws.queues.named(queue)!.messages.values()].map(({ body }) => body)
const visible = (queue: string) =>
  [...aws.queues.named(queue)!.messages.values()].filter(({ visibleAt }) => visibleAt <= now).length

/** As the command runs it, against AWS in memory over the SDK's own client. */
async function run(options: Partial<RedriveOptions> = {}) {
  const [stdout, stderr] = [collecting(), collecting()]
  const io = { stdout: stdout.stream, stderr: stderr.stream, stdin: process.stdin, env: {} }
  const pace = { now: () => 0, random: () => 0, pause: async () => {} }
  const client = () => sdkClients((...call) => answers(...call), new Patience(pace)).sqs
  const code = await redrive({ stack: 'Rouse-test', ...options }, io, client).catch((error) =>
    report(error, { io, json: false }),
  )
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

describe('rouse admin redrive', () => {
  test('sends every alarm to the queue it came from, and leaves what it cannot send', async () => {
    const { code, stdout } = await run()
    expect(code).toBe(0)
    expect(stdout).toMatch(/alarms +schedule +23 +sent\n/)
    expect(stdout).toMatch(/alarms +turn +1 +sent\n/)
    expect(stdout).toMatch(/alarms +unreadable +1 +left\n/)
    expect(stdout).toMatch(/flows +flow +1 +sent\n/)
    expect(stdout).toMatch(/changes +change +1 +left\n/)
    expect(bodies('rouse-test-alarms')).toHaveLength(24)
    expect(bodies('rouse-test-flows')).toEqual([alarm('flow', 'flr_1')])
    expect(bodies('rouse-test-alarms-dead')).toEqual(['what is this'])
  })

  test('with --dry-run counts, and changes nothing: each letter can be seen again at once', async () => {
    const { stdout } = await run({ dryRun: true })
    expect(stdout).toMatch(/alarms +schedule +23 +would be sent\n/)
    expect(stdout).toContain('Nothing was changed')
    expect(bodies('rouse-test-alarms')).toEqual([])
    expect(visible('rouse-test-alarms-dead')).toBe(25)
    expect((await run({ queue: 'alarms' })).stdout).toMatch(/schedule +23 +sent/)
  })

  test('takes only what the filters name, and gives the rest back', async () => {
    await run({ queue: 'alarms', kind: 'turn' })
    expect(bodies('rouse-test-alarms')).toEqual([alarm('turn', 'CONV')])
    await run({ id: 'sch_7' })
    expect(bodies('rouse-test-alarms')).toEqual([alarm('turn', 'CONV'), alarm('schedule', 'sch_7')])
    expect(visible('rouse-test-alarms-dead')).toBe(23)
    expect(visible('rouse-test-flows-dead')).toBe(1)
  })

  test('sends no more than --limit says', async () => {
    await run({ queue: 'alarms', limit: 12 })
    expect(bodies('rouse-test-alarms')).toHaveLength(12)
    expect(visible('rouse-test-alarms-dead')).toBe(13)
  })

  test('deletes what can never be sent only where it is asked to', async () => {
    const { stdout } = await run({ discard: true })
    expect(stdout).toMatch(/unreadable +1 +discarded/)
    expect(stdout).toMatch(/change +1 +discarded/)
    expect(bodies('rouse-test-alarms-dead')).toEqual([])
    expect(bodies('rouse-test-changes-dead')).toEqual([])
  })

  test('names each letter as the log does with --json', async () => {
    const { queues } = JSON.parse((await run({ queue: 'flows', json: true })).stdout)
    const [letter] = queues[0].letters
    expect(letter).toEqual({
      messageId: expect.any(String),
      kind: 'flow',
      id: 'flr_1',
      sentAt: '2026-11-30T08:00:00.000Z',
      fate: 'sent',
    })
  })

  test('ends with 1 and keeps the letter when SQS takes only a part of a batch', async () => {
    answers = (service, action, input) => {
      if (action !== 'SendMessageBatch') return aws.call(service, action, input)
      const { Entries, ...rest } = input as { Entries: { Id: string }[] }
      const taken = aws.call(service, action, { ...rest, Entries: Entries.slice(1) })
      return { ...taken, Failed: [{ Id: Entries[0]!.Id, SenderFault: false, Code: 'InternalError' }] }
    }
    const { code, stdout } = await run({ queue: 'flows' })
    expect(code).toBe(1)
    expect(stdout).toContain('SQS did not take all of them: run it again.')
    expect(visible('rouse-test-flows-dead')).toBe(1)
  })

  test('that dies after it has sent has deleted nothing: the letters come twice, and none is lost', async () => {
    answers = (service, action, input) => {
      if (action === 'DeleteMessageBatch') throw new AwsRefusal('AccessDenied', 'not allowed to delete')
      return aws.call(service, action, input)
    }
    expect((await run({ queue: 'flows' })).stderr).toContain('SQS refused: AccessDenied')
    expect(bodies('rouse-test-flows')).toHaveLength(1)
    expect(bodies('rouse-test-flows-dead')).toHaveLength(1)
  })

  test('says what to do where there is no such stack', async () => {
    const { code, stderr } = await run({ stack: 'Rouse-nowhere' })
    expect(code).toBe(1)
    expect(stderr).toContain('there are no queues of Rouse-nowhere')
  })

  test('says that there is nothing, when there is nothing', async () => {
    await run({ discard: true })
    expect(await run()).toMatchObject({ code: 0, stdout: 'Nothing in the dead-letter queues.\n' })
  })

  test.each([
    [['--stack', 'other'], '--stack: expected a stack as it is deployed'],
    [['--queue', 'letters'], '--queue: expected alarms, flows, changes'],
    [['--kind', 'cron'], '--kind: expected schedule, turn'],
    [['--discard', '--id', 'sch_1'], '--discard is for what has no kind and no id'],
  ])('refuses %j before it calls anybody', async (argv, says) => {
    const { code, stderr } = await rouse(['admin', 'redrive', ...argv], { env: {} })
    expect(code).toBe(2)
    expect(stderr).toContain(says)
  })
})
