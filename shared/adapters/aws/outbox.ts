import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'

interface Letter {
  readonly body: string
  readonly delaySeconds: number
  readonly sent: () => void
  readonly failed: (error: unknown) => void
}

/** SQS takes so many messages in one request, for the price of one. Ours are some hundred bytes each. */
const lettersMax = 10

/** What is sent to a queue: messages that are sent together, with no wait between them, share requests. */
export class Outbox {
  readonly #client: SQSClient
  readonly #waiting = new Map<string, Letter[]>()

  constructor(client: SQSClient) {
    this.#client = client
  }

  /** @throws what the SDK throws, also where a request went through and this message of it did not */
  send(queueUrl: string, body: string, delaySeconds: number): Promise<void> {
    return new Promise((sent, failed) => {
      const waiting = this.#waiting.get(queueUrl) ?? []
      waiting.push({ body, delaySeconds, sent, failed })
      if (waiting.length > 1) return
      this.#waiting.set(queueUrl, waiting)
      queueMicrotask(() => this.#empty(queueUrl))
    })
  }

  #empty(queueUrl: string): void {
    const waiting = this.#waiting.get(queueUrl) ?? []
    this.#waiting.delete(queueUrl)
    for (let from = 0; from < waiting.length; from += lettersMax) {
      const letters = waiting.slice(from, from + lettersMax)
      this.#request(queueUrl, letters).catch((error: unknown) => {
        for (const { failed } of letters) failed(error)
      })
    }
  }

  async #request(QueueUrl: string, letters: readonly Letter[]): Promise<void> {
    const [first, ...others] = letters
    if (others.length === 0) {
      const { body, delaySeconds, sent } = first!
      await this.#client.send(new SendMessageCommand({ QueueUrl, MessageBody: body, DelaySeconds: delaySeconds }))
      return sent()
    }
    const Entries = letters.map(({ body, delaySeconds }, place) => ({
      Id: String(place),
      MessageBody: body,
      DelaySeconds: delaySeconds,
    }))
    const { Failed = [] } = await this.#client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
    const codes = new Map(Failed.map(({ Id, Code }) => [Id, Code ?? 'InternalError']))
    for (const [place, { sent, failed }] of letters.entries()) {
      const name = codes.get(String(place))
      if (name === undefined) sent()
      else failed(Object.assign(new Error('SQS took the request and not this message of it'), { name }))
    }
  }
}
