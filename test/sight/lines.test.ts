import { describe, expect, it } from 'vitest'
import { jsonLog, logFromEnv, textLog } from '../../shared/adapters/lines.ts'
import { faultOf, framesOf, logBeside } from '../../shared/ports/log.ts'

function written(open: typeof jsonLog, level: 'debug' | 'info' | 'warn' | 'error' = 'info', beside = {}) {
  const lines: string[] = []
  const log = open({ write: (line) => lines.push(line), level, beside: () => beside })
  return { log, lines }
}

describe('a line for machines', () => {
  it('is one JSON object with time, level, what and ids, and ends with its line', () => {
    const { log, lines } = written(jsonLog, 'info', { requestId: 'r1' })
    log('warn', 'turn lease ran out', { turn: 'trn_1', session: 'ses_1' })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^\{.*\}\n$/)
    const { timestamp, ...rest } = JSON.parse(lines[0]!)
    expect(rest).toEqual({
      level: 'WARN',
      what: 'turn lease ran out',
      requestId: 'r1',
      turn: 'trn_1',
      session: 'ses_1',
    })
    expect(Date.now() - Date.parse(timestamp)).toBeLessThan(10_000)
  })

  it('keeps its time, level and words, whatever an id is called', () => {
    const { log, lines } = written(jsonLog)
    log('error', 'call failed', { level: 'DEBUG', what: 'nothing', timestamp: 0 })
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'ERROR', what: 'call failed' })
  })

  it('stays one line, whatever it holds', () => {
    const { log, lines } = written(jsonLog)
    log('error', 'call failed', { error: 'a\n{"level":"INFO"}\r\n\u2028b' })
    expect(lines[0]!.trimEnd().split(/[\n\r]/)).toHaveLength(1)
  })
})

describe('a line for people', () => {
  it('puts in quotes what holds blanks, so that no value looks like another name', () => {
    const { log, lines } = written(textLog)
    log('error', 'call failed', { error: 'no\nsuch level=info', run: 'run_1', n: 3 })
    expect(lines[0]).toMatch(/^\d{4}-.*Z error call failed error="no\\nsuch level=info" run=run_1 n=3\n$/)
  })
})

describe('levels', () => {
  it('below the one that was asked for are left out', () => {
    const { log, lines } = written(jsonLog, 'warn')
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log(level, level)
    expect(lines.map((line) => JSON.parse(line).what)).toEqual(['warn', 'error'])
  })

  it('whether debug is kept is known beforehand, also behind a view', () => {
    expect(written(jsonLog, 'info').log.isDebug).toBeUndefined()
    const { log, lines } = written(jsonLog, 'debug')
    const view = logBeside(log, () => ({ request: 'r1' }))
    expect([log.isDebug, view.isDebug]).toEqual([true, true])
    view('debug', 'run fired', { run: 'run_1' })
    expect(JSON.parse(lines[0]!)).toMatchObject({ request: 'r1', run: 'run_1' })
  })

  it('and form are read from the environment; anything else stops the start', () => {
    const lines: string[] = []
    const write = (line: string) => lines.push(line)
    logFromEnv({}, write)('info', 'here')
    logFromEnv({ ROUSE_LOG: 'json', ROUSE_LOG_LEVEL: 'error' }, write)('warn', 'not here')
    logFromEnv({ ROUSE_LOG: 'json', ROUSE_LOG_LEVEL: 'debug' }, write)('debug', 'there')
    expect(lines.map((line) => line.replace(/\d{4}-[^ "]*Z/, 'T'))).toEqual([
      'T info here\n',
      '{"timestamp":"T","level":"DEBUG","what":"there"}\n',
    ])
    expect(() => logFromEnv({ ROUSE_LOG: 'xml' }, write)).toThrow('ROUSE_LOG: expected "text" or "json", got "xml"')
    expect(() => logFromEnv({ ROUSE_LOG_LEVEL: 'loud' }, write)).toThrow('expected debug, info, warn or error')
  })
})

describe('what a fault says of itself', () => {
  it.each<[string, unknown, string]>([
    ['its words', new Error('the store is away'), 'the store is away'],
    ['its name, where it has one', new TypeError('x is no function'), 'TypeError: x is no function'],
    ['no more than 300 characters', new Error('a'.repeat(1000)), 'a'.repeat(300)],
    ['nothing of a text that could not be parsed', parsing('{"prompt": my secret'), 'SyntaxError'],
    ['nothing of what it quotes', new Error("Value 'milk' at 'item' failed"), "Value '…' failed"],
    ['nothing of quotes in quotes', new Error('no "he said "my secret", it\'s mine" here'), 'no "…" here'],
    ['nothing of a quotation that has no end', new Error("no 'prompt of somebody"), "no '…"],
    ['nothing of one that is longer than anybody reads', new Error(`no '${'prompt '.repeat(999)}'`), "no '…"],
    [
      'a name that it quotes',
      new TypeError("cannot read (reading 'slice')"),
      "TypeError: cannot read (reading 'slice')",
    ],
    ['all of its words, where an apostrophe is no quote', new Error("it can't, it isn't"), "it can't, it isn't"],
    ['nothing of what was thrown and is no fault', { prompt: 'secret' }, 'unknown fault'],
  ])('is %s', (_, error, said) => {
    expect(faultOf(error)).toEqual({ error: said })
  })

  it('is short, whatever it holds, and does not take the time of the whole text', () => {
    // Looked through as a whole, these took minutes: the limit of the test ends such a look.
    for (const part of ['"', '\'a"', '“a', `"${'a'.repeat(23)}`])
      expect(faultOf(new Error(part.repeat(50_000))).error.length).toBeLessThanOrEqual(2000)
  })

  it('where it arose are frames, and nothing of its message', () => {
    const { at } = framesOf(new Error('my secret\n    at night'))
    expect(at).toContain('lines.test.ts')
    expect(at).not.toMatch(/my secret|at night/)
    expect(framesOf('no fault')).toEqual({})
  })
})

function parsing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error
  }
}
