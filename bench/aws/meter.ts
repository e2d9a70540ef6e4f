import { shapeOf } from '../../shared/adapters/aws/schema.ts'
import type { TableName } from '../../shared/ports/table.ts'
import { type Bill, nothing } from './prices.ts'
import { type Attributes, indexUnits, itemBytes, readUnits, sqsRequests, writeUnits } from './units.ts'

/** What is there, beside the bill: a look at the store that is not counted. */
export type Peek = (table: string, key: Attributes) => Attributes | null

/** What of an SDK client the meter needs. */
interface Metered {
  readonly middlewareStack: {
    // biome-ignore lint/suspicious/noExplicitAny: a stack takes the middleware of every client
    addRelativeTo(middleware: any, options: { name: string; relation: 'after'; toMiddleware: string }): void
  }
}

/**
 * Counts what SDK clients ask for, in AWS's units and by AWS's rules, from what is sent and what is there. It sits behind the SDK's retries,
 * so that each attempt is counted, as it is billed.
 *
 * What services do for us no client sees: whoever plays them adds it.
 */
export class Meter {
  bill: Bill = nothing()
  /** How many requests the SDK sent, by action. */
  readonly requests = new Map<string, number>()
  readonly #peek: Peek
  readonly #indexes: ReadonlyMap<string, readonly (readonly string[])[]>

  /** @param names  physical names of the tables */
  constructor(names: { readonly [name in TableName]: string }, peek: Peek) {
    this.#peek = peek
    this.#indexes = new Map(
      (Object.keys(names) as TableName[]).map((table) => {
        const { indexes, key } = shapeOf(table)
        return [names[table], indexes.map(({ pk, sk }) => [pk, sk, key.pk, key.sk])]
      }),
    )
  }

  /** How many requests since the last time, and what they came to; begins anew. */
  taken(): { readonly bill: Bill; readonly requests: number } {
    const taken = { bill: this.bill, requests: [...this.requests.values()].reduce((sum, count) => sum + count, 0) }
    this.bill = nothing()
    this.requests.clear()
    return taken
  }

  /** @param during  what a request takes, beside what it costs */
  watch(client: Metered, during: (action: string) => Promise<void> = async () => {}): void {
    const middleware =
      // biome-ignore lint/suspicious/noExplicitAny: as the SDK hands it over
        (next: (args: any) => Promise<any>, context: { commandName?: string }) =>
        async (args: { readonly input: object }) => {
          const action = (context.commandName ?? '').replace(/Command$/, '')
          this.requests.set(action, (this.requests.get(action) ?? 0) + 1)
          await during(action)
          const count = this.#counting(action, args.input)
          try {
            const answer = await next(args)
            count(answer.output)
            return answer
          } catch (error) {
            count(null)
            throw error
          }
        }
    client.middlewareStack.addRelativeTo(middleware, {
      name: 'bill',
      relation: 'after',
      toMiddleware: 'retryMiddleware',
    })
  }

  /** Looks at what is there before. @returns what counts once it is answered; null: refused or lost */
  // biome-ignore lint/suspicious/noExplicitAny: a request has as many shapes as there are actions
  #counting(action: string, input: any): (output: any) => void {
    const { bill } = this
    switch (action) {
      case 'GetItem':
        // All of the item counts, whatever is projected.
        return () => {
          bill.readUnits += readUnits(
            sizeOf(this.#peek(input.TableName, input.Key)) ?? 0,
            input.ConsistentRead === true,
          )
        }
      case 'BatchGetItem':
        return (output) => {
          for (const [table, { Keys, ConsistentRead = false }] of Object.entries<Asked>(input.RequestItems)) {
            const found: Attributes[] = output?.Responses?.[table] ?? []
            const unread = output?.UnprocessedKeys?.[table]?.Keys.length ?? 0
            for (const item of found) bill.readUnits += readUnits(itemBytes(item), ConsistentRead)
            bill.readUnits += (Keys.length - found.length - unread) * readUnits(0, ConsistentRead)
          }
        }
      case 'Query':
        return (output) => {
          const bytes = (output?.Items ?? []).reduce((sum: number, item: Attributes) => sum + itemBytes(item), 0)
          bill.readUnits += readUnits(bytes, input.ConsistentRead === true)
        }
      case 'PutItem':
        return this.#writing(input.TableName, input.Item, false)
      case 'UpdateItem':
      case 'DeleteItem':
        return this.#writing(input.TableName, input.Key, false)
      case 'TransactWriteItems': {
        const all = (input.TransactItems as Written[]).map((one) => {
          const { TableName, Key, Item } = Object.values(one)[0]!
          return this.#writing(TableName, Item ?? Key!, true)
        })
        return () => {
          for (const count of all) count()
        }
      }
      case 'SendMessage':
        return () => {
          bill.sqsRequests += sqsRequests(messageBytes(input))
        }
      case 'SendMessageBatch':
        return () => {
          bill.sqsRequests += sqsRequests(
            (input.Entries as Message[]).reduce((sum, message) => sum + messageBytes(message), 0),
          )
        }
      case 'ReceiveMessage':
        return (output) => {
          const messages: { Body?: string }[] = output?.Messages ?? []
          bill.sqsRequests += sqsRequests(messages.reduce((sum, { Body = '' }) => sum + Buffer.byteLength(Body), 0))
        }
      case 'DeleteMessage':
      case 'ChangeMessageVisibility':
      case 'CreateQueue':
      case 'DeleteQueue':
      case 'GetQueueUrl':
        return () => {
          bill.sqsRequests += 1
        }
      // An entry is paid for when it comes due; the standard tiers of the others cost nothing.
      case 'CreateSchedule':
      case 'GetParameter':
      case 'GetParametersByPath':
      case 'PutParameter':
      case 'DeleteParameter':
      case 'AssumeRole':
        return () => {}
      default:
        throw new Error(`the meter knows no ${action}: say what it costs`)
    }
  }

  #writing(table: string, key: Attributes, transactional: boolean): () => void {
    const { bill } = this
    const before = this.#peek(table, key)
    return () => {
      const after = this.#peek(table, key)
      bill.writeUnits += writeUnits(sizeOf(before), sizeOf(after), transactional)
      for (const at of this.#indexes.get(table)!) bill.writeUnits += indexUnits(before, after, at)
    }
  }
}

interface Message {
  readonly MessageBody: string
  readonly MessageAttributes?: Readonly<Record<string, { readonly DataType: string; readonly StringValue?: string }>>
}

/** Attributes count: their names, types and values. */
const messageBytes = ({ MessageBody, MessageAttributes = {} }: Message): number =>
  Object.entries(MessageAttributes).reduce(
    (sum, [name, { DataType, StringValue = '' }]) => sum + Buffer.byteLength(name + DataType + StringValue),
    Buffer.byteLength(MessageBody),
  )

interface Asked {
  readonly Keys: readonly object[]
  readonly ConsistentRead?: boolean
}

type Written = Record<string, { readonly TableName: string; readonly Key?: Attributes; readonly Item?: Attributes }>

const sizeOf = (item: Attributes | null): number | null => (item === null ? null : itemBytes(item))
