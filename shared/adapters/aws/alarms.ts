import { createHash } from 'node:crypto'
import type { SchedulerClient } from '@aws-sdk/client-scheduler'
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { AlarmClock, AlarmKey, Clock } from '../../ports/world.ts'
import { failure } from './failures.ts'
import { plainName } from './names.ts'

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
}

/** SQS's largest delay. */
const delayMsMax = 900_000
/** The Scheduler promises the minute, not the second: it calls a minute early, and SQS waits for the rest. */
const earlyMs = 60_000

/**
 * The alarm clock: what comes within fifteen minutes waits in the alarms queue itself, anything later in EventBridge Scheduler
 * as a one-time entry that removes itself. Both put `{ kind, id, at }` into the queue. Those of flows have a queue of their own, and never
 * wait longer than it can: whoever hears one early looks again.
 */
export function openAlarms(options: AlarmOptions): AlarmClock {
  const { client, clock } = options
  return {
    async set(key, at) {
      const waitMs = at - clock.now()
      const isFlow = key.kind === 'flow'
      const isFar = waitMs > delayMsMax && !isFlow
      const QueueUrl = isFlow ? options.flowsQueueUrl : options.queueUrl
      const body = JSON.stringify({ kind: key.kind, id: key.id, at })
      try {
        if (isFar) await schedule(options, key, at, body)
        else {
          const DelaySeconds = Math.max(0, Math.ceil(Math.min(waitMs, delayMsMax) / 1000))
          await client.send(new SendMessageCommand({ QueueUrl, MessageBody: body, DelaySeconds }))
        }
      } catch (error) {
        throw failure(error, `alarm for ${key.kind} ${key.id}`, isFar ? 'EventBridge Scheduler' : 'SQS')
      }
    },
  }
}

async function schedule(options: AlarmOptions, key: AlarmKey, at: number, body: string) {
  const { CreateScheduleCommand } = await import('@aws-sdk/client-scheduler')
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
  } catch (error) {
    // It is set already: the name says for what and when.
    if ((error as Error).name !== 'ConflictException') throw error
  }
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
const isKind = (kind: unknown): kind is AlarmKey['kind'] => typeof kind === 'string' && Object.hasOwn(prefixes, kind)

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

function alarmIn(body: string): { readonly key: AlarmKey; readonly at: number } | null {
  try {
    const { kind, id, at } = JSON.parse(body) as Readonly<Record<string, unknown>>
    if (!isKind(kind) || typeof id !== 'string' || id === '') return null
    return typeof at === 'number' && Number.isFinite(at) ? { key: { kind, id }, at } : null
  } catch {
    return null
  }
}
