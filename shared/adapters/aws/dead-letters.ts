import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { AlarmKey } from '../../ports/world.ts'
import { alarmIn } from './alarms.ts'
import { Patience } from './patience.ts'

/** A message that was given up. Its body and the queue it came from are all that is needed to send it again. */
export interface Letter {
  /** As the lines of the log name it, under `alarm`. */
  readonly messageId: string
  readonly receipt: string
  readonly body: string
  /** When it was first sent, epoch ms; null where SQS does not say. */
  readonly sentAt: number | null
  /** Null: not ours, or damaged. It would only come back. */
  readonly alarm: { readonly key: AlarmKey; readonly at: number } | null
}

/** A dead-letter queue while somebody goes through it. */
export interface DeadLetters {
  /** Letters that were not handed out yet, ten at most; none: there are no more. Nobody else sees them for as long as the look lasts. */
  next(): Promise<readonly Letter[]>
  /**
   * Sends them to `to` again and then deletes them here. Whoever is cut off in between has sent them twice, which does no harm.
   *
   * @returns those that SQS took
   */
  sendAgain(letters: readonly Letter[], to: string): Promise<readonly Letter[]>
  discard(letters: readonly Letter[]): Promise<void>
  /** Gives back what was looked at and left. Not before the end, or it would be handed out again. */
  release(letters: readonly Letter[]): Promise<void>
}

/** SQS's most of a batch. */
const batchMost = 10
/** A look at a hundred thousand letters is over by then. */
const hiddenSeconds = 900
/** Long enough for SQS to ask all of its servers: an empty answer means an empty queue. */
const waitSeconds = 1

/** @param url  of the dead-letter queue */
export function openDeadLetters(client: SQSClient, url: string, patience = new Patience()): DeadLetters {
  const QueueUrl = url
  const seen = new Set<string>()
  const remove = async (letters: readonly Letter[]) => {
    if (letters.length === 0) return
    const Entries = letters.map(({ receipt }, i) => ({ Id: String(i), ReceiptHandle: receipt }))
    await patience.calling(() => client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })))
  }
  return {
    async next() {
      const command = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: batchMost,
        VisibilityTimeout: hiddenSeconds,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['SentTimestamp'],
      })
      const { Messages = [] } = await patience.calling(() => client.send(command))
      const fresh = Messages.filter(({ MessageId }) => !seen.has(MessageId!))
      for (const { MessageId } of fresh) seen.add(MessageId!)
      return fresh.map(letterOf)
    },
    async sendAgain(letters, to) {
      if (letters.length === 0) return []
      const Entries = letters.map(({ body }, i) => ({ Id: String(i), MessageBody: body }))
      const command = new SendMessageBatchCommand({ QueueUrl: to, Entries })
      const { Successful = [] } = await patience.calling(() => client.send(command))
      const sent = Successful.map(({ Id }) => letters[Number(Id)]!)
      await remove(sent)
      return sent
    },
    discard: remove,
    async release(letters) {
      for (let i = 0; i < letters.length; i += batchMost) {
        const Entries = letters
          .slice(i, i + batchMost)
          .map(({ receipt }, n) => ({ Id: String(n), ReceiptHandle: receipt, VisibilityTimeout: 0 }))
        await patience.calling(() => client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })))
      }
    },
  }
}

function letterOf({ MessageId, ReceiptHandle, Body = '', Attributes = {} }: Message): Letter {
  const sentAt = Number(Attributes.SentTimestamp)
  return {
    messageId: MessageId!,
    receipt: ReceiptHandle!,
    body: Body,
    sentAt: Number.isFinite(sentAt) ? sentAt : null,
    alarm: alarmIn(Body),
  }
}
