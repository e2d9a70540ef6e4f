import { Duration, type Stack } from 'aws-cdk-lib'
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Stage } from './stage.ts'

/** How long a batch of alarms may take. Ten commits side by side take well under a second; the rest is room for the SDK's retries. */
export const alarmSeconds = 20

/** Where alarms arrive: from the Scheduler, and from the functions themselves for waits of up to 15 minutes. */
export function alarmsQueue(stack: Stack, stage: Stage): Queue {
  const dead = new Queue(stack, 'AlarmsDead', {
    queueName: `rouse-${stage.name}-alarms-dead`,
    // As long as SQS keeps anything: somebody has to find the time to look.
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
  })
  return new Queue(stack, 'Alarms', {
    // Named: the alarm clock's entries outlive an update of the stack, and each names its target.
    queueName: `rouse-${stage.name}-alarms`,
    // AWS's advice for a queue that a function consumes: a batch must not come back while its retries still run.
    visibilityTimeout: Duration.seconds(6 * alarmSeconds),
    retentionPeriod: Duration.days(4),
    encryption: QueueEncryption.SQS_MANAGED,
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
