import { Duration, type Stack } from 'aws-cdk-lib'
import { ArnPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
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
import {
  allow,
  mayClose,
  mayFind,
  mayGoOn,
  mayRing,
  mayScheduleAlarms,
  maySetAlarms,
  mayUse,
  type Parts,
  secretArns,
  secretsPrefix,
  type Uses,
} from './permissions.ts'
import { alarmSeconds, changeSeconds, flowSeconds, type SessionQueues } from './queues.ts'
import { physicalNames } from './storage.ts'

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
  mayUse(role, parts.tables, {
    access: ['get', 'query', 'put', 'update', 'delete'],
    sessions: ['get', 'query', 'put', 'update', 'delete', 'check'],
    schedules: ['get', 'query', 'put', 'update'],
    budgets: ['get', 'put', 'update'],
    documents: ['get', 'query', 'put', 'delete', 'check'],
    monitors: ['get', 'query', 'put', 'delete'],
    feed: ['get', 'query', 'put'],
    traces: ['get', 'put'],
    flows: ['get', 'query', 'put', 'update', 'delete'],
  })
  mayFind(role, parts.tables, [
    'agents',
    'sessionsByAgent',
    'schedulesByAgent',
    'schedulesByMaker',
    'monitorsByAgent',
    'flowRunsByAgent',
    'tracesByAgent',
    'tracesByProject',
    'suggestions',
  ])
  maySetAlarms(role, parts)
  mayScheduleAlarms(role, parts)
  mayGoOn(role, parts)
  mayRing(role, parts.sessions)
  mayClose(role, parts.sessions)
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
  mayUse(role, parts.tables, waking)
  mayWake(stack, role, parts)
  // The event source mapping receives with the function's role.
  allow(role, ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], parts.alarms.queueArn)
  return lambda(stack, 'Alarm', role, parts, { seconds: alarmSeconds, isLoop: true })
}

/** Looks at what is due. */
export function sweepFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Sweep')
  // What no stream brought, it brings: it asks who watches, and notes that they were told.
  mayUse(role, parts.tables, {
    ...waking,
    documents: ['get', 'update'],
    monitors: ['get', 'query', 'put', 'update', 'delete'],
  })
  mayFind(role, parts.tables, ['due', 'leases', 'deliveries', 'watches', 'toolRuns', 'changes', 'jobs', 'flowRuns'])
  mayWake(stack, role, parts)
  return lambda(stack, 'Sweep', role, parts, { seconds: sweepSeconds })
}

/** Takes one step of a flow's run: does what a call of a tool does, and what the end of a schedule's run does. */
export function flowFunction(stack: Stack, parts: Parts): LambdaFunction {
  const role = roleOf(stack, 'Flow')
  mayUse(role, parts.tables, {
    access: ['get'],
    budgets: ['get'],
    sessions: ['get', 'put', 'delete', 'check'],
    schedules: ['get', 'put', 'update'],
    documents: ['get', 'put', 'delete', 'check'],
    // A document that a step puts is owed to whoever watches it.
    monitors: ['query'],
    feed: ['get', 'put'],
    traces: ['put'],
    flows: ['get', 'put', 'update'],
  })
  // What it sends on goes out at once.
  maySetAlarms(role, parts)
  mayGoOn(role, parts)
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
  mayUse(role, parts.tables, {
    access: ['get'],
    budgets: ['get', 'put', 'update'],
    sessions: ['get', 'put', 'update', 'check'],
    schedules: ['get', 'put'],
    documents: ['get', 'update'],
    monitors: ['get', 'query', 'put', 'update', 'delete'],
    feed: ['get', 'put'],
  })
  maySetAlarms(role, parts)
  mayScheduleAlarms(role, parts)
  mayRing(role, parts.sessions)
  // The event source mapping reads the stream with the function's role, and lays down with it what is given up.
  allow(role, ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], tableStreamArn!)
  allow(role, ['dynamodb:ListStreams'], `${tableArn}/stream/*`)
  allow(role, ['sqs:SendMessage'], parts.deadChanges.queueArn)
  return lambda(stack, 'Change', role, parts, { seconds: changeSeconds })
}

/** What an alarm leads to, and so does whatever the sweep finds: wakes, lapsed turns, sessions that were not closed to the end. */
const waking = {
  access: ['get'],
  budgets: ['get', 'put', 'update'],
  sessions: ['get', 'query', 'put', 'update', 'delete', 'check'],
  schedules: ['get', 'put', 'update'],
  // Read by tools that are watched.
  documents: ['get'],
  monitors: ['get', 'put', 'update', 'delete'],
  feed: ['get', 'put'],
  // Runs of flows that schedules begin.
  flows: ['get', 'put', 'update'],
} as const satisfies Uses

/** Beside the tables, an alarm and the sweep come to the same. */
function mayWake(stack: Stack, role: Role, parts: Parts): void {
  maySetAlarms(role, parts)
  mayScheduleAlarms(role, parts)
  mayGoOn(role, parts)
  mayRing(role, parts.sessions)
  mayClose(role, parts.sessions)
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
  allow(role, ['sqs:ReceiveMessage', 'sqs:DeleteMessage'], sessions.arns)
  return role
}

const roleOf = (stack: Stack, name: string): Role =>
  new Role(stack, `${name}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })

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
    applicationLogLevelV2: parts.settings.logLevel === 'debug' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
    // Three lines for each invocation cost more than the invocation.
    systemLogLevelV2: SystemLogLevel.WARN,
    environment: {
      // What its metrics are told apart by.
      ROUSE_STAGE: stage.name,
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
