import { Broken, type Dispatch } from './aws/clients.ts'
import { AwsRefusal } from './aws/expressions.ts'
import type { MemoryAws, Service } from './aws/memory-aws.ts'

/**
 * What befalls one request of an invocation.
 *
 * `dies before`, `dies after`: the process is gone before the request is sent, or once it is applied. `answer lost`: it is applied, and
 * nobody hears that. `throttled`: there is no room for it, once. `busy`: there is none for it nor for whatever follows.
 * `conflict`: another transaction has the item, once. `partly`: of a batch only the first is taken, and the rest is left, once.
 */
export const faultKinds = [
  'dies before',
  'dies after',
  'answer lost',
  'throttled',
  'busy',
  'conflict',
  'partly',
] as const
export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  /** The n-th request of the invocation, 1 being the first. */
  readonly at: number
  readonly kind: FaultKind
}

const throttled: { readonly [service in Service]: string } = {
  dynamodb: 'ThrottlingException',
  sqs: 'RequestThrottled',
  scheduler: 'ThrottlingException',
  ssm: 'ThrottlingException',
  sts: 'Throttling',
}

const writes = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'])

/** The line between one process and AWS, on which one request meets a fault. Counts what is sent. */
export class Line {
  readonly fault: Fault | null
  readonly sent: string[] = []
  isDead = false
  /** The request that the fault met; null: there were fewer, or the fault makes no sense for it. */
  struck: string | null = null
  readonly #aws: MemoryAws

  constructor(aws: MemoryAws, fault: Fault | null) {
    this.#aws = aws
    this.fault = fault
  }

  get calls(): number {
    return this.sent.length
  }

  dispatch: (...call: Parameters<Dispatch>) => object = (service, action, input) => {
    if (this.isDead) throw new Broken()
    this.sent.push(action)
    const isNow = this.fault !== null && this.sent.length === this.fault.at
    const isSince = this.fault?.kind === 'busy' && this.sent.length > this.fault.at
    return isNow || isSince ? this.#struck(service, action, input) : this.#aws.call(service, action, input)
  }

  #struck(service: Service, action: string, input: object): object {
    const { kind } = this.fault!
    const apply = () => this.#aws.call(service, action, input)
    if (kind === 'conflict' && !(service === 'dynamodb' && writes.has(action))) return apply()
    if (kind === 'partly' && !(action in batches)) return apply()
    this.struck ??= action
    switch (kind) {
      case 'dies before':
        this.isDead = true
        throw new Broken()
      case 'dies after':
        this.isDead = true
        apply()
        throw new Broken()
      case 'answer lost':
        apply()
        throw new Broken()
      case 'throttled':
      case 'busy':
        throw new AwsRefusal(throttled[service])
      case 'partly':
        return batches[action as keyof typeof batches](input, (part) => this.#aws.call(service, action, part))
      case 'conflict':
        if (action !== 'TransactWriteItems') throw new AwsRefusal('TransactionConflictException')
        throw new AwsRefusal('TransactionCanceledException', 'conflict', {
          CancellationReasons: (input as { TransactItems: unknown[] }).TransactItems.map((_, i) => ({
            Code: i === 0 ? 'TransactionConflict' : 'None',
          })),
        })
    }
  }
}

type Serve = (part: object) => object

/** Of these, a service may do a part and say what is left. */
const batches = {
  SendMessageBatch(input: object, serve: Serve): object {
    const { Entries, ...rest } = input as { readonly Entries: readonly { readonly Id: string }[] }
    const Failed = Entries.slice(1).map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' }))
    return { ...serve({ ...rest, Entries: Entries.slice(0, 1) }), Failed }
  },
  BatchGetItem(input: object, serve: Serve): object {
    const { RequestItems } = input as { readonly RequestItems: Readonly<Record<string, { readonly Keys: object[] }>> }
    const part = (from: number, to?: number) =>
      Object.fromEntries(
        Object.entries(RequestItems).flatMap(([table, { Keys, ...rest }]) => {
          const some = Keys.slice(from, to)
          return some.length === 0 ? [] : [[table, { ...rest, Keys: some }]]
        }),
      )
    return { ...serve({ RequestItems: part(0, 1) }), UnprocessedKeys: part(1) }
  },
}
