import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importClaude } from '../../apps/cli/import/claude.ts'
import { importOpenai } from '../../apps/cli/import/openai.ts'
import { importOtel } from '../../apps/cli/import/otel.ts'
import { bodyOf, type Imported, Unreadable } from '../../apps/cli/import/trace.ts'

const file = (name: string): string => readFileSync(new URL(`../fixtures/traces/${name}`, import.meta.url), 'utf8')
const told = (trace: Imported): string[] =>
  trace.calls.map(({ tool, args, status, argsClipped }) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return `${status}${argsClipped ? ' clipped' : ''} ${tool} ${text.slice(0, 40)}`
  })
const agent = 'agt_01ARZ3NDEKTSV4RRFFQ69G5FAV'
const refs = (traces: readonly Imported[]): string[] => traces.map((trace) => bodyOf(trace, { agent }).ref)

describe('a session file of Claude Code', () => {
  const text = file('claude-session.jsonl')
  const log = importClaude(text)

  it('has a trace for each prompt that led to calls, in the order they were made', () => {
    expect(log.traces.map(told)).toEqual([
      [
        'ok Read {"file_path":"notes/done.md"}',
        'ok Read {"file_path":"notes/open.md"}',
        'ok Write {"file_path":"digest.md","content":"# Di',
      ],
      [
        'failed Bash {"command":"npm run publish-digest","des',
        'ok Task {"subagent_type":"Explore","description"',
        'denied Bash {"command":"cat .env","description":"Rea',
      ],
      ['ok Write {"file_path":"digest.md","content":"line', 'denied Bash {"command":"rm -rf build","description":'],
    ])
    expect([log.bad, log.unfinished, log.ofOthers]).toEqual([[], 1, 1])
  })

  it('knows results, times and what each message cost, once', () => {
    const [first, second] = log.traces
    expect(first!.calls.map(({ result }) => result)).toEqual([
      '1\tdone things',
      '1\topen things',
      'File created successfully at: digest.md',
    ])
    expect(first).toMatchObject({
      outcome: 'ok',
      startedAt: '2026-02-02T08:00:06.250Z',
      tokens: 12 + 90 + 4000 + (4 + 60 + 4100 + 200) + (4 + 20 + 4300 + 100),
    })
    expect(Date.parse(first!.at!)).toBeGreaterThan(Date.parse(first!.startedAt!))
    expect(second!.outcome).toBe('failed')
  })

  it('marks what is too long to keep in full', () => {
    const { calls } = bodyOf(log.traces[2]!, { agent })
    expect(calls[0]).toMatchObject({ tool: 'Write', argsClipped: true })
    expect(Buffer.byteLength(String(calls[0]!.args))).toBeLessThanOrEqual(4_000)
  })

  it('names a broken line, and does not trust the turn that it stands in', () => {
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes('toolu_04') && line.includes('tool_use_id'))
    lines[at] = lines[at]!.slice(0, 80)
    const broken = importClaude(lines.join('\n'))
    expect(broken.bad).toEqual([{ line: at + 1, why: 'is not JSON' }])
    expect(broken.traces.map(({ line }) => line)).toEqual([log.traces[0]!.line, log.traces[2]!.line])
  })

  it('is the same trace where a resumed session or a fork has the turn once more', () => {
    const ended = text.split('\n').slice(0, -3).join('\n')
    const copied = `${ended.replaceAll('5f0c3c1e', '6a1d4d2f')}\n${ended}`
    expect(refs(importClaude(copied).traces)).toEqual(refs(log.traces))
  })

  it.each([
    ["The user doesn't want to proceed with this tool use. The tool use was rejected.", 'denied'],
    ['Permission to use Bash with command ls\nrm -rf / has been denied.', 'denied'],
    ['Permission for this tool use was denied.', 'denied'],
    ["Claude requested permissions to write to /x, but you haven't granted it yet.", 'denied'],
    ['PreToolUse:Bash hook error: [guard]: not here', 'denied'],
    ["The user doesn't want to take this action right now. STOP what you are doing.", 'failed'],
    ['Exit code 1\nPermission denied', 'failed'],
  ])('of a version without toolDenialKind goes by the words: %j is %s', (said, status) => {
    const at = { type: 'tool_result', tool_use_id: 't', content: said, is_error: true }
    const lines = [
      { type: 'user', message: { content: 'go' } },
      { type: 'assistant', message: { content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] } },
      { type: 'user', message: { content: [at] } },
    ]
    const [trace] = importClaude(lines.map((line) => JSON.stringify(line)).join('\n')).traces
    expect(trace!.calls[0]!.status).toBe(status)
  })

  it('of a subagent by itself is the work of that subagent', () => {
    const side = text
      .split('\n')
      .filter((line) => line.includes('"isSidechain":true'))
      .join('\n')
    expect(importClaude(side).traces.map(told)).toEqual([['ok Grep {"pattern":"token"}']])
  })

  it.each([
    ['', []],
    ['\n\n', []],
    ['[1]', [{ line: 1, why: 'is no object' }]],
    ['{"type":"assistant","message":{"content":"text"}}', []],
    [`{"type":"user","message":${'['.repeat(200)}${']'.repeat(200)}}`, [{ line: 1, why: 'nests more than 100 deep' }]],
    [
      '{"type":"user","message":{"content":"go"}}\n{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t"}]}}',
      [{ line: 2, why: 'a tool call without the name of its tool' }],
    ],
    [
      '{"type":"user","message":{"content":"go"}}\n{"type":"assistant","message":{"content":[{"type":"tool_use","name":"t"}]}}',
      [{ line: 2, why: 'a tool_use without an id' }],
    ],
  ])('hostile: %j', (hostile, bad) => {
    expect(importClaude(hostile)).toEqual({ traces: [], bad, unfinished: 0, ofOthers: 0 })
  })
})

describe('logs of OpenAI', () => {
  it('Responses, chained by previous_response_id: one trace for each message of the user', () => {
    const log = importOpenai(file('openai-responses.jsonl'))
    expect(log.traces.map(told)).toEqual([
      ['ok get_orders {"day":"today"}', 'ok get_returns {"day":"today"}', 'ok send_report {"to":"team","orders":12}'],
      [
        'failed refund {"order":7}',
        'ok web_search_call {"action":{"type":"search","query":"refu',
        'denied refund {"order":7,"retry":true}',
      ],
      ['ok list_mail {"box":"in"}', 'denied delete_mail {"box":"in"}', 'failed read_mail {"id":1}'],
      ['failed clipped send_report {"text":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'],
    ])
    expect(log.traces.map(({ tokens, at, outcome }) => [tokens, at, outcome])).toEqual([
      [1_820, '2026-02-02T00:00:09.000Z', 'ok'],
      [2_560, '2026-02-02T00:01:52.000Z', 'ok'],
      [700, '2026-02-02T00:03:30.000Z', 'ok'],
      [1_200, '2026-02-02T00:05:00.000Z', 'failed'],
    ])
    expect(log.traces[0]!.calls.map(({ result }) => result)).toEqual([{ orders: 12 }, { returns: 1 }, 'sent'])
    expect([log.bad, log.unfinished]).toEqual([[], 1])
  })

  it('Chat, every request logged: a turn that grows counts once, when it has an end', () => {
    const log = importOpenai(file('openai-chat.json'))
    expect(log.traces.map(told)).toEqual([
      ['ok get_orders {"day":"today"}', 'ok get_returns {"day":"today"}', 'ok send_report {"to":"team","orders":12}'],
      ['failed apply_patch *** Begin Patch\n*** End Patch'],
    ])
    expect(log.traces.map(({ tokens, at }) => [tokens, at])).toEqual([
      [300, '2026-02-02T00:00:06.000Z'],
      [360, '2026-02-02T00:00:15.000Z'],
    ])
    expect([log.bad, log.unfinished]).toEqual([[], 0])
  })

  it('the same log as lines, or with more of it, gives the same traces', () => {
    const all = JSON.parse(file('openai-chat.json')) as object[]
    const lines = all.map((entry) => JSON.stringify(entry)).join('\n')
    const whole = refs(importOpenai(file('openai-chat.json')).traces)
    expect(refs(importOpenai(lines).traces)).toEqual(whole)
    expect(refs(importOpenai(JSON.stringify(all.slice(0, 3))).traces)).toEqual(whole.slice(0, 1))
    const messages = JSON.stringify({
      messages: [...(all[4] as { messages: object[] }).messages, { role: 'assistant', content: 'It failed.' }],
    })
    expect(refs(importOpenai(messages).traces)).toEqual(whole)
  })

  it('takes bare items and bare messages, one a line, for one conversation', () => {
    const items = [
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
    ]
    const messages = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'seen' },
      { role: 'assistant', content: 'done' },
    ]
    for (const list of [items, messages])
      for (const text of [JSON.stringify(list), list.map((item) => JSON.stringify(item)).join('\n')])
        expect(importOpenai(text).traces.map(told)).toEqual([['ok look {"a":1}']])
  })

  it.each([
    ['{"a":1}\nnonsense', [1, 2]],
    ['7', [1]],
    ['{"messages":[{"role":"tool","content":"x"}]}', [1]],
    ['{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}]}', [1]],
    ['{"output":[{"type":"function_call","name":"f"}]}', [1]],
    [`{"output":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, [1]],
    ['{"messages":[]}', []],
  ])('hostile: %j', (hostile, bad) => {
    const log = importOpenai(hostile)
    expect([log.traces, log.bad.map(({ line }) => line)]).toEqual([[], bad])
  })
})

describe('spans of OpenTelemetry', () => {
  const text = file('otel-spans.json')
  const log = importOtel(text)

  it('have a trace for each agent that nobody called, its calls in the order they began', () => {
    expect(log.traces.map(told)).toEqual([
      [
        'ok get_orders {"day":"today"}',
        'ok get_returns {"day":"today","limit":10,"tags":["a","b',
        'failed send_report {"to":"team"}',
        'denied delete_all {"sure":true}',
        'ok ask_researcher {"question":"why?"}',
      ],
      ['ok clipped send_report {"to": "team", "text": "cut at the attri', 'ok clipped get_orders '],
    ])
    expect([log.bad, log.unfinished, log.ofOthers]).toEqual([[], 0, 1])
  })

  it('know times, results, and what the models used', () => {
    expect(log.traces[0]).toMatchObject({
      startedAt: '2026-02-02T00:00:00.000Z',
      at: '2026-02-02T00:00:03.000Z',
      tokens: 1_000,
      outcome: 'ok',
    })
    expect(log.traces[0]!.calls.map(({ result }) => result)).toEqual([
      { orders: 12 },
      { returns: 1 },
      undefined,
      undefined,
      'because',
    ])
    expect(log.traces[1]).toMatchObject({ tokens: null, at: '2026-02-02T00:00:10.300Z' })
  })

  it('come in exports a line as well, in any order, with the same identity', () => {
    const whole = JSON.parse(text)
    const spans = whole.resourceSpans[0].scopeSpans[0].spans.toReversed() as object[]
    const lines = spans
      .map((span) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }))
      .join('\n')
    expect(refs(importOtel(lines).traces).toSorted()).toEqual(refs(log.traces).toSorted())
  })

  it.each([
    ['{}', [1]],
    ['{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}', [1]],
    [
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b","startTimeUnixNano":"soon","endTimeUnixNano":"1"}]}]}]}',
      [1],
    ],
    ['{"resourceSpans":[]}\n{"broken', [2]],
    ['{"resourceSpans":[null,{"scopeSpans":[7,{"spans":["x"]}]}]}', []],
    [
      '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b","parentSpanId":"b","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}',
      [],
    ],
  ])('hostile: %j', (hostile, bad) => {
    const log = importOtel(hostile)
    expect([log.traces, log.bad.map(({ line }) => line)]).toEqual([[], bad])
  })
})

describe('what is sent', () => {
  const trace = (calls: Imported['calls']): Imported => ({
    line: 3,
    identity: 'x',
    outcome: 'ok',
    tokens: null,
    startedAt: null,
    at: null,
    calls,
  })

  it('fits a body of 1 MB: results are left out first', () => {
    const calls = Array.from({ length: 1_000 }, () => ({
      tool: 't',
      args: 'a'.repeat(500),
      status: 'ok' as const,
      result: 'r'.repeat(2_000),
    }))
    const body = bodyOf(trace(calls), { agent })
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1024 * 1024)
    expect(body.calls[0]).toMatchObject({ args: 'a'.repeat(500), result: '', resultClipped: true })
  })

  it('is refused where it would have to lose more than that', () => {
    const call = { tool: 't', args: 'a'.repeat(2_000), status: 'ok' as const }
    expect(() => bodyOf(trace(Array.from({ length: 1_000 }, () => call)), { agent })).toThrow(Unreadable)
    expect(() => bodyOf(trace(Array.from({ length: 1_001 }, () => ({ ...call, args: 1 }))), { agent })).toThrow(
      '1001 tool calls',
    )
  })

  it('keeps a key named __proto__', () => {
    const call = { tool: 't', args: JSON.parse('{"__proto__":{"a":1}}'), status: 'ok' as const }
    expect(JSON.stringify(bodyOf(trace([call]), { agent }).calls[0]!.args)).toBe('{"__proto__":{"a":1}}')
  })
})
