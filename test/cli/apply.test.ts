import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { PlanRefused } from '../../apps/cli/plans/plan.ts'
import { readPlan } from '../../apps/cli/plans/yaml.ts'
import { UsageError } from '../../apps/cli/report.ts'
import { clock, page, schedule } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

const dir = mkdtempSync(join(tmpdir(), 'rouse-plan-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('reading a plan', () => {
  const faults = (text: string): string[] => {
    try {
      readPlan(text, 'x.yaml')
    } catch (error) {
      if (error instanceof PlanRefused)
        return error.faults.map(({ where, field, message }) => `${where} ${field}: ${message}`)
      throw error
    }
    return []
  }

  it('takes a map of entries or a list of them, with defaults at the top', () => {
    const map = readPlan('agent: assistant\ntz: Asia/Tokyo\nschedules:\n  a: { prompt: x, every: 6h }\n', 'x.yaml')
    const list = readPlan(
      'agent: assistant\ntz: Asia/Tokyo\nschedules:\n- { key: a, prompt: x, every: 6h }\n',
      'x.yaml',
    )
    expect(map.entries).toEqual([
      {
        key: 'a',
        kind: 'schedule',
        where: 'schedules.a (line 4)',
        id: null,
        fields: { name: 'a', prompt: 'x', every: '6h', agent: 'assistant', tz: 'Asia/Tokyo' },
        paused: null,
      },
    ])
    expect(list.entries).toEqual(map.entries)
  })

  it('keeps times as they are written, and lets an entry say otherwise than the top', () => {
    const text = 'agent: a\nschedules:\n  x: { session: ses_1, prompt: p, at: 2026-11-02T09:00, tz: UTC, note: null }\n'
    expect(readPlan(text, 'x.yaml').entries[0]!.fields).toEqual({
      name: 'x',
      session: 'ses_1',
      prompt: 'p',
      at: '2026-11-02T09:00',
      tz: 'UTC',
    })
  })

  it('reads a prompt from a file beside it', () => {
    writeFileSync(join(dir, 'brief.md'), 'Write\nthe brief.\n')
    const text = 'schedules:\n  x: { promptFile: brief.md, every: 6h }\n  y: { promptFile: none.md, every: 6h }\n'
    try {
      readPlan(text, join(dir, 'plan.yaml'))
      expect.unreachable()
    } catch (error) {
      expect((error as PlanRefused).faults).toEqual([
        { where: 'schedules.y (line 3)', field: 'promptFile', message: 'none.md cannot be read: ENOENT' },
      ])
    }
    const one = readPlan('schedules:\n  x: { promptFile: brief.md, every: 6h }\n', join(dir, 'plan.yaml'))
    expect(one.entries[0]!.fields.prompt).toBe('Write\nthe brief.')
  })

  it.each([
    [
      'schedules:\n  x: { promt: y, every: 6h }',
      ['promt: is not known here', 'prompt: expected one of prompt and flow, got none'],
    ],
    ['schedules:\n  x: { prompt: y, flow: z, every: 6h }', ['prompt: expected one of prompt and flow, got both']],
    ['schedules:\n  x: { prompt: y, agent: a, session: b }', ['session: expected one of session and agent, got both']],
    ['schedules:\n  x: { prompt: y, paused: maybe }', ['paused: expected true or false']],
    ['schedules:\n  "a b": { prompt: y }', ['key: expected up to 100 letters']],
    ['schedules:\n  x: just text', [': expected a map of fields']],
    ['schedules:\n- { prompt: y }', ['key: is missing']],
    ['schedules:\n- { key: x, prompt: y }\n- { key: x, prompt: y }', ['key: is the key of another entry']],
    ['schedules:\n  x: { id: sch_1, prompt: y }\n  z: { id: sch_1, prompt: y }', ['id: is the id of another entry']],
    [
      'schedules:\n  x: { prompt: y }\ntriggers:\n  x: { prompt: y, on: { webhook: true } }',
      ['key: is the key of another entry'],
    ],
    ['triggers:\n  x: { prompt: y }', ['on: is missing']],
    ['triggers:\n  x: { on: { webhook: true }, cron: "0 8 * * *" }', ['cron: is not known here', 'prompt: is missing']],
    [`schedules:\n  x: { name: "${'n'.repeat(121)}", prompt: y }`, ['name: expected at most 120 characters']],
    ['schedules: 7', [': expected a map from key to entry']],
    ['rouse: 2', ['rouse: expected 1']],
    ['schedule: {}', ['schedule: is not known here']],
    ['plan: a/b', ['plan: expected a name']],
  ])('%j is refused, naming entry and field', (text, wanted) => {
    const found = faults(text)
    expect(found).toHaveLength(wanted.length)
    for (const [i, one] of wanted.entries()) expect(found[i]).toContain(one)
  })

  it.each(['schedules: [', 'schedules:\n  a: {}\n  a: {}\n', '- 1', 'just text'])('%j is no plan', (text) => {
    expect(() => readPlan(text, 'x.yaml')).toThrow(UsageError)
  })

  it('does not follow aliases without end', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[i]}`).join(',')}]`)
      .join('\n')}\n`
    expect(() => readPlan(bomb, 'x.yaml')).toThrow(UsageError)
  })

  it('an empty file is an empty plan', () => {
    expect(readPlan('', 'x.yaml').entries).toEqual([])
    expect(readPlan('schedules:\n', 'x.yaml').entries).toEqual([])
  })
})

describe('apply, against a Rouse that answers oddly', () => {
  let server: FakeRouse
  beforeEach(async () => {
    server = await new FakeRouse()
      .on('GET /v1/clock', clock)
      .on('POST /v1/schedules/preview', { body: { refusal: null } })
      .up()
  })
  afterEach(() => server.down())
  const file = (text: string): string => {
    const name = join(dir, 'plan.yaml')
    writeFileSync(name, text)
    return name
  }
  const plan = 'schedules:\n  x: { prompt: y, every: 6h }\n'
  const apply = (...more: string[]) => rouse(['apply', file(plan), ...more], { url: server.url })
  const where = '/v1/documents/rouse/plans/plan'

  test('what is about to be made is written down before it is made, under a call that can be repeated', async () => {
    let version = 0
    server
      .on(`PUT ${where}`, () => ({ body: { path: 'p', version: ++version, updatedAt: '' } }))
      .on('POST /v1/schedules', { status: 201, body: schedule })
    const { code } = await apply()
    expect(code).toBe(0)
    const [first, made, last] = server.calls.filter(({ method, path }) => method === 'PUT' || path === '/v1/schedules')
    expect(first!.headers['if-none-match']).toBe('*')
    expect(last!.headers['if-match']).toBe('"1"')
    const { pending } = (first!.body as { entries: { x: { pending: { call: string } } } }).entries.x
    expect(made!.headers['idempotency-key']).toBe(pending.call)
    expect((last!.body as { entries: { x: { id: string } } }).entries.x.id).toBe(schedule.id)
  })

  test('where a person is asked first, the card is told, and nothing is forgotten', async () => {
    server
      .on(`PUT ${where}`, { body: { path: 'p', version: 1, updatedAt: '' } })
      .on('POST /v1/schedules', { status: 202, body: { card: 'crd_1' } })
    const { code, stdout } = await apply()
    expect([code, stdout]).toEqual([0, expect.stringContaining('a person has to allow card crd_1 first')])
  })

  test('a plan that somebody else has written meanwhile is not overwritten, and nothing is made', async () => {
    server.on(`PUT ${where}`, refusal(412, 'precondition_failed', 'it has changed'))
    const { code, stderr } = await apply()
    expect([code, stderr]).toEqual([1, expect.stringContaining('somebody else applies it at the same time')])
    expect(server.to('POST /v1/schedules')).toEqual([])
  })

  test('a Rouse that goes away while it makes one leaves the note of it', async () => {
    server
      .on(`PUT ${where}`, { body: { path: 'p', version: 1, updatedAt: '' } })
      .on('POST /v1/schedules', refusal(503, 'unavailable', 'away'))
    const { code, stderr } = await apply()
    expect([code, stderr]).toEqual([1, expect.stringContaining('unavailable')])
    expect(server.to(`PUT ${where}`)).toHaveLength(1)
  })

  test.each([
    [['apply', '/no/such/plan.yaml'], 'cannot be read: ENOENT'],
    [['apply', dir], 'cannot be read: EISDIR'],
    [['apply', 'x.yaml', '--plan', 'a/b'], 'Expected letters'],
    [['import', 'outlook', 'x'], 'expected one of crontab, claude-code, openclaw, hermes, got "outlook"'],
  ])('%j is a wrong usage', async (argv, words) => {
    const { code, stderr } = await rouse(argv, { url: server.url })
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  test('- reads the plan from the standard input', async () => {
    const said = await rouse(['apply', '-', '--dry-run', '--json'], { url: server.url, stdin: plan })
    expect(JSON.parse(said.stdout)).toMatchObject({
      plan: 'stdin',
      dryRun: true,
      changes: [{ key: 'x', change: 'create' }],
    })
  })

  test('export leaves out what is over, and what is as it would be anyway', async () => {
    const paused = {
      ...schedule,
      id: 'sch_01JD0000000000000000000009',
      name: 'Paused',
      status: 'paused',
      deliver: [],
      onUnknown: 'leave',
    }
    server
      .on('GET /v1/agents', page({ id: schedule.agent, name: 'assistant' }))
      .on('GET /v1/schedules', page(paused, { ...schedule, name: 'Done', status: 'done' }))
      .on('GET /v1/triggers', page())
    const { stdout } = await rouse(['export'], { url: server.url })
    expect(stdout).toBe(
      [
        'rouse: 1',
        'schedules:',
        '  paused:',
        '    id: sch_01JD0000000000000000000009',
        '    name: Paused',
        '    agent: assistant',
        '    prompt: Write the brief.',
        '    cron: 0 8 * * 1-5',
        '    tz: Europe/Amsterdam',
        '    paused: true',
        'triggers: {}',
        '',
      ].join('\n'),
    )
  })
})
