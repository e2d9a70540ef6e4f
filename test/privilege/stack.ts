import { App } from 'aws-cdk-lib'
import { settingsOf } from '../../infra/settings.ts'
import { type Json, resources, synthesized } from '../infra/synth.ts'
import type { Statement } from './allow.ts'

export const functionNames = ['Api', 'Alarm', 'Sweep', 'Change', 'Flow'] as const
export type FunctionName = (typeof functionNames)[number]
/** A worker outside becomes the listener: the api function hands its credentials out. */
export const roleNames = [...functionNames, 'Listener'] as const
export type RoleName = (typeof roleNames)[number]

export const region = 'eu-west-1'
export const account = '000000000000'
const arn = (service: string, name: string) => `arn:aws:${service}:${region}:${account}:${name}`
export const topic = arn('sns', 'runs')
export const called = arn('lambda', 'function:start')

/** The template of a stage in which everything is set that adds a permission, with every reference resolved as an account would. */
export function deployedStack(address: string) {
  const context = { snsTopics: topic, lambdas: called, rateLimit: 'off', allowHosts: new URL(address).host }
  const template = synthesized('dev', settingsOf(new App({ context }).node))
  const { Resources } = template.toJSON()
  const resolved = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(resolved)
    if (typeof value !== 'object' || value === null) return value
    if ('Ref' in value) return refOf(value.Ref, Resources)
    if ('Fn::Join' in value) return value['Fn::Join'][1].map(resolved).join(value['Fn::Join'][0])
    if ('Fn::GetAtt' in value) return attributeOf(value['Fn::GetAtt'], Resources)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one)]))
  }
  return {
    /** What the function finds in its environment. */
    environmentOf(name: FunctionName): Readonly<Record<string, string>> {
      const found = resources(template, 'AWS::Lambda::Function').find(({ id }) => id.startsWith(`${name}Function`))!
      return resolved(found.Properties.Environment.Variables)
    },
    statementsOf: (name: RoleName): readonly Statement[] =>
      resources(template, 'AWS::IAM::Policy')
        .filter(({ Properties }) => Properties.Roles.some((role: Json) => role.Ref.startsWith(`${name}Role`)))
        .flatMap(({ Properties }) => resolved(Properties.PolicyDocument.Statement)),
    /** Physical names of the queues that the stack makes. */
    queues: resources(template, 'AWS::SQS::Queue').map(({ Properties }): string => Properties.QueueName),
  }
}

const parameters: Readonly<Record<string, string>> = {
  'AWS::Region': region,
  'AWS::AccountId': account,
  'AWS::Partition': 'aws',
}

function refOf(id: string, all: Json): string {
  const found = parameters[id]
  if (found !== undefined) return found
  const { Type, Properties } = all[id]
  if (Type === 'AWS::SQS::Queue') return `https://sqs.${region}.amazonaws.com/${account}/${Properties.QueueName}`
  return nameOf(id, all)
}

/** CloudFormation names tables, roles and groups itself; here they are called by their logical ids, without the hash. */
function nameOf(id: string, all: Json): string {
  const { Type, Properties } = all[id]
  if (Type === 'AWS::SQS::Queue') return Properties.QueueName
  const plain = id.replace(/[0-9A-F]{8}$/, '')
  return Type === 'AWS::DynamoDB::Table' ? `rouse-${plain.replace(/Table$/, '').toLowerCase()}` : plain
}

function attributeOf([id, attribute]: readonly [string, string], all: Json): string {
  const name = nameOf(id, all)
  switch (`${all[id].Type} ${attribute}`) {
    case 'AWS::DynamoDB::Table Arn':
      return arn('dynamodb', `table/${name}`)
    case 'AWS::DynamoDB::Table StreamArn':
      return arn('dynamodb', `table/${name}/stream/now`)
    case 'AWS::SQS::Queue Arn':
      return arn('sqs', name)
    case 'AWS::Logs::LogGroup Arn':
      return arn('logs', `log-group:${name}:*`)
    case 'AWS::IAM::Role Arn':
      return `arn:aws:iam::${account}:role/${name}`
    default:
      throw new Error(`test/privilege/stack.ts does not know ${attribute} of ${all[id].Type}`)
  }
}
