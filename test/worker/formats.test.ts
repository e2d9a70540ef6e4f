import { describe, expect, test } from 'vitest'
import { type Format, readingOf, type Said } from '../../apps/worker/format.ts'
import { CallLog, type ToolCall } from '../../apps/worker/tool-calls.ts'
import { claude, codex } from './transcripts.ts'

/** Reads a transcript as it would come through a pipe, in pieces that heed neither lines nor characters. */
function read(format: Exclude<Format, 'text'>, text: string): Said & { calls: readonly ToolCall[]; stops: string[] } {
  const stops: string[] = []
  const log = new CallLog({ stop: (summary) => stops.push(summary) })
  const reading = readingOf(format, log)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 97) reading.add(bytes.subarray(at, at + 97))
  return { ...reading.end(), calls: log.report(1_000_000), stops }
}

describe('--format claude', () => {
  test('the answer is the result, with what it cost and all tokens that the model read and wrote', () => {
    expect(read('claude', claude.works)).toMatchObject({
      answer: 'Two mails, none urgent.',
      failure: null,
      tokens: 1_200,
      usd: 0.0421,
    })
  })

  test('tool calls are paired with their results; failed and denied ones are told apart', () => {
    expect(read('claude', claude.works).calls).toEqual([
      { tool: 'Bash', args: { command: 'ls mail', description: 'List mail' }, status: 'ok', result: 'a.txt\nb.txt' },
      {
        tool: 'Bash',
        args: { command: 'cat mail/c.txt' },
        status: 'failed',
        result: 'Exit code 1\ncat: mail/c.txt: No such file or directory',
      },
      {
        tool: 'Write',
        args: { file_path: '/home/agent/brief.md', content: 'Brief' },
        status: 'denied',
        result: expect.stringContaining("haven't granted it yet"),
      },
      { tool: 'Read', args: { file_path: 'mail/a.txt' }, status: 'ok', result: 'Dear all\n[image]' },
    ])
  })

  test('an empty result is an empty answer', () => {
    expect(read('claude', claude.quiet)).toMatchObject({ answer: '', failure: null })
  })

  test.each([
    ['a refusal of the API, which calls itself a success', claude.apiError, 'error: API Error: 529 overloaded', false],
    [
      'an error while it ran, which says that it is none',
      claude.crashed,
      'error_during_execution: Request was aborted.',
      false,
    ],
    ['a limit of its own', claude.maxTurns, 'error_max_turns', true],
  ])('%s is a failure', (_, text, failure, isLimit) => {
    expect(read('claude', text)).toMatchObject({ answer: null, failure, isLimit })
  })

  test('cut off, it still tells what it called and used', () => {
    const { answer, tokens, calls } = read('claude', claude.cutOff)
    expect([answer, tokens]).toEqual([null, 1_133 + 1_115])
    expect(calls.map(({ args, status }) => [args, status])).toEqual([
      [{ command: 'make' }, 'failed'],
      [{ command: 'make test' }, 'failed'],
    ])
  })

  test('S4-2 five looks in a row that see the same are a stall, four are not', () => {
    expect(read('claude', claude.polls(4)).stops).toEqual([])
    expect(read('claude', claude.polls(5)).stops).toEqual([expect.stringMatching(/^stalled: the tool "Bash".*monitor/)])
  })

  test('lines that are no events, or none that it knows, are passed over', () => {
    const noise = 'npm warn\n[]\n"x"\nnull\n{"type":"stream_event","event":{}}\n{"type":"assistant"}\n\n'
    expect(read('claude', noise + claude.works + noise).answer).toBe('Two mails, none urgent.')
  })

  test('an event that comes twice is one call', () => {
    const twice = claude.works.replace(/^.*"tool_use".*$/gm, '$&\n$&')
    expect(read('claude', twice).calls).toHaveLength(4)
  })

  test('a result without a line break at its end is read, and a single JSON object is, too', () => {
    expect(read('claude', claude.works.trimEnd()).answer).toBe('Two mails, none urgent.')
    const only = '{"type":"result","subtype":"success","is_error":false,"result":"Hi"}'
    expect(read('claude', only)).toMatchObject({ answer: 'Hi', tokens: null, usd: null })
  })
})

describe('--format codex', () => {
  test('the answer is the last message, with all tokens; what it cost is not told', () => {
    expect(read('codex', codex.works)).toMatchObject({
      answer: 'One mail, none urgent.',
      failure: null,
      tokens: 24_885,
      usd: null,
    })
  })

  test('tool calls are its items; failed and declined ones are told apart', () => {
    expect(read('codex', codex.works).calls).toEqual([
      {
        tool: 'command_execution',
        args: { command: "bash -lc 'ls mail'" },
        status: 'ok',
        result: { exitCode: 0, output: 'a.txt\n' },
      },
      {
        tool: 'command_execution',
        args: { command: "bash -lc 'cat c.txt'" },
        status: 'failed',
        result: { exitCode: 1, output: 'cat: c.txt: No such file' },
      },
      {
        tool: 'command_execution',
        args: { command: "bash -lc 'rm -rf mail'" },
        status: 'denied',
        result: { exitCode: null, output: '' },
      },
      {
        tool: 'file_change',
        args: { changes: [{ path: 'brief.md', kind: 'add' }] },
        status: 'ok',
        result: 'completed',
      },
      {
        tool: 'mcp__mail__send',
        args: { to: 'a@example.com' },
        status: 'failed',
        result: 'user cancelled MCP tool call',
      },
      { tool: 'web_search', args: { query: 'weather Utrecht' }, status: 'ok' },
    ])
  })

  test('a turn that failed says why', () => {
    expect(read('codex', codex.failed)).toMatchObject({ answer: null, failure: "You've hit your usage limit." })
  })

  test('an error that it got over is none', () => {
    expect(read('codex', codex.reconnected)).toMatchObject({ answer: 'Back.', failure: null, tokens: 12 })
  })
})

describe('what a turn called', () => {
  const log = () => new CallLog({ stop: () => {} })
  const call = (of: CallLog, tool: string, args: unknown, result?: unknown) => of.begin(tool, args).end('ok', result)

  test('is cut at 4,000 characters of arguments or result, with a mark', () => {
    const one = log()
    call(one, 'Read', { path: 'x'.repeat(5_000) }, 'y'.repeat(4_001))
    call(one, 'Read', { path: 'a' }, 'y'.repeat(4_000))
    const [first, second] = one.report(1_000_000)
    expect(first).toMatchObject({
      args: `${`{"path":"${'x'.repeat(5_000)}`.slice(0, 4_000)}… [clipped]`,
      result: `${'y'.repeat(4_000)}… [clipped]`,
    })
    expect(second).toMatchObject({ args: { path: 'a' }, result: 'y'.repeat(4_000) })
  })

  test('is at most 1,000 calls, the first ones', () => {
    const many = log()
    for (let n = 0; n < 1_100; n += 1) call(many, `t${n}`, {})
    expect([many.report(1_000_000).length, many.report(1_000_000).at(-1)?.tool]).toEqual([1_000, 't999'])
  })

  test('has room in one end: results give way first, then arguments, from the last on; no call does', () => {
    const large = log()
    for (let n = 0; n < 10; n += 1) call(large, 'Read', { path: `${n}`.repeat(1_000) }, 'y'.repeat(1_000))
    const some = large.report(15_000)
    expect(Buffer.byteLength(JSON.stringify(some))).toBeLessThanOrEqual(15_001)
    expect(some.map(({ result }) => result !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
    const few = large.report(3_000)
    expect(few.map(({ args }) => typeof args)).toEqual(['object', 'object', ...Array(8).fill('string')])
  })

  test.each<[string, (of: CallLog, n: number) => void]>([
    ['other arguments', (of, n) => call(of, 'Read', { n }, 'same')],
    ['other results', (of, n) => call(of, 'Read', {}, n)],
    ['another call in between', (of, n) => call(of, n % 3 === 0 ? 'Write' : 'Read', {}, 'same')],
    ['results that nobody knows', (of) => call(of, 'Read', {})],
    ['ends that differ', (of, n) => of.begin('Read', {}).end(n % 2 === 0 ? 'ok' : 'failed', 'same')],
  ])('%s are no stall, however often', (_, make) => {
    const stops: string[] = []
    const one = new CallLog({ stop: (summary) => stops.push(summary) })
    for (let n = 0; n < 20; n += 1) make(one, n)
    expect(stops).toEqual([])
  })
})
