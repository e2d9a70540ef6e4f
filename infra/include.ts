import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, DefaultStackSynthesizer, type IStackSynthesizer, Stack, Tags } from 'aws-cdk-lib'
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb'
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include'
import type { RouseStack } from './stack.ts'
import type { Stage } from './stage.ts'
import type { Template } from './steps.ts'

/** A stack that is a template as it stands, what it names in the bucket of assets included. */
export function includedStack(app: App, id: string, stage: Stage, template: Template): Stack {
  // The template has the rule on the bootstrap's version already.
  const synthesizer = new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }) as IStackSynthesizer
  const stack = new Stack(app, id, { terminationProtection: stage.isKept, synthesizer })
  Tags.of(stack).add('rouse:stage', stage.name)
  const folder = mkdtempSync(join(tmpdir(), 'rouse-step-'))
  const templateFile = join(folder, 'template.json')
  try {
    writeFileSync(templateFile, JSON.stringify(template))
    new CfnInclude(stack, 'Deployed', { templateFile })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return stack
}

/** Gives the tables of a stack the indexes that they have in a template, which may be more than are declared. */
export function keepIndexes(stack: RouseStack, { Resources }: Template): void {
  for (const table of Object.values(stack.tables)) {
    const made = table.node.defaultChild as CfnTable
    const { AttributeDefinitions, GlobalSecondaryIndexes } = Resources[stack.getLogicalId(made)]!.Properties!
    made.addPropertyOverride('AttributeDefinitions', AttributeDefinitions)
    made.addPropertyOverride('GlobalSecondaryIndexes', GlobalSecondaryIndexes)
  }
}
