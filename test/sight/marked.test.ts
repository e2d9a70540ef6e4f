import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { monitorKey } from '../../shared/engine/monitor-rows.ts'
import { keys } from '../../shared/engine/store.ts'
import { Defect, Unavailable } from '../../shared/ports/table.ts'
import { type Cloud, gatewayEvent, type Json, listening, openCloud } from './cloud.ts'

/**
 * Prompts, answers, documents and secrets that can be told from everything else go through every function, with the store well, away and
 * broken. None of them may stand in the log.
 */

vi.hoisted(() => {
  process.env.AWS_LAMBDA_LOG_LEVEL = 'DEBUG'
})
let cloud: Cloud
vi.mock('../../functions/world.ts', () => ({ worldFromEnv: () => cloud.world }))
const { log, meter } = await import('../../functions/sight.ts')
cloud = await openCloud(log, meter, Date.parse('2026-03-02T09:00:00Z'))
const [api, alarm, sweep, change, flow] = await Promise.all([
  import('../../functions/api.ts'),
  import('../../functions/alarm.ts'),
  import('../../functions/sweep.ts'),
  import('../../functions/change.ts'),
  import('../../functions/flow.ts'),
])

let nth = 0
const marks: string[] = []
/** A text of somebody, to be found again wherever it went. */
const mark = (what: string): string => {
  const text = `marked ${what} ${++nth} of somebody, to be found`
  marks.push(text)
  return text
}
/** The same where blanks are no part of it. */
const word = (what: string): string => {
  const text = `marked-${what}-${++nth}-to-be-found`
  marks.push(text)
  return text
}
const secret = (value: string): string => {
  marks.push(value)
  return value
}

const answers: Json[] = []
async function call(method: string, path: string, body?: Json, headers: Record<string, string> = {}): Promise<Json> {
  const answer: Json = await api.handler(gatewayEvent(cloud, method, path, body, headers), { awsRequestId: 'api-1' })
  answers.push(answer)
  return answer.body === undefined || answer.body === '' ? null : JSON.parse(answer.body)
}

const bring = {
  alarm: () =>
    alarm.handler({
      Records: cloud.set
        .splice(0)
        .filter(({ key }) => key.kind !== 'flow')
        .map(({ key }, n) => ({ messageId: `m${n}`, body: JSON.stringify({ ...key, at: cloud.at }) })),
    }),
  flow: (id: string) =>
    flow.handler({ Records: [{ messageId: 'f1', body: JSON.stringify({ kind: 'flow', id, at: cloud.at }) }] }),
  change: (path: string) =>
    change.handler({
      Records: [
        { dynamodb: { Keys: { pk: { S: `D#${person.slice(4)}` }, sk: { S: `H#${path}` } }, SequenceNumber: '7' } },
      ],
    }),
  sweep: () => sweep.handler({}),
}

let told: ReturnType<typeof listening>
let person = ''
let flowRun = ''
const made: Record<string, Json> = {}

beforeAll(async () => {
  told = listening()
  secret(cloud.key)
  cloud.outside.answer = () => ({ ok: true, status: 500, headers: { a: word('header') }, body: mark('answer outside') })
  const { data } = await call('GET', '/v1/keys')
  person = data[0].person ?? (await call('GET', '/v1/budgets')).data[0].id
  made.agent = await call('POST', '/v1/agents', {
    name: mark('agent'),
    autoApprove: ['look'],
    project: word('project'),
  })
  const agent = made.agent.id
  made.key = await call('POST', `/v1/agents/${agent}/keys`, {})
  secret(made.key.key)
  made.session = await call('POST', '/v1/sessions', { agent, title: mark('title') })
  const session = made.session.id
  await call('PUT', '/v1/secrets/TOKEN', { value: secret(word('secret')) })
  await call('PUT', '/v1/documents/notes/marked', { text: mark('document') })
  made.tool = await call('PUT', `/v1/agents/${agent}/tools/look`, {
    description: mark('description'),
    parameters: { type: 'object' },
    readOnly: true,
    steps: [
      {
        http: {
          method: 'GET',
          url: `https://${word('host')}.test/${word('path')}`,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how it is written
          headers: { authorization: 'Bearer ${secrets.TOKEN}' },
        },
      },
    ],
  })
  await call('POST', `/v1/agents/${agent}/tools/look/call`, { args: { q: mark('argument') } })
  made.schedule = await call('POST', '/v1/schedules', {
    name: mark('schedule'),
    session,
    prompt: mark('prompt'),
    every: '1h',
    deliver: [`webhook:https://hooks.test/${word('delivery')}`, `feed:${word('group')}`],
  })
  made.checked = await call('POST', '/v1/schedules', {
    name: 'checked',
    session,
    prompt: mark('prompt'),
    every: '1h',
    check: { tool: 'look' },
  })
  made.monitor = await call('POST', '/v1/monitors', {
    session,
    note: mark('note'),
    watch: { document: { path: 'notes/marked' } },
    when: `doc.text != "${mark('condition')}"`,
  })
  made.watch = await call('POST', '/v1/monitors', {
    session,
    note: mark('note'),
    watch: { tool: { name: 'look', every: '30m', args: { q: mark('argument') } } },
  })
  made.trigger = await call('POST', '/v1/triggers', {
    name: mark('trigger'),
    session,
    prompt: mark('prompt'),
    on: { document: { path: 'notes/marked' } },
  })
  made.hook = await call('POST', '/v1/triggers', {
    name: 'hook',
    session,
    prompt: mark('prompt'),
    on: { webhook: { signed: true } },
  })
  secret(new URL(made.hook.url).pathname.split('/').at(-1)!)
  secret(made.hook.secret)
  made.calendar = await call('POST', '/v1/calendar-tokens', {})
  secret(new URL(made.calendar.url).searchParams.get('token')!)
  await call('POST', '/v1/feed', { title: mark('card'), body: mark('card body') })
  const did = { agent, calls: [{ tool: 'look', args: { q: mark('argument') }, status: 'ok', result: mark('result') }] }
  const from = [await call('POST', '/v1/traces', did), await call('POST', '/v1/traces', did)].map(({ id }) => id)
  made.flow = await call('POST', `/v1/agents/${agent}/flows`, { name: word('flow'), from })
  await call('POST', `/v1/sessions/${session}/messages`, { text: mark('message') })
})
afterAll(() => told.stop())

/** Everything that comes with time: fires, looks, turns, tries to send, steps. */
async function around(): Promise<void> {
  const session = made.session.id
  cloud.at += 3_600_000
  await bring.alarm()
  await call('PUT', '/v1/documents/notes/marked', { text: mark('document') })
  await bring.change('notes/marked')
  for (let i = 0; i < 3; i++) {
    const claimed = await call('POST', `/v1/sessions/${session}/claim`, {})
    if (claimed?.turn === undefined) break
    const calls = [{ tool: 'look', args: { q: mark('argument') }, status: 'failed', result: mark('result') }]
    const outcome = i === 0 ? 'failed' : 'ok'
    await call('POST', `/v1/turns/${claimed.turn.id}/end`, {
      outcome,
      answer: mark('answer'),
      summary: mark('summary'),
      toolCalls: calls,
    })
  }
  const run = await call('POST', `/v1/agents/${made.agent.id}/flows/${made.flow.name}/run`, {})
  // Where none can be begun, one that was.
  flowRun = run?.flowRun?.id ?? flowRun
  await bring.flow(flowRun)
  await bring.sweep().catch(() => {})
  cloud.at += 60_000
  await bring.sweep().catch(() => {})
}

/** What is sent in the wrong way, or in the wrong place. */
async function astray(): Promise<void> {
  const token = new URL(made.hook.url).pathname
  await call('POST', token, { build: mark('hook') }, { 'webhook-id': 'a', 'webhook-signature': `v1,${word('sig')}` })
  await call('POST', `/v1/hooks/${word('hook')}`, mark('hook'))
  await call('GET', `/v1/calendar.ics?token=${word('token')}`).catch(() => {})
  await call('GET', `/v1/${word('path')}?q=${word('query')}`)
  await call('GET', '/v1/keys', undefined, { 'x-request-id': cloud.key })
  await call('GET', '/v1/keys', undefined, { authorization: `Bearer ${word('key')}` })
  await call('POST', '/v1/schedules', `{"prompt": "${mark('json')}`)
  await call('POST', '/v1/schedules', { prompt: mark('prompt'), [word('field')]: mark('value') })
  await call('POST', '/v1/agents', { name: mark('name') }, { 'idempotency-key': word('idempotency') })
  const tool = { name: 'send', arguments: { session: made.session.id, text: mark('mcp') } }
  await call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool },
    { accept: 'application/json, text/event-stream', authorization: `Bearer ${made.key.key}` },
  ).catch(() => {})
  const body = JSON.stringify({ kind: mark('alarm') })
  await alarm.handler({ Records: [{ messageId: 'm1', body }] })
  await alarm.handler({ Records: [{ messageId: 'm1', body: mark('alarm') }] })
  await flow.handler({ Records: [{ messageId: 'f1', body }] })
  await change.handler({ Records: [{ dynamodb: { Keys: { pk: { S: mark('key') } }, SequenceNumber: '8' } }] })
}

const passes = async (): Promise<void> => {
  await around()
  await astray()
}

/** A store that says, when it fails, what it was asked: as DynamoDB does of values that it does not take. */
const quoting = (asked: unknown): string => `Value '${JSON.stringify(asked)}' at 'item' failed to satisfy constraint`

const heard = (): Set<string> => new Set(told.lines.flatMap(({ what }) => (what === undefined ? [] : [what])))

describe('with the store well', () => {
  beforeAll(passes)
  test('everything was made that was to be tried', () => {
    for (const [what, { id, code, url, key, name }] of Object.entries(made))
      expect([what, code ?? 'made', typeof (id ?? url ?? key ?? name)], JSON.stringify(made[what])).toEqual([
        what,
        'made',
        'string',
      ])
  })
  test('calls, fires, claims and ends leave their lines', () => {
    expect([...heard()]).toEqual(
      expect.arrayContaining(['call answered', 'run fired', 'run claimed', 'run ended', 'alarm could not be read']),
    )
    expect([...heard()]).toEqual(expect.arrayContaining(['flow alarm could not be read', 'change could not be read']))
  })
})

describe('with the store away', () => {
  beforeAll(async () => {
    cloud.fault = (_act, asked) => new Unavailable('DynamoDB could not be reached', new Error(quoting(asked)))
    await passes()
    cloud.fault = () => null
  })
  test('each function says so', () => {
    expect([...heard()]).toEqual(
      expect.arrayContaining([
        'call failed',
        'alarms not looked at',
        'change of a document not told',
        'flow not stepped',
      ]),
    )
  })
})

const faults: [string, (asked: unknown) => Error][] = [
  ['a fault of ours', (asked) => new Defect(quoting(asked))],
  ['a fault of a library', (asked) => new TypeError(`cannot read "${JSON.stringify(asked)}"`)],
  ['a fault of a parser', () => parsing(`{"prompt": "${mark('parsed')}`)],
]

describe.each(
  faults.flatMap(([name, fault]) => (['read', 'write'] as const).map((act) => [act, name, fault] as const)),
)('with a store of which every %s fails with %s', (failing, _, fault) => {
  let asked = 0
  const before = answers.length
  beforeAll(async () => {
    cloud.fault = (act, what) => {
      if (act !== failing) return null
      asked += 1
      return fault(what)
    }
    await passes()
    cloud.fault = () => null
  })
  test('the answer to the caller says that it is a fault of ours, and nothing of it', () => {
    const failed = answers.slice(before).filter(({ statusCode }) => statusCode === 500)
    expect([asked > 10, failed.length > 3]).toEqual([true, true])
    for (const { body } of failed) expect(found(body)).toEqual([])
  })
})

describe('with stored items that are no more what they were', () => {
  beforeAll(async () => {
    const { table } = cloud.world
    for (const [what, key] of [
      ['schedule', keys.cursor(made.schedule.id)],
      ['trigger', keys.cursor(made.trigger.id)],
      ['monitor', monitorKey(made.monitor.id)],
    ] as const)
      await table.commit([{ put: key, item: { prompt: mark(what) }, expect: 'any' }], `spoil ${what}`)
    // Another process, which remembers nothing of them.
    cloud.world = { ...cloud.world }
    cloud.set.push({ key: { kind: 'schedule', id: made.schedule.id }, at: cloud.at })
    cloud.set.push({ key: { kind: 'monitor', id: made.monitor.id }, at: cloud.at })
    await passes()
  })
  test('it is told which', () => {
    const said = told.lines.filter(({ level }) => level === 'ERROR').map(({ what, schedule }) => [what, schedule])
    expect(said).toContainEqual(['schedule could not be looked at', made.schedule.id])
    expect(said).toContainEqual(['trigger could not be looked at', made.trigger.id])
  })
})

test('no line holds anything that was written by somebody, or any secret; every line is an object of its own', () => {
  expect(marks.length).toBeGreaterThan(100)
  expect(told.raw.length).toBeGreaterThan(50)
  expect(told.raw.filter((line) => found(line).length > 0)).toEqual([])
})

/** Marks in a text, as they are or as JSON inside JSON would write them. */
const found = (text: string): string[] => marks.filter((one) => text.includes(one))

function parsing(text: string): Error {
  try {
    JSON.parse(text)
    throw new Error('it could be parsed')
  } catch (error) {
    return error as Error
  }
}
