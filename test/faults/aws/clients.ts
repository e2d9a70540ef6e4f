import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SchedulerClient } from '@aws-sdk/client-scheduler'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { STSClient } from '@aws-sdk/client-sts'
import type { Patience } from '../../../shared/adapters/aws/patience.ts'
import { retriesOf } from '../../../shared/adapters/aws/retries.ts'
import { type Answer, type Sent, wire } from '../../adapters/aws-wire.ts'
import { AwsRefusal } from './expressions.ts'
import type { Service } from './memory-aws.ts'

/** The line broke: nobody knows whether the request was applied. */
export class Broken extends Error {
  constructor() {
    super('the line broke')
    this.name = 'TimeoutError'
  }
}

/** Where requests go. Throws AwsRefusal or Broken. */
// biome-ignore lint/suspicious/noExplicitAny: a request has as many shapes as there are actions
export type Dispatch = (service: Service, action: string, input: any) => object | Promise<object>

export interface Clients {
  readonly dynamo: DynamoDBClient
  readonly sqs: SQSClient
  readonly scheduler: SchedulerClient
  readonly ssm: SSMClient
  readonly sts: STSClient
}

/** Clients that hand their commands over as they are: for what only has to happen. */
export function plainClients(dispatch: Dispatch): Clients {
  const client = (service: Service) => ({
    send: async (command: { readonly input: object }) =>
      await dispatch(service, command.constructor.name.replace(/Command$/, ''), command.input),
  })
  return {
    dynamo: client('dynamodb'),
    sqs: client('sqs'),
    scheduler: client('scheduler'),
    ssm: client('ssm'),
    sts: client('sts'),
  } as unknown as Clients
}

/** The SDK's own clients, with their protocols and their retries as the functions set them, over a wire that ends in memory. */
export function sdkClients(dispatch: (...call: Parameters<Dispatch>) => object, patience: Patience): Clients {
  const optionsOf = (service: Service) => ({
    ...wire((sent) => answered(service, sent, dispatch)).options,
    retryStrategy: retriesOf(patience),
  })
  return {
    dynamo: new DynamoDBClient(optionsOf('dynamodb')),
    sqs: new SQSClient({ ...optionsOf('sqs'), md5: false }),
    scheduler: new SchedulerClient(optionsOf('scheduler')),
    ssm: new SSMClient(optionsOf('ssm')),
    sts: new STSClient(optionsOf('sts')),
  }
}

function answered(service: Service, sent: Sent, dispatch: (...call: Parameters<Dispatch>) => object): Answer {
  const [, name] = /^POST \/schedules\/(.+)$/.exec(sent.action) ?? []
  try {
    const answer =
      name === undefined
        ? dispatch(service, sent.action, sent.input)
        : dispatch(service, 'CreateSchedule', { ...sent.input, Name: name })
    return { ok: service === 'sts' ? asXml(answer as Parameters<typeof asXml>[0]) : answer }
  } catch (error) {
    if (error instanceof Broken) return { broken: 'ECONNRESET' }
    if (error instanceof AwsRefusal) return { refused: error.name, with: error.extra }
    throw error
  }
}

const asXml = ({ Credentials: c }: { readonly Credentials: Readonly<Record<string, string | Date>> }): string =>
  `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
  <AccessKeyId>${c.AccessKeyId}</AccessKeyId><SecretAccessKey>${c.SecretAccessKey}</SecretAccessKey>
  <SessionToken>${c.SessionToken}</SessionToken><Expiration>${(c.Expiration as Date).toISOString()}</Expiration>
  </Credentials></AssumeRoleResult></AssumeRoleResponse>`
