import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Cloud, gatewayEvent, type Json, listening, openCloud } from './cloud.ts'

vi.hoisted(() => {
  process.env.AWS_LAMBDA_LOG_LEVEL = 'DEBUG'
  process.env.ROUSE_STAGE = 'dev'
})
let cloud: Cloud
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => live }))
/** The application takes its world when it is loaded: this one stays, what is behind it changes. */
const live: Json = new Proxy(
  {},
  {
    get: (_, name) => cloud.world[name as keyof Cloud['world']],
    ownKeys: () => Reflect.ownKeys(cloud.world),
    getOwnPropertyDescriptor: (_, name) => ({
      value: cloud.world[name as keyof Cloud['world']],
      enumerable: true,
      configurable: true,
    }),
  },
)
const { log, meter } = await import('../../functions/sight.ts')
const api = await import('../../functions/api.ts')
const alarm = await import('../../functions/alarm.ts')

const start = Date.parse('2026-03-02T09:00:00Z')
let told: ReturnType<typeof listening>
beforeEach(async () => {
  cloud = await openCloud(log, meter, start)
  told = listening()
})
afterEach(() => told.stop())

let invocations = 0
async function call(method: string, path: string, body?: Json, headers: Record<string, string> = {}) {
  const answer: Json = await api.handler(gatewayEvent(cloud, method, path, body, headers), {
    awsRequestId: `api-${++invocations}`,
  })
  return { status: answer.statusCode, body: answer.body ? JSON.parse(answer.body) : null, headers: answer.headers }
}

async function waking(): Promise<Json> {
  const agent = (await call('POST', '/v1/agents', { name: 'assistant' })).body.id
  const session = (await call('POST', '/v1/sessions', { agent })).body.id
  const schedule = await call(
    'POST',
    '/v1/schedules',
    { name: 'Nightly', session, prompt: 'Look.', at: '2026-03-02T10:00:00Z' },
    { 'x-request-id': 'from-the-caller-1' },
  )
  return { session, schedule }
}

const bring = async (id: string, messageId: string) =>
  await alarm.handler(
    { Records: [{ messageId, body: JSON.stringify({ kind: 'schedule', id, at: cloud.at }) }] },
    { awsRequestId: 'alarm-1' },
  )
const said = (what: string): Json[] => told.lines.filter((line) => line.what === what)

describe('one run, from the call that asked for it to its end', () => {
  test('is followed by ids: call, schedule, alarm, run, turn', async () => {
    const { session, schedule } = await waking()
    const { id } = schedule.body
    expect(schedule.headers['x-request-id']).toBe('from-the-caller-1')
    cloud.at = Date.parse('2026-03-02T10:00:00Z')
    await bring(id, 'message-1')
    const claimed = await call('POST', `/v1/sessions/${session}/claim`, {})
    await call('POST', `/v1/turns/${claimed.body.turn.id}/end`, { outcome: 'ok' })
    const run = (await call('GET', `/v1/schedules/${id}/runs`)).body.data[0].id

    const [created] = said('call answered').filter(({ operation }) => operation === 'createSchedule')
    expect(created).toMatchObject({ request: 'from-the-caller-1', gateway: 'gateway-1', status: 201, made: id })
    expect(created.key).toMatch(/^key_/)
    expect(created.requestId).toMatch(/^api-\d+$/)
    expect(said('run fired')).toMatchObject([{ schedule: id, run, alarm: 'message-1', requestId: 'alarm-1' }])
    expect(said('run claimed')).toMatchObject([{ schedule: id, run, turn: claimed.body.turn.id, request: 'gateway-1' }])
    expect(said('run ended')).toMatchObject([{ schedule: id, run, turn: claimed.body.turn.id, result: 'ok' }])
  })

  test('its numbers are metrics: how many went out, and how late', async () => {
    const { schedule } = await waking()
    cloud.at = Date.parse('2026-03-02T10:00:00Z') + 1200
    await bring(schedule.body.id, 'message-1')
    const metrics = told.lines.filter((line) => line._aws !== undefined)
    expect(metrics.map(({ _aws, ...values }) => values)).toEqual([{ stage: 'dev', Fires: 1, Lateness: [1200] }])
  })

  test('what is left out says why', async () => {
    const { schedule } = await waking()
    await call('POST', `/v1/schedules/${schedule.body.id}/pause`, {})
    await call('PATCH', `/v1/schedules/${schedule.body.id}`, { misfire: 'skip' })
    await call('POST', `/v1/schedules/${schedule.body.id}/resume`, {})
    cloud.at = Date.parse('2026-03-03T10:00:00Z')
    await bring(schedule.body.id, 'message-2')
    expect(said('run left out')).toMatchObject([
      { schedule: schedule.body.id, outcome: 'missed', alarm: 'message-2', requestId: 'alarm-1' },
    ])
  })
})

describe('a call that fails', () => {
  test('names itself in its answer and in the log, and tells the caller nothing else', async () => {
    cloud.fault = () => new Error('a fault of ours')
    const answer = await call('GET', '/v1/settings')
    cloud.fault = () => null
    expect(answer.status).toBe(500)
    expect(answer.body.instance).toBe('urn:rouse:request:gateway-1')
    expect(JSON.stringify(answer.body)).not.toContain('a fault of ours')
    const [line] = said('call failed')
    expect(line).toMatchObject({ level: 'ERROR', request: 'gateway-1', error: 'a fault of ours' })
    expect(line.at).toContain('at ')
  })

  test.each([
    'no blanks',
    'x'.repeat(200),
    'short',
    `rsp_${'a'.repeat(43)}`,
    `rouse_${'a'.repeat(43)}`,
    'line\u0085break',
  ])('under another name than %j, which is none', async (name) => {
    const { headers } = await call('GET', '/v1/settings', undefined, { 'x-request-id': name })
    expect(headers['x-request-id']).toBe('gateway-1')
  })
})
