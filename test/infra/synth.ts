import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { noSettings, type Settings } from '../../infra/settings.ts'
import { RouseStack } from '../../infra/stack.ts'
import { type StageName, stageOf } from '../../infra/stage.ts'

// The CDK's own check of a template takes six seconds to load; `cdk deploy`, which the tests on the emulator run, makes it.
process.env.CDK_VALIDATION = 'false'

/** The template of a stage, made in this process, with stand-ins for the functions' code: nothing has to be built for it. */
export const synthesized = (stage: StageName, settings: Settings = noSettings): Template =>
  inApp(
    stage,
    () => settings,
    (_, stack) => Template.fromStack(stack),
  )

/** What `look` sees in the app of a stage. */
export function inApp<T>(
  stage: StageName,
  settingsIn: (app: App) => Settings,
  look: (app: App, stack: RouseStack) => T,
): T {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-synth-'))
  try {
    for (const name of ['api', 'alarm', 'sweep', 'change', 'flow']) {
      mkdirSync(join(dir, 'code', name), { recursive: true })
      writeFileSync(join(dir, 'code', name, 'index.mjs'), `export const handler = () => '${name}'\n`)
    }
    const app = new App({ analyticsReporting: false, outdir: join(dir, 'out') })
    const props = { stage: stageOf(stage), assets: join(dir, 'code'), settings: settingsIn(app) }
    return look(app, new RouseStack(app, `Rouse-${stage}`, props))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a template is untyped JSON, and is what is under test
export type Json = any

export interface Resource {
  readonly id: string
  readonly Type: string
  readonly Properties: Json
  readonly DeletionPolicy?: string
}

export const resources = (template: Template, type: string): Resource[] =>
  Object.entries(template.findResources(type)).map(([id, resource]) => ({ id, ...(resource as Omit<Resource, 'id'>) }))
