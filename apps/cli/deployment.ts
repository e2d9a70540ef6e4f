import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import type { TableName } from '../../shared/ports/table.ts'
import { NotThere, UsageError } from './report.ts'

/** A stack of ours, as its outputs describe it. */
export interface Deployment {
  readonly url: string
  /** Table name → physical name. */
  readonly tables: { readonly [name in TableName]: string }
}

/**
 * Reads a stack's outputs, with the AWS credentials, region and endpoint of the environment.
 *
 * @throws UsageError  no region or no credentials
 * @throws NotThere    no such stack, or one that is not ours
 */
export async function deployed(stack: string, env: Readonly<Record<string, string | undefined>>): Promise<Deployment> {
  const client = new CloudFormationClient({})
  const outputs = await outputsOf(client, stack)
  const { ApiUrl, ApiId, Tables } = outputs
  if (!ApiUrl || !ApiId || !Tables)
    throw new NotThere(
      `the stack ${stack} has no outputs ApiUrl, ApiId and Tables: is it Rouse's, and deployed to its end?`,
    )
  const endpoint = env.AWS_ENDPOINT_URL
  const isNameless = endpoint !== undefined && new URL(ApiUrl).hostname.endsWith('.localhost')
  return { url: isNameless ? emulated(endpoint, ApiId) : ApiUrl, tables: JSON.parse(Tables) }
}

/** MiniStack names an API under localhost, which only browsers look up; it serves the same under its own address. */
const emulated = (endpoint: string, apiId: string): string =>
  `${endpoint.replace(/\/+$/, '')}/_aws/execute-api/${apiId}/$default`

async function outputsOf(client: CloudFormationClient, stack: string): Promise<Record<string, string | undefined>> {
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: stack }))
    return Object.fromEntries((Stacks?.[0]?.Outputs ?? []).map((o) => [o.OutputKey!, o.OutputValue]))
  } catch (error) {
    throw told(error, stack)
  } finally {
    client.destroy()
  }
}

function told(error: unknown, stack: string): unknown {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' }
  if (name === 'ValidationError' && /does not exist/.test(message))
    return new NotThere(
      `there is no stack ${stack} in this account and region; \`npx cdk deploy\` makes it, --stack names another`,
    )
  if (name === 'CredentialsProviderError')
    return new UsageError(`no AWS credentials were found: log in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID (${message})`)
  if (/region is missing/i.test(message)) return new UsageError('no AWS region is named: set AWS_REGION')
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|TimeoutError)/.test((error as { code?: string }).code ?? name))
    return new NotThere(`AWS could not be reached: ${message}`)
  if ('$metadata' in (error as object)) return new NotThere(`AWS refused to describe ${stack}: ${name}: ${message}`)
  return error
}
