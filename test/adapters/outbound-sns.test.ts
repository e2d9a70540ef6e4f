import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { publishToTopic } from '../../shared/adapters/outbound/sns.ts'
import { Receiver, type Reply } from '../journeys/receiver.ts'

const sns = new Receiver()
const before = { ...process.env }
beforeAll(async () => {
  await sns.up()
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' })
})
beforeEach(() => {
  sns.got.length = 0
})
afterAll(() => {
  process.env = before
  sns.down()
})

const topic = 'arn:aws:sns:eu-west-1:123456789012:runs'
const publish = (over: { topic?: string } = {}, stop?: AbortSignal) =>
  publishToTopic(
    { topic, id: 'dlv_1', group: 'sch_1', body: 'the hidden body', ...over },
    { endpoint: `http://${sns.host}`, ...(stop ? { stop } : {}) },
  )
const answers = (reply: Reply) => {
  sns.reply = () => reply
}
const published = '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>'
const refused = (code: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>the hidden body</Message></Error></ErrorResponse>`
const sent = () => new URLSearchParams(sns.got[0]!.body)

it('publishes in the region of the topic, with the id as an attribute', async () => {
  answers({ status: 200, body: published })
  expect(await publish()).toBeNull()
  expect(sns.got[0]!.headers.authorization).toContain('/eu-west-1/sns/')
  expect(sent().get('Message')).toBe('the hidden body')
  expect(sent().get('MessageAttributes.entry.1.Value.StringValue')).toBe('dlv_1')
  expect(sent().get('MessageGroupId')).toBeNull()
})

it('a FIFO topic gets its group, and the id to drop a repeat by', async () => {
  answers({ status: 200, body: published })
  await publish({ topic: `${topic}.fifo` })
  expect(sent().get('MessageGroupId')).toBe('sch_1')
  expect(sent().get('MessageDeduplicationId')).toBe('dlv_1')
})

for (const [status, code, retry] of [
  [403, 'AuthorizationError', false],
  [404, 'NotFound', false],
  [400, 'InvalidParameter', false],
  [400, 'Throttling', true],
  [429, 'ThrottledException', true],
  [500, 'InternalError', true],
  [503, 'ServiceUnavailable', true],
] as const)
  it(`${code}: ${retry ? 'later' : 'never'}, asked once, and nothing of what AWS says is quoted`, async () => {
    answers({ status, body: refused(code) })
    const failed = await publish()
    expect(failed).toMatchObject({ ok: false, retry, error: expect.stringMatching(/^SNS: \w+$/) })
    expect(sns.got).toHaveLength(1)
  })

it('a process that stops does not wait', async () => {
  answers({ status: 200, body: published, afterMs: 3_000 })
  const since = performance.now()
  expect(await publish({}, AbortSignal.timeout(100))).toMatchObject({ ok: false, retry: true })
  expect(performance.now() - since).toBeLessThan(2_000)
})
