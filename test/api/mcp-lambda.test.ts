import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import { expect, test } from 'vitest'
import { createApp } from '../../shared/api/app.ts'
import { inHouse } from './in-house.ts'

const domainName = 'abc123.execute-api.eu-west-1.amazonaws.com'

/** A call as API Gateway's HTTP API hands it over, payload 2.0; the answer's body is decoded. */
async function through(
  lambda: ReturnType<typeof handle>,
  o: {
    readonly key: string
    readonly method?: string
    readonly body?: object
    readonly headers?: Record<string, string>
  },
) {
  const headers = {
    host: domainName,
    authorization: `Bearer ${o.key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...o.headers,
  }
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath: '/mcp',
    rawQueryString: '',
    headers,
    requestContext: { domainName, http: { method: o.method ?? 'POST', path: '/mcp', sourceIp: '203.0.113.7' } },
    isBase64Encoded: false,
    body: o.body === undefined ? undefined : JSON.stringify(o.body),
  }
  const answer = (await lambda(event as unknown as LambdaEvent, {} as LambdaContext)) as {
    readonly statusCode: number
    readonly body: string
    readonly isBase64Encoded: boolean
  }
  const text = answer.isBase64Encoded ? Buffer.from(answer.body, 'base64').toString('utf8') : answer.body
  return { status: answer.statusCode, json: text === '' ? null : JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) }
}

test('behind API Gateway the tools work, its own page may call, others may not, and nothing is held open', async () => {
  const house = await inHouse({})
  const key = await house.person('ann')
  const lambda = handle(createApp({ world: house.world, settled: async () => {} }), {
    isContentTypeBinary: (type) => type.startsWith('text/'),
  })
  const call = (name: string, args: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const put = await through(lambda, { key, body: call('put_document', { path: 'x', body: { n: 1 } }) })
  expect([put.status, put.json.result.structuredContent]).toEqual([200, expect.objectContaining({ version: 1 })])
  const got = await through(lambda, {
    key,
    body: call('get_document', { path: 'x' }),
    headers: { origin: `https://${domainName}` },
  })
  expect(got.json.result.structuredContent.body).toEqual({ n: 1 })
  const page = await through(lambda, {
    key,
    body: call('list_schedules', {}),
    headers: { origin: 'https://evil.example' },
  })
  expect([page.status, page.json.code]).toEqual([403, 'origin_not_allowed'])
  expect((await through(lambda, { key, method: 'GET' })).status).toBe(405)
  expect((await through(lambda, { key: 'rsp_wrong', body: call('list_schedules', {}) })).status).toBe(401)
  await house.close()
})
