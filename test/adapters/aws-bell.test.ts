import { SQSClient } from '@aws-sdk/client-sqs'
import { STSClient } from '@aws-sdk/client-sts'
import { describe, expect, it } from 'vitest'
import { envelopeIn, openBell } from '../../shared/adapters/aws/bell.ts'
import { Defect, Unavailable } from '../../shared/ports/table.ts'
import type { Envelope } from '../../shared/ports/world.ts'
import { type Answer, type Sent, wire } from './aws-wire.ts'

const url = 'https://sqs.eu-west-1.amazonaws.com/000000000000/rouse-ses_1'
const gone = { refused: 'QueueDoesNotExist' } as const
const envelope = (message: unknown = { text: 'hello' }): Envelope => ({
  kind: 'message',
  session: 'ses_1',
  agent: 'agt_1',
  id: 'msg_1',
  message: () => message,
})

function open(
  answer: (sent: Sent, count: number) => Answer,
  listenerRoleArn: string | null = 'arn:aws:iam::0:role/listener',
) {
  const { sent, options } = wire(answer)
  const bell = openBell({
    client: new SQSClient({ ...options, md5: false }),
    queuePrefix: 'rouse-',
    urlPrefix: 'https://sqs.eu-west-1.amazonaws.com/000000000000/',
    arnPrefix: 'arn:aws:sqs:eu-west-1:000000000000:',
    region: 'eu-west-1',
    endpoint: null,
    listenerRoleArn,
    sts: async () => new STSClient(options),
  })
  return { sent, bell }
}

/** SQS as it is, with the queues that there are. */
function queues(existing: Set<string>) {
  return ({ action, input }: Sent): Answer => {
    const name: string = input.QueueName ?? String(input.QueueUrl).split('/').at(-1)
    if (action === 'CreateQueue') existing.add(name)
    else if (!existing.has(name)) return gone
    if (action === 'DeleteQueue') existing.delete(name)
    return { ok: { QueueUrl: `https://sqs.eu-west-1.amazonaws.com/000000000000/${name}` } }
  }
}

const actions = (sent: readonly Sent[]) => sent.map(({ action }) => action)

describe('a ring', () => {
  it('makes the queue when it is the first, and is one request from then on', async () => {
    const { sent, bell } = open(queues(new Set()))
    await bell.ring('ses_1', envelope())
    await bell.ring('ses_1', envelope())
    expect(actions(sent)).toEqual(['SendMessage', 'CreateQueue', 'SendMessage', 'SendMessage'])
    expect(sent[1]!.input).toEqual({ QueueName: 'rouse-ses_1', Attributes: { MessageRetentionPeriod: '86400' } })
    expect(sent[2]!.input).toMatchObject({
      QueueUrl: url,
      MessageAttributes: { session: { DataType: 'String', StringValue: 'ses_1' } },
    })
    expect(JSON.parse(sent[2]!.input.MessageBody)).toEqual({ ...envelope(), message: { text: 'hello' } })
  })

  it('makes the queue again when it has gone meanwhile', async () => {
    const existing = new Set(['rouse-ses_1'])
    const { sent, bell } = open(queues(existing))
    await bell.ring('ses_1', envelope())
    existing.clear()
    await bell.ring('ses_1', envelope())
    expect(actions(sent)).toEqual(['SendMessage', 'SendMessage', 'CreateQueue', 'SendMessage'])
  })

  it('waits for a queue that was just made and is not known everywhere', async () => {
    const { sent, bell } = open((_, count) => (count === 1 || count === 3 ? gone : { ok: { QueueUrl: url } }))
    await bell.ring('ses_1', envelope())
    expect(actions(sent)).toEqual(['SendMessage', 'CreateQueue', 'SendMessage', 'SendMessage'])
  })

  it('goes without its message when that is over 250 KB, counted in bytes', async () => {
    const { sent, bell } = open(queues(new Set(['rouse-ses_1'])))
    for (const text of ['x'.repeat(249_000), '東'.repeat(84_000)]) await bell.ring('ses_1', envelope({ text }))
    const bodies = sent.map(({ input }) => input.MessageBody as string)
    expect(bodies.map((body) => Buffer.byteLength(body) <= 250_000)).toEqual([true, true])
    expect(bodies.map((body) => envelopeIn(body).message() === null)).toEqual([false, true])
    expect(envelopeIn(bodies[1]!)).toMatchObject({ kind: 'message', session: 'ses_1', agent: 'agt_1', id: 'msg_1' })
  })

  it('carries every character, those that SQS refuses too', async () => {
    const text = 'a\u0000\u001F\uFFFE\uFFFF😀\uD800z'
    const { sent, bell } = open(queues(new Set(['rouse-ses_1'])))
    await bell.ring('ses_1', envelope({ text }))
    const body = sent[0]!.input.MessageBody as string
    expect(body).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u)
    expect(envelopeIn(body).message()).toEqual({ text })
  })

  it('that cannot be sent is Unavailable; a queue whose name is too long is a defect', async () => {
    const { bell } = open(() => ({ refused: 'AccessDeniedException' }))
    await expect(bell.ring('ses_1', envelope())).rejects.toBeInstanceOf(Unavailable)
    await expect(bell.ring('s'.repeat(80), envelope())).rejects.toBeInstanceOf(Defect)
  })
})

describe('close', () => {
  it('deletes the queue, and one that never was is no matter', async () => {
    const existing = new Set(['rouse-ses_1'])
    const { sent, bell } = open(queues(existing))
    await bell.close('ses_1')
    await bell.close('ses_1')
    await bell.close('ses_2')
    expect(existing.size).toBe(0)
    expect(actions(sent)).toEqual(['DeleteQueue', 'DeleteQueue', 'DeleteQueue'])
  })
})

describe('a grant', () => {
  const sqs = queues(new Set())
  const assumed = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
    <AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>hush</SecretAccessKey><SessionToken>token</SessionToken>
    <Expiration>2026-11-30T13:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

  it('is for one queue, which is made for it, for receiving and nothing else, for an hour', async () => {
    const { sent, bell } = open((one) => (one.action === 'AssumeRole' ? { ok: assumed } : sqs(one)))
    expect(await bell.grant('ses_1')).toEqual({
      url,
      region: 'eu-west-1',
      endpoint: null,
      accessKeyId: 'ASIA1',
      secretAccessKey: 'hush',
      sessionToken: 'token',
      expiresAt: Date.UTC(2026, 10, 30, 13),
    })
    expect(actions(sent)).toEqual(['CreateQueue', 'AssumeRole'])
    const { RoleArn, DurationSeconds, RoleSessionName, Policy } = sent[1]!.input
    expect([RoleArn, DurationSeconds, RoleSessionName]).toEqual(['arn:aws:iam::0:role/listener', '3600', 'rouse-ses_1'])
    expect(JSON.parse(Policy).Statement).toEqual([
      {
        Effect: 'Allow',
        Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage'],
        Resource: 'arn:aws:sqs:eu-west-1:000000000000:rouse-ses_1',
      },
    ])
  })

  it('is null where nobody outside may listen, and makes no queue', async () => {
    const { sent, bell } = open(sqs, null)
    expect(await bell.grant('ses_1')).toBeNull()
    expect(sent).toEqual([])
  })

  it('that fails tells no secret', async () => {
    const refused = `<ErrorResponse><Error><Code>AccessDenied</Code><Message>hush</Message></Error></ErrorResponse>`
    const { bell } = open((one) =>
      one.action === 'AssumeRole' ? { refused: 'AccessDenied', with: { refused } } : sqs(one),
    )
    const error = await bell.grant('ses_1').catch((e) => e)
    expect(error).toBeInstanceOf(Unavailable)
    expect(error.message).not.toMatch(/hush|wJalrXUtnFEMI/)
  })
})

describe('a body on the queue', () => {
  it.each(['no json', 'null', '[]', '{"kind":"message"}', '{"kind":"x","session":"s","agent":"a","id":"i"}'])(
    'that is no envelope (%s) is an error that quotes nothing of it',
    (body) => {
      expect(() => envelopeIn(body)).toThrow(new Error('a message on the queue is no envelope'))
    },
  )
})
