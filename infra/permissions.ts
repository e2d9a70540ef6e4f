import type { Stack } from 'aws-cdk-lib'
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { type IndexName, indexes, type TableName } from '../shared/ports/table.ts'
import type { Scheduler } from './clock.ts'
import type { SessionQueues } from './queues.ts'
import type { Settings } from './settings.ts'
import type { Stage } from './stage.ts'
import type { DataTables } from './storage.ts'

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

/** Adds it to the policy of the role. */
export const allow = (role: Role, actions: string[], ...resources: string[]): void => {
  role.addToPolicy(new PolicyStatement({ actions, resources }))
}

/** What the Table port comes to, never a scan. What a commit holds needs the same, alone or in a transaction. */
const actions = {
  // The adapter asks for one key otherwise than for several.
  get: ['dynamodb:GetItem', 'dynamodb:BatchGetItem'],
  query: ['dynamodb:Query'],
  put: ['dynamodb:PutItem'],
  update: ['dynamodb:UpdateItem'],
  delete: ['dynamodb:DeleteItem'],
  check: ['dynamodb:ConditionCheckItem'],
} as const

/** What a function does with each table: test/privilege sees to it that this is all it does, and no more. */
export type Uses = { readonly [name in TableName]?: readonly (keyof typeof actions)[] }

/** Each table with what is done with it. */
export function mayUse(role: Role, tables: DataTables, uses: Uses): void {
  for (const [name, of] of Object.entries(uses))
    allow(
      role,
      of.flatMap((use) => [...actions[use]]),
      tables[name as TableName].tableArn,
    )
}

/** Each index by its own name. */
export const mayFind = (role: Role, tables: DataTables, names: readonly IndexName[]): void =>
  allow(role, ['dynamodb:Query'], ...names.map((name) => `${tables[indexes[name].table].tableArn}/index/${name}`))

/** Runs of flows go on in a queue of their own. */
export const mayGoOn = (role: Role, { flows }: Parts): void => allow(role, ['sqs:SendMessage'], flows.queueArn)

/** For now and for minutes: the delay of the queue. */
export const maySetAlarms = (role: Role, { alarms }: Parts): void => allow(role, ['sqs:SendMessage'], alarms.queueArn)

/** For whatever is further away than that. */
export function mayScheduleAlarms(role: Role, { scheduler }: Parts): void {
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
export const secretsPrefix = (stage: Stage): string => `/rouse/${stage.name}/secrets/`

/** Of every secret there is. */
export const secretArns = (stack: Stack, { stage }: Parts): string =>
  stack.formatArn({ service: 'ssm', resource: `parameter${secretsPrefix(stage)}*` })

/** A queue is made when its bell first rings. */
export const mayRing = (role: Role, sessions: SessionQueues): void =>
  allow(role, ['sqs:CreateQueue', 'sqs:SendMessage'], sessions.arns)

/** It goes when its session does: also when a lapsed turn ends a session. */
export const mayClose = (role: Role, sessions: SessionQueues): void => allow(role, ['sqs:DeleteQueue'], sessions.arns)
