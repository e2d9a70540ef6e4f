import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CloudFormationClient, DescribeStackResourcesCommand } from '@aws-sdk/client-cloudformation'
import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { permit } from './services.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cdk = join(root, 'node_modules/aws-cdk/bin/cdk')
const run = promisify(execFile)

/** The stack in the emulator that AWS_ENDPOINT_URL names, with its first key. */
export interface DeployedRouse {
  readonly url: string
  readonly key: string
  readonly alarmsQueueUrl: string
  readonly alarmsQueueArn: string
  /** Physical names. */
  readonly sweep: string
  readonly everyMinute: string
  /** `rouse admin bootstrap` once more: its exit code and what it said. */
  bootstrapAgain(): Promise<{ readonly code: number; readonly said: string }>
}

export const stack = 'Rouse-dev'

/** As a person does it: bootstrap the account, deploy from a checkout, make the first key. */
export async function deployRouse(): Promise<DeployedRouse> {
  await bootstrapAccount()
  await program(cdk, ['deploy', stack, '--require-approval', 'never'])
  await mendPermissions()
  const first = await firstKey()
  const url = /ROUSE_URL='(.+)'/.exec(first.said)?.[1]
  const key = /ROUSE_KEY='(.+)'/.exec(first.said)?.[1]
  if (first.code !== 0 || url === undefined || key === undefined)
    throw new Error(`rouse admin bootstrap ended with ${first.code}: ${first.said}`)
  const QueueUrl = (await new SQSClient({}).send(new GetQueueUrlCommand({ QueueName: 'rouse-dev-alarms' }))).QueueUrl!
  return {
    url,
    key,
    alarmsQueueUrl: QueueUrl,
    alarmsQueueArn: `arn:aws:sqs:${process.env.AWS_REGION}:000000000000:rouse-dev-alarms`,
    sweep: await physicalName('SweepFunction'),
    everyMinute: await physicalName('EveryMinute'),
    bootstrapAgain: firstKey,
  }
}

/** In a folder of its own: beside cdk.json the CDK would make the whole app first. */
async function bootstrapAccount(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rouse-bootstrap-'))
  try {
    const template = join(folder, 'bootstrap.yaml')
    await writeFile(template, withoutTls(await program(cdk, ['bootstrap', '--show-template'], folder)))
    await program(cdk, ['bootstrap', `aws://000000000000/${process.env.AWS_REGION}`, '--template', template], folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The bucket of assets refuses calls without TLS, which the emulator, where it checks permissions, takes at its word. */
function withoutTls(template: string): string {
  const left = template.replace(/^ {2}StagingBucketPolicy:\n(?: {3,}.*\n)+/m, '')
  if (left === template) throw new Error('the template of cdk bootstrap has no StagingBucketPolicy to leave out')
  return left
}

/**
 * Where the emulator checks permissions (AUTH=true), it takes every entry of the Scheduler for one of the group `default`, and a path of
 * parameters for all there are.
 */
async function mendPermissions(): Promise<void> {
  const entries = `arn:aws:scheduler:${process.env.AWS_REGION}:000000000000:schedule/default/*`
  for (const role of ['ApiRole', 'AlarmRole', 'SweepRole'])
    await permit(await physicalName(role), 'scheduler:CreateSchedule', entries)
  await permit(await physicalName('ApiRole'), 'ssm:GetParametersByPath', '*')
}

async function firstKey(): Promise<{ code: number; said: string }> {
  const argv = ['--import', 'tsx', 'apps/cli/bin.ts', 'admin', 'bootstrap', '--stack', stack]
  return await run(process.execPath, argv, { cwd: root, env: quiet }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error) => ({ code: error.code, said: `${error.stdout}${error.stderr}` }),
  )
}

/** What it wrote to its standard output. @throws Error with what it said, when it did not end well */
async function program(path: string, argv: readonly string[], cwd = root): Promise<string> {
  const end = run(process.execPath, [path, ...argv], { cwd, env: quiet, maxBuffer: 64 * 1024 * 1024 })
  const { stdout } = await end.catch((error) => {
    throw new Error(`cdk ${argv.join(' ')} failed: ${error.stdout}${error.stderr}`)
  })
  return stdout
}

const quiet = { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true', CI: 'true', NO_COLOR: '1' }

async function physicalName(logicalId: string): Promise<string> {
  const { StackResources } = await new CloudFormationClient({}).send(
    new DescribeStackResourcesCommand({ StackName: stack }),
  )
  const found = StackResources?.find((r) => new RegExp(`^${logicalId}[0-9A-F]{8}$`).test(r.LogicalResourceId ?? ''))
  if (!found?.PhysicalResourceId) throw new Error(`the stack has no ${logicalId}`)
  return found.PhysicalResourceId
}
