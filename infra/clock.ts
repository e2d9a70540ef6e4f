import { Duration, type Stack } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Stage } from './stage.ts'

export interface Scheduler {
  readonly group: string
  /** Of every entry in the group. */
  readonly entryArns: string
  /** With which the Scheduler sends to the alarms queue. */
  readonly role: Role
}

/** Holds one entry per armed schedule, made and deleted at run time. */
export function schedulerOf(stack: Stack, stage: Stage, alarms: Queue): Scheduler {
  const group = `rouse-${stage.name}`
  const groupArn = stack.formatArn({ service: 'scheduler', resource: 'schedule-group', resourceName: group })
  new CfnScheduleGroup(stack, 'Schedules', { name: group })
  const role = new Role(stack, 'SchedulerRole', {
    description: 'With which the Scheduler sends alarms',
    // Without the conditions a Scheduler entry in somebody else's account could borrow the role.
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': groupArn } },
    }),
  })
  role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [alarms.queueArn] }))
  return {
    group,
    entryArns: stack.formatArn({ service: 'scheduler', resource: 'schedule', resourceName: `${group}/*` }),
    role,
  }
}

/** The sweep's own clock. It must not hang on what it has to find the faults of, so it is a rule and no entry of the group. */
export function everyMinute(stack: Stack, sweep: LambdaFunction): void {
  new Rule(stack, 'EveryMinute', {
    description: 'Starts the sweep',
    schedule: Schedule.rate(Duration.minutes(1)),
    // The next minute does what this one could not: an old start is worth nothing.
    targets: [new Target(sweep, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  })
}
