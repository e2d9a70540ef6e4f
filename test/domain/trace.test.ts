import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, nestsDeeper } from '../../shared/domain/canonical.ts'
import { limits } from '../../shared/domain/limits.ts'
import { counted, recentOf, totalsOf } from '../../shared/domain/repeated.ts'
import { bytesOf, dirtOf, fitted, pieces, type Reported, recorded } from '../../shared/domain/trace.ts'

const bytes = (text: string): number => Buffer.byteLength(text)
const day = 86_400_000

describe('canonical JSON', () => {
  it('RFC 8785 3.2.3: keys in the order of their UTF-16 units', () => {
    const { text } = canonicalJson({
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      '1': 4,
      '\u{1f600}': 5,
      '\u0080': 6,
      '\u00f6': 7,
    })
    expect(text).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  it('RFC 8785 3.2.2: numbers and texts as ECMAScript writes them', () => {
    const sent = '[333333333.33333329, 4.50, 2e-3, -0, "\\u20ac$\\u000F\\u000aA\'\\u0042\\"\\/"]'
    expect(canonicalJson(JSON.parse(sent)).text).toBe('[333333333.3333333,4.5,0.002,0,"€$\\u000f\\nA\'B\\"/"]')
  })

  it('keeps a key named __proto__, which says as much as any other', () => {
    const sent = '{"a":1,"__proto__":{"b":2}}'
    expect(canonicalJson(JSON.parse(sent)).text).toBe('{"__proto__":{"b":2},"a":1}')
  })

  it('knows of numbers whose digits were lost on the way', () => {
    expect(canonicalJson(JSON.parse('{"id":9007199254740991}')).exact).toBe(true)
    expect(canonicalJson(JSON.parse('{"id":[9007199254740993]}')).exact).toBe(false)
  })

  it('is the same for the same value and another for another', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [one, two] = [a, b].map((value) => JSON.parse(JSON.stringify(value)))
        expect(JSON.parse(canonicalJson(one).text)).toEqual(one)
        expect(canonicalJson(JSON.parse(JSON.stringify(one, null, 2))).text).toBe(canonicalJson(one).text)
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(two))
        expect(canonicalJson(one).text === canonicalJson(two).text).toBe(isSame)
      }),
    )
  })

  it('measures depth without running out of stack', () => {
    const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    expect([nestsDeeper(deep(100), 100), nestsDeeper(deep(101), 100)]).toEqual([false, true])
    expect(nestsDeeper(deep(400_000), 100)).toBe(true)
    expect(nestsDeeper('text', 0)).toBe(false)
  })
})

/** Another way to the same order: rebuilt objects. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)])
    .concat([['{}', null]])
}

const call = (over: Partial<Reported> = {}): Reported => ({ tool: 'http', args: { a: 1 }, status: 'ok', ...over })

describe('a tool call as it is written down', () => {
  it('is kept whole when it is short, in one form', () => {
    expect(recorded(call({ args: { b: 2, a: 1 }, result: { ok: true } }))).toEqual({
      tool: 'http',
      args: '{"a":1,"b":2}',
      status: 'ok',
      result: '{"ok":true}',
      argsClipped: false,
      resultClipped: false,
    })
    expect(recorded(call()).result).toBeNull()
    expect(recorded(call({ result: null })).result).toBe('null')
  })

  it('is cut at 4,000 bytes of UTF-8, never inside a character, and says which part was cut', () => {
    for (const character of ['x', 'é', '€', '😀', '"']) {
      const long = recorded(call({ args: character.repeat(4_000), result: 'short' }))
      expect([long.argsClipped, long.resultClipped]).toEqual([true, false])
      expect(bytes(long.args)).toBeLessThanOrEqual(limits.toolCallBytesMax)
      expect(bytes(long.args)).toBeGreaterThan(limits.toolCallBytesMax - 4)
      expect(long.args.isWellFormed()).toBe(true)
    }
    const whole = recorded(call({ args: 'x'.repeat(limits.toolCallBytesMax - 2), result: ['€'.repeat(2_000)] }))
    expect([whole.argsClipped, whole.resultClipped]).toEqual([false, true])
  })

  it('counts arguments with lost digits as not known in full', () => {
    expect(recorded(call({ args: JSON.parse('{"user":9007199254740993}') })).argsClipped).toBe(true)
    expect(recorded(call({ result: JSON.parse('9007199254740993') })).resultClipped).toBe(false)
  })

  it('takes over what was clipped before it came here, whatever it was cut through', () => {
    expect(recorded(call({ args: '{"path":"\ud83d', argsClipped: true }))).toMatchObject({
      args: '{"path":"\ufffd',
      argsClipped: true,
    })
    expect(recorded(call({ result: 'the begin', resultClipped: true }))).toMatchObject({
      result: 'the begin',
      argsClipped: false,
      resultClipped: true,
    })
  })

  it('holds what it says about its size as it is stored', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.jsonValue(), (tool, args) => {
        const kept = recorded({
          tool: tool.toWellFormed(),
          args: JSON.parse(JSON.stringify(args)),
          status: 'denied',
          result: tool.toWellFormed(),
        })
        expect(bytes(JSON.stringify(kept)) + 1).toBeLessThanOrEqual(bytesOf(kept))
      }),
    )
  })
})

describe('the calls of one trace', () => {
  const many = Array.from({ length: 1_000 }, (_, i) =>
    recorded(call({ args: 'x'.repeat(2_000), result: 'y'.repeat(2_000 + (i % 7)) })),
  )

  it('lose results before arguments, both from the end, and keep tool and status', () => {
    const kept = fitted(many, 3_000_000)
    expect(kept.every(({ argsClipped }) => !argsClipped)).toBe(true)
    expect([kept[0]!.resultClipped, kept.at(-1)]).toEqual([
      false,
      { ...many.at(-1), result: null, resultClipped: true },
    ])
    const less = fitted(many, 1_000_000)
    expect(less).toHaveLength(1_000)
    expect([less[0]!.argsClipped, less.at(-1)]).toEqual([
      false,
      { tool: 'http', status: 'ok', args: '', result: null, argsClipped: true, resultClipped: true },
    ])
    for (const [list, max] of [
      [kept, 3_000_000],
      [less, 1_000_000],
    ] as const)
      expect(bytes(JSON.stringify(list))).toBeLessThanOrEqual(max)
  })

  it('are left alone where there is room', () => {
    expect(fitted(many, 5_000_000)).toEqual(many)
  })

  it('are fewer where not even their tools fit, and the last one says so', () => {
    const kept = fitted(many, 50_000)
    expect(kept.length).toBeGreaterThan(300)
    expect(kept.length).toBeLessThan(1_000)
    expect([kept.at(-1)!.argsClipped, dirtOf({ outcome: 'ok' }, kept)?.why]).toEqual([true, 'clipped'])
    expect(fitted(many, -5)).toEqual([])
  })

  it('go into items that hold them', () => {
    const chunks = pieces(many, bytesOf, limits.traceChunkBytesMax)
    expect(chunks.flat()).toEqual(many)
    for (const chunk of chunks) expect(bytes(JSON.stringify(chunk))).toBeLessThanOrEqual(limits.traceChunkBytesMax)
    expect(pieces([], bytesOf, 10)).toEqual([])
    expect(pieces([1, 2], () => 100, 10)).toEqual([[1], [2]])
  })
})

describe('what is not clean', () => {
  const ok = recorded(call())
  it.each([
    ['nothing', 'ok', [ok, ok], null],
    ['a result that was cut is nothing', 'ok', [{ ...ok, resultClipped: true }], null],
    [
      'a denied call before a failed one, wherever it stands',
      'ok',
      [
        { ...ok, status: 'failed' },
        { ...ok, status: 'denied' },
      ],
      { why: 'denied', step: 2 },
    ],
    [
      'a failed call before clipped arguments',
      'ok',
      [
        { ...ok, argsClipped: true },
        { ...ok, status: 'failed' },
      ],
      { why: 'failed', step: 2 },
    ],
    ['clipped arguments', 'failed', [ok, { ...ok, argsClipped: true }], { why: 'clipped', step: 2 }],
    ['the end of it all', 'blocked', [ok], { why: 'outcome', step: null }],
    ['an end that nobody saw', 'unknown', [ok], { why: 'outcome', step: null }],
  ] as const)('%s', (_title, outcome, calls, dirt) => {
    expect(dirtOf({ outcome }, calls)).toEqual(dirt)
  })
})

describe('how often the same was done', () => {
  const came = (at: number, id = `trc_${at}`, tokens: number | null = 100) => ({
    id,
    agent: 'agt_1',
    tokens,
    usd: 0.5,
    storedAt: at,
  })

  it('is counted by the day, with what it cost', () => {
    let row = counted(null, came(0), 'f')
    row = counted(row, came(10), 'f')
    row = counted(row, came(2 * day, 'trc_z', null), 'f')
    expect(row.days).toEqual({ '0': [2, 200, 1], '2': [1, 0, 0.5] })
    expect(totalsOf(row, 2 * day)).toEqual({ traces: 3, tokens: 200, usd: 1.5 })
    expect(row.recent.map(([id]) => id)).toEqual(['trc_z', 'trc_10', 'trc_0'])
  })

  it('forgets what has gone by its retention, to the day', () => {
    const row = counted(counted(null, came(0), 'f'), came(5 * day), 'f')
    expect(totalsOf(row, limits.traceMs + day - 1).traces).toBe(2)
    expect(totalsOf(row, limits.traceMs + day).traces).toBe(1)
    expect(recentOf(row, limits.traceMs).map(([id]) => id)).toEqual([`trc_${5 * day}`])
    const later = counted(row, came(40 * day), 'f')
    expect(Object.keys(later.days)).toEqual(['40'])
    expect(later.recent).toHaveLength(1)
  })

  it('stays small however often it happens', () => {
    let row = counted(null, came(0), 'f')
    for (let at = 0; at < 60 * day; at += 3_600_000) row = counted(row, came(at), 'f')
    expect(row.recent).toHaveLength(limits.repeatedTracesMax)
    expect(Object.keys(row.days).length).toBeLessThanOrEqual(32)
  })
})
