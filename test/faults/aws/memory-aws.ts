import { type TableName, tables } from '../../../shared/ports/table.ts'
import { type Limits, MemoryDynamo } from './dynamo.ts'
import { AwsRefusal } from './expressions.ts'
import { MemoryQueues } from './queues.ts'

export type Service = 'dynamodb' | 'sqs' | 'scheduler' | 'ssm' | 'sts'

/** A one-time entry of the Scheduler. */
export interface Entry {
  readonly name: string
  readonly at: number
  readonly queue: string
  readonly body: string
}

/** Physical names of the tables. */
export const tableNames = Object.fromEntries(Object.keys(tables).map((name) => [name, `rouse-${name}`])) as {
  readonly [name in TableName]: string
}
export const alarmsQueue = 'rouse-test-alarms'
export const flowsQueue = 'rouse-test-flows'
export const queuePrefix = 'rouse-test-session-'

/** The services that Rouse stands on, in memory: what the adapters send, and nothing else. */
export class MemoryAws {
  readonly dynamo: MemoryDynamo
  readonly queues: MemoryQueues
  readonly entries = new Map<string, Entry>()
  readonly parameters = new Map<string, string>()
  readonly #now: () => number

  constructor(now: () => number, limits?: Limits) {
    this.#now = now
    this.dynamo = new MemoryDynamo(tableNames, now, limits)
    this.queues = new MemoryQueues(now)
    for (const name of [alarmsQueue, flowsQueue]) for (const dead of ['', '-dead']) this.queues.make(`${name}${dead}`)
  }

  /**
   * @returns what the service answers
   * @throws  AwsRefusal
   */
  // biome-ignore lint/suspicious/noExplicitAny: a request has as many shapes as there are actions
  call(service: Service, action: string, input: any): object {
    switch (service) {
      case 'dynamodb':
        return this.dynamo.call(action, input)
      case 'sqs':
        return this.queues.call(action, input)
      case 'scheduler':
        return this.#schedule(action, input)
      case 'ssm':
        return this.#parameter(action, input)
      case 'sts':
        return { Credentials: this.#credentials() }
    }
  }

  /** How everything is now, to come back to. */
  kept(): () => void {
    const back = [this.dynamo.kept(), this.queues.kept()]
    const [entries, parameters] = [[...this.entries], [...this.parameters]]
    return () => {
      for (const restore of back) restore()
      this.entries.clear()
      for (const [name, entry] of entries) this.entries.set(name, entry)
      this.parameters.clear()
      for (const [name, value] of parameters) this.parameters.set(name, value)
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  #schedule(action: string, input: any): object {
    if (action !== 'CreateSchedule') throw new AwsRefusal('UnknownOperationException', action)
    const { Name, ScheduleExpression, Target } = input
    if (this.entries.has(Name)) throw new AwsRefusal('ConflictException', Name)
    const at = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/.exec(ScheduleExpression)
    if (at === null || input.ScheduleExpressionTimezone !== 'UTC' || !/^[\w.-]{1,64}$/.test(Name))
      throw new AwsRefusal('ValidationException', ScheduleExpression)
    const queue = String(Target.Arn).split(':').at(-1)!
    this.entries.set(Name, { name: Name, at: Date.parse(`${at[1]}Z`), queue, body: Target.Input })
    return { ScheduleArn: Name }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  #parameter(action: string, input: any): object {
    switch (action) {
      case 'PutParameter':
        this.parameters.set(input.Name, input.Value)
        return {}
      case 'GetParameter': {
        const Value = this.parameters.get(input.Name)
        if (Value === undefined) throw new AwsRefusal('ParameterNotFound', input.Name)
        return { Parameter: { Name: input.Name, Value } }
      }
      case 'DeleteParameter':
        if (!this.parameters.delete(input.Name)) throw new AwsRefusal('ParameterNotFound', input.Name)
        return {}
      case 'GetParametersByPath': {
        const names = [...this.parameters.keys()].filter((name) => name.startsWith(`${input.Path}/`))
        return { Parameters: names.map((Name) => ({ Name })) }
      }
      default:
        throw new AwsRefusal('UnknownOperationException', action)
    }
  }

  #credentials(): object {
    const Expiration = new Date(this.#now() + 3_600_000)
    return { AccessKeyId: 'AKIDEXAMPLE', SecretAccessKey: 'secret', SessionToken: 'token', Expiration }
  }
}
