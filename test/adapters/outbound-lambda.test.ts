import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { lambdaList } from '../../shared/adapters/outbound/lambda.ts'
import { openOutbound } from '../../shared/adapters/outbound/open.ts'
import type { Invocation } from '../../shared/ports/world.ts'
import { Receiver, type Reply } from '../journeys/receiver.ts'

const lambda = new Receiver()
const before = { ...process.env }
beforeAll(async () => {
  await lambda.up()
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' })
})
beforeEach(() => {
  lambda.got.length = 0
})
afterAll(() => {
  process.env = before
  lambda.down()
})

const arn = 'arn:aws:lambda:eu-west-1:123456789012:function:start-build'
const invoke = (over: Partial<Invocation> = {}, lambdas = arn) =>
  openOutbound({ env: { ROUSE_LAMBDAS: lambdas, AWS_ENDPOINT_URL_LAMBDA: `http://${lambda.host}` } }).invoke({
    arn,
    payload: '{"a":"the hidden payload"}',
    timeoutMs: 3_000,
    bytesMax: 1_000,
    ...over,
  })
const answers = (reply: Reply) => {
  lambda.reply = () => reply
}

it('calls the function in its region, once, and hands back what it answers', async () => {
  answers({ status: 200, body: '{"build":7}' })
  expect(await invoke()).toEqual({ ok: true, text: '{"build":7}' })
  expect(lambda.got).toHaveLength(1)
  expect(lambda.got[0]!.path).toContain('start-build/invocations')
  expect(lambda.got[0]!.body).toBe('{"a":"the hidden payload"}')
  expect(lambda.got[0]!.headers.authorization).toContain('/eu-west-1/lambda/')
})

it('a function that is not named is not called: not another one, nor another version of one that is', async () => {
  for (const other of [`${arn}:prod`, `${arn}s`, 'start-build', arn.replace('123456789012', '123456789013')])
    expect(await invoke({ arn: other })).toMatchObject({ ok: false, reason: 'refused', retry: false })
  expect(await invoke({}, '')).toMatchObject({ ok: false, reason: 'refused' })
  expect(lambda.got).toEqual([])
})

it('what would be refused shows before', () => {
  const out = openOutbound({ env: { ROUSE_LAMBDAS: `${arn}, ${arn}:prod` } })
  expect(out.refusal(arn)).toBeNull()
  expect(out.refusal(`${arn}:prod`)).toBeNull()
  expect(out.refusal(`${arn}:test`)).toContain('ROUSE_LAMBDAS')
})

it('a function that fails is a failure, and its words are not quoted', async () => {
  answers({ status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body: '{"errorMessage":"the hidden"}' })
  expect(await invoke()).toEqual({ ok: false, reason: 'failed', error: 'the function failed (Unhandled)', retry: true })
})

for (const [status, name, retry] of [
  [403, 'AccessDeniedException', false],
  [404, 'ResourceNotFoundException', false],
  [429, 'TooManyRequestsException', true],
  [500, 'ServiceException', true],
] as const)
  it(`${name}: ${retry ? 'later' : 'never'}, asked once, and nothing of what AWS says is quoted`, async () => {
    answers({ status, headers: { 'x-amzn-errortype': name }, body: '{"message":"the hidden payload"}' })
    expect(await invoke()).toMatchObject({ ok: false, error: `Lambda: ${name}`, retry })
    expect(lambda.got).toHaveLength(1)
  })

it('an answer that is too large, and one that does not come', async () => {
  answers({ status: 200, body: `"${'x'.repeat(2_000)}"` })
  expect(await invoke()).toMatchObject({ ok: false, reason: 'too_large' })
  answers({ status: 200, afterMs: 1_500 })
  expect(await invoke({ timeoutMs: 200 })).toEqual({
    ok: false,
    reason: 'timeout',
    error: 'no answer within 0.2 s',
    retry: true,
  })
})

it('a list that cannot be read stops the start', () => {
  expect(lambdaList(undefined)).toEqual([])
  expect(() => lambdaList('start-build')).toThrow('ROUSE_LAMBDAS: expected ARNs of functions')
})
