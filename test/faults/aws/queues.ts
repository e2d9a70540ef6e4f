import { AwsRefusal } from './expressions.ts'

export interface QueueMessage {
  readonly id: string
  readonly body: string
  readonly attributes: object
  readonly sentAt: number
  /** Handed out from then on. */
  visibleAt: number
  receives: number
}

export interface MemoryQueue {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly messages: Map<string, QueueMessage>
}

const prefix = 'https://sqs.eu-west-1.amazonaws.com/000000000000/'

/** SQS in memory: standard queues, delays, visibility. Receipt handles are the messages' ids. */
export class MemoryQueues {
  readonly #queues = new Map<string, MemoryQueue>()
  readonly #now: () => number
  #count = 0

  constructor(now: () => number) {
    this.#now = now
  }

  static urlOf(name: string): string {
    return prefix + name
  }

  static arnOf(name: string): string {
    return `arn:aws:sqs:eu-west-1:000000000000:${name}`
  }

  make(name: string, attributes: Readonly<Record<string, string>> = {}): MemoryQueue {
    const queue = this.#queues.get(name) ?? { name, attributes, messages: new Map() }
    this.#queues.set(name, queue)
    return queue
  }

  named(name: string): MemoryQueue | null {
    return this.#queues.get(name) ?? null
  }

  all(): MemoryQueue[] {
    return [...this.#queues.values()]
  }

  send(queue: MemoryQueue, body: string, delayMs: number, attributes: object = {}): string {
    const now = this.#now()
    const id = `m${++this.#count}`
    queue.messages.set(id, { id, body, attributes, sentAt: now, visibleAt: now + delayMs, receives: 0 })
    return id
  }

  /** Hands out what may be seen, and hides it for so long. */
  receive(queue: MemoryQueue, most: number, hiddenMs: number): QueueMessage[] {
    const now = this.#now()
    const taken: QueueMessage[] = []
    for (const message of queue.messages.values()) {
      if (taken.length === most) break
      if (message.visibleAt > now) continue
      message.visibleAt = now + hiddenMs
      message.receives += 1
      taken.push(message)
    }
    return taken
  }

  // biome-ignore lint/suspicious/noExplicitAny: a request has as many shapes as there are actions
  call(action: string, input: any): object {
    switch (action) {
      case 'CreateQueue':
        return { QueueUrl: MemoryQueues.urlOf(this.make(input.QueueName, input.Attributes).name) }
      case 'GetQueueUrl':
        return { QueueUrl: MemoryQueues.urlOf(this.#at(MemoryQueues.urlOf(input.QueueName)).name) }
      case 'SendMessage': {
        if ((input.DelaySeconds ?? 0) > 900) throw new AwsRefusal('InvalidParameterValue', 'DelaySeconds beyond 900')
        const delayMs = (input.DelaySeconds ?? 0) * 1000
        return { MessageId: this.send(this.#at(input.QueueUrl), input.MessageBody, delayMs, input.MessageAttributes) }
      }
      case 'SendMessageBatch':
        return batch(input.Entries, (entry) => ({
          MessageId: this.send(this.#at(input.QueueUrl), entry.MessageBody, (entry.DelaySeconds ?? 0) * 1000),
        }))
      case 'DeleteMessageBatch':
        return batch(input.Entries, (entry) => this.call('DeleteMessage', { ...entry, QueueUrl: input.QueueUrl }))
      case 'ChangeMessageVisibilityBatch':
        return batch(input.Entries, (entry) =>
          this.call('ChangeMessageVisibility', { ...entry, QueueUrl: input.QueueUrl }),
        )
      case 'DeleteQueue':
        this.#queues.delete(this.#at(input.QueueUrl).name)
        return {}
      case 'ReceiveMessage': {
        const hiddenMs = (input.VisibilityTimeout ?? 30) * 1000
        const taken = this.receive(this.#at(input.QueueUrl), input.MaxNumberOfMessages ?? 1, hiddenMs)
        const Messages = taken.map(({ id, body, sentAt, receives }) => ({
          MessageId: id,
          ReceiptHandle: id,
          Body: body,
          Attributes: { SentTimestamp: String(sentAt), ApproximateReceiveCount: String(receives) },
        }))
        return taken.length === 0 ? {} : { Messages }
      }
      case 'DeleteMessage':
        this.#at(input.QueueUrl).messages.delete(input.ReceiptHandle)
        return {}
      case 'ChangeMessageVisibility': {
        const message = this.#at(input.QueueUrl).messages.get(input.ReceiptHandle)
        if (message !== undefined) message.visibleAt = this.#now() + input.VisibilityTimeout * 1000
        return {}
      }
      default:
        throw new AwsRefusal('UnknownOperationException', action)
    }
  }

  kept(): () => void {
    const queues = [...this.#queues.values()].map((queue) => ({
      queue,
      messages: [...queue.messages.values()].map((message) => ({ ...message })),
    }))
    const count = this.#count
    return () => {
      this.#count = count
      this.#queues.clear()
      for (const { queue, messages } of queues) {
        queue.messages.clear()
        for (const message of messages) queue.messages.set(message.id, { ...message })
        this.#queues.set(queue.name, queue)
      }
    }
  }

  #at(url: string): MemoryQueue {
    const queue = this.#queues.get(url.slice(prefix.length))
    if (queue === undefined) throw new AwsRefusal('QueueDoesNotExist', url)
    return queue
  }
}

// biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
function batch(entries: readonly any[], one: (entry: any) => object): object {
  if (entries.length > 10) throw new AwsRefusal('TooManyEntriesInBatchRequest')
  return { Successful: entries.map((entry) => ({ Id: entry.Id, ...one(entry) })), Failed: [] }
}
