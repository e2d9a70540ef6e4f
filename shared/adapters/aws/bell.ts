import { CreateQueueCommand, DeleteQueueCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { STSClient } from '@aws-sdk/client-sts'
import { Defect } from '../../ports/table.ts'
import type { Bell, Envelope, QueueGrant } from '../../ports/world.ts'
import { failure } from './failures.ts'
import { grantOf } from './grant.ts'
import { plainName } from './names.ts'
import { Patience } from './patience.ts'

export interface BellOptions {
  readonly client: SQSClient
  readonly queuePrefix: string
  /** What the URLs of all queues begin with; ends with a slash. */
  readonly urlPrefix: string
  /** `arn:aws:sqs:<region>:<account>:`, what the ARNs of all queues begin with. */
  readonly arnPrefix: string
  readonly region: string
  /** Another address of the services than AWS's own, or null. */
  readonly endpoint: string | null
  /** What a listener becomes; null where nobody outside may listen. */
  readonly listenerRoleArn: string | null
  /** Asked for with the first grant. */
  readonly sts: () => Promise<STSClient>
  readonly patience?: Patience
}

/** The bell as SQS queues, one standard queue per session or agent, made when it is first rung or listened to. */
export function openBell(options: BellOptions): Bell {
  return new QueueBell(options)
}

/** SQS's bound for name of a queue. */
const nameCharsMax = 80
/** A bell that nobody heard for a day is worth nothing; the inbox has the message. */
const retentionSeconds = 86_400
/** SQS takes 256 KB with the attributes; a larger message is fetched by the claim that its bell leads to. */
const bodyBytesMax = 250_000
/** A queue that was just made may not be known everywhere for a second. */
const settlingMs = [0, 500, 1000]

class QueueBell implements Bell {
  readonly #options: BellOptions
  readonly #patience: Patience

  constructor(options: BellOptions) {
    this.#options = options
    this.#patience = options.patience ?? new Patience()
  }

  async ring(queue: string, envelope: Envelope): Promise<void> {
    // Whoever runs jobs holds a claim open for them.
    if (envelope.kind === 'job') return
    const name = this.#nameOf(queue)
    const body = bodyOf(envelope)
    await this.#calling(`ring of queue ${name}`, async () => {
      // Most queues are there. To ask for the URL first would be one request more for each wake.
      if (await this.#send(this.#urlOf(name), body, envelope.session)) return
      const made = await this.#make(name)
      for (const [i, pauseMs] of settlingMs.entries()) {
        if (pauseMs > 0) await this.#patience.wait(pauseMs)
        if (await this.#send(made, body, envelope.session, i === settlingMs.length - 1)) return
      }
    })
  }

  async close(queue: string): Promise<void> {
    const name = this.#nameOf(queue)
    await this.#calling(`close of queue ${name}`, async () => {
      const command = new DeleteQueueCommand({ QueueUrl: this.#urlOf(name) })
      await this.#patience.calling(() => this.#options.client.send(command)).catch(unlessGone)
    })
  }

  async grant(queue: string): Promise<QueueGrant | null> {
    const { listenerRoleArn, arnPrefix, region, endpoint, sts } = this.#options
    if (listenerRoleArn === null) return null
    const name = this.#nameOf(queue)
    const patience = this.#patience
    return await this.#calling(`grant of queue ${name}`, async () => {
      const url = await this.#make(name)
      const arn = arnPrefix + name
      return await grantOf({ sts: await sts(), patience, listenerRoleArn, name, arn, url, region, endpoint })
    })
  }

  #nameOf(queue: string): string {
    const name = this.#options.queuePrefix + plainName(queue)
    if (name.length > nameCharsMax) throw new Defect(`queue name ${name} has more than ${nameCharsMax} characters`)
    return name
  }

  #urlOf(name: string): string {
    return this.#options.urlPrefix + name
  }

  /** Makes a queue, or finds the one that is there. */
  async #make(name: string): Promise<string> {
    const Attributes = { MessageRetentionPeriod: String(retentionSeconds) }
    const command = new CreateQueueCommand({ QueueName: name, Attributes })
    try {
      return (await this.#patience.calling(() => this.#options.client.send(command))).QueueUrl!
    } catch (error) {
      // There is one, and somebody has set it otherwise: it is as good.
      if (!named(error, 'QueueNameExists')) throw error
      return this.#urlOf(name)
    }
  }

  /** @returns false when the queue is not there; with `last` that is thrown */
  async #send(url: string, body: string, session: string, last = false): Promise<boolean> {
    const command = new SendMessageCommand({
      QueueUrl: url,
      MessageBody: body,
      MessageAttributes: { session: { DataType: 'String', StringValue: session } },
    })
    const sent = await this.#patience
      .calling(() => this.#options.client.send(command))
      .catch(last ? rethrow : unlessGone)
    return sent !== null
  }

  async #calling<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw failure(error, what, 'SQS')
    }
  }
}

const named = (error: unknown, name: string) => (error as Error).name.includes(name)

function unlessGone(error: unknown): null {
  if (named(error, 'QueueDoesNotExist') || named(error, 'NonExistentQueue')) return null
  throw error
}

function rethrow(error: unknown): never {
  throw error
}

function bodyOf({ message, ...rest }: Envelope): string {
  const whole = written({ ...rest, message: message() })
  return Buffer.byteLength(whole) <= bodyBytesMax ? whole : written({ ...rest, message: null })
}

/** As JSON, less the two characters that JSON leaves as they are and SQS refuses. */
const written = (envelope: object): string =>
  JSON.stringify(envelope).replace(/[\uFFFE\uFFFF]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`)

/**
 * What a queue's message says. Its message is null for a cancelled turn, and where it was too large to be carried: the
 * claim hands it out.
 *
 * @throws Error when it is no envelope; nothing of the body is quoted
 */
export function envelopeIn(body: string): Envelope {
  const { kind, session, agent, id, message = null } = objectIn(body)
  const isText = [session, agent, id].every((field) => typeof field === 'string')
  if ((kind !== 'message' && kind !== 'cancelled') || !isText) throw new Error('a message on the queue is no envelope')
  return { kind, session: session as string, agent: agent as string, id: id as string, message: () => message }
}

function objectIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  } catch {
    // The parser's own message quotes the body.
  }
  return {}
}
