import { Conflict, Defect, type Op, Unavailable } from '../../ports/table.ts'
import { keyOf } from './bounds.ts'

/** Refused for now, and not applied; every service has its own word for it. `InternalError` is what SQS says of one message of a batch. */
const again: ReadonlySet<string> = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ProvisionedThroughputExceededException',
  'InternalError',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'Throttling',
  'ThrottledException',
  'ThrottlingException',
  'TooManyRequestsException',
  'TooManyUpdates',
])

/** The call itself is wrong: it would be refused for ever. */
const wrong: ReadonlySet<string> = new Set([
  'IdempotentParameterMismatchException',
  'ItemCollectionSizeLimitExceededException',
  'SerializationException',
  'TransactionCanceledException',
  'ValidationException',
])

interface Reason {
  readonly Code?: string | undefined
}

const nameOf = (error: unknown): string => (error as { name?: string } | null)?.name ?? String(error)
const reasonsOf = (error: unknown): readonly Reason[] =>
  (error as { CancellationReasons?: readonly Reason[] }).CancellationReasons ?? []

const passingReasons: ReadonlySet<string> = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])

/** Whether the same request may well pass a moment later. A condition that did not hold is no such case. */
export function isPassing(error: unknown): boolean {
  const name = nameOf(error)
  if (name !== 'TransactionCanceledException') return again.has(name)
  return reasonsOf(error).every(({ Code = 'None' }) => passingReasons.has(Code))
}

/** What a failed commit means to its caller. */
export function commitFailure(error: unknown, ops: readonly Op[]): Error {
  if (nameOf(error) === 'ConditionalCheckFailedException') return new Conflict(0, keyOf(ops[0]!))
  const reasons = reasonsOf(error)
  const refused = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed')
  if (refused >= 0) return new Conflict(refused, keyOf(ops[refused]!))
  const odd = reasons.findIndex(({ Code = 'None' }) => !passingReasons.has(Code))
  const [pk, sk] = keyOf(ops[Math.max(0, odd)]!)
  const what = `commit of ${ops.length} operations (${pk} / ${sk}${odd < 0 ? ' first' : `: ${reasons[odd]!.Code}`})`
  return failure(error, what)
}

/**
 * An error of the SDK as the ports have it. DynamoDB's own message is not repeated: it may quote what the request held,
 * which is somebody's prompt.
 */
export function failure(error: unknown, what: string, service = 'DynamoDB'): Error {
  if (error instanceof Conflict || error instanceof Defect || error instanceof Unavailable) return error
  const name = nameOf(error)
  if (wrong.has(name) && !isPassing(error)) return new Defect(`${service} refuses this ${what} for good: ${name}`)
  return new Unavailable(`${service} is away or too busy (${name}) for a ${what}: try again later`, error)
}
