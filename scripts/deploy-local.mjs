// Deploys to an emulator of AWS, LocalStack or MiniStack, whichever AWS_ENDPOINT_URL names: account, stack, and what emulators leave out.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation'
import { DescribeTimeToLiveCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'

const root = fileURLToPath(new URL('..', import.meta.url))
const cdk = join(root, 'node_modules/aws-cdk/bin/cdk')
const stack = 'Rouse-dev'

const endpoint = process.env.AWS_ENDPOINT_URL
if (!endpoint) {
  console.error(`deploy:local: AWS_ENDPOINT_URL is not set. It names the emulator to deploy to:

  pip install ministack && BIND_HOST=127.0.0.1 LAMBDA_EXECUTOR=local ministack    # in another terminal; or start LocalStack
  AWS_ENDPOINT_URL=http://127.0.0.1:4566 npm run deploy:local

For an AWS account: npx cdk deploy (docs/aws.md).`)
  process.exit(2)
}
// The keys of a real account have no business in an emulator, and an emulator takes any.
for (const name of ['AWS_PROFILE', 'AWS_SESSION_TOKEN', 'AWS_DEFAULT_REGION']) delete process.env[name]
process.env.AWS_REGION ||= 'us-east-1'
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
  // Where ::1 comes first, `localhost` is not where an emulator listens; and it cannot stand behind a bucket's name.
  AWS_ENDPOINT_URL: endpoint.replace('//localhost:', '//127.0.0.1:'),
  CDK_DISABLE_CLI_TELEMETRY: 'true',
})

const account = await accountOf()
const formation = new CloudFormationClient({})
if ((await described('CDKToolkit')) === null) {
  // In a folder of its own: beside cdk.json the CDK would make the whole app first.
  const folder = mkdtempSync(join(tmpdir(), 'rouse-bootstrap-'))
  run(['bootstrap', `aws://${account}/${process.env.AWS_REGION}`], folder)
  rmSync(folder, { recursive: true, force: true })
}
const isUpdate = (await described(stack)) !== null
// MiniStack has had change sets that an update does not get through.
run(['deploy', stack, '-c', 'stage=dev', '--require-approval', 'never', ...(isUpdate ? ['--method=direct'] : [])], root)
await mendTimeToLive()
const url = await address()

console.log(`
Rouse is deployed to ${endpoint}, account ${account}, region ${process.env.AWS_REGION}.

The first key, once; it prints the address of the API and how to use both:
  export AWS_ENDPOINT_URL=${process.env.AWS_ENDPOINT_URL} AWS_REGION=${process.env.AWS_REGION} AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
  npx rouse admin bootstrap --stack ${stack}

The API:     ${url}
The console: ${url}/console
`)

async function accountOf() {
  try {
    return (await new STSClient({ maxAttempts: 1 }).send(new GetCallerIdentityCommand({}))).Account
  } catch (error) {
    console.error(`deploy:local: nothing that speaks AWS answers at ${endpoint} (${error.name}: ${error.message})`)
    process.exit(1)
  }
}

async function described(name) {
  try {
    return (await formation.send(new DescribeStacksCommand({ StackName: name }))).Stacks[0]
  } catch (error) {
    if (/does not exist/.test(error.message)) return null
    throw error
  }
}

function run(argv, cwd) {
  const { status } = spawnSync(process.execPath, [cdk, ...argv], { cwd, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`deploy:local: cdk ${argv[0]} failed; what it said stands above`)
    process.exit(1)
  }
}

/** MiniStack makes tables without their TTL: what should expire would stay for ever. */
async function mendTimeToLive() {
  const dynamo = new DynamoDBClient({})
  const { Resources } = JSON.parse(readFileSync(join(root, `dist/cdk/${stack}.template.json`), 'utf8'))
  const { StackResources } = await formation.send(new DescribeStackResourcesCommand({ StackName: stack }))
  for (const { LogicalResourceId, PhysicalResourceId: TableName, ResourceType } of StackResources) {
    if (ResourceType !== 'AWS::DynamoDB::Table') continue
    const { TimeToLiveSpecification } = Resources[LogicalResourceId].Properties
    const { TimeToLiveDescription } = await dynamo.send(new DescribeTimeToLiveCommand({ TableName }))
    if (TimeToLiveDescription?.TimeToLiveStatus === 'DISABLED')
      await dynamo.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
  }
}

/** MiniStack's own name for an API is one that only browsers look up; the path under its address leads to the same. */
async function address() {
  const outputs = Object.fromEntries((await described(stack)).Outputs.map((o) => [o.OutputKey, o.OutputValue]))
  return new URL(outputs.ApiUrl).hostname.endsWith('.localhost')
    ? `${process.env.AWS_ENDPOINT_URL}/_aws/execute-api/${outputs.ApiId}/$default`
    : outputs.ApiUrl
}
