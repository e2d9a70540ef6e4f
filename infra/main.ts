import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { App } from 'aws-cdk-lib'
import { includedStack, keepIndexes } from './include.ts'
import { checked } from './nag.ts'
import { settingsOf } from './settings.ts'
import { RouseStack } from './stack.ts'
import { stageOf } from './stage.ts'
import { type Step, stepBefore, type Template } from './steps.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

// What is deployed is what the sources say now: a checkout needs no step before `cdk deploy`.
execFileSync(process.execPath, ['scripts/build-functions.mjs'], { cwd: root, stdio: ['ignore', 2, 2] })

const app = new App({ analyticsReporting: false })
const stage = stageOf(app.node.tryGetContext('stage') ?? 'dev')
const id = `Rouse-${stage.name}`
const step = firstStep(app.node.tryGetContext('deployed'))

if (step?.kind === 'indexes') includedStack(app, id, stage, step.template)
else {
  checked(app)
  const stack = rouseIn(app)
  if (step !== null) keepIndexes(stack, step.template)
}

function rouseIn(scope: App): RouseStack {
  return new RouseStack(scope, id, { stage, assets: `${root}dist/functions`, settings: settingsOf(scope.node) })
}

/** `-c deployed=<file>`, which infra/upgrade.ts gives: the template that is deployed. */
function firstStep(file: unknown): Step | null {
  if (file === undefined) return null
  const beside = new App({ analyticsReporting: false })
  rouseIn(beside)
  const wanted = beside.synth().getStackByName(id).template as Template
  return stepBefore(JSON.parse(readFileSync(String(file), 'utf8')) as Template, wanted)
}
