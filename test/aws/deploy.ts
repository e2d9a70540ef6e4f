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

const stack = 'Rouse-dev'

/** As a person does it: bootstrap the account, `npm run deploy:local` from a checkout, make the first key. */
export async function deployRouse(): Promise<DeployedRouse> {
  await bootstrapAccount()
  const said = await program('scripts/deploy-local.mjs', [])
  await mendPermissions()
  const { url, key } = await keyOf(stack)
  if (!said.includes(`The console: ${url}/console\n`)) throw new Error(`deploy:local did not say where it is: ${said}`)
  const QueueUrl = (await new SQSClient({}).send(new GetQueueUrlCommand({ QueueName: 'rouse-dev-alarms' }))).QueueUrl!
  return {
    url,
    key,
    alarmsQueueUrl: QueueUrl,
    alarmsQueueArn: `arn:aws:sqs:${process.env.AWS_REGION}:000000000000:rouse-dev-alarms`,
    sweep: await physicalName('SweepFunction'),
    everyMinute: await physicalName('EveryMinute'),
    bootstrapAgain: () => firstKey(stack),
  }
}

/** The prod stage as an older version of this checkout would have left it, and its first key. */
export async function deployOlder(): Promise<{ readonly url: string; readonly key: string }> {
  await bootstrapAccount()
  const app = 'npx tsx test/aws/older-app.ts'
  const output = await mkdtemp(join(tmpdir(), 'rouse-older-'))
  try {
    const at = ['deploy', 'Rouse-prod', '--app', app, '--output', output, '-c', 'rateLimit=500:5000']
    await program(cdk, [...at, '--require-approval', 'never'])
  } finally {
    await rm(output, { recursive: true, force: true })
  }
  return await keyOf('Rouse-prod')
}

/** From there to this checkout, with another setting. @returns what it said */
export const upgradeOlder = async (): Promise<string> => {
  const argv = ['--import', 'tsx', 'infra/upgrade.ts', '-c', 'stage=prod', '-c', 'rateLimit=900:9000']
  // The emulator has change sets that an update does not get through.
  const direct = ['--method=direct', '--require-approval', 'never']
  const { stdout, stderr } = await run(process.execPath, [...argv, ...direct], options).catch(failedAs('the upgrade'))
  return `${stdout}${stderr}`
}

/** @throws Error with what was said, when there is no key */
async function keyOf(name: string): Promise<{ readonly url: string; readonly key: string }> {
  const { code, said } = await firstKey(name)
  const url = /ROUSE_URL='(.+)'/.exec(said)?.[1]
  const key = /ROUSE_KEY='(.+)'/.exec(said)?.[1]
  if (code !== 0 || url === undefined || key === undefined)
    throw new Error(`rouse admin bootstrap ended with ${code}: ${said}`)
  return { url, key }
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

async function firstKey(name: string): Promise<{ code: number; said: string }> {
  const argv = ['--import', 'tsx', 'apps/cli/bin.ts', 'admin', 'bootstrap', '--stack', name]
  return await run(process.execPath, argv, { cwd: root, env: quiet }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error) => ({ code: error.code, said: `${error.stdout}${error.stderr}` }),
  )
}

/** What it wrote to its standard output. @throws Error with what it said, when it did not end well */
async function program(path: string, argv: readonly string[], cwd = root): Promise<string> {
  const end = run(process.execPath, [path, ...argv], { ...options, cwd })
  const { stdout } = await end.catch(failedAs(`${path} ${argv.join(' ')}`))
  return stdout
}

const failedAs =
  (what: string) =>
  (error: { readonly stdout: string; readonly stderr: string }): never => {
    throw new Error(`${what} failed: ${error.stdout}${error.stderr}`)
  }

const quiet = { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true', CI: 'true', NO_COLOR: '1' }
const options = { cwd: root, env: quiet, maxBuffer: 64 * 1024 * 1024 }

/** @throws Error when the stack has no resource whose logical id is this one and the hash that the CDK puts behind it */
async function physicalName(logicalId: string): Promise<string> {
  const { StackResources } = await new CloudFormationClient({}).send(
    new DescribeStackResourcesCommand({ StackName: stack }),
  )
  const found = StackResources?.find((r) => new RegExp(`^${logicalId}[0-9A-F]{8}$`).test(r.LogicalResourceId ?? ''))
  if (!found?.PhysicalResourceId) throw new Error(`the stack has no ${logicalId}`)
  return found.PhysicalResourceId
}
