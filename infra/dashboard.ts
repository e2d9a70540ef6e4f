import { Duration, type Stack } from 'aws-cdk-lib'
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  MathExpression,
  PeriodOverride,
  Row,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import { ofApi, ofScheduler, ours, type Seen } from './metrics.ts'

const period = Duration.minutes(5)
/** Four in a row: one screen. */
const size = { width: 6, height: 5 } as const

/** What an operator reads at three at night, in this order: is anything wrong, are prompts late, who fails, what stands in the way, what does it cost. */
export function dashboard(stack: Stack, seen: Seen, alarms: readonly Alarm[]): void {
  const { stage, apiId, alarms: queue, flows, deadChanges, schedulerGroup, tables } = seen
  const functions = Object.entries(seen.functions)
  const board = new Dashboard(stack, 'Dashboard', {
    dashboardName: `rouse-${stage.name}`,
    defaultInterval: Duration.hours(3),
    periodOverride: PeriodOverride.AUTO,
  })
  const visible = (of: typeof queue, label: string): IMetric =>
    of.metricApproximateNumberOfMessagesVisible({ label, period, statistic: Stats.MAXIMUM })
  board.addWidgets(
    new Row(
      new AlarmStatusWidget({
        title: 'Alarms: each names its section of RUNBOOK.md',
        alarms: [...alarms],
        width: 24,
        height: 4,
      }),
    ),
    new Row(
      graph('Wakes a minute', [
        perMinute('fires', ours(stage, 'Fires'), 'prompts and flows'),
        perMinute('monitors', ours(stage, 'Monitors'), 'monitors'),
        perMinute('ticks', ours(stage, 'Ticks'), 'ticks'),
      ]),
      graph('How late prompts are, ms', [
        ours(stage, 'Lateness', Stats.p(50)).with({ label: 'p50' }),
        ours(stage, 'Lateness', Stats.p(99)).with({ label: 'p99' }),
        ours(stage, 'Lateness', Stats.MAXIMUM).with({ label: 'latest' }),
      ]),
      graph('Left out, by reason', [kindsOf(seen, 'Skips'), kindsOf(seen, 'Missed')]),
      graph('Held, and checks that failed', [kindsOf(seen, 'Held'), kindsOf(seen, 'Checks')]),
    ),
    new Row(
      graph('Runs that did not end well', [kindsOf(seen, 'Ends')]),
      graph('Deliveries tried again, given up', [kindsOf(seen, 'Deliveries')]),
      graph('Found by the sweep, set aside, lost races', [
        ours(stage, 'Stranded').with({ label: 'stranded' }),
        ours(stage, 'SetAside').with({ label: 'set aside' }),
        ours(stage, 'Conflicts').with({ label: 'races' }),
      ]),
      graph('Age of the oldest alarm, s (up to 900 is meant)', [
        queue.metricApproximateAgeOfOldestMessage({ label: 'alarms', period, statistic: Stats.MAXIMUM }),
        flows.metricApproximateAgeOfOldestMessage({ label: 'flows', period, statistic: Stats.MAXIMUM }),
      ]),
    ),
    new Row(
      graph('Waiting to be received', [visible(queue, 'alarms'), visible(flows, 'flows')]),
      graph('Dead letters', [
        visible(queue.deadLetterQueue!.queue as typeof queue, 'alarms'),
        visible(flows.deadLetterQueue!.queue as typeof queue, 'flows'),
        visible(deadChanges, 'changes'),
      ]),
      graph('The Scheduler', [
        ofScheduler(schedulerGroup, 'InvocationAttemptCount').with({ label: 'sent' }),
        ofScheduler(schedulerGroup, 'TargetErrorCount').with({ label: 'errors' }),
        ofScheduler(schedulerGroup, 'InvocationDroppedCount').with({ label: 'given up' }),
      ]),
      graph('Changes of documents: age, ms', [
        seen.functions.change.metric('IteratorAge', { label: 'oldest', period, statistic: Stats.MAXIMUM }),
      ]),
    ),
    new Row(
      graph('API: calls', [
        ofApi(apiId, 'Count').with({ label: 'all' }),
        ofApi(apiId, '4xx').with({ label: '4xx' }),
        ofApi(apiId, '5xx').with({ label: '5xx' }),
      ]),
      graph('API: latency, ms (held claims take up to 20 s)', [
        ofApi(apiId, 'Latency', Stats.p(50)).with({ label: 'p50' }),
        ofApi(apiId, 'Latency', Stats.p(90)).with({ label: 'p90' }),
      ]),
      graph(
        'Functions: errors and throttles',
        functions.flatMap(([name, fn]) => [
          fn.metricErrors({ label: `${name} errors`, period, statistic: Stats.SUM }),
          fn.metricThrottles({ label: `${name} throttles`, period, statistic: Stats.SUM }),
        ]),
      ),
      graph(
        'Functions: duration p99, ms',
        functions.map(([name, fn]) => fn.metricDuration({ label: name, period, statistic: Stats.p(99) })),
      ),
    ),
    new Row(
      graph(
        'Tables: requests turned away',
        Object.entries(tables).flatMap(([name, table]) => [
          table.metric('WriteThrottleEvents', { label: `${name} writes`, period, statistic: Stats.SUM }),
          table.metric('ReadThrottleEvents', { label: `${name} reads`, period, statistic: Stats.SUM }),
        ]),
      ),
      graph(
        'Cost: write units',
        Object.entries(tables).map(([name, table]) =>
          table.metricConsumedWriteCapacityUnits({ label: name, period, statistic: Stats.SUM }),
        ),
        { stacked: true },
      ),
      graph(
        'Cost: invocations',
        functions.map(([name, fn]) => fn.metricInvocations({ label: name, period, statistic: Stats.SUM })),
        { stacked: true },
      ),
      new TextWidget({
        ...size,
        markdown: [
          '**Where to look**',
          '',
          '- What became of one schedule: `rouse schedule why <id>`',
          '- What a function said: Logs Insights, `filter run = "run_…"`',
          '- What to do: RUNBOOK.md',
        ].join('\n'),
      }),
    ),
  )
}

const graph = (title: string, left: IMetric[], more: Partial<GraphWidgetProps> = {}): GraphWidget =>
  new GraphWidget({ title, left, ...size, leftYAxis: { min: 0, showUnits: false }, ...more })

/** @param id  the metric's in its graph */
const perMinute = (id: string, metric: IMetric, label: string): MathExpression =>
  new MathExpression({ expression: `${id} / (PERIOD(${id}) / 60)`, usingMetrics: { [id]: metric }, label, period })

/** A counter has a metric for each of its kinds, and those that there are show themselves. */
const kindsOf = ({ stage }: Seen, counter: string): MathExpression =>
  new MathExpression({
    expression: `SEARCH('{Rouse,stage} stage="${stage.name}" MetricName=${counter}', 'Sum', 300)`,
    label: '',
    period,
  })
