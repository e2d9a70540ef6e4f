import type { LogIds } from '../shared/ports/log.ts'

/** What Lambda hands over and takes back, as far as we read and write it. */

export interface SqsEvent {
  readonly Records: readonly SqsRecord[]
}

export interface SqsRecord {
  readonly messageId: string
  readonly body: string
}

const idChars = 26

/** The alarm that a line of the log belongs to: the message that names what the line names, or the only one there is. */
export function alarmsNamed(records: readonly SqsRecord[], ids: LogIds): LogIds {
  const named = Object.values(ids).flatMap((id) =>
    typeof id === 'string' && id.length >= idChars ? [id.slice(-idChars)] : [],
  )
  const record = records.length === 1 ? records[0] : records.find(({ body }) => named.some((id) => body.includes(id)))
  return record === undefined ? {} : { alarm: record.messageId }
}

/** Messages that stay in the queue; all others of the batch are deleted. */
export interface SqsBatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

/** A batch of a table's stream that holds keys only. */
export interface StreamEvent {
  readonly Records: readonly StreamRecord[]
}

export interface StreamRecord {
  readonly dynamodb?: {
    readonly Keys?: { readonly [attribute: string]: { readonly S?: string } | undefined }
    readonly SequenceNumber?: string
  }
}

/** The stream goes on from the first of these: it and what came after it come again. */
export interface StreamBatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}
