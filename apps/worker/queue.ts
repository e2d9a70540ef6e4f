import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, path } from '../client/client.ts'
import { ApiError } from '../client/errors.ts'

/** Listens to the SQS queue on which a session's bell rings, with credentials for that queue alone. */
export interface Listener {
  /** Epoch ms: when the credentials end. */
  readonly expiresAt: number
  /**
   * One long poll of so many seconds, 1..20. What rang stays in the queue until `settle`.
   *
   * @returns 'quiet' also when `signal` aborted
   * @throws  Deaf
   */
  rung(seconds: number, signal: AbortSignal): Promise<'rung' | 'quiet'>
  /** Deletes what has rung, in the background: it led to a claim. One that stays rings again, which costs a claim and no more. */
  settle(): void
  /** Resolves once nothing is under way. */
  close(): Promise<void>
}

/**
 * The queue cannot be heard.
 *
 * `refused`: AWS answered and said no. The credentials ended, or the queue went with its session: look at the inbox, ask again.
 * `away`: no answer, or none that helps. Try later.
 */
export class Deaf extends Error {
  readonly kind: 'refused' | 'away'
  constructor(kind: 'refused' | 'away', error: unknown) {
    super(nameOf(error))
    this.name = 'Deaf'
    this.kind = kind
  }
}

/** As `POST /v1/sessions/{id}/queue` answers it. The credentials are secrets: they stay in this file. */
interface Grant {
  readonly url: string
  readonly region: string
  readonly endpoint: string | null
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken: string
  }
  readonly expiresAt: string
}

/**
 * Asks the server for the queue of a session.
 *
 * @returns null where there is none to listen to, and where the server said no or nothing: the next claim hears that too
 * @throws  Deaf when the server has one and could not give it
 */
export async function openListener(o: {
  readonly client: Client
  readonly session: string
  readonly signal: AbortSignal
}): Promise<Listener | null> {
  try {
    const call = { signal: o.signal, timeoutMs: 20_000 }
    const answer = await o.client.call<{ queue: Grant | null } | null>(
      'POST',
      path`/v1/sessions/${o.session}/queue`,
      call,
    )
    return answer?.queue == null ? null : listenerOn(answer.queue)
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) throw new Deaf('away', error)
    return null
  }
}

function listenerOn(grant: Grant): Listener {
  // Begins to load while the first claim is under way; a worker that was granted no queue never pays for it.
  const opened = open(grant)
  opened.catch(() => null)
  let heard: string[] = []
  let deleting: Promise<unknown> = Promise.resolve()

  const settle = () => {
    const handles = heard
    heard = []
    if (handles.length > 0) deleting = Promise.all([deleting, remove(handles).catch(() => null)])
  }
  const remove = async (handles: readonly string[]) => {
    const { sqs, DeleteMessageBatchCommand } = await opened
    const Entries = handles.map((ReceiptHandle, i) => ({ Id: `${i}`, ReceiptHandle }))
    const abortSignal = AbortSignal.timeout(5_000)
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: grant.url, Entries }), { abortSignal })
  }
  const receive = async (seconds: number, abortSignal: AbortSignal) => {
    const { sqs, ReceiveMessageCommand } = await opened
    // As many as one batch deletes.
    const o = { QueueUrl: grant.url, WaitTimeSeconds: seconds, MaxNumberOfMessages: 10 }
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(o), { abortSignal })
    return Messages
  }

  return {
    expiresAt: Date.parse(grant.expiresAt),
    async rung(seconds, signal) {
      const startedMs = performance.now()
      try {
        const messages = await receive(seconds, signal)
        heard.push(...messages.flatMap(({ ReceiptHandle }) => ReceiptHandle ?? []))
        if (messages.some(({ Body }) => !isCancel(Body))) return 'rung'
        settle()
        // A service that answers at once instead of waiting is not asked a hundred times a second.
        const leftMs = seconds * 1000 - (performance.now() - startedMs)
        if (messages.length === 0 && leftMs > 500)
          await sleep(Math.min(leftMs, 1000), undefined, { signal }).catch(() => null)
        return 'quiet'
      } catch (error) {
        if (signal.aborted) return 'quiet'
        throw new Deaf(isRefusal(error) ? 'refused' : 'away', error)
      }
    },
    settle,
    async close() {
      await deleting
      await opened.then(
        ({ sqs }) => sqs.destroy(),
        () => null,
      )
    },
  }
}

/** Says everything that the SDK would else look for in the environment and in ~/.aws, which is about somebody else's AWS. */
async function open(grant: Grant) {
  const { SQSClient, ...commands } = await import('@aws-sdk/client-sqs')
  const sqs = new SQSClient({
    region: grant.region,
    endpoint: grant.endpoint ?? new URL(grant.url).origin,
    // A copy, so that none at all is refused and not replaced by the AWS credentials of whoever runs the worker.
    credentials: { ...grant.credentials },
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    defaultsMode: 'standard',
    retryMode: 'standard',
    maxAttempts: 3,
    // Of what a bell says only its kind is read, and a machine may lack MD5.
    md5: false,
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 25_000, throwOnRequestTimeout: true },
  })
  return { ...commands, sqs }
}

/** The end of a turn that the heartbeat has told already; in between turns nobody waits for it. What cannot be read rings. */
function isCancel(body: string | undefined): boolean {
  try {
    return (JSON.parse(body ?? '') as { kind?: unknown } | null)?.kind === 'cancelled'
  } catch {
    return false
  }
}

/** By the status, not by a list of names: AWS has a dozen for credentials that ended, and three for a queue that is gone. */
function isRefusal(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0
  return status >= 400 && status < 500
}

/** What AWS says in full can hold the request that it refused, token and all. */
function nameOf(error: unknown): string {
  if (error instanceof ApiError) return error.code
  const { code, name } = error as { code?: unknown; name?: unknown }
  return String(code ?? name ?? 'an unknown error')
}
