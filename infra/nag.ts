import { type App, type Stack, Validations } from 'aws-cdk-lib'
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { IConstruct } from 'constructs'
import type { Stage } from './stage.ts'
import type { DataTables } from './storage.ts'

/** `cdk synth` and `cdk deploy` stop at what cdk-nag's AwsSolutions pack finds, unless it is acknowledged below. */
export const checked = (app: App): void => Validations.of(app).addPlugins(new AwsSolutionsChecks(app))

/** Findings that stay, each with its reason. One that the pack does not find any more fails the tests. */
export function acknowledgeFindings(
  stack: Stack,
  stage: Stage,
  o: { readonly tables: DataTables; readonly deadChanges: IConstruct },
): void {
  const stay = (at: IConstruct, rule: string, reason: string) =>
    Validations.of(at).acknowledge({ id: `AwsSolutions-${rule}`, reason })
  const mayReach = (resource: string, reason: string) => stay(stack, `IAM5[Resource::${resource}]`, reason)
  const ours = (service: string, name: string) =>
    `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>:${name}`

  mayReach(
    ours('sqs', `rouse-${stage.name}-session-*`),
    'Queues of sessions are made at run time, and their names are the ids of sessions behind this prefix',
  )
  mayReach(
    ours('scheduler', `schedule/rouse-${stage.name}/*`),
    "Entries are made at run time, and the group is the stack's own",
  )
  mayReach(
    ours('ssm', `parameter/rouse/${stage.name}/secrets/*`),
    'People keep their secrets under this path at run time',
  )
  mayReach(
    `<${stack.getLogicalId(tableResource(o.tables.documents))}.Arn>/stream/*`,
    "Lambda makes a mapping only for a role that may list the table's streams, and the name of a stream is the time at which it was made",
  )
  stay(
    stack.node.findChild('Http'),
    'APIG4',
    'The api function checks keys and tokens itself, as the embedded node does: an authorizer in front would be a second place that decides who may',
  )
  stay(
    o.deadChanges,
    'SQS3',
    "It is a dead-letter queue: that of the mapping of the documents' stream, which the rule does not look at",
  )
  if (!stage.isKept)
    for (const table of Object.values(o.tables))
      stay(
        table,
        'DDB3',
        'The stage dev is there to try things on, and its tables go with it: prod can be restored to any second',
      )
}

const tableResource = (table: DataTables[keyof DataTables]) => table.node.defaultChild as CfnTable
