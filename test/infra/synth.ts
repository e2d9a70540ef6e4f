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
export function synthesized(stage: StageName, settings: Settings = noSettings): Template {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-synth-'))
  try {
    for (const name of ['api', 'alarm', 'sweep', 'change', 'flow']) {
      mkdirSync(join(dir, 'code', name), { recursive: true })
      writeFileSync(join(dir, 'code', name, 'index.mjs'), `export const handler = () => '${name}'\n`)
    }
    const app = new App({ analyticsReporting: false, outdir: join(dir, 'out') })
    return Template.fromStack(
      new RouseStack(app, `Rouse-${stage}`, { stage: stageOf(stage), assets: join(dir, 'code'), settings }),
    )
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
