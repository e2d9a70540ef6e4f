import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import { stepBefore, type Template } from './steps.ts'

/**
 * `npm run upgrade -- -c stage=prod …`: `cdk deploy` with the same arguments, in as many steps as DynamoDB needs for new and old indexes.
 * Broken off, it goes on where it was when it is started again.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const stage = given.find((word) => word.startsWith('stage='))?.slice('stage='.length) ?? 'dev'
const stack = `Rouse-${stage}`
const context = given.filter((word, at) => word === '-c' || given[at - 1] === '-c')
const folder = mkdtempSync(join(tmpdir(), 'rouse-upgrade-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

cdk(['synth', stack, '--quiet', '--output', join(folder, 'wanted'), ...context])
const wanted = JSON.parse(readFileSync(join(folder, 'wanted', `${stack}.template.json`), 'utf8')) as Template

for (;;) {
  const deployed = await deployedTemplate()
  const step = deployed === null ? null : stepBefore(deployed, wanted)
  if (step === null) break
  console.error(`upgrade: first of all ${step.changes.join(', ')}`)
  const file = join(folder, 'deployed.json')
  writeFileSync(file, JSON.stringify(deployed))
  cdk(['deploy', stack, ...given, '-c', `deployed=${file}`])
}
cdk(['deploy', stack, ...given])

/** Null when there is no such stack yet. */
async function deployedTemplate(): Promise<Template | null> {
  try {
    const { TemplateBody } = await new CloudFormationClient({}).send(new GetTemplateCommand({ StackName: stack }))
    return JSON.parse(TemplateBody!) as Template
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return null
    throw error
  }
}

function cdk(argv: readonly string[]): void {
  const program = join(root, 'node_modules/aws-cdk/bin/cdk')
  const { status } = spawnSync(process.execPath, [program, ...argv], { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  console.error(`upgrade: cdk ${argv[0]} failed; what it said stands above. Nothing is lost: start the upgrade again`)
  process.exit(1)
}
