import { readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { beforeAll, describe, expect, test } from 'vitest'
import { settingsOf } from '../../infra/settings.ts'
import { openEmf } from '../../shared/adapters/aws/emf.ts'
import { type CounterName, counters, type DistributionName, distributions } from '../../shared/ports/meter.ts'
import { type Json, type Resource, resources, synthesized } from '../infra/synth.ts'

const stack = synthesized('dev')
const alarms = resources(stack, 'AWS::CloudWatch::Alarm')
const everything: Record<string, Json> = stack.toJSON().Resources
const runbook = readFileSync(new URL('../../RUNBOOK.md', import.meta.url), 'utf8')

/** Sections of RUNBOOK.md about alarms: what stands under `## Alarms`, by name. */
const sections = new Map(
  (/\n## Alarms\n([\s\S]*?)(?=\n## |$)/.exec(runbook)?.[1] ?? '')
    .split(/^### /m)
    .slice(1)
    .map((text) => [text.split('\n')[0]!.trim(), text] as const),
)

const sectionOf = ({ Properties }: Resource): string => Properties.AlarmDescription.split('RUNBOOK.md#')[1]
const named = ({ Properties }: Resource): string => Properties.AlarmName

describe('RUNBOOK.md', () => {
  test.each(alarms.map((alarm) => [named(alarm), alarm] as const))('has a section for %s', (_, alarm) => {
    expect([...sections.keys()]).toContain(sectionOf(alarm))
  })

  test.each([...sections])(
    '%s: is the section of an alarm, says what it means, how to look and what to do',
    (name, text) => {
      expect(alarms.map(sectionOf)).toContain(name)
      const parts = text.split(/\n\n?\*\*(.+?)\*\* /)
      expect(parts.filter((_, n) => n % 2 === 1)).toEqual(['What it means.', 'How to look.', 'What to do.'])
      for (const part of parts.filter((_, n) => n > 0 && n % 2 === 0)) expect(part.trim().length).toBeGreaterThan(40)
      expect(text).toContain('`')
    },
  )

  test('names only metrics, functions and queues that there are', () => {
    const told = [...runbook.matchAll(/`rouse-(?:<stage>|dev)-([a-z-]+)`/g)].map(([, name]) => name)
    const there = [...alarms.map((alarm) => named(alarm).slice('rouse-dev-'.length)), ...queueNames()]
    expect(told.filter((name) => !there.includes(name!))).toEqual([])
    expect(told.length).toBeGreaterThan(3)
  })
})

describe('each alarm', () => {
  test('has a name of its own behind the stage’s, and says in its description what is wrong and where to read on', () => {
    expect(new Set(alarms.map(named)).size).toBe(alarms.length)
    for (const { Properties } of alarms) {
      expect(Properties.AlarmName).toMatch(/^rouse-dev-[a-z0-9-]+$/)
      expect(Properties.AlarmDescription).toMatch(/^Rouse \(dev\): .{20,}\. What to do: RUNBOOK\.md#[a-z0-9-]+$/)
    }
  })

  test('looks at something that is there: a function, a queue, a table or the Scheduler’s group of this stack', () => {
    for (const alarm of alarms) {
      const { Namespace, Dimensions } = alarm.Properties
      for (const { Name, Value } of Dimensions)
        expect([named(alarm), dimensionIsThere(Namespace, Name, Value)]).toEqual([named(alarm), true])
    }
  })

  test('of a metric of ours looks at one that the functions write', () => {
    const looked = alarms.filter(({ Properties }) => Properties.Namespace === 'Rouse')
    expect(looked.length).toBeGreaterThanOrEqual(3)
    for (const { Properties } of looked) {
      expect(written()).toContain(Properties.MetricName)
      expect(Properties.Dimensions).toEqual([{ Name: 'stage', Value: 'dev' }])
    }
  })

  test('does not ring where nothing is written, but the one that misses the sweep', () => {
    const breaching = alarms.filter(({ Properties }) => Properties.TreatMissingData !== 'notBreaching')
    expect(breaching.map(named)).toEqual(['rouse-dev-sweep-silent'])
    expect(breaching[0]!.Properties).toMatchObject({
      TreatMissingData: 'breaching',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      DatapointsToAlarm: 5,
      EvaluationPeriods: 5,
    })
  })

  test('there is one for errors and throttles of each function, for writes of each table, for each dead-letter queue', () => {
    const names = alarms.map((alarm) => named(alarm).slice('rouse-dev-'.length))
    for (const fn of ['api', 'alarm', 'sweep', 'change', 'flow'])
      expect(names).toEqual(expect.arrayContaining([`function-errors-${fn}`, `function-throttles-${fn}`]))
    expect(names.filter((name) => name.startsWith('dead-')).sort()).toEqual([
      'dead-alarms',
      'dead-changes',
      'dead-flows',
    ])
    expect(queueNames().filter((name) => name.endsWith('-dead'))).toHaveLength(3)
    const tables = resources(stack, 'AWS::DynamoDB::Table').length
    expect(names.filter((name) => name.startsWith('table-throttles-'))).toHaveLength(tables + 1)
  })

  test('an alarm that may wait for fifteen minutes in its queue is not old before twenty', () => {
    const waiting = alarms.find((alarm) => named(alarm) === 'rouse-dev-alarms-waiting')!
    expect(waiting.Properties.Threshold).toBe(1200)
  })
})

describe('who hears of alarms', () => {
  const topic = 'arn:aws:sns:eu-west-1:000000000000:on-call'
  const withContext = (context: object) => synthesized('dev', settingsOf(new App({ context: { ...context } }).node))
  const actions = (of: ReturnType<typeof synthesized>) =>
    resources(of, 'AWS::CloudWatch::Alarm').map(({ Properties }) => [Properties.AlarmActions, Properties.OKActions])

  test('nobody, unless somebody is named', () => {
    for (const one of actions(stack)) expect(one).toEqual([undefined, undefined])
    expect(resources(stack, 'AWS::SNS::Topic')).toEqual([])
  })

  test('-c alarmTopic: a topic that is there hears when each alarm rings and when it is over', () => {
    const made = withContext({ alarmTopic: topic })
    for (const one of actions(made)) expect(one).toEqual([[topic], [topic]])
    expect(resources(made, 'AWS::SNS::Topic')).toEqual([])
  })

  test('-c alarmEmail: a topic is made that writes to it, takes calls over TLS alone, and only from this account’s CloudWatch', () => {
    const made = withContext({ alarmEmail: 'on-call@example.org' })
    const [of, ...others] = resources(made, 'AWS::SNS::Topic')
    expect(others).toEqual([])
    for (const one of actions(made)) expect(one).toEqual([[{ Ref: of!.id }], [{ Ref: of!.id }]])
    expect(resources(made, 'AWS::SNS::Subscription')[0]!.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'on-call@example.org',
    })
    const statements: Json[] = resources(made, 'AWS::SNS::TopicPolicy')[0]!.Properties.PolicyDocument.Statement
    expect(statements.map(({ Effect, Principal, Condition }) => [Effect, Principal, Condition])).toEqual(
      expect.arrayContaining([
        [
          'Allow',
          { Service: 'cloudwatch.amazonaws.com' },
          { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        ],
        ['Deny', '*', { Bool: { 'aws:SecureTransport': 'false' } }],
      ]),
    )
  })

  test.each([
    { alarmTopic: 'on-call' },
    { alarmEmail: 'nobody' },
    { alarmTopic: topic, alarmEmail: 'on-call@example.org' },
    { throttle: '500' },
    { throttle: '0:10' },
    { logLevel: 'warn' },
  ])('a setting that does not fit is refused by its name: %j', (context) => {
    expect(() => withContext(context)).toThrow(`-c ${Object.keys(context).at(-1)}: expected`)
  })

  test('-c runbook: descriptions point to where it is read', () => {
    const made = withContext({ runbook: 'https://wiki.example.org/rouse' })
    const [one] = resources(made, 'AWS::CloudWatch::Alarm')
    expect(one!.Properties.AlarmDescription).toMatch(/What to do: https:\/\/wiki\.example\.org\/rouse#[a-z0-9-]+$/)
  })
})

describe('the dashboard', () => {
  const [board, ...others] = resources(stack, 'AWS::CloudWatch::Dashboard')
  /** References to other resources stand in a join: each is taken as its logical id. */
  const parts: Json[] = board!.Properties.DashboardBody['Fn::Join'][1]
  const text = parts
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll('"', "'")))
    .join('')
  let widgets: Json[]
  beforeAll(() => {
    widgets = JSON.parse(text).widgets
  })

  test('is one, and can be read', () => {
    expect(others).toEqual([])
    expect(board!.Properties.DashboardName).toBe('rouse-dev')
    expect(widgets.length).toBeGreaterThan(10)
  })

  test('begins with the state of every alarm', () => {
    expect(widgets[0].type).toBe('alarm')
    const [of] = [widgets[0].properties.alarms as string[]]
    expect(of).toHaveLength(alarms.length)
    for (const { id } of alarms) expect(of.some((arn) => arn.includes(id))).toBe(true)
  })

  test('shows fires, lateness, skips by reason, held, failures, queue age and dead letters', () => {
    const shown = JSON.stringify(widgets)
    for (const metric of ['Fires', 'Lateness', 'ApproximateAgeOfOldestMessage', 'ApproximateNumberOfMessagesVisible'])
      expect(shown).toContain(`"${metric}"`)
    for (const counter of ['Skips', 'Missed', 'Held', 'Ends', 'Checks', 'Deliveries'])
      expect(shown).toContain(`MetricName=${counter}`)
    for (const name of ['alarms', 'flows']) expect(text).toContain(name)
  })

  test('shows only metrics of ours that the functions write', () => {
    const names = [
      ...[...text.matchAll(/"Rouse","(\w+)"/g)].map(([, name]) => name!),
      ...[...text.matchAll(/MetricName=(\w+)/g)].map(([, name]) => name!),
    ]
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !written().includes(name))).toEqual([])
  })

  test('nothing overlaps, and every graph has a title', () => {
    const taken = new Set<string>()
    for (const { x, y, width, height, type, properties } of widgets) {
      if (type === 'metric') expect(properties.title.length).toBeGreaterThan(5)
      expect(x + width).toBeLessThanOrEqual(24)
      for (let i = x; i < x + width; i++)
        for (let j = y; j < y + height; j++) {
          expect(taken.has(`${i} ${j}`)).toBe(false)
          taken.add(`${i} ${j}`)
        }
    }
  })
})

test('the functions know their stage, which is what their metrics are told apart by', () => {
  for (const { Properties } of resources(stack, 'AWS::Lambda::Function'))
    expect(Properties.Environment.Variables.ROUSE_STAGE).toBe('dev')
})

/** Names of the metrics that a function can write, those of kinds without their kind. */
function written(): string[] {
  const lines: string[] = []
  const meter = openEmf('dev', (line) => lines.push(line))
  for (const [name, { of }] of Object.entries(counters))
    meter.count(name as CounterName, 1, of === null ? undefined : 'some')
  for (const name of Object.keys(distributions)) meter.observe(name as DistributionName, 1)
  meter.flush()
  return Object.keys(JSON.parse(lines[0]!)).flatMap((key) =>
    key === '_aws' || key === 'stage' ? [] : [key.split('.')[0]!],
  )
}

function queueNames(): string[] {
  return resources(stack, 'AWS::SQS::Queue').map(({ Properties }) => Properties.QueueName.slice('rouse-dev-'.length))
}

function dimensionIsThere(namespace: string, name: string, value: Json): boolean {
  const types: Record<string, string> = {
    FunctionName: 'AWS::Lambda::Function',
    QueueName: 'AWS::SQS::Queue',
    TableName: 'AWS::DynamoDB::Table',
    ApiId: 'AWS::ApiGatewayV2::Api',
  }
  if (name in types) return everything[value.Ref ?? value['Fn::GetAtt'][0]]?.Type === types[name]
  if (name === 'ScheduleGroup') return value === 'rouse-dev'
  if (name === 'GlobalSecondaryIndexName') return value === 'due'
  return namespace === 'Rouse' && name === 'stage'
}
