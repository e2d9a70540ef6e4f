import { execFileSync } from 'node:child_process'
import { App } from 'aws-cdk-lib'
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb'
import { settingsOf } from '../../infra/settings.ts'
import { RouseStack } from '../../infra/stack.ts'
import { stageOf } from '../../infra/stage.ts'

/**
 * The prod stage of an older version, for `cdk deploy --app`: two indexes of schedules and one of sessions are not known yet. DynamoDB
 * makes one index of a table at a time, so that the way from here to now has two steps.
 */
const unknown = ['schedulesByAgent', 'schedulesByMaker', 'agents']

// As infra/main.ts does.
execFileSync(process.execPath, ['scripts/build-functions.mjs'], { stdio: ['ignore', 2, 2] })

const app = new App({ analyticsReporting: false })
const stack = new RouseStack(app, 'Rouse-prod', {
  stage: stageOf('prod'),
  assets: 'dist/functions',
  settings: settingsOf(app.node),
})
for (const { node } of Object.values(stack.tables)) {
  const table = node.defaultChild as CfnTable
  const all = stack.resolve(table.globalSecondaryIndexes) as readonly Index[] | undefined
  const left = (all ?? []).filter(({ indexName }) => !unknown.includes(indexName))
  if (all === undefined || left.length === all.length) continue
  const keys = [...stack.resolve(table.keySchema), ...left.flatMap(({ keySchema }) => keySchema)] as readonly Key[]
  table.globalSecondaryIndexes = left.length === 0 ? undefined : [...left]
  table.attributeDefinitions = (stack.resolve(table.attributeDefinitions) as Attribute[]).filter(({ attributeName }) =>
    keys.some((key) => key.attributeName === attributeName),
  )
}

interface Key {
  readonly attributeName: string
  readonly keyType: string
}
interface Attribute {
  readonly attributeName: string
  readonly attributeType: string
}
interface Index {
  readonly indexName: string
  readonly keySchema: Key[]
  readonly projection: object
}
