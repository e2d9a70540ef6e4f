import type { OutboundFailure, TopicMessage } from '../../ports/world.ts'

export interface SnsOptions {
  /** Another address of the service than AWS's own (an emulator), or null. */
  readonly endpoint: string | null
  /** Ends what is under way: the process is about to stop. */
  readonly stop?: AbortSignal
}

const timeoutMs = 10_000

/** Publishes with the credentials of the process. @returns null when it is published */
export async function publishToTopic(message: TopicMessage, options: SnsOptions): Promise<OutboundFailure | null> {
  try {
    const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns')
    const region = message.topic.split(':')[3]!
    const client = new SNSClient({
      region,
      ...(options.endpoint === null ? {} : { endpoint: options.endpoint }),
      requestHandler: { connectionTimeout: 3000, requestTimeout: timeoutMs, throwOnRequestTimeout: true },
      // We try again ourselves, later.
      maxAttempts: 1,
    })
    try {
      const command = new PublishCommand({
        TopicArn: message.topic,
        Message: message.body,
        MessageAttributes: { id: { DataType: 'String', StringValue: message.id } },
        ...(message.topic.endsWith('.fifo')
          ? { MessageGroupId: message.group, MessageDeduplicationId: message.id }
          : {}),
      })
      await client.send(command, {
        abortSignal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(options.stop ? [options.stop] : [])]),
      })
      return null
    } finally {
      client.destroy()
    }
  } catch (error) {
    return snsFailure(error)
  }
}

/** Only names: what AWS says quotes the message. */
function snsFailure(error: unknown): OutboundFailure {
  const { name = 'Error', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode ?? 0
  const final = status >= 400 && status < 500 && status !== 429 && !/throttl|limit/i.test(name)
  return { ok: false, reason: final ? 'refused' : 'unreachable', error: `SNS: ${name}`, retry: !final }
}
