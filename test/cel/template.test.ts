import { describe, expect, it } from 'vitest'
import { CelInvalid, compileTemplate, type Json } from '../../shared/cel/index.ts'

const names = ['args', 'steps']
const data = { args: { city: 'Oslo', n: 3, deep: { list: [1, 2] } }, steps: [{ output: { rate: 1.08 } }] }

/** `@{` stands for `${`, which looks like a forgotten backtick in a plain text. */
const dollars = (template: Json) => JSON.parse(JSON.stringify(template).replaceAll('@{', '${')) as Json

const compiled = (template: Json) => compileTemplate(dollars(template), names)
const filled = (template: Json) => compiled(template).fill(data)

describe('a template', () => {
  it.each<[Json, Json]>([
    ['@{args.n}', 3],
    ['@{args.deep}', { list: [1, 2] }],
    ['@{steps[0].output.rate > 1}', true],
    [' @{args.n}', ' 3'],
    ['@{args.n}@{args.n}', '33'],
    ['Weather in @{args.city}: @{args.deep}, @{null}', 'Weather in Oslo: {"list":[1,2]}, null'],
    ['no expression, $ and } and $n', 'no expression, $ and } and $n'],
    ['$@{args.n} is @{args.n}', '@{args.n} is 3'],
    ['$$@{args.n}', '$@{args.n}'],
    ['@{ {"a": "}"}.a + \'}\' + "\\"}" }', '}}"}'],
    ["@{'''a'}''' + r'\\d'}", "a'}\\d"],
    ['@{args.n // a comment with } in it\n}', 3],
    ['', ''],
    [
      { url: 'http://127.0.0.1/@{args.city}', body: { n: '@{args.n}', list: ['@{args.deep.list}', 1, null, true] } },
      { url: 'http://127.0.0.1/Oslo', body: { n: 3, list: [[1, 2], 1, null, true] } },
    ],
    [{ '@{args.n}': 'a key is no template' }, { '@{args.n}': 'a key is no template' }],
  ])('%j becomes %j', (template, result) => {
    expect(filled(template)).toEqual(dollars(result))
  })

  it('tells the variables that it uses', () => {
    expect(compiled({ a: '@{args.n}', b: ['@{steps[0]} @{args.n}', 'text'] }).names).toEqual(['args', 'steps'])
    expect(compiled('text').names).toEqual([])
  })

  it.each<[string, Json, string | RegExp]>([
    [
      'an unknown variable',
      '@{secret.key}',
      'in "@{secret.key}": unknown variable "secret" at character 1; it knows args, steps',
    ],
    [
      'an expression without an end',
      'see @{args.n',
      'expected "}" after the expression that starts with "@{args.n"; a literal @{ is written $@{',
    ],
    ['an empty expression', '@{}', 'in "@{}": the expression is empty; one is doc.count > 3'],
    ['quotes that never close', `@{'${"\\'".repeat(100_000)}`, /^expected "}" after the expression/],
    ['101 expressions', Array.from({ length: 101 }, () => '@{args.n}'), /^more than 100 expressions/],
    [
      'long expressions',
      Array.from({ length: 9 }, (_, i) => `@{args.n + ${i}${' '.repeat(2_000)}}`),
      /^more than 100 expressions or 16000/,
    ],
    ['more than 256 KB', 'a'.repeat(262_143), /^the template is larger than 262144 characters/],
    ['1,000 levels', JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`), 'the template is deeper than 64 levels'],
  ])('%s is refused', (_, template, detail) => {
    expect(() => compiled(template)).toThrow(
      expect.objectContaining({
        name: 'CelInvalid',
        detail: typeof detail === 'string' ? dollars(detail) : expect.stringMatching(detail),
      }),
    )
  })

  it('faults when a value is missing, and names it', () => {
    expect(() => filled({ a: ['@{args.nothing}'] })).toThrow(
      expect.objectContaining({ name: 'CelFault', reason: 'missing', detail: 'args.nothing: no key "nothing"' }),
    )
  })

  it('has one budget for all its expressions, and one bound for its result', () => {
    const list = Array.from({ length: 300 }, (_, i) => i)
    expect(compiled(['@{args.list.map(x, x + 1).size()}']).fill({ args: { list } })).toEqual([300])
    const text = 'a'.repeat(60_000)
    expect(() => compiled(Array(99).fill('@{args.list.map(x, x + 1)}')).fill({ args: { list } })).toThrow(
      expect.objectContaining({ reason: 'budget' }),
    )
    expect(() => compiled(Array(5).fill('@{args.text}')).fill({ args: { text } })).toThrow(
      expect.objectContaining({ reason: 'size' }),
    )
  })

  it('takes __proto__ and constructor for keys like others', () => {
    const template = JSON.parse('{"__proto__": "@{args.n}", "constructor": {"a": "@{args.n}"}}') as Json
    const result = filled(template) as object
    expect(JSON.stringify(result)).toBe('{"__proto__":3,"constructor":{"a":3}}')
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
    expect(() => compiled({ a: '@{__proto__}' })).toThrow(CelInvalid)
  })
})
