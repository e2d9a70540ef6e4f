import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { noSettings } from '../../infra/settings.ts'
import { stageOf } from '../../infra/stage.ts'
import { attributesOf, keyAttributes, ttlAttribute } from '../../shared/adapters/aws/schema.ts'
import { type IndexName, indexes, tables } from '../../shared/ports/table.ts'
import { golden, howToTake } from './golden.ts'
import { type Json, type Resource, resources, synthesized } from './synth.ts'

const stacks = { dev: synthesized('dev'), prod: synthesized('prod') }
const stages = ['dev', 'prod'] as const

describe('the tables', () => {
  test.each(stages)('%s: one for each declaration, on demand, with TTL', (stage) => {
    const made = resources(stacks[stage], 'AWS::DynamoDB::Table')
    expect(made.map(nameOfTable).sort()).toEqual(Object.keys(tables).sort())
    for (const { Properties } of made) {
      expect(Properties.BillingMode).toBe('PAY_PER_REQUEST')
      expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: ttlAttribute, Enabled: true })
      expect(Properties.KeySchema).toEqual([
        { AttributeName: keyAttributes.pk, KeyType: 'HASH' },
        { AttributeName: keyAttributes.sk, KeyType: 'RANGE' },
      ])
      expect(Properties.TableName, 'CloudFormation names them, so that a table can be replaced').toBeUndefined()
    }
  })

  test.each(stages)(
    '%s: the indexes are those that are declared, keys only, with their own type of sort value',
    (stage) => {
      const found = resources(stacks[stage], 'AWS::DynamoDB::Table').flatMap((table) =>
        (table.Properties.GlobalSecondaryIndexes ?? []).map((index: Json) => ({
          name: index.IndexName,
          table: nameOfTable(table),
          sort: typeOf(table, index.KeySchema[1].AttributeName),
          keys: index.KeySchema.map((key: Json) => key.AttributeName),
          projection: index.Projection.ProjectionType,
        })),
      )
      const declared = Object.entries(indexes).map(([name, { table, sort }]) => ({
        name,
        table,
        sort: sort === 'number' ? 'N' : 'S',
        keys: [attributesOf(name as IndexName).pk, attributesOf(name as IndexName).sk],
        projection: 'KEYS_ONLY',
      }))
      const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
      expect(found.sort(byName)).toEqual(declared.sort(byName))
    },
  )

  test.each(stages)('%s: documents have a stream, nothing else has', (stage) => {
    const streamed = resources(stacks[stage], 'AWS::DynamoDB::Table').filter((t) => t.Properties.StreamSpecification)
    expect(streamed.map(nameOfTable)).toEqual(['documents'])
  })

  test('prod keeps its data: tables stay when the stack goes, cannot be deleted, and can be restored to any second', () => {
    for (const table of resources(stacks.prod, 'AWS::DynamoDB::Table')) {
      expect(table.DeletionPolicy).toBe('Retain')
      expect(table.Properties.DeletionProtectionEnabled).toBe(true)
      expect(table.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(true)
    }
  })

  test('dev leaves nothing behind', () => {
    const all = Object.values(stacks.dev.toJSON().Resources as Record<string, { DeletionPolicy?: string }>)
    expect(all.filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')).toEqual([])
    for (const table of resources(stacks.dev, 'AWS::DynamoDB::Table'))
      expect(table.Properties.DeletionProtectionEnabled).not.toBe(true)
  })
})

describe('the functions', () => {
  test('run on nodejs24.x and arm64, each with a role and a log group of its own', () => {
    const functions = resources(stacks.dev, 'AWS::Lambda::Function')
    expect(functions).toHaveLength(5)
    for (const { Properties } of functions) {
      expect(Properties.Runtime).toBe('nodejs24.x')
      expect(Properties.Architectures).toEqual(['arm64'])
      expect(Properties.LoggingConfig.LogFormat).toBe('JSON')
    }
    expect(new Set(functions.map((f) => JSON.stringify(f.Properties.Role))).size).toBe(5)
    expect(new Set(functions.map((f) => JSON.stringify(f.Properties.LoggingConfig.LogGroup))).size).toBe(5)
  })

  test.each(stages)('%s: logs do not pile up for ever', (stage) => {
    for (const group of resources(stacks[stage], 'AWS::Logs::LogGroup'))
      expect(group.Properties.RetentionInDays).toBe(stage === 'dev' ? 7 : 90)
  })

  test('the api function ends before API Gateway gives up on it', () => {
    expect(functionNamed(stacks.dev, 'Api').Properties.Timeout).toBeLessThan(30)
  })

  test('a sweep ends before the next begins', () => {
    expect(functionNamed(stacks.dev, 'Sweep').Properties.Timeout).toBeLessThan(60)
  })

  test('the alarm function sets alarms in the queue that wakes it, and Lambda is told that this is meant', () => {
    expect(functionNamed(stacks.dev, 'Alarm').Properties.RecursiveLoop).toBe('Allow')
  })
})

describe('alarms', () => {
  const queues = () => resources(stacks.dev, 'AWS::SQS::Queue')
  const alarms = () => queues().find((q) => q.Properties.QueueName === 'rouse-dev-alarms')!

  test('come to a queue whose poison goes to a dead-letter queue after five receipts', () => {
    const dead = queues().find((q) => q.Properties.QueueName === 'rouse-dev-alarms-dead')!
    expect(alarms().Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [dead.id, 'Arn'] },
      maxReceiveCount: 5,
    })
    expect(dead.Properties.MessageRetentionPeriod).toBe(14 * 86_400)
  })

  test('are not seen by a second invocation while the retries of the first may still run', () => {
    const { Timeout } = functionNamed(stacks.dev, 'Alarm').Properties
    expect(alarms().Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout)
  })

  test('reach the alarm function in batches that may fail in part', () => {
    const mapping = mappingNamed('AlarmDelivery')
    expect(mapping.Properties).toMatchObject({
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FunctionName: { Ref: functionNamed(stacks.dev, 'Alarm').id },
    })
    expect(mapping.Properties.MaximumBatchingWindowInSeconds ?? 0).toBe(0)
  })

  test('come from the Scheduler under a role that only this group of this account can take on', () => {
    const [group] = resources(stacks.dev, 'AWS::Scheduler::ScheduleGroup')
    expect(group!.Properties.Name).toBe('rouse-dev')
    const role = resources(stacks.dev, 'AWS::IAM::Role').find((r) => r.id.startsWith('SchedulerRole'))!
    const [statement] = role.Properties.AssumeRolePolicyDocument.Statement
    expect(statement.Principal).toEqual({ Service: 'scheduler.amazonaws.com' })
    expect(Object.keys(statement.Condition.StringEquals)).toEqual(['aws:SourceAccount', 'aws:SourceArn'])
    expect(statementsOf(stacks.dev, 'SchedulerRole')).toEqual([
      { Action: 'sqs:SendMessage', Effect: 'Allow', Resource: { 'Fn::GetAtt': [alarms().id, 'Arn'] } },
    ])
  })

  test('that never come are found by a sweep, every minute', () => {
    const [rule, ...others] = resources(stacks.dev, 'AWS::Events::Rule')
    expect(others).toEqual([])
    expect(rule!.Properties.ScheduleExpression).toBe('rate(1 minute)')
    expect(rule!.Properties.State).toBe('ENABLED')
    expect(rule!.Properties.Targets[0].Arn).toEqual({ 'Fn::GetAtt': [functionNamed(stacks.dev, 'Sweep').id, 'Arn'] })
  })
})

describe('runs of flows', () => {
  const queue = (name: string) =>
    resources(stacks.dev, 'AWS::SQS::Queue').find((q) => q.Properties.QueueName === `rouse-dev-${name}`)!
  const flow = () => functionNamed(stacks.dev, 'Flow')

  test('go on in a queue of their own, one step an invocation', () => {
    expect(mappingNamed('FlowDelivery').Properties).toMatchObject({
      BatchSize: 1,
      EventSourceArn: { 'Fn::GetAtt': [queue('flows').id, 'Arn'] },
      FunctionName: { Ref: flow().id },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    })
    expect(queue('flows').Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * flow().Properties.Timeout)
    expect(flow().Properties.RecursiveLoop).toBe('Allow')
  })

  test('that fail five times lie in a dead-letter queue for two weeks', () => {
    expect(queue('flows').Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [queue('flows-dead').id, 'Arn'] },
      maxReceiveCount: 5,
    })
    expect(queue('flows-dead').Properties.MessageRetentionPeriod).toBe(14 * 86_400)
  })

  test('do what calls of tools do, and hand out, send and publish nothing', () => {
    const actions = statementsOf(stacks.dev, 'FlowRole').flatMap(({ Action }) => [Action].flat())
    expect(actions).toContain('ssm:GetParameter')
    expect(actions.filter((action) => /^(sns|sts):|^ssm:Put|^ssm:Delete/.test(action))).toEqual([])
    const receives = statementsOf(stacks.dev, 'FlowRole').filter(({ Action }) =>
      [Action].flat().includes('sqs:ReceiveMessage'),
    )
    expect(receives.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [queue('flows').id, 'Arn'] }])
  })

  test('are begun and found by all others, and gone on with by their own function alone', () => {
    const receivers = ['ApiRole', 'AlarmRole', 'SweepRole', 'ChangeRole'].flatMap((role) =>
      statementsOf(stacks.dev, role).filter(
        ({ Action, Resource }) =>
          [Action].flat().includes('sqs:ReceiveMessage') && JSON.stringify(Resource).includes(queue('flows').id),
      ),
    )
    expect(receivers).toEqual([])
  })
})

describe('changes of documents', () => {
  test('reach the change function from the stream: heads only, at once, and in batches that may fail in part', () => {
    const { Properties } = mappingNamed('ChangeDelivery')
    const documents = resources(stacks.dev, 'AWS::DynamoDB::Table').find((t) => nameOfTable(t) === 'documents')!
    expect(Properties).toMatchObject({
      EventSourceArn: { 'Fn::GetAtt': [documents.id, 'StreamArn'] },
      FunctionName: { Ref: functionNamed(stacks.dev, 'Change').id },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
    })
    expect(Properties.MaximumBatchingWindowInSeconds ?? 0).toBe(0)
    expect(JSON.parse(Properties.FilterCriteria.Filters[0].Pattern)).toEqual({
      dynamodb: { Keys: { sk: { S: [{ prefix: 'H#' }] } } },
    })
  })

  test('that cannot be brought are given up in a while, and lie in a queue of their own for two weeks', () => {
    const { Properties } = mappingNamed('ChangeDelivery')
    const dead = resources(stacks.dev, 'AWS::SQS::Queue').find(
      (queue) => queue.Properties.QueueName === 'rouse-dev-changes-dead',
    )!
    expect(Properties.DestinationConfig.OnFailure.Destination).toEqual({ 'Fn::GetAtt': [dead.id, 'Arn'] })
    expect([Properties.MaximumRetryAttempts, Properties.MaximumRecordAgeInSeconds]).toEqual([5, 3600])
    expect(dead.Properties.MessageRetentionPeriod).toBe(14 * 86_400)
  })

  test('the change function sees no secrets and calls nobody outside', () => {
    const actions = statementsOf(stacks.dev, 'ChangeRole').flatMap(({ Action }) => [Action].flat())
    expect(actions.filter((action) => /^(ssm|sns|lambda|sts):/.test(action))).toEqual([])
  })
})

describe('permissions', () => {
  const everyStatement = (template: Template): Json[] =>
    resources(template, 'AWS::IAM::Policy').flatMap((policy) => policy.Properties.PolicyDocument.Statement)

  test.each(stages)('%s: no action and no resource is a wildcard', (stage) => {
    for (const { Action, Resource } of everyStatement(stacks[stage])) {
      for (const action of [Action].flat()) expect(action).not.toContain('*')
      for (const resource of [Resource].flat()) expect(resource).not.toBe('*')
    }
  })

  test.each(stages)(
    '%s: a star stands only behind a prefix that is ours: session queues, entries of the group, secrets, the stream',
    (stage) => {
      const starred = everyStatement(stacks[stage])
        .flatMap(({ Resource }) => [Resource].flat())
        .map((resource: Json) => JSON.stringify(resource))
        .filter((text) => text.includes('*'))
      const allowed = [
        `:rouse-${stage}-session-*"`,
        `:schedule/rouse-${stage}/*"`,
        `:parameter/rouse/${stage}/secrets/*"`,
        '"/stream/*"',
      ]
      expect(starred.filter((text) => !allowed.some((end) => text.includes(end)))).toEqual([])
    },
  )

  test.each(stages)('%s: no role has a managed policy', (stage) => {
    for (const role of resources(stacks[stage], 'AWS::IAM::Role'))
      expect(role.Properties.ManagedPolicyArns).toBeUndefined()
  })

  test('only the api function may hand out credentials, and only for session queues', () => {
    const listener = resources(stacks.dev, 'AWS::IAM::Role').find((r) => r.id.startsWith('ListenerRole'))!
    const api = resources(stacks.dev, 'AWS::IAM::Role').find((r) => r.id.startsWith('ApiRole'))!
    expect(listener.Properties.AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { AWS: { 'Fn::GetAtt': [api.id, 'Arn'] } } },
    ])
    const takers = everyStatement(stacks.dev).filter(({ Action }) => [Action].flat().includes('sts:AssumeRole'))
    expect(takers.map(({ Resource }) => Resource)).toEqual([{ 'Fn::GetAtt': [listener.id, 'Arn'] }])
    const [statement, ...others] = statementsOf(stacks.dev, 'ListenerRole')
    expect(others).toEqual([])
    expect([statement.Action].flat()).not.toContain('sqs:SendMessage')
    expect(JSON.stringify(statement.Resource)).toContain(':rouse-dev-session-*')
  })

  test('keys and people are read by the functions that wake, and written by the api function alone', () => {
    for (const name of ['AlarmRole', 'SweepRole', 'ChangeRole', 'FlowRole']) {
      const actions = statementsOf(stacks.dev, name)
        .filter(({ Resource }) => JSON.stringify(Resource).includes('AccessTable'))
        .flatMap(({ Action }) => [Action].flat())
      expect(actions.sort()).toEqual(['dynamodb:BatchGetItem', 'dynamodb:GetItem'])
    }
  })

  test('secrets are put and removed by the api function alone', () => {
    const mayPut = ['ApiRole', 'AlarmRole', 'SweepRole', 'ChangeRole', 'FlowRole'].filter((name) =>
      statementsOf(stacks.dev, name).some(({ Action }) => [Action].flat().includes('ssm:PutParameter')),
    )
    expect(mayPut).toEqual(['ApiRole'])
  })

  test('nobody may scan a table', () => {
    const actions = everyStatement(stacks.prod).flatMap(({ Action }) => [Action].flat())
    expect(actions).not.toContain('dynamodb:Scan')
  })
})

test('the API has one route, which takes every call to the api function', () => {
  const routes = resources(stacks.dev, 'AWS::ApiGatewayV2::Route')
  expect(routes.map(({ Properties }) => Properties.RouteKey)).toEqual(['$default'])
  const [integration] = resources(stacks.dev, 'AWS::ApiGatewayV2::Integration')
  expect(integration!.Properties.PayloadFormatVersion).toBe('2.0')
})

describe('the stage of the API', () => {
  const served = () => resources(stacks.prod, 'AWS::ApiGatewayV2::Stage')[0]!.Properties

  test('writes a line of JSON for each call, and no path in it: the address of a webhook is its key', () => {
    const [group] = resources(stacks.prod, 'AWS::Logs::LogGroup').filter(({ id }) => id.startsWith('AccessLogs'))
    expect(served().AccessLogSettings.DestinationArn).toEqual({ 'Fn::GetAtt': [group!.id, 'Arn'] })
    const line = JSON.parse(served().AccessLogSettings.Format)
    expect(line).toMatchObject({ requestId: '$context.requestId', status: '$context.status' })
    expect(JSON.stringify(line)).not.toMatch(/path|query|routeKey|authorizer/i)
  })

  test('lets through so many calls a second, and as many as are set', () => {
    expect(served().DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 2500 })
    const set = synthesized('dev', { ...noSettings, throttle: { perSecond: 50, burst: 100 } })
    expect(resources(set, 'AWS::ApiGatewayV2::Stage')[0]!.Properties.DefaultRouteSettings).toEqual({
      ThrottlingRateLimit: 50,
      ThrottlingBurstLimit: 100,
    })
  })
})

test('the outputs are what a person and `rouse admin bootstrap` need', () => {
  expect(Object.keys(stacks.dev.toJSON().Outputs).sort()).toEqual([
    'ApiId',
    'ApiUrl',
    'ConsoleUrl',
    'FirstKey',
    'Tables',
  ])
  const { ApiUrl, ConsoleUrl, FirstKey } = stacks.prod.toJSON().Outputs
  expect(ApiUrl.Value).toHaveProperty('Fn::GetAtt')
  expect(ConsoleUrl.Value).toEqual({ 'Fn::Join': ['', [ApiUrl.Value, '/console']] })
  expect(FirstKey.Value).toBe('npx rouse admin bootstrap --stack Rouse-prod')
})

test('a stage that is not known is refused', () => {
  expect(() => stageOf('production')).toThrow('expected -c stage=dev or -c stage=prod, got "production"')
})

test.each(stages)('%s: the template is the one that was last looked at', (stage) => {
  const { now, known } = golden(`Rouse-${stage}`, stacks[stage])
  expect(now, howToTake).toEqual(known)
})

/** Logical ids begin with the table's name. */
const nameOfTable = ({ id }: Resource): string => id.replace(/Table[0-9A-F]{8}$/, '').toLowerCase()

const typeOf = (table: Resource, attribute: string): string =>
  table.Properties.AttributeDefinitions.find((a: Json) => a.AttributeName === attribute).AttributeType

function functionNamed(template: Template, name: string): Resource {
  return resources(template, 'AWS::Lambda::Function').find(({ id }) => id.startsWith(`${name}Function`))!
}

const mappingNamed = (name: string): Resource =>
  resources(stacks.dev, 'AWS::Lambda::EventSourceMapping').find(({ id }) => id.startsWith(name))!

const statementsOf = (template: Template, role: string): Json[] =>
  resources(template, 'AWS::IAM::Policy')
    .filter((policy) => policy.Properties.Roles.some((r: Json) => r.Ref.startsWith(role)))
    .flatMap((policy) => policy.Properties.PolicyDocument.Statement)
