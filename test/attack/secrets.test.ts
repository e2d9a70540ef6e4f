import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inHouse } from '../api/in-house.ts'
import { call, type House, type Json } from './victim.ts'

/**
 * What is secret, in every form that it may take on its way, is looked for in all that a node writes down and answers: its log, its store,
 * traces, the ledger, the audit trail, errors. `test/sight/marked.test.ts` does the same for the log of every function of the cloud.
 */

let house: House
const secret = 'sesame: open/1234 & "all" doors'
const secrets: Record<string, string> = {}
const answers: string[] = []
let headers: Record<string, string>

async function say(method: string, path: string, body?: Json, more: Record<string, string> = {}): Promise<Json> {
  const said = await call(house, method, path, body, { ...headers, ...more })
  answers.push(JSON.stringify(said))
  return said.body
}

beforeAll(async () => {
  house = await inHouse({ at: '2026-03-02T09:00:00Z', rate: null })
  const key = await house.person('ann')
  headers = { authorization: `Bearer ${key}` }
  secrets.key = key
  // A receiver that says again all that it was told, in every way that it can be said.
  house.world.outbound.request = async ({ url, headers: sent, body }) => {
    const said = `${url} ${JSON.stringify(sent)} ${body}`
    const forms = [said, decodeURIComponent(url), Buffer.from(said).toString('hex')]
    const failing = url.includes('/fail')
    return { ok: true, status: failing ? 500 : 200, headers: { 'x-echo': said.slice(0, 2000) }, body: forms.join(' ') }
  }
  const agent = (await say('POST', '/v1/agents', { name: 'assistant', autoApprove: ['use', 'fail'] })).id
  const session = (await say('POST', '/v1/sessions', { agent })).id
  secrets.agentKey = (await take('POST', `/v1/agents/${agent}/keys`, {})).key
  await say('PUT', '/v1/secrets/TOKEN', { value: secret })
  secrets.secret = secret
  const at = `/v1/agents/${agent}/tools`
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: that is how it is written
  const uses = (path: string): Json => ({
    http: {
      method: 'POST',
      url: `https://example.com/${path}?t=\${secrets.TOKEN}`,
      headers: { authorization: '${secrets.TOKEN}' },
      body: { nested: { t: '${secrets.TOKEN}' } },
    },
  })
  const tool = { description: 'x', parameters: { type: 'object' }, readOnly: false }
  await say('PUT', `${at}/use`, {
    ...tool,
    steps: [uses('ok'), { document: { put: 'kept', body: '${steps[0].body}' } }],
  })
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: that is how it is written
  await say('PUT', `${at}/fail`, { ...tool, steps: [uses('fail')] })
  await say('POST', `${at}/use/call`, {})
  await say('POST', `${at}/fail/call`, {})
  await say('GET', '/v1/documents/kept')
  const did = (name: string) => ({ agent, calls: [{ tool: name, args: {}, status: 'ok' }] })
  for (const name of ['use', 'fail']) {
    const from = [(await say('POST', '/v1/traces', did(name))).id, (await say('POST', '/v1/traces', did(name))).id]
    await say('POST', `/v1/agents/${agent}/flows`, { name, from })
    const { flowRun } = await say('POST', `/v1/agents/${agent}/flows/${name}/run`, {})
    await say('GET', `/v1/flow-runs/${flowRun.id}`)
  }
  const webhook = 'webhook:https://example.com/hook-of-somebody-1234567890?sig=abcdefghijkl'
  await say('POST', '/v1/schedules', {
    name: 'x',
    session,
    prompt: 'x',
    every: '1h',
    deliver: [webhook],
    check: { tool: 'use' },
  })
  const hook = await take('POST', '/v1/triggers', {
    name: 'x',
    session,
    prompt: 'x',
    on: { webhook: { signed: true } },
  })
  secrets.hook = new URL(hook.url).pathname.split('/').at(-1)!
  secrets.hookSecret = hook.secret
  secrets.calendar = new URL((await take('POST', '/v1/calendar-tokens', {})).url).searchParams.get('token')!
  await call(house, 'POST', new URL(hook.url).pathname, { x: 1 }, {})
  await call(house, 'GET', `/v1/calendar.ics?token=${secrets.calendar}`, undefined, {})
  house.move(3_600_000)
  await say('POST', `/v1/sessions/${session}/messages`, { text: 'go on' })
  for (const path of [
    'schedules',
    'triggers',
    'traces',
    'audit',
    'feed',
    'keys',
    'secrets',
    'calendar-tokens',
    'agenda',
    'documents',
  ])
    await say('GET', `/v1/${path}`)
  await say('GET', `/v1/sessions/${session}/messages`)
  await say('GET', `/v1/agents/${agent}/flow-runs`)
  for (const name of ['use', 'fail']) await say('GET', `${at}/${name}`)
  await house.world.table.commit([{ put: ['G#settle', 'A'], item: {}, expect: 'any' }], 'settle')
})
afterAll(() => house.close())

/** An answer that shows a secret, once: it is the one place where it may stand. */
async function take(method: string, path: string, body: Json): Promise<Json> {
  return (await call(house, method, path, body, headers)).body
}

const forms = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString('base64').replace(/=+$/, ''),
  Buffer.from(value).toString('hex'),
]
const found = (text: string): string[] =>
  Object.entries(secrets).flatMap(([name, value]) =>
    forms(value).flatMap((form) => (text.includes(form) ? [name] : [])),
  )

test('all of them were made and used', () => {
  expect(Object.values(secrets).filter((value) => typeof value === 'string' && value.length > 20)).toHaveLength(6)
  expect(answers.filter((text) => text.includes('[secret TOKEN]')).length).toBeGreaterThanOrEqual(3)
})

test('no answer shows one again: not of tools and their failures, traces, runs, the ledger, lists, the audit trail', () => {
  expect(answers.filter((text) => found(text).length > 0)).toEqual([])
})

test('no line of the log holds one', () => {
  expect(house.lines.length).toBeGreaterThan(20)
  expect(house.lines.filter((line) => found(line).length > 0)).toEqual([])
})

test('no file of the store holds one, but the one of secrets, which its owner alone can read', async () => {
  const files = readdirSync(house.dir)
  const holding = files.filter((name) => found(readFileSync(join(house.dir, name), 'latin1')).length > 0)
  expect(files.some((name) => name.startsWith('rouse.db'))).toBe(true)
  expect(holding).toEqual(['secrets.json'])
  expect(statSync(join(house.dir, 'secrets.json')).mode & 0o777).toBe(0o600)
})
