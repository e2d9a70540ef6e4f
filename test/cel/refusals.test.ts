import { describe, expect, it } from 'vitest'
import { CelFault, CelInvalid, compileCel, holds } from '../../shared/cel/index.ts'

const names = ['doc', 'before', 'now']

describe('an expression that cannot work is refused when it is compiled', () => {
  it.each([
    ['docs.n > 1', 'unknown variable "docs" at character 1; it knows doc, before, now'],
    ['doc.n >\n docs.n', 'unknown variable "docs" at line 2, character 2; it knows doc, before, now'],
    ['google', 'unknown variable "google" at character 1; it knows doc, before, now'],
    ['doc.n >', 'expected an expression or an operator at character 8, but the expression ends'],
    ['(doc.n', 'expected ")" at character 7, but the expression ends'],
    ['doc.n = 1', 'expected an expression or an operator at character 7, but got "="; write =='],
    ['"abc', 'unterminated string at character 1'],
    ['1 + "a"', 'int + string does not go together at character 1'],
    ['1 == "a"', 'int == string: the two are never equal at character 1'],
    ['"a" && true', '&& takes true or false, got string at character 1'],
    ['1u + 2u', 'unsigned integers are not known: write the number without u at character 1'],
    ['9223372036854775808', 'a whole number of more than 64 bits at character 1'],
    [
      'duration("1 hour")',
      'duration() takes text such as 90s, 15m or 1h30m (a day is 24h), got "1 hour" at character 1',
    ],
    [
      'now > timestamp("tomorrow")',
      'timestamp() takes RFC 3339 text such as 2026-11-30T09:00:00Z, got "tomorrow" at character 7',
    ],
    ['now > timestamp("2026-02-30T00:00:00Z")', /timestamp\(\) takes RFC 3339 text/],
    ['doc.s.matches("(a")', 'RE2 does not take the regular expression "(a": missing closing ): `(a` at character 1'],
    ['doc.s.matches("(?=a)b")', /RE2 does not take the regular expression "\(\?=a\)b"/],
    ['fetch("http://localhost")', /^unknown function "fetch" at character 1; functions are size, int, /],
    ['doc.constructor("return 1")', /^unknown function "constructor" at character 1; .*methods are startsWith, /],
    ['startsWith("a")', 'unknown function "startsWith" at character 1; it is called behind a value: x.startsWith(…)'],
    ['doc.n.int()', 'unknown function "int" at character 1; it is called before a value: int(x)'],
    ['size(doc.a, doc.b)', 'size() takes 1 argument, got 2, at character 1'],
    ['doc.s.substring()', 'substring() takes 1 or 2 arguments, got 0, at character 1'],
    ['timestamp(doc.at) > "2026-11-30T00:00:00Z"', 'timestamp > string does not go together at character 1'],
    ['doc.list.size() == "3"', 'int == string: the two are never equal at character 1'],
    ['doc.list.all(x, x.size())', 'all() asks for true or false, got int at character 1'],
    ['doc.s.trim() ? 1 : 2', '? takes true or false, got string at character 1'],
    ['!size(doc.s)', '! takes true or false, got int at character 1'],
    ['size(doc.s).map(x, x)', 'map() goes over a list or a map, got int at character 1'],
    ['size(doc.s).orValue(1)', 'orValue() takes an optional, as .?name gives one, got int at character 1'],
    ['1 / 0 > doc.n', 'division by zero at character 1'],
    ['{"a": 1}.b', '{"a": 1}.b: no key "b" at character 1'],
    ['has(doc)', 'has() takes a key of something, as in has(doc.name), at character 1'],
    [
      'doc.list.all(1, true)',
      'a name for the element is expected at character 14, as in doc.items.exists(item, item.done)',
    ],
    ['', 'the expression is empty; one is doc.count > 3'],
  ])('%s', (text, detail) => {
    expect(() => compileCel(text, names)).toThrow(
      expect.objectContaining({
        name: 'CelInvalid',
        detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      }),
    )
  })
})

describe('data that do not fit are a fault when it is evaluated', () => {
  it.each([
    ['doc.s + 1', 'type', 'string + int does not go together'],
    ['doc.n < doc.s', 'type', 'number < string does not go together'],
    ['doc.n && true', 'type', '&& takes true or false, got number'],
    ['doc.n ? 1 : 2', 'type', '? takes true or false, got number'],
    ['doc.s.first', 'type', 'doc.s.first: a string has no keys'],
    ['doc.list["0"]', 'type', 'doc.list["0"]: a list is asked for a position, got string'],
    ['1 in doc.s', 'type', 'in looks into a list or a map, got string'],
    ['doc.n.all(x, true)', 'type', 'all() goes over a list or a map, got number'],
    ['doc.list.join()', 'type', 'join() joins texts, got number; map(x, string(x)) makes them texts'],
    ['doc.n.contains("a")', 'type', 'contains() takes text, got number'],
    ['1 / doc.zero', 'other', 'division by zero'],
    ['doc.n % 0', 'other', 'division by zero'],
    ['9223372036854775807 + int(doc.n)', 'other', 'a whole number of more than 64 bits'],
    ['double(doc.s)', 'other', 'double() takes a number as text, got "text"'],
    ['int(doc.s)', 'other', 'int() takes a whole number as text, got "text"'],
    ['doc.s.matches(doc.pattern)', 'other', 'RE2 does not take the regular expression "(": missing closing ): `(`'],
    ['now.getHours(doc.s)', 'other', 'no time zone "text"; one is Europe/Amsterdam'],
    ['now + duration("87000000h")', 'other', 'a timestamp outside the years 1 to 9999'],
    ['doc.huge * doc.huge', 'other', 'the result Infinity is no JSON number'],
    ['{"a": 1, doc.key: 2}', 'other', '"a" is twice a key in {"a": 1, doc.key: 2}'],
    ['doc.s.substring(5)', 'other', 'substring() at 5: the text has 4 characters'],
  ])('%s', (text, reason, detail) => {
    const doc = { n: 3, zero: 0, s: 'text', key: 'a', list: [1, 2], pattern: '(', huge: 1e200 }
    const data = { doc, now: new Date('2026-11-30T09:00:00Z') }
    expect(() => compileCel(text, names).evaluate(data)).toThrow(
      expect.objectContaining({ name: 'CelFault', reason, detail }),
    )
  })

  it('a condition that gives no bool is a fault, not a false', () => {
    expect(holds(compileCel('doc.n > 2', names), { doc: { n: 3 } })).toBe(true)
    expect(() => holds(compileCel('doc.n', names), { doc: { n: 3 } })).toThrow(
      expect.objectContaining({ reason: 'type', detail: 'a condition gives true or false; this one gave number' }),
    )
  })

  it('what is no JSON and no date is no data', () => {
    const program = compileCel('doc == 1', names)
    for (const doc of [
      () => 1,
      Symbol('a'),
      1n,
      new Map(),
      Number.NaN,
      [undefined],
      { a: new Uint8Array(1) },
      new Date(Number.NaN),
    ])
      expect(() => program.evaluate({ doc })).toThrow(expect.objectContaining({ name: 'CelFault', reason: 'type' }))
  })
})

describe('results are JSON', () => {
  it('whole numbers beyond 2^53 come back as text', () => {
    const value = (text: string) => compileCel(text, names).evaluate({})
    expect(value('9007199254740991')).toBe(9007199254740991)
    expect(value('9007199254740992')).toBe('9007199254740992')
    expect(value('-9223372036854775808')).toBe('-9223372036854775808')
  })

  it('a program is compiled once for a text and its variables', () => {
    expect(compileCel('doc.n > 41', names)).toBe(compileCel('doc.n > 41', [...names]))
    expect(compileCel('doc.n > 41', ['doc'])).not.toBe(compileCel('doc.n > 41', names))
  })
})

describe('prototypes are out of reach', () => {
  const paths = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'prototype']

  it.each(paths)('doc.%s is a missing key', (key) => {
    const of = (text: string) => compileCel(text, names).evaluate({ doc: { list: [1], s: 'a' }, now: new Date(0) })
    expect(() => of(`doc.${key}`)).toThrow(expect.objectContaining({ reason: 'missing' }))
    expect(() => of(`doc["${key}"]`)).toThrow(expect.objectContaining({ reason: 'missing' }))
    expect(() => of(`{"a": doc}.${key}`)).toThrow(expect.objectContaining({ reason: 'missing' }))
    for (const from of ['doc.list', 'doc.s', 'now']) expect(() => of(`${from}.${key}`)).toThrow(CelFault)
    expect(of(`"${key}" in doc || has(doc.${key}) || doc.?${key}.hasValue()`)).toBe(false)
    expect(() => compileCel(key, names)).toThrow(CelInvalid)
  })

  it.each(paths)('%s as a key of the data is a key like others', (key) => {
    const doc: unknown = JSON.parse(`{"${key}": {"polluted": 1}}`)
    const of = (text: string) => compileCel(text, names).evaluate({ doc })
    expect(
      of(`doc.${key}.polluted == 1 && "${key}" in doc && has(doc.${key}) && doc == {"${key}": {"polluted": 1.0}}`),
    ).toBe(true)
    const copy = of('doc') as object
    expect(Object.keys(copy)).toEqual([key])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(JSON.stringify(of(`{"${key}": doc.${key}}`))).toBe(JSON.stringify(doc))
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('a variable is looked up among the own keys of the data only', () => {
    const program = compileCel('toString', ['toString'])
    expect(() => program.evaluate({})).toThrow(expect.objectContaining({ reason: 'missing' }))
    expect(program.evaluate({ toString: 1 })).toBe(1)
  })
})
