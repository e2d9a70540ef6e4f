import { type TableName, tables } from '../../ports/table.ts'

/** What a process has to be told about the stack it belongs to. Written by the stack as environment variables. */
export interface AwsConfig {
  readonly region: string
  /** Another address of the services than AWS's own (an emulator), or null. */
  readonly endpoint: string | null
  /** Physical names. */
  readonly tables: { readonly [name in TableName]: string }
  readonly alarmsQueueUrl: string
  readonly alarmsQueueArn: string
  readonly flowsQueueUrl: string
  readonly schedulerGroup: string
  /** What EventBridge Scheduler becomes to send to the alarms queue. */
  readonly schedulerRoleArn: string
  /** What the names of all sessions' and agents' queues begin with. */
  readonly queuePrefix: string
  /** What somebody who listens to a queue becomes; null where nobody outside may listen. */
  readonly listenerRoleArn: string | null
  /** A path of the parameter store that ends in a slash. */
  readonly secretsPrefix: string
  /** How many partitions the due indexes are spread over. */
  readonly shards: number
}

/** @throws Error that names the variable which is missing or cannot be read */
export function configFromEnv(env: Readonly<Record<string, string | undefined>>): AwsConfig {
  const needed = (name: string): string => {
    const value = env[name]
    if (value === undefined || value === '') throw new Error(`${name} is not set: the stack sets it on each function`)
    return value
  }
  return {
    region: needed('AWS_REGION'),
    endpoint: env.AWS_ENDPOINT_URL || null,
    tables: tableNames(needed('ROUSE_TABLES')),
    alarmsQueueUrl: needed('ROUSE_ALARMS_QUEUE_URL'),
    alarmsQueueArn: needed('ROUSE_ALARMS_QUEUE_ARN'),
    flowsQueueUrl: needed('ROUSE_FLOWS_QUEUE_URL'),
    schedulerGroup: needed('ROUSE_SCHEDULER_GROUP'),
    schedulerRoleArn: needed('ROUSE_SCHEDULER_ROLE_ARN'),
    queuePrefix: needed('ROUSE_QUEUE_PREFIX'),
    listenerRoleArn: env.ROUSE_LISTENER_ROLE_ARN || null,
    secretsPrefix: secretsPrefix(needed('ROUSE_SECRETS_PREFIX')),
    shards: shards(env.ROUSE_SHARDS || '8'),
  }
}

function tableNames(text: string): AwsConfig['tables'] {
  let names: unknown
  try {
    names = JSON.parse(text)
  } catch {
    throw new Error('ROUSE_TABLES is not JSON: it maps the name of each table to its name in DynamoDB')
  }
  const given = names as Readonly<Record<string, unknown>> | null
  for (const table of Object.keys(tables)) {
    if (typeof given?.[table] !== 'string') throw new Error(`ROUSE_TABLES names no table for ${table}`)
  }
  return given as AwsConfig['tables']
}

function secretsPrefix(prefix: string): string {
  if (!prefix.startsWith('/') || !prefix.endsWith('/')) {
    throw new Error(`ROUSE_SECRETS_PREFIX is '${prefix}': it has to begin and end with a slash`)
  }
  return prefix
}

function shards(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new Error(`ROUSE_SHARDS is '${text}': it has to be 1 or more`)
  return count
}
