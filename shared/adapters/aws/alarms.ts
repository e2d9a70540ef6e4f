import { createHash } from 'node:crypto'
import type { SchedulerClient } from '@aws-sdk/client-scheduler'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { later } from '../../ports/later.ts'
import type { AlarmClock, AlarmKey, Clock } from '../../ports/world.ts'
import { failure, isPassing } from './failures.ts'
import { plainName } from './names.ts'
import { Outbox } from './outbox.ts'
import { Patience } from './patience.ts'

const sdk = later(() => import('@aws-sdk/client-scheduler'))

export interface AlarmOptions {
  readonly client: SQSClient
  readonly clock: Clock
  readonly queueUrl: string
  readonly queueArn: string
  /** Where runs of flows are woken, apart from all others. */
  readonly flowsQueueUrl: string
  readonly schedulerGroup: string
  /** What the Scheduler becomes to send to the queue. */
  readonly schedulerRoleArn: string
  /** Asked for with the first alarm that is further away than SQS can wait. */
  readonly scheduler: () => Promise<SchedulerClient>
  readonly patience?: Patience
}

/** SQS's largest delay. */
const delayMsMax = 900_000
/** The Scheduler promises the minute, not the second: it calls a minute early, and SQS waits for the rest. */
const earlyMs = 60_000

/** An alarm that the Scheduler has no room for waits so long in the queue before it is set again: apart, or all would come back at once. */
const hopSeconds = { least: 300, most: 900 }

/**
 * The alarm clock: what comes within fifteen minutes waits in the alarms queue itself, anything later in EventBridge Scheduler
 * as a one-time entry that removes itself. Both put `{ kind, id, at }` into the queue. Those of flows have a queue of their own, and never
 * wait longer than it can: whoever hears one early looks again.
 *
 * A fire sets the next alarm before it goes out. So that it is not held up by a Scheduler that is too busy, full or away, such an alarm goes
 * through the queue as well, early, and is set anew when it comes.
 */
export function openAlarms(options: AlarmOptions): AlarmClock {
  const { client, clock, patience = new Patience() } = options
  const outbox = new Outbox(client)
  return {
    async set(key, at) {
      const waitMs = at - clock.now()
      const isFlow = key.kind === 'flow'
      const isFar = waitMs > delayMsMax && !isFlow
      const queue = isFlow ? options.flowsQueueUrl : options.queueUrl
      const body = JSON.stringify({ kind: key.kind, id: key.id, at })
      try {
        if (isFar && (await schedule(options, key, at, body))) return
        const delaySeconds = isFar
          ? patience.spread(hopSeconds.least, hopSeconds.most)
          : Math.max(0, Math.ceil(Math.min(waitMs, delayMsMax) / 1000))
        await patience.calling(() => outbox.send(queue, body, delaySeconds))
      } catch (error) {
        throw failure(error, `alarm for ${key.kind} ${key.id}`, isFar ? 'EventBridge Scheduler' : 'SQS')
      }
    },
  }
}

/** @returns false when the Scheduler takes none for now */
async function schedule(options: AlarmOptions, key: AlarmKey, at: number, body: string): Promise<boolean> {
  const { CreateScheduleCommand } = await sdk()
  const client = await options.scheduler()
  const command = new CreateScheduleCommand({
    Name: nameOf(key, at),
    GroupName: options.schedulerGroup,
    ScheduleExpression: `at(${new Date(at - earlyMs).toISOString().slice(0, 19)})`,
    ScheduleExpressionTimezone: 'UTC',
    FlexibleTimeWindow: { Mode: 'OFF' },
    ActionAfterCompletion: 'DELETE',
    Target: { Arn: options.queueArn, RoleArn: options.schedulerRoleArn, Input: body },
  })
  try {
    await client.send(command)
    return true
  } catch (error) {
    // It is set already: the name says for what and when.
    if ((error as Error).name === 'ConflictException') return true
    if (isForNow(error)) return false
    throw error
  }
}

/** Too busy, full or away. What is wrong with the call or its permission must be seen, and would cost a hop every few minutes for ever. */
function isForNow(error: unknown): boolean {
  // A fault of ours has no status, as an answer that never came has none.
  if (error instanceof TypeError || error instanceof RangeError) return false
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode ?? 503
  return isPassing(error) || name === 'ServiceQuotaExceededException' || status >= 500
}

/** Ids of schedules say what they are; others are bare and get a prefix. */
const prefixes: { readonly [kind in AlarmKey['kind']]: string } = {
  schedule: 'sch_',
  turn: 'trn_',
  delivery: 'dlv_',
  monitor: 'mon_',
  job: 'job_',
  flow: 'flr_',
}
/** Whether alarms are set for this kind of thing. */
export const isAlarmKind = (kind: unknown): kind is AlarmKey['kind'] =>
  typeof kind === 'string' && Object.hasOwn(prefixes, kind)

const nameCharsMax = 64

/** Within one second an alarm is set once. An id too long for a name is named by its hash. */
function nameOf({ kind, id }: AlarmKey, at: number): string {
  const prefix = prefixes[kind]
  const seconds = Math.ceil(at / 1000)
  const name = `${id.startsWith(prefix) ? '' : prefix}${plainName(id)}-${seconds}`
  if (name.length <= nameCharsMax) return name
  return `${prefix}${createHash('sha256').update(id).digest('hex').slice(0, 32)}-${seconds}`
}

/** What came out of the alarms queue. Numbers are places among the bodies. */
export interface ReadAlarms {
  /** To be looked at now; each key once. */
  readonly due: readonly AlarmKey[]
  /** Not ours: never to be understood, however often they come. */
  readonly bad: readonly number[]
  /** Early, and could not be set again: they have to come again. */
  readonly unset: readonly number[]
}

/**
 * Reads the bodies of the alarms queue's messages. Those that come early are set again, which no table hears of.
 *
 * @param now  epoch ms; an alarm whose time is `now` or past is due
 * @throws     never
 */
export async function readAlarms(alarms: AlarmClock, bodies: readonly string[], now: number): Promise<ReadAlarms> {
  const due = new Map<string, AlarmKey>()
  const bad: number[] = []
  const unset: number[] = []
  await Promise.all(
    bodies.map(async (body, place) => {
      const alarm = alarmIn(body)
      if (alarm === null) bad.push(place)
      else if (alarm.at <= now) due.set(`${alarm.key.kind} ${alarm.key.id}`, alarm.key)
      else await alarms.set(alarm.key, alarm.at).catch(() => unset.push(place))
    }),
  )
  return { due: [...due.values()], bad, unset: unset.sort((a, b) => a - b) }
}

/** What a message of the alarms queue or the flows queue says; null: it is none of ours. */
export function alarmIn(body: string): { readonly key: AlarmKey; readonly at: number } | null {
  try {
    const { kind, id, at } = JSON.parse(body) as Readonly<Record<string, unknown>>
    if (!isAlarmKind(kind) || typeof id !== 'string' || id === '') return null
    return typeof at === 'number' && Number.isFinite(at) ? { key: { kind, id }, at } : null
  } catch {
    return null
  }
}
