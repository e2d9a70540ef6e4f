import { Duration, type Stack } from 'aws-cdk-lib'
import { ArnPrincipal, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { indexes, type TableName } from '../shared/ports/table.ts'
import type { Scheduler } from './clock.ts'
import { alarmSeconds, changeSeconds, flowSeconds, type SessionQueues } from './queues.ts'
import type { Settings } from './settings.ts'
import type { Stage } from './stage.ts'
import { type DataTables, physicalNames } from './storage.ts'

/** What the functions work with. */
export interface Parts {
  readonly stage: Stage
  readonly assets: string
  readonly settings: Settings
  readonly tables: DataTables
  readonly alarms: Queue
  readonly flows: Queue
  readonly deadChanges: Queue
  readonly sessions: SessionQueues
  readonly scheduler: Scheduler
}

/** API Gateway answers 503 after 30 s whatever the function does; a call is held for 20 s at most. */
const apiSeconds = 29
/** Ends before the next minute starts another: what is left over is that one's. */
const sweepSeconds = 55
/** Writes to one partition of an index are bounded at 1,000 a second; the due index is spread over this many. Never made smaller. */
const shards = 8

/** Answers HTTP. */
export function apiFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Api')
  const listener = listenerRole(stack, role, parts.sessions)
  mayUse(role, parts.tables, [
    'access',
    'sessions',
    'schedules',
    'budgets',
    'documents',
    'monitors',
    'feed',
    'traces',
    'flows',
  ])
  maySetAlarms(role, parts)
  mayRing(role, parts.sessions)
  allow(role, ['sts:AssumeRole'], listener.roleArn)
  allow(
    role,
    ['ssm:PutParameter', 'ssm:GetParameter', 'ssm:DeleteParameter', 'ssm:GetParametersByPath'],
    secretArns(stack, parts),
  )
  mayCallFunctions(role, parts)
  return lambda(stack, 'Api', role, parts, {
    seconds: apiSeconds,
    environment: { ROUSE_LISTENER_ROLE_ARN: listener.roleArn },
  })
}

/** Looks at what alarms name. */
export function alarmFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Alarm')
  mayWake(stack, role, parts)
  // The event source mapping receives with the function's role.
  allow(role, ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], parts.alarms.queueArn)
  return lambda(stack, 'Alarm', role, parts, { seconds: alarmSeconds, isLoop: true })
}

/** Looks at what is due. */
export function sweepFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Sweep')
  mayWake(stack, role, parts)
  return lambda(stack, 'Sweep', role, parts, { seconds: sweepSeconds })
}

/** Takes one step of a flow's run: does what a call of a tool does, and what the end of a schedule's run does. */
export function flowFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Flow')
  mayUse(role, parts.tables, ['flows', 'traces', 'sessions', 'schedules', 'documents', 'feed'])
  mayRead(role, parts.tables, 'access')
  mayRead(role, parts.tables, 'budgets')
  maySetAlarms(role, parts)
  // Hands steps to workers, and is handed its own next one.
  mayRing(role, parts.sessions)
  allow(role, ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], parts.flows.queueArn)
  allow(role, ['ssm:GetParameter'], secretArns(stack, parts))
  mayCallFunctions(role, parts)
  return lambda(stack, 'Flow', role, parts, { seconds: flowSeconds, isLoop: true })
}

/** Steps that call functions: of a tool that is called, or that a flow replays. What looks by itself only reads. */
function mayCallFunctions(role: Role, { settings }: Parts): void {
  for (const arn of settings.lambdas) allow(role, ['lambda:InvokeFunction'], arn)
}

/** Brings changes of documents to whoever watches them. */
export function changeFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Change')
  const { tableArn, tableStreamArn } = parts.tables.documents
  mayUse(role, parts.tables, ['sessions', 'schedules', 'monitors', 'documents', 'budgets', 'feed'])
  mayRead(role, parts.tables, 'access')
  maySetAlarms(role, parts)
  mayRing(role, parts.sessions)
  // The event source mapping reads the stream with the function's role, and lays down with it what is given up.
  allow(role, ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], tableStreamArn!)
  allow(role, ['dynamodb:ListStreams'], `${tableArn}/stream/*`)
  allow(role, ['sqs:SendMessage'], parts.deadChanges.queueArn)
  return lambda(stack, 'Change', role, parts, { seconds: changeSeconds })
}

/** An alarm and the sweep come to the same. */
function mayWake(stack: Stack, role: Role, parts: Parts): void {
  // Runs of flows that schedules begin, and tools that are watched.
  mayUse(role, parts.tables, ['sessions', 'schedules', 'monitors', 'documents', 'budgets', 'feed', 'flows'])
  mayRead(role, parts.tables, 'access')
  maySetAlarms(role, parts)
  mayRing(role, parts.sessions)
  allow(role, ['ssm:GetParameter'], secretArns(stack, parts))
  for (const topic of parts.settings.snsTopics) allow(role, ['sns:Publish'], topic)
}

/**
 * Whoever calls the API and can see a session gets credentials for its queue: this role, narrowed to that queue by the session policy
 * that the api function passes.
 */
function listenerRole(stack: Stack, api: Role, sessions: SessionQueues): Role {
  const role = new Role(stack, 'ListenerRole', {
    description: 'What a worker outside may do with one session queue',
    assumedBy: new ArnPrincipal(api.roleArn),
    // A role that is assumed by a role lasts no longer than this, whatever is asked for.
    maxSessionDuration: Duration.hours(1),
  })
  allow(
    role,
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
    sessions.arns,
  )
  return role
}

const roleOf = (stack: Stack, name: string): Role =>
  new Role(stack, `${name}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })

const allow = (role: Role, actions: string[], ...resources: string[]): void => {
  role.addToPolicy(new PolicyStatement({ actions, resources }))
}

/** What the Table port comes to: reads by key and by range, writes alone and in transactions. Never a scan. */
function mayUse(role: Role, tables: DataTables, names: readonly TableName[]): void {
  allow(
    role,
    [
      'dynamodb:BatchGetItem',
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    ...names.map((name) => tables[name].tableArn),
  )
  const searched = Object.entries(indexes).filter(([, { table }]) => names.includes(table))
  allow(role, ['dynamodb:Query'], ...searched.map(([index, { table }]) => `${tables[table].tableArn}/index/${index}`))
}

/** Settings. */
const mayRead = (role: Role, tables: DataTables, name: TableName): void =>
  allow(role, ['dynamodb:BatchGetItem', 'dynamodb:GetItem'], tables[name].tableArn)

function maySetAlarms(role: Role, { alarms, flows, scheduler }: Parts): void {
  allow(role, ['sqs:SendMessage'], alarms.queueArn, flows.queueArn)
  allow(role, ['scheduler:CreateSchedule'], scheduler.entryArns)
  role.addToPolicy(
    new PolicyStatement({
      actions: ['iam:PassRole'],
      resources: [scheduler.role.roleArn],
      conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
    }),
  )
}

/** A path of the parameter store, under which each person has theirs. */
const secretsPrefix = (stage: Stage): string => `/rouse/${stage.name}/secrets/`

const secretArns = (stack: Stack, { stage }: Parts): string =>
  stack.formatArn({ service: 'ssm', resource: `parameter${secretsPrefix(stage)}*` })

/** A queue is made when its bell first rings, and goes when its session does: also when a lapsed turn ends a session. */
const mayRing = (role: Role, sessions: SessionQueues): void =>
  allow(role, ['sqs:CreateQueue', 'sqs:GetQueueUrl', 'sqs:SendMessage', 'sqs:DeleteQueue'], sessions.arns)

function lambda(
  stack: Stack,
  name: 'Api' | 'Alarm' | 'Sweep' | 'Change' | 'Flow',
  role: Role,
  parts: Parts,
  o: { readonly seconds: number; readonly environment?: Record<string, string>; readonly isLoop?: boolean },
): LambdaFunction {
  const { stage, alarms, flows, scheduler } = parts
  const logGroup = new LogGroup(stack, `${name}Logs`, { retention: stage.logs, removalPolicy: stage.removal })
  allow(role, ['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn)
  return new LambdaFunction(stack, `${name}Function`, {
    description: `Rouse (${stage.name}): ${name.toLowerCase()}`,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(`${parts.assets}/${name.toLowerCase()}`),
    handler: 'index.handler',
    role,
    // The functions wait for DynamoDB most of the time. Less memory is less CPU and makes a start and a herd slow; more costs money
    // while a claim is held open.
    memorySize: 512,
    timeout: Duration.seconds(o.seconds),
    // Each fire of a schedule sets its next alarm in the queue that woke the function. Lambda takes that for a runaway loop and drops
    // the seventeenth message, unless it is told that it is meant.
    ...(o.isLoop ? { recursiveLoop: RecursiveLoop.ALLOW } : {}),
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    // Three lines for each invocation cost more than the invocation.
    systemLogLevelV2: SystemLogLevel.WARN,
    environment: {
      ROUSE_TABLES: physicalNames(stack, parts.tables),
      ROUSE_ALARMS_QUEUE_URL: alarms.queueUrl,
      ROUSE_ALARMS_QUEUE_ARN: alarms.queueArn,
      ROUSE_FLOWS_QUEUE_URL: flows.queueUrl,
      ROUSE_SCHEDULER_GROUP: scheduler.group,
      ROUSE_SCHEDULER_ROLE_ARN: scheduler.role.roleArn,
      ROUSE_QUEUE_PREFIX: parts.sessions.prefix,
      ROUSE_SECRETS_PREFIX: secretsPrefix(stage),
      ROUSE_SHARDS: String(shards),
      ...parts.settings.environment,
      ...o.environment,
    },
  })
}
