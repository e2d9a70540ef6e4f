import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { App } from 'aws-cdk-lib'
import { settingsOf } from './settings.ts'
import { RouseStack } from './stack.ts'
import { stageOf } from './stage.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// What is deployed is what the sources say now: a checkout needs no step before `cdk deploy`.
execFileSync(process.execPath, ['scripts/build-functions.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })

const app = new App({ analyticsReporting: false })
const stage = stageOf(app.node.tryGetContext('stage') ?? 'dev')
new RouseStack(app, `Rouse-${stage.name}`, {
  stage,
  assets: `${root}dist/functions`,
  settings: settingsOf(app.node),
})
