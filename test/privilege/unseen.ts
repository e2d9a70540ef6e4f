import { account, type FunctionName, functionNames, region } from './stack.ts'

/** A permission that no call of ours shows. */
export interface Unseen {
  readonly by: FunctionName
  readonly action: string
  readonly resource: string
  readonly why: string
}

const arn = (service: string, name: string) => `arn:aws:${service}:${region}:${account}:${name}`

const logs = (by: FunctionName): Unseen[] =>
  ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => ({
    by,
    action,
    resource: arn('logs', `log-group:${by}Logs:*`),
    why: 'Lambda writes what a function says with its role',
  }))

const queue = (by: FunctionName, name: string): Unseen[] =>
  ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'].map((action) => ({
    by,
    action,
    resource: arn('sqs', name),
    why: 'the event source mapping polls the queue with the role of the function that it wakes',
  }))

const stream = (resource: string, ...actions: string[]): Unseen[] =>
  actions.map((action) => ({
    by: 'Change',
    action: `dynamodb:${action}`,
    resource: arn('dynamodb', `table/rouse-documents/stream/${resource}`),
    why: 'the event source mapping reads the stream with the role of the function that it wakes',
  }))

/** iam:PassRole is not among them: each CreateSchedule shows it. */
export const unseen: readonly Unseen[] = [
  ...functionNames.flatMap(logs),
  ...queue('Alarm', 'rouse-dev-alarms'),
  {
    by: 'Alarm',
    action: 'dynamodb:UpdateItem',
    resource: arn('dynamodb', 'table/rouse-monitors'),
    why: 'sets aside a monitor that cannot be understood, by the lines that are seen in Sweep and Change; no spoilt item is known that an alarm meets first',
  },
  ...queue('Flow', 'rouse-dev-flows'),
  ...stream('now', 'DescribeStream', 'GetRecords', 'GetShardIterator'),
  ...stream('*', 'ListStreams'),
  {
    by: 'Change',
    action: 'sqs:SendMessage',
    resource: arn('sqs', 'rouse-dev-changes-dead'),
    why: 'the event source mapping lays down with it what is given up',
  },
]
