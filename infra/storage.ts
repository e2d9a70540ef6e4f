import type { Stack } from 'aws-cdk-lib'
import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb'
import { attributesOf, keyAttributes, streamedTables, ttlAttribute } from '../shared/adapters/aws/schema.ts'
import { type IndexName, indexes, type TableName, tables } from '../shared/ports/table.ts'
import type { Stage } from './stage.ts'

export type DataTables = { readonly [name in TableName]: Table }

/** One table per declaration, with the indexes that are declared on it. On demand: a wake is rare until a thousand come at 8:00. */
export function dataTables(stack: Stack, stage: Stage): DataTables {
  const made = (Object.keys(tables) as TableName[]).map((name) => [name, dataTable(stack, stage, name)] as const)
  return Object.fromEntries(made) as DataTables
}

function dataTable(stack: Stack, stage: Stage, name: TableName): Table {
  const table = new Table(stack, `${capital(name)}Table`, {
    partitionKey: { name: keyAttributes.pk, type: AttributeType.STRING },
    sortKey: { name: keyAttributes.sk, type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    timeToLiveAttribute: ttlAttribute,
    removalPolicy: stage.removal,
    deletionProtection: stage.isKept,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isKept },
    // A change is a hint like an alarm: who hears it reads the item.
    ...(streamedTables.includes(name) ? { stream: StreamViewType.KEYS_ONLY } : {}),
  })
  for (const [indexName, index] of Object.entries(indexes)) {
    if (index.table !== name) continue
    const attributes = attributesOf(indexName as IndexName)
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: { name: attributes.pk, type: AttributeType.STRING },
      sortKey: {
        name: attributes.sk,
        type: index.sort === 'number' ? AttributeType.NUMBER : AttributeType.STRING,
      },
      projectionType: ProjectionType.KEYS_ONLY,
    })
  }
  return table
}

/** Table name → physical name, as the functions and `rouse admin bootstrap` read it. */
export const physicalNames = (stack: Stack, made: DataTables): string =>
  stack.toJsonString(Object.fromEntries(Object.entries(made).map(([name, table]) => [name, table.tableName])))

const capital = (name: string): string => `${name[0]!.toUpperCase()}${name.slice(1)}`
