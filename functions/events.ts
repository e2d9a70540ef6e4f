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
