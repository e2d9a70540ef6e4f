import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agt, page } from './examples.ts'
import { FakeRouse, refusal } from './fake-rouse.ts'
import { rouse } from './rouse.ts'

let server: FakeRouse
beforeEach(async () => {
  server = await new FakeRouse().up()
})
afterEach(() => server.down())

const call = (...argv: string[]) => rouse(argv, { url: server.url })
const id = 'trc_01K8ZZZZZZZZZZZZZZZZZZZZZZ'
const trace = {
  id,
  agent: agt,
  session: null,
  project: 'acme',
  source: 'turn',
  turn: 'trn_1',
  origin: { kind: 'schedule', schedule: 'sch_1' },
  outcome: 'ok',
  tokens: 1200,
  startedAt: '2026-11-02T08:00:00.000Z',
  at: '2026-11-02T08:01:00.000Z',
  calls: [
    { tool: 'fetch', args: { url: 'x' }, status: 'ok', result: 'seen', argsClipped: false, resultClipped: false },
    { tool: 'send', args: '{"text":"lo', status: 'denied', result: null, argsClipped: true, resultClipped: false },
  ],
}

describe('rouse traces', () => {
  test('S1-3 `rouse traces --project acme` lists recent runs of a project', async () => {
    server.on('GET /v1/traces', page(trace))
    const said = await call('traces', '--project', 'acme')
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(server.to('GET /v1/traces')[0]?.query).toEqual({ project: 'acme' })
    expect(said.stdout.split('\n')[1]).toBe(`${id}  2026-11-02 08:01Z  ok       2      1200    schedule  acme`)
  })

  test('list takes the filters of the API, and `trace` is the same word', async () => {
    server.on('GET /v1/traces', page())
    const said = await call(
      'trace',
      'list',
      '--agent',
      agt,
      '--session',
      'ses_1',
      '--outcome',
      'failed',
      '--limit',
      '3',
    )
    expect(said.stdout).toMatch(/^No traces\./)
    expect(server.to('GET /v1/traces')[0]?.query).toEqual({
      agent: agt,
      session: 'ses_1',
      outcome: 'failed',
      limit: '3',
    })
    expect((await call('traces', '--outcome', 'odd')).code).toBe(2)
  })

  test('show tells call by call what was done', async () => {
    server.on('GET /v1/traces/:id', { body: trace })
    const said = await call('traces', 'show', id)
    expect(said.stdout).toContain('turn · schedule · sch_1')
    expect(said.stdout.split('\n').slice(-3, -1)).toEqual([
      '1     ok      fetch  {"url":"x"}            "seen"',
      '2     denied  send   {"text":"lo (clipped)  null',
    ])
    expect(JSON.parse((await call('traces', 'show', id, '--json')).stdout)).toEqual(trace)
  })
})

describe('rouse traces import', () => {
  const fixture = (name: string): string => new URL(`../fixtures/traces/${name}`, import.meta.url).pathname
  const dir = mkdtempSync(join(tmpdir(), 'rouse-import-'))
  const written = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const sent = () => server.to('POST /v1/traces').map(({ body }) => body)
  const take = (...argv: string[]) => call('traces', 'import', '--agent', agt, ...argv)
  beforeEach(() => {
    let made = 0
    server.on('POST /v1/traces', () => ({ status: 201, body: { id: `trc_${++made}` } }))
  })

  test('takes files in and says what they had', async () => {
    const file = fixture('claude-session.jsonl')
    const said = await take('--format', 'claude', '--project', 'acme', file)
    expect(said).toEqual({
      code: 0,
      stderr: '',
      stdout: `${file}: 3 traces (1 unfinished, 1 call of subagents left out)\n`,
    })
    expect(sent()).toHaveLength(3)
    expect(sent()[0]).toMatchObject({
      agent: agt,
      project: 'acme',
      outcome: 'ok',
      ref: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    await take('--format', 'claude', file)
    expect(sent().map(({ ref }) => ref)).toEqual([...sent().slice(0, 3), ...sent().slice(0, 3)].map(({ ref }) => ref))
  })

  test('a broken line names file and line, and nothing of that file is taken in', async () => {
    const good = fixture('openai-chat.json')
    const bad = written('bad.jsonl', `${JSON.stringify(JSON.parse(readFileSync(good, 'utf8'))[2])}\n{"messages": [\n`)
    const said = await take('--format', 'openai', bad, good)
    expect(said.code).toBe(2)
    expect(said.stderr).toBe(
      `✗ ${bad}:2: is not JSON\nNothing of such a file is taken in; --skip-bad takes in the rest of it\n`,
    )
    expect(said.stdout).toBe(`${bad}: 0 traces (1 bad line)\n${good}: 2 traces\n`)
    expect(sent()).toHaveLength(2)
    const skipped = await take('--format', 'openai', '--skip-bad', bad)
    expect([skipped.code, skipped.stdout]).toEqual([0, `${bad}: 1 trace (1 bad line)\n`])
  })

  test('a file of nothing but broken lines is not told line by line', async () => {
    const file = written('text.txt', 'no\n'.repeat(50))
    const said = await take('--format', 'otel', file)
    expect(said.stderr.split('\n')).toHaveLength(8)
    expect(said.stderr).toContain(`${file}: and 45 more`)
  })

  test('waits as it is told to where it is too fast', async () => {
    let calls = 0
    server.on('POST /v1/traces', () =>
      ++calls === 1
        ? { ...refusal(429, 'rate_limited', 'too fast'), headers: { 'retry-after': '0' } }
        : { status: 201, body: { id: 'trc_1' } },
    )
    expect(await take('--format', 'otel', fixture('otel-spans.json'))).toMatchObject({ code: 0 })
    expect(calls).toBe(3)
  })

  test('needs a format that there is, an agent and files that can be read', async () => {
    expect((await take('--format', 'csv', 'x')).code).toBe(2)
    expect((await take(fixture('otel-spans.json'))).code).toBe(2)
    expect((await call('traces', 'import', '--format', 'otel', 'x')).code).toBe(2)
    expect(await take('--format', 'otel', join(dir, 'none'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ENOENT'),
    })
    writeFileSync(join(dir, 'bytes'), Buffer.from([0xff, 0xfe, 0]))
    expect(await take('--format', 'otel', join(dir, 'bytes'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('UTF-8'),
    })
    expect(sent()).toEqual([])
  })

  test('--json tells everything, and stops at a refusal', async () => {
    const said = await take('--format', 'otel', '--json', fixture('otel-spans.json'))
    expect(JSON.parse(said.stdout)).toEqual([
      { file: fixture('otel-spans.json'), traces: ['trc_1', 'trc_2'], bad: [], unfinished: 0, ofOthers: 1 },
    ])
    server.on('POST /v1/traces', refusal(404, 'not_found', 'there is no agent'))
    expect((await take('--format', 'otel', fixture('otel-spans.json'))).code).toBe(1)
  })
})
