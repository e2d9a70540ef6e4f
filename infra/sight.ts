import { Duration, type Stack } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { dashboard } from './dashboard.ts'
import { fiveMinutes, ofApi, ofScheduler, ours, type Seen } from './metrics.ts'
import type { Watching } from './settings.ts'
import type { Stage } from './stage.ts'

/** A state that somebody has to do something about. */
interface Watched {
  /** Of the alarm, behind the stack's prefix. Begins with its section. */
  readonly name: string
  /** In RUNBOOK.md. */
  readonly section: string
  readonly says: string
  readonly metric: IMetric
  readonly atLeast: number
  /** In so many of so many periods. */
  readonly in: readonly [times: number, of: number]
  /** Only what must be there all the time is missed. */
  readonly isMissed?: boolean
}

/**
 * Alarms and the dashboard. Each alarm asks for something to be done, and names its section of RUNBOOK.md.
 *
 * One metric each and no arithmetic: a sum over functions costs as much as an alarm for each, and says less.
 */
export function sight(stack: Stack, seen: Seen, watching: Watching): void {
  const actions = actionsOf(stack, seen.stage, watching)
  const alarms = watched(seen).map((one) => alarm(stack, seen.stage, watching, one))
  for (const one of alarms) {
    one.addAlarmAction(...actions)
    one.addOkAction(...actions)
  }
  dashboard(stack, seen, alarms)
}

const minute = Duration.minutes(1)

function watched({ stage, apiId, functions, alarms, flows, deadChanges, schedulerGroup, tables }: Seen): Watched[] {
  const of = Object.entries(functions)
  const dead = { alarms: alarms.deadLetterQueue!.queue, flows: flows.deadLetterQueue!.queue, changes: deadChanges }
  return [
    {
      name: 'api-5xx',
      section: 'api-5xx',
      says: 'the API answers calls with 5xx',
      metric: ofApi(apiId, '5xx'),
      // One or two may be a container that died; five in five minutes, twice, are no accident.
      atLeast: 5,
      in: [2, 3],
    },
    {
      name: 'prompts-late',
      section: 'prompts-late',
      says: 'prompts are put more than 10 s after they were due (p99)',
      metric: ours(stage, 'Lateness', Stats.percentile(99)),
      // Two seconds are promised. Ten are more than a cold start and a herd explain; one period alone may be an outage made up for.
      atLeast: 10_000,
      in: [2, 3],
    },
    {
      name: 'alarms-waiting',
      section: 'alarms-waiting',
      says: 'an alarm has been in its queue for more than 20 minutes',
      metric: alarms.metricApproximateAgeOfOldestMessage({ period: minute, statistic: Stats.MAXIMUM }),
      // Up to 15 minutes may be meant: shorter waits are delays of the queue itself, and count as age.
      atLeast: 1200,
      in: [5, 5],
    },
    {
      name: 'sweep-silent',
      section: 'sweep-silent',
      says: 'the sweep, which finds what no alarm brought, has not run for five minutes',
      metric: functions.sweep.metricInvocations({ period: minute, statistic: Stats.SUM }),
      atLeast: 1,
      in: [5, 5],
      isMissed: true,
    },
    ...of.map(
      ([name, fn]): Watched => ({
        name: `function-errors-${name}`,
        section: 'function-errors',
        says: `the function ${name} fails: it throws, runs out of time or out of memory`,
        metric: fn.metricErrors({ period: fiveMinutes, statistic: Stats.SUM }),
        // What fails once comes again by itself.
        atLeast: 3,
        in: [1, 1],
      }),
    ),
    ...of.map(
      ([name, fn]): Watched => ({
        name: `function-throttles-${name}`,
        section: 'function-throttles',
        says: `Lambda turns invocations of ${name} away: the account has no room`,
        metric: fn.metricThrottles({ period: fiveMinutes, statistic: Stats.SUM }),
        atLeast: 1,
        in: [2, 3],
      }),
    ),
    ...Object.entries(dead).map(
      ([name, queue]): Watched => ({
        name: `dead-${name}`,
        section: `dead-${name}`,
        says: `messages lie in rouse-${stage.name}-${name}-dead: what they name failed again and again`,
        metric: queue.metricApproximateNumberOfMessagesVisible({ period: fiveMinutes, statistic: Stats.MAXIMUM }),
        atLeast: 1,
        in: [1, 1],
      }),
    ),
    ...Object.entries(tables).map(
      ([name, table]): Watched => ({
        name: `table-throttles-${name}`,
        section: 'table-throttles',
        says: `DynamoDB turns writes to the table ${name} away`,
        metric: throttledWrites({ TableName: table.tableName }),
        // The SDK asks again: what is turned away for a moment is late by a moment.
        atLeast: 10,
        in: [2, 3],
      }),
    ),
    {
      name: 'table-throttles-due',
      section: 'table-throttles',
      says: 'DynamoDB turns writes to the index of due schedules away',
      metric: throttledWrites({ TableName: tables.schedules.tableName, GlobalSecondaryIndexName: 'due' }),
      atLeast: 10,
      in: [2, 3],
    },
    {
      name: 'stranded',
      section: 'stranded',
      says: 'the sweep finds work whose alarms were lost, again and again',
      metric: ours(stage, 'Stranded'),
      // A herd leaves some for one or two sweeps; a quarter of an hour of them means that alarms do not arrive.
      atLeast: 1,
      in: [3, 3],
    },
    {
      name: 'set-aside',
      section: 'set-aside',
      says: 'something stored cannot be read or decided, and was taken out of what is looked at',
      metric: ours(stage, 'SetAside'),
      atLeast: 1,
      in: [1, 1],
    },
    {
      name: 'scheduler-dropped',
      section: 'scheduler-dropped',
      says: 'the Scheduler gave up on an alarm that it could not put into the queue',
      metric: ofScheduler(schedulerGroup, 'InvocationDroppedCount'),
      atLeast: 1,
      in: [1, 1],
    },
    {
      name: 'changes-waiting',
      section: 'changes-waiting',
      says: 'changes of documents wait for more than a minute before they are told',
      metric: functions.change.metric('IteratorAge', { period: minute, statistic: Stats.MAXIMUM }),
      atLeast: 60_000,
      in: [5, 5],
    },
  ]
}

const throttledWrites = (dimensionsMap: Record<string, string>): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName: 'WriteThrottleEvents',
    statistic: Stats.SUM,
    period: fiveMinutes,
    dimensionsMap,
  })

function alarm(stack: Stack, stage: Stage, { runbook }: Watching, one: Watched): Alarm {
  const id = one.name.replaceAll(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase())
  return new Alarm(stack, `${id}Watch`, {
    alarmName: `rouse-${stage.name}-${one.name}`,
    alarmDescription: `Rouse (${stage.name}): ${one.says}. What to do: ${runbook}#${one.section}`,
    metric: one.metric,
    threshold: one.atLeast,
    comparisonOperator: one.isMissed
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm: one.in[0],
    evaluationPeriods: one.in[1],
    // Nothing written is nothing wrong, but where something is written every minute.
    treatMissingData: one.isMissed ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  })
}

/** A topic that is there, or one that writes to an address; without either, alarms show on the dashboard alone. */
function actionsOf(stack: Stack, stage: Stage, { topic, email }: Watching): IAlarmAction[] {
  if (topic !== null) return [new SnsAction(Topic.fromTopicArn(stack, 'WatchTopic', topic))]
  if (email === null) return []
  const made = new Topic(stack, 'WatchTopic', { displayName: `Rouse (${stage.name})`, enforceSSL: true })
  made.addSubscription(new EmailSubscription(email))
  // A topic with a policy of its own knows nobody by itself.
  made.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  )
  return [new SnsAction(made)]
}
