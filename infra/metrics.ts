import { Duration } from 'aws-cdk-lib'
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Stage } from './stage.ts'
import type { DataTables } from './storage.ts'

/** What is watched. */
export interface Seen {
  readonly stage: Stage
  readonly apiId: string
  readonly functions: { readonly [name in 'api' | 'alarm' | 'sweep' | 'change' | 'flow']: LambdaFunction }
  readonly alarms: Queue
  readonly flows: Queue
  readonly deadChanges: Queue
  readonly schedulerGroup: string
  readonly tables: DataTables
}

export const fiveMinutes = Duration.minutes(5)

/** A metric of ours: see `shared/adapters/aws/emf.ts`. */
export const ours = (stage: Stage, metricName: string, statistic: string = Stats.SUM): Metric =>
  new Metric({ namespace: 'Rouse', metricName, statistic, period: fiveMinutes, dimensionsMap: { stage: stage.name } })

export const ofApi = (apiId: string, metricName: string, statistic: string = Stats.SUM): Metric =>
  new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    statistic,
    period: fiveMinutes,
    dimensionsMap: { ApiId: apiId },
  })

export const ofScheduler = (ScheduleGroup: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/Scheduler',
    metricName,
    statistic: Stats.SUM,
    period: fiveMinutes,
    dimensionsMap: { ScheduleGroup },
  })
