/** What Lambda hands over and takes back, as far as we read and write it. */

export interface SqsEvent {
  readonly Records: readonly SqsRecord[]
}

export interface SqsRecord {
  readonly messageId: string
  readonly body: string
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
