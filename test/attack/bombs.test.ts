import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Json, openVictim, type Said, type Victim } from './victim.ts'

/**
 * Small things to send that are large things to do. One process answers everybody: what one call may take is what everybody waits.
 * The bounds of expressions stand one by one in `test/cel/bounds.test.ts`; here they are sent by whoever has a key.
 */

let victim: Victim
let headers: Record<string, string>
beforeAll(async () => {
  victim = await openVictim()
  headers = { authorization: `Bearer ${victim.key}` }
  // What is loaded with its first use is loaded: the time of that is nobody's attack.
  await say('POST', '/v1/monitors', armed('doc.x == 1'))
  await say('POST', '/v1/schedules/preview', { rrule: 'FREQ=DAILY' })
})
afterAll(() => victim.house.close())

const say = (method: string, path: string, body?: Json): Promise<Said> =>
  call(victim.house, method, path, body, headers)
const armed = (when: string): Json => ({
  session: victim.session,
  note: 'x',
  watch: { document: { path: 'private/notes' } },
  when,
})

/** Answers within the time that others may wait, and is no fault of ours. Load by other tests is allowed for. */
async function quick(act: () => Promise<Said>): Promise<Said> {
  const since = process.cpuUsage()
  const said = await act()
  const { user, system } = process.cpuUsage(since)
  expect([said.status < 500, (user + system) / 1000 < 2500]).toEqual([true, true])
  return said
}

describe('an expression', () => {
  test.each<[string, string]>([
    ['of loops in loops', 'doc.all(a, doc.all(b, doc.all(c, doc.all(d, true))))'],
    [
      'that doubles a text',
      `cel.bind(a, doc.text + doc.text, ${'cel.bind(a, a + a, '.repeat(20)}a${')'.repeat(21)} == ""`,
    ],
    ['of a thousand brackets', `${'('.repeat(1900)}true${')'.repeat(1900)}`],
    ['of a thousand negations', `${'!'.repeat(3900)}true`],
    ['with a regular expression that others need for ever', `doc.text.matches("(a+)+$")`],
    ['with a regular expression that grows when it is read', `doc.text.matches("((a{1,100}){1,100}){1,100}")`],
    ['that is long', `${'doc.x == 1 || '.repeat(5000)}true`],
    ['that makes a large list', `${'[1,'.repeat(900)}1${']'.repeat(900)} == []`],
  ])('%s is refused, or ends within its budget', async (_, when) => {
    await say('PUT', '/v1/documents/private/notes', { text: 'a'.repeat(30_000) })
    await quick(() => say('POST', '/v1/monitors', armed(when)))
    await quick(() => say('PUT', '/v1/documents/private/notes', { text: `${'a'.repeat(30_000)}!` }))
  })
})

describe('a schema', () => {
  const nest = (depth: number): Json =>
    depth === 0 ? { type: 'string' } : { anyOf: [nest(depth - 1), nest(depth - 1)], properties: { a: nest(depth - 1) } }
  const text = { type: 'object', properties: { v: { type: 'string', pattern: '^(a+)+$' } } }
  test.each<[string, Json, Json]>([
    ['with a pattern that others need for ever', text, { v: `${'a'.repeat(5000)}!` }],
    ['that refers to itself', { $ref: '#' }, {}],
    [
      'that refers to itself by many ways',
      { anyOf: [{ $ref: '#' }, { $ref: '#' }], properties: { a: { $ref: '#' } } },
      {},
    ],
    ['that grows with each level', nest(7), { a: { a: { a: 'x' } } }],
    ['that compares all with all', { properties: { v: { type: 'array', uniqueItems: true } } }, { v: list(3000) }],
    [
      'that runs code, as some would read it',
      { $comment: '`process.exit()`', properties: { "'];process.exit();//": {} } },
      {},
    ],
    ['of another place', { $ref: 'http://127.0.0.1:1/schema' }, {}],
  ])('%s is refused, or looked at in no time', async (_, parameters, args) => {
    const at = `/v1/agents/${victim.ids.agent}/tools/bomb`
    const steps = [{ document: { get: 'private/notes' } }]
    await quick(() => say('PUT', at, { description: 'x', parameters, readOnly: true, steps }))
    await quick(() => say('POST', `${at}/call`, { args }))
  })
})

describe('a rule', () => {
  test.each<[string, Json]>([
    ['that never comes', { cron: '0 0 30 2 *' }],
    [
      'that names everything',
      { rrule: `FREQ=YEARLY;BYMONTHDAY=${list(31).join()};BYHOUR=${list(23).join()};BYMINUTE=${list(59).join()}` },
    ],
    ['by the second', { rrule: 'FREQ=SECONDLY' }],
    [
      'that leaves nearly all of what it names out',
      { rrule: 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYSETPOS=1' },
    ],
    ['with a count beyond all bounds', { rrule: `FREQ=DAILY;COUNT=${'9'.repeat(300)}` }],
    ['with an interval beyond all bounds', { rrule: `FREQ=DAILY;INTERVAL=${'9'.repeat(300)}` }],
    ['that begins in the year 1', { rrule: 'FREQ=DAILY', dtstart: '0001-01-01T00:00' }],
    ['that is long', { cron: `${'0,'.repeat(20_000)}0 * * * *` }],
    ['of steps and ranges', { cron: `${Array(400).fill('*/7').join()} * * * *` }],
    ['in a zone with a path', { cron: '0 8 * * *', tz: `../../${'x/'.repeat(5000)}etc/passwd` }],
    ['every something very long', { every: `P${'9'.repeat(300)}Y` }],
    ['every something of very many parts', { every: '1h '.repeat(9000) }],
  ])('%s is previewed or refused in no time', async (_, rule) => {
    await quick(() => say('POST', '/v1/schedules/preview', { ...rule, count: 100 }))
  })
})

test('a template, a path or a name that others would look through for ever is looked through once', async () => {
  const long = [
    'a'.repeat(4000),
    '-'.repeat(4000),
    ' '.repeat(4000),
    '${'.repeat(1900),
    '"'.repeat(4000),
    '/'.repeat(4000),
  ]
  for (const text of long) {
    const steps = [{ http: { method: 'GET', url: `https://example.com/${text}` } }]
    const at = `/v1/agents/${victim.ids.agent}/tools/bomb`
    await quick(() => say('PUT', at, { description: 'x', parameters: {}, readOnly: true, steps }))
    await quick(() => say('POST', '/v1/agents', { name: text }))
    await quick(() => say('POST', '/v1/feed', { title: text }))
    await quick(() => say('POST', `/v1/sessions/${victim.session}/messages`, { text: text.repeat(15) }))
    await quick(() => say('PUT', '/v1/documents/long', text.repeat(15)))
    await quick(() => say('GET', `/v1/documents/${encodeURIComponent(text)}`))
  }
})

function list(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1)
}
