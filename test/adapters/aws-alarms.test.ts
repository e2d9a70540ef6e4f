import { SchedulerClient } from '@aws-sdk/client-scheduler'
import { SQSClient } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { openAlarms, readAlarms } from '../../shared/adapters/aws/alarms.ts'
import { Unavailable } from '../../shared/ports/table.ts'
import type { AlarmKey } from '../../shared/ports/world.ts'
import { type Answer, type Sent, wire } from './aws-wire.ts'

const now = Date.UTC(2026, 10, 30, 12, 0, 0, 250)
const minute = 60_000
const ulid = '01J0000000000000000000ABCD'
const key: AlarmKey = { kind: 'schedule', id: `sch_${ulid}` }

function open(answer: (sent: Sent, count: number) => Answer = () => ({ ok: {} })) {
  const { sent, options } = wire(answer)
  const alarms = openAlarms({
    client: new SQSClient({ ...options, md5: false }),
    clock: { now: () => now },
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/alarms',
    queueArn: 'arn:aws:sqs:eu-west-1:000000000000:alarms',
    flowsQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/flows',
    schedulerGroup: 'rouse',
    schedulerRoleArn: 'arn:aws:iam::000000000000:role/scheduler',
    scheduler: async () => new SchedulerClient(options),
  })
  return { sent, alarms }
}

describe('an alarm', () => {
  it.each([
    ['in the past', -minute, 0],
    ['now', 0, 0],
    ['in a millisecond', 1, 1],
    ['in a second', 1000, 1],
    ['in a second and a bit', 1001, 2],
    ['in fifteen minutes', 15 * minute, 900],
  ])('%s waits in the queue, never too short', async (_, aheadMs, seconds) => {
    const { sent, alarms } = open()
    await alarms.set(key, now + aheadMs)
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchObject({ action: 'SendMessage', input: { DelaySeconds: seconds } })
    expect(JSON.parse(sent[0]!.input.MessageBody)).toEqual({ ...key, at: now + aheadMs })
  })

  it('that a fault of ours keeps from the Scheduler is told, and does not go round in the queue for ever', async () => {
    const { sent, options } = wire(() => ({ ok: {} }))
    const alarms = openAlarms({
      client: new SQSClient({ ...options, md5: false }),
      clock: { now: () => now },
      queueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/alarms',
      queueArn: 'arn:aws:sqs:eu-west-1:000000000000:alarms',
      flowsQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/000000000000/flows',
      schedulerGroup: 'rouse',
      schedulerRoleArn: 'arn:aws:iam::000000000000:role/scheduler',
      scheduler: async () =>
        Object.assign(new SchedulerClient(options), {
          send: () => Promise.reject(new TypeError('undefined is no entry')),
        }),
    })
    await expect(alarms.set(key, now + 60 * minute)).rejects.toThrow(/TypeError/)
    expect(sent).toEqual([])
  })

  it('of a flow waits in the queue of the flows, and never longer than that can', async () => {
    const { sent, alarms } = open()
    const flow: AlarmKey = { kind: 'flow', id: `flr_${ulid}` }
    await alarms.set(flow, now)
    await alarms.set(flow, now + 60 * minute)
    expect(sent.map(({ action, input }) => [action, input.QueueUrl.split('/').at(-1), input.DelaySeconds])).toEqual([
      ['SendMessage', 'flows', 0],
      ['SendMessage', 'flows', 900],
    ])
  })

  it('that is set together with others shares a request with them, ten at most, each with its own wait', async () => {
    const { sent, alarms } = open()
    await Promise.all(Array.from({ length: 12 }, (_, n) => alarms.set(key, now + n * 1000)))
    expect(sent.map(({ action, input }) => [action, input.Entries?.length])).toEqual([
      ['SendMessageBatch', 10],
      ['SendMessageBatch', 2],
    ])
    const entries = sent.flatMap(({ input }) => input.Entries)
    expect(entries.map((entry) => entry.DelaySeconds)).toEqual(Array.from({ length: 12 }, (_, n) => n))
    expect(JSON.parse(entries[11].MessageBody)).toEqual({ ...key, at: now + 11_000 })
  })

  it.each([
    ['for now is sent again by itself', 'InternalError', 'fulfilled', ['SendMessageBatch', 'SendMessage']],
    ['for good is not set', 'InvalidMessageContents', 'rejected', ['SendMessageBatch']],
  ])('that was left out of a request which went through %s', async (_, Code, status, actions) => {
    const Failed = [{ Id: '1', Code, SenderFault: false }]
    const { sent, alarms } = open(() => ({ ok: { Successful: [{ Id: '0', MessageId: 'm0' }], Failed } }))
    const set = await Promise.allSettled([alarms.set(key, now), alarms.set(key, now + 1000)])
    expect(set.map((one) => one.status)).toEqual(['fulfilled', status])
    expect(sent.map(({ action }) => action)).toEqual(actions)
  })

  it('in more than fifteen minutes is a one-time entry of the Scheduler, a minute early, that removes itself', async () => {
    const { sent, alarms } = open()
    const at = now + 15 * minute + 1
    await alarms.set(key, at)
    const seconds = Math.ceil(at / 1000)
    expect(sent).toEqual([
      {
        action: `POST /schedules/sch_${ulid}-${seconds}`,
        input: expect.objectContaining({
          GroupName: 'rouse',
          ScheduleExpression: 'at(2026-11-30T12:14:00)',
          ScheduleExpressionTimezone: 'UTC',
          FlexibleTimeWindow: { Mode: 'OFF' },
          ActionAfterCompletion: 'DELETE',
          Target: {
            Arn: 'arn:aws:sqs:eu-west-1:000000000000:alarms',
            RoleArn: 'arn:aws:iam::000000000000:role/scheduler',
            Input: JSON.stringify({ ...key, at }),
          },
        }),
      },
    ])
  })

  it("of a conversation's turn is named so, and no name is too long or has what the Scheduler refuses", async () => {
    const { sent, alarms } = open()
    const far = Date.UTC(9999, 0)
    await alarms.set({ kind: 'turn', id: ulid }, far)
    await alarms.set({ kind: 'schedule', id: 'sch#1/é' }, far)
    const place = `${ulid}/R#${'2026-11-30T12:00:00.000Z'.repeat(2)}`
    await alarms.set({ kind: 'delivery', id: place }, far)
    await alarms.set({ kind: 'delivery', id: `${place}!` }, far)
    const names = sent.map(({ action }) => action.slice('POST /schedules/'.length))
    expect(names[0]).toBe(`trn_${ulid}-${far / 1000}`)
    expect(names[2]).toMatch(/^dlv_/)
    expect(new Set(names).size).toBe(4)
    for (const name of names) expect(name).toMatch(/^[0-9A-Za-z_.-]{1,64}$/)
  })

  it('that is set already is set', async () => {
    const { alarms } = open(() => ({ refused: 'ConflictException' }))
    await alarms.set(key, now + 60 * minute)
  })

  it('that cannot be set is Unavailable, and says for what', async () => {
    for (const aheadMs of [0, 60 * minute]) {
      const { alarms } = open(() => ({ refused: 'AccessDeniedException' }))
      const error = await alarms.set(key, now + aheadMs).catch((e) => e)
      expect(error).toBeInstanceOf(Unavailable)
      expect(error.message).toContain(key.id)
    }
  })
})

describe('the alarms queue', () => {
  const body = (id: string, at: number) => JSON.stringify({ kind: 'schedule', id, at })

  it('tells what is due, each once, and sets what is early again', async () => {
    const { sent, alarms } = open()
    const bodies = [body('sch_1', now), body('sch_2', now + 59_300), body('sch_1', now - 5), body('sch_3', now - 1)]
    expect(await readAlarms(alarms, bodies, now)).toEqual({
      due: [
        { kind: 'schedule', id: 'sch_1' },
        { kind: 'schedule', id: 'sch_3' },
      ],
      bad: [],
      unset: [],
    })
    expect(sent).toHaveLength(1)
    expect(sent[0]!.input).toMatchObject({ DelaySeconds: 60, MessageBody: bodies[1] })
  })

  it('has bodies that are not ours, which are told apart and hold nothing up', async () => {
    const { alarms } = open()
    const bodies = [
      'no json',
      'null',
      '{}',
      '{"kind":"turn","id":"","at":1}',
      '{"kind":"x","id":"a","at":1}',
      body('sch_1', 1),
    ]
    expect(await readAlarms(alarms, bodies, now)).toEqual({
      due: [{ kind: 'schedule', id: 'sch_1' }],
      bad: [0, 1, 2, 3, 4],
      unset: [],
    })
  })

  it('keeps what could not be set again', async () => {
    const { alarms } = open(() => ({ refused: 'AccessDeniedException' }))
    const read = await readAlarms(alarms, [body('sch_1', now + 1), body('sch_2', now)], now)
    expect(read).toEqual({ due: [{ kind: 'schedule', id: 'sch_2' }], bad: [], unset: [0] })
  })
})
