import type { STSClient } from '@aws-sdk/client-sts'
import { Unavailable } from '../../ports/table.ts'
import type { QueueGrant } from '../../ports/world.ts'
import type { Patience } from './patience.ts'

/** The most that a role may give to another one. */
const grantSeconds = 3600

/** The calls of somebody who listens: takes messages, and says which are heard. */
const listening = ['sqs:ReceiveMessage', 'sqs:DeleteMessage']

/** Credentials of the listener's role, narrowed to one queue. */
export async function grantOf(o: {
  readonly sts: STSClient
  readonly patience: Patience
  readonly listenerRoleArn: string
  /** The queue's, its ARN and its URL. */
  readonly name: string
  readonly arn: string
  readonly url: string
  readonly region: string
  readonly endpoint: string | null
}): Promise<QueueGrant> {
  const { AssumeRoleCommand } = await import('@aws-sdk/client-sts')
  const command = new AssumeRoleCommand({
    RoleArn: o.listenerRoleArn,
    // Stands in the account's trail: who listened.
    RoleSessionName: o.name.slice(-64),
    DurationSeconds: grantSeconds,
    Policy: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: listening, Resource: o.arn }],
    }),
  })
  const { Credentials: given } = await o.patience.calling(() => o.sts.send(command))
  if (!given?.AccessKeyId || !given.SecretAccessKey || !given.SessionToken || !given.Expiration) {
    throw new Unavailable('STS answered without credentials: try again later')
  }
  return {
    url: o.url,
    region: o.region,
    endpoint: o.endpoint,
    accessKeyId: given.AccessKeyId,
    secretAccessKey: given.SecretAccessKey,
    sessionToken: given.SessionToken,
    expiresAt: given.Expiration.getTime(),
  }
}
