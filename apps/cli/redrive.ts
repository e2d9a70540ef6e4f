import { GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { isAlarmKind } from '../../shared/adapters/aws/alarms.ts'
import { type DeadLetters, type Letter, openDeadLetters } from '../../shared/adapters/aws/dead-letters.ts'
import { formatInstant } from '../../shared/time/index.ts'
import { exits, NotThere, UsageError } from './report.ts'
import { createScreen } from './screen.ts'
import type { Io } from './shell.ts'

export interface RedriveOptions {
  readonly stack: string
  readonly queue?: string
  readonly kind?: string
  readonly id?: string
  readonly limit?: number
  readonly dryRun?: boolean
  readonly discard?: boolean
  readonly json?: boolean
}

/** Queues that have a dead-letter queue behind them. What the stream of documents gave up says nothing that could be sent. */
const queues = ['alarms', 'flows', 'changes'] as const
type QueueName = (typeof queues)[number]

/** What was found in one dead-letter queue. */
interface Found {
  readonly queue: QueueName
  readonly letters: readonly (Told & { readonly messageId: string; readonly sentAt: string | null })[]
}

interface Told {
  /** `unreadable` where it is no alarm, `change` where the stream gave it up. */
  readonly kind: string
  readonly id: string | null
  readonly fate: 'sent' | 'would be sent' | 'discarded' | 'would be discarded' | 'left' | 'not taken'
}

/**
 * Goes through the dead-letter queues of a deployment, and sends what is in them to where it came from.
 *
 * @returns the exit code: 0, or 1 when SQS did not take all of it
 * @throws UsageError  options, a region or credentials that cannot be used
 * @throws NotThere    no such queues
 */
export async function redrive(
  options: RedriveOptions,
  io: Io,
  client: () => SQSClient = () => new SQSClient({}),
): Promise<number> {
  const stage = stageOf(options.stack)
  const asked = queuesOf(options)
  const sqs = client()
  const found: Found[] = []
  try {
    for (const queue of asked) found.push(await through(sqs, `rouse-${stage}-${queue}`, queue, options))
  } catch (error) {
    throw told(error, options.stack)
  } finally {
    sqs.destroy()
  }
  if (options.json) io.stdout.write(`${JSON.stringify({ queues: found }, null, 2)}\n`)
  else show(found, options, io)
  return found.some(({ letters }) => letters.some(({ fate }) => fate === 'not taken')) ? exits.refused : exits.ok
}

function stageOf(stack: string): string {
  const [, stage] = /^Rouse-([a-z0-9-]+)$/.exec(stack) ?? []
  if (stage === undefined)
    throw new UsageError(`--stack: expected a stack as it is deployed, Rouse-dev say, got "${stack}"`)
  return stage
}

function queuesOf({ queue, kind, id, discard }: RedriveOptions): readonly QueueName[] {
  if (kind !== undefined && !isAlarmKind(kind))
    throw new UsageError(`--kind: expected schedule, turn, delivery, monitor, job or flow, got "${kind}"`)
  if (discard && (kind !== undefined || id !== undefined))
    throw new UsageError('--discard is for what has no kind and no id: leave --kind and --id out')
  if (queue === undefined) return queues
  const one = queues.find((name) => name === queue)
  if (one === undefined) throw new UsageError(`--queue: expected ${queues.join(', ')}, got "${queue}"`)
  return [one]
}

async function through(sqs: SQSClient, name: string, queue: QueueName, options: RedriveOptions): Promise<Found> {
  const url = async (of: string) => (await sqs.send(new GetQueueUrlCommand({ QueueName: of }))).QueueUrl!
  const dead = openDeadLetters(sqs, await url(`${name}-dead`))
  const to = queue === 'changes' ? null : await url(name)
  const letters: Found['letters'][number][] = []
  const kept: Letter[] = []
  let room = options.limit ?? Number.POSITIVE_INFINITY
  try {
    while (room > 0) {
      const batch = await dead.next()
      if (batch.length === 0) break
      const { again, hopeless } = sorted(batch, queue, options, room)
      room -= again.length + hopeless.length
      const fateOf = await settle(dead, { again, hopeless, to, options })
      for (const letter of batch) {
        const fate = fateOf(letter)
        if (fate !== 'sent' && fate !== 'discarded') kept.push(letter)
        letters.push({ ...seen(letter, queue), fate })
      }
    }
  } finally {
    await dead.release(kept)
  }
  return { queue, letters }
}

/** What is to be sent again, and what never can be and is to go. The rest is left. */
function sorted(batch: readonly Letter[], queue: QueueName, { kind, id, discard }: RedriveOptions, room: number) {
  const fits = ({ alarm }: Letter) =>
    alarm !== null && (kind === undefined || alarm.key.kind === kind) && (id === undefined || alarm.key.id === id)
  const isHopeless = ({ alarm }: Letter) => queue === 'changes' || alarm === null
  const again = batch.filter((letter) => !isHopeless(letter) && fits(letter)).slice(0, room)
  const hopeless = discard ? batch.filter(isHopeless).slice(0, room - again.length) : []
  return { again, hopeless }
}

async function settle(
  dead: DeadLetters,
  o: {
    readonly again: readonly Letter[]
    readonly hopeless: readonly Letter[]
    readonly to: string | null
    readonly options: RedriveOptions
  },
): Promise<(letter: Letter) => Told['fate']> {
  const { again, hopeless, to, options } = o
  if (options.dryRun)
    return (letter) =>
      again.includes(letter) ? 'would be sent' : hopeless.includes(letter) ? 'would be discarded' : 'left'
  const sent = to === null ? [] : await dead.sendAgain(again, to)
  await dead.discard(hopeless)
  return (letter) => {
    if (hopeless.includes(letter)) return 'discarded'
    if (!again.includes(letter)) return 'left'
    return sent.includes(letter) ? 'sent' : 'not taken'
  }
}

const seen = ({ messageId, sentAt, alarm }: Letter, queue: QueueName) => ({
  messageId,
  kind: queue === 'changes' ? 'change' : (alarm?.key.kind ?? 'unreadable'),
  id: alarm?.key.id ?? null,
  sentAt: sentAt === null ? null : formatInstant(sentAt),
})

function show(found: readonly Found[], options: RedriveOptions, io: Io): void {
  const screen = createScreen(io)
  const lines = new Map<string, number>()
  for (const { queue, letters } of found)
    for (const { kind, fate } of letters) {
      const line = [queue, kind, fate].join('\t')
      lines.set(line, (lines.get(line) ?? 0) + 1)
    }
  if (lines.size === 0) screen.line('Nothing in the dead-letter queues.')
  else
    screen.table(
      [{ head: 'queue' }, { head: 'kind' }, { head: 'letters' }, { head: 'what became of them' }],
      [...lines].map(([line, n]) => {
        const [queue, kind, fate] = line.split('\t')
        return [queue!, kind!, String(n), fate!]
      }),
    )
  for (const hint of hints(found, options)) screen.line(hint)
}

function* hints(found: readonly Found[], { dryRun, discard }: RedriveOptions): Generator<string> {
  const all = found.flatMap(({ letters }) => letters)
  if (dryRun) yield 'Nothing was changed: without --dry-run they are.'
  if (!discard && all.some(({ kind }) => kind === 'change'))
    yield 'Changes of documents need nothing: they are owed in the table, and the sweep brings them. --discard clears them away.'
  if (!discard && all.some(({ kind }) => kind === 'unreadable'))
    yield 'What is unreadable would only come back: --json names the messages, --discard clears them away.'
  if (all.some(({ fate }) => fate === 'not taken')) yield 'SQS did not take all of them: run it again.'
}

function told(error: unknown, stack: string): unknown {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' }
  if (/QueueDoesNotExist|NonExistentQueue/.test(name))
    return new NotThere(
      `there are no queues of ${stack} in this account and region: is it deployed here? --stack names another`,
    )
  if (name === 'CredentialsProviderError')
    return new UsageError(`no AWS credentials were found: log in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID (${message})`)
  if (/region is missing/i.test(message)) return new UsageError('no AWS region is named: set AWS_REGION')
  if (error !== null && typeof error === 'object' && '$metadata' in error)
    return new NotThere(`SQS refused: ${name}: ${message}`)
  return error
}
