import { Duration, type Stack } from 'aws-cdk-lib'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Stage } from './stage.ts'

/** How long a batch of alarms may take. Ten commits side by side take well under a second; the rest is room for the SDK's retries. */
export const alarmSeconds = 20

/** A step of a flow is one call of a tool, and its run's end writes a trace of at most 2 MB. */
export const flowSeconds = 60

/** A change that ten thousand watch is some hundred commits. */
export const changeSeconds = 60

/** Where alarms arrive: from the Scheduler, and from the functions themselves for waits of up to 15 minutes. */
export const alarmsQueue = (stack: Stack, stage: Stage): Queue => wakingQueue(stack, stage, 'Alarms', alarmSeconds)

/** Where runs of flows go on, step by step: apart from alarms, so that a slow tool holds up no wake. */
export const flowsQueue = (stack: Stack, stage: Stage): Queue => wakingQueue(stack, stage, 'Flows', flowSeconds)

/** A queue that wakes a function, with a dead-letter queue behind it. */
function wakingQueue(stack: Stack, stage: Stage, name: 'Alarms' | 'Flows', seconds: number): Queue {
  // Named: the alarm clock's entries outlive an update of the stack, and each names its target.
  const queueName = `rouse-${stage.name}-${name.toLowerCase()}`
  const dead = new Queue(stack, `${name}Dead`, {
    queueName: `${queueName}-dead`,
    // As long as SQS keeps anything: somebody has to find the time to look.
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  })
  return new Queue(stack, name, {
    queueName,
    // AWS's advice for a queue that a function consumes: a batch must not come back while its retries still run.
    visibilityTimeout: Duration.seconds(6 * seconds),
    retentionPeriod: Duration.days(4),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
  })
}

export interface SessionQueues {
  /** `${prefix}${id of a session or an agent}`. The prefix is what permissions are given for, so no other queue may begin with it. */
  readonly prefix: string
  readonly arns: string
}

/** Queues of sessions come and go with them; the stack holds only the name they all begin with. */
export function sessionQueues(stack: Stack, stage: Stage): SessionQueues {
  const prefix = `rouse-${stage.name}-session-`
  return { prefix, arns: stack.formatArn({ service: 'sqs', resource: `${prefix}*` }) }
}

/** The alarms queue wakes the function. */
export function deliver(stack: Stack, queue: Queue, alarm: LambdaFunction): void {
  new EventSourceMapping(stack, 'AlarmDelivery', {
    target: alarm,
    eventSourceArn: queue.queueArn,
    // One commit each, side by side: ten share one invocation's cost, and one that fails comes back alone. No batching window: it
    // would make every single prompt late by its length.
    batchSize: 10,
    reportBatchItemFailures: true,
    // 200 alarms at once. A herd at 8:00 must not take the whole account's concurrency, which the API needs too.
    maxConcurrency: 20,
  })
}

/** The flows queue wakes the function. */
export function deliverFlows(stack: Stack, queue: Queue, flow: LambdaFunction): void {
  new EventSourceMapping(stack, 'FlowDelivery', {
    target: flow,
    eventSourceArn: queue.queueArn,
    // One step an invocation: a slow tool is waited for by nobody else's run.
    batchSize: 1,
    reportBatchItemFailures: true,
    maxConcurrency: 20,
  })
}

/** Where changes end that could not be brought to whoever watches. They are owed in the table all the same. */
export function deadChangesQueue(stack: Stack, stage: Stage): Queue {
  return new Queue(stack, 'ChangesDead', {
    queueName: `rouse-${stage.name}-changes-dead`,
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  })
}

/** The stream of the documents wakes the function. */
export function deliverChanges(stack: Stack, documents: Table, dead: Queue, change: LambdaFunction): void {
  new EventSourceMapping(stack, 'ChangeDelivery', {
    target: change,
    eventSourceArn: documents.tableStreamArn!,
    startingPosition: StartingPosition.TRIM_HORIZON,
    // Heads only: a put writes the parts of the body too, and those say nothing more.
    filters: [FilterCriteria.filter({ dynamodb: { Keys: { sk: { S: FilterRule.beginsWith('H#') } } } })],
    // Whoever waits is to be woken within a second, so there is no window in which a batch fills up.
    batchSize: 100,
    reportBatchItemFailures: true,
    bisectBatchOnError: true,
    // One document that cannot be brought must not hold up the others for a day: the sweep brings what is given up here.
    retryAttempts: 5,
    maxRecordAge: Duration.hours(1),
    // The function's role may send there, and no more than that.
    onFailure: { bind: () => ({ destination: dead.queueArn }) },
  })
}
