import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { atOneMoment, woken } from './herd.ts'
import { herdOf, inSeconds, perWake, secondsFor, sizes } from './paper.ts'
import { ours, quotas } from './quotas.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const doc = read('docs/scale.md')
const rows = doc
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
const rowOf = (first: string): string[] => {
  const found = rows.find(([cell]) => cell === first)
  if (found === undefined) throw new Error(`docs/scale.md has no line "${first}"`)
  return found
}
const number = (n: number): string => n.toLocaleString('en-US')

describe('docs/scale.md', () => {
  it.each([
    ['Scheduler: entries', quotas.scheduler.schedules],
    ['Scheduler: new entries a second', quotas.scheduler.creates],
    ['Scheduler: new entries a second, smaller regions', quotas.scheduler.createsElsewhere],
    ['Scheduler: entries sent a second', quotas.scheduler.invocations],
    ['SQS: messages in flight, a queue', quotas.sqs.inFlight],
    ['SQS: longest delay, s', quotas.sqs.delaySecondsMax],
    ['Lambda: executions at once', quotas.lambda.concurrency],
    ['Lambda: batches of a queue at once, at first', quotas.lambda.batchesAtFirst],
    ['Lambda: batches more a minute', quotas.lambda.batchesPerMinute],
    ['Lambda: batches of a queue at once', quotas.lambda.batchesMost],
    ['DynamoDB: write units a second, a partition', quotas.dynamo.partitionWriteUnits],
    ['DynamoDB: read units a second, a partition', quotas.dynamo.partitionReadUnits],
    ['DynamoDB: write units a second, a table just made', quotas.dynamo.newTableWriteUnits],
    ['DynamoDB: read units a second, a table just made', quotas.dynamo.newTableReadUnits],
    ['DynamoDB: write units a second, a table', quotas.dynamo.tableWriteUnits],
    ['DynamoDB: read units a second, a table', quotas.dynamo.tableReadUnits],
  ])('has the quota that the simulation keeps to, with its source: %s', (name, value) => {
    const [, published, source] = rowOf(name)
    expect(published).toBe(number(value))
    expect(source).toMatch(/^\[.+\]\(https:\/\/docs\.aws\.amazon\.com\/.+\)$/)
  })

  it.each(Object.keys(secondsFor(1)))('says how long a herd takes each quota: %s', (name) => {
    expect(rowOf(name).slice(1)).toEqual(sizes.map((schedules) => inSeconds(secondsFor(herdOf(schedules))[name]!)))
  })

  it('counts the write units of a wake that the simulation counts', async () => {
    const { written } = await woken({ seed: 1, due: atOneMoment(40), perSession: 20, partitions: 4, untilMs: 10_000 })
    expect(Object.fromEntries(written)).toEqual({
      'rouse-schedules': 40 * perWake.tableWrites,
      'rouse-schedules due': 40 * perWake.dueIndexWrites,
    })
  })
})

describe('the simulation', () => {
  it('is bounded as the stack is', () => {
    const { Resources } = JSON.parse(read('test/infra/golden/Rouse-dev.json')) as {
      // biome-ignore lint/suspicious/noExplicitAny: a template
      Resources: Record<string, { Type: string; Properties: any }>
    }
    const find = (type: string, id: RegExp) =>
      Object.entries(Resources).find(([name, { Type }]) => Type === type && id.test(name))![1].Properties
    const mapping = find('AWS::Lambda::EventSourceMapping', /^AlarmDelivery/)
    const alarm = find('AWS::Lambda::Function', /^AlarmFunction/)
    expect({
      batch: mapping.BatchSize,
      batchesAtOnce: mapping.ScalingConfig.MaximumConcurrency,
      shards: Number(alarm.Environment.Variables.ROUSE_SHARDS),
      alarmSeconds: alarm.Timeout,
    }).toEqual(ours)
  })
})
