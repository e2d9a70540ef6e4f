import { describe, expect, it } from 'vitest'
import { compileCel } from '../../shared/cel/index.ts'

const names = ['doc', 'before', 'now']
const doc = {
  n: 7,
  price: 2.5,
  zero: 0,
  i: 1,
  name: 'Zoë 😀 line',
  at: '2026-11-30T07:30:00Z',
  list: ['x', 'y', 'z'],
  numbers: [1, 2, 3.5],
  items: [{ tag: 'a', done: true }, { tag: 'b' }, { done: false }],
  inner: { deep: { value: null } },
}
const now = new Date('2026-11-30T09:00:00Z')

const value = (text: string) => compileCel(text, names).evaluate({ doc, before: null, now })

function table(cases: [text: string, result: unknown][]): void {
  it.each(cases)('%s gives %j', (text, result) => {
    expect(value(text)).toEqual(result)
  })
}

describe('JSON numbers are numbers', () => {
  table([
    ['doc.n == 7', true],
    ['doc.n == 7.0', true],
    ['doc.n > 6 && doc.n < 7.5', true],
    ['doc.n + 1', 8],
    ['doc.n - 0.5', 6.5],
    ['doc.price * 2', 5],
    ['doc.n / 2', 3.5],
    ['doc.n % 2', 1],
    ['doc.list.size() + doc.n', 10],
    ['size(doc.list) * 0.5', 1.5],
    ['size(doc.list) == 3.0', true],
    ['7 / 2', 3],
    ['-doc.n', -7],
    ['doc.list[doc.i]', 'y'],
    ['{1: "one"}[doc.i]', 'one'],
    ['doc.n in [7, 8]', true],
    ['1 in doc.numbers', true],
    ['doc.numbers == [1, 2, 3.5]', true],
    ['doc.name.substring(doc.i, 3)', 'oë'],
    ['string(doc.n) + string(doc.price)', '72.5'],
    ['int(doc.price)', 2],
    ['doc.zero * -1', 0],
  ])
})

describe('what conditions are made of', () => {
  table([
    ['doc.list.exists(x, x == "z")', true],
    ['doc.list.all(x, x.size() == 1)', true],
    ['doc.list.exists_one(x, x > "x")', false],
    ['doc.list.filter(x, x != "y")', ['x', 'z']],
    ['doc.numbers.map(x, x * 2)', [2, 4, 7]],
    ['doc.numbers.map(x, x > 1, x * 2)', [4, 7]],
    ['doc.inner.map(key, key)', ['deep']],
    ['doc.list.map(x, doc.list.filter(y, y < x).size())', [0, 1, 2]],
    ['cel.bind(total, doc.n + 1, total * total)', 64],
    ['doc.n > 5 ? "high" : "low"', 'high'],
    ['doc.n > 5 ? 1 : 0.5', 1],
    ['doc.n > 9 ? "high" : null', null],
    ['"ë" in ["ë"] && "deep" in doc.inner', true],
    ['doc.inner.deep.value == null', true],
    ['[1, "two", null]', [1, 'two', null]],
    ['{"a": doc.n, "b": {"c": true}}', { a: 7, b: { c: true } }],
    ['[1] + doc.list', [1, 'x', 'y', 'z']],
    ['type(doc.n) == double && type(1) == int && type(null) == null_type', true],
    ['1 == doc.name', false],
    ['before == null', true],
  ])
})

describe('texts', () => {
  table([
    ['doc.name.size()', 10],
    ['doc.name.startsWith("Zo") && doc.name.endsWith("line") && doc.name.contains("😀")', true],
    ['doc.name.matches("^Zo.\\\\s")', true],
    ['matches(doc.name, "(?i)LINE$")', true],
    ['doc.name.indexOf("line")', 6],
    ['doc.name.indexOf("e", 7)', 9],
    ['doc.name.lastIndexOf("nothing")', -1],
    ['doc.name.substring(4, 5)', '😀'],
    ['"a,b,c".split(",")', ['a', 'b', 'c']],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['doc.list.join("-")', 'x-y-z'],
    ['" Ab ".trim().lowerAscii() + "é".upperAscii()', 'abé'],
    ['int("3") + int("-4")', -1],
    ['double("2.5") + 1', 3.5],
    ['bool("true")', true],
    ['string(1 == 1)', 'true'],
    ['r"a\\b" == "a\\\\b"', true],
    ['b"ab" + bytes("c")', 'YWJj'],
    ['string(bytes("é"))', 'é'],
    ['bytes("ab").hex()', '6162'],
  ])
})

describe('time', () => {
  table([
    ['now - timestamp(doc.at) > duration("1h")', true],
    ['now - timestamp(doc.at)', '5400s'],
    ['timestamp("2026-11-30T10:00:00+01:00") == now', true],
    ['timestamp(doc.at) + duration("1h30m") == now', true],
    ['now', '2026-11-30T09:00:00.000Z'],
    ['string(now)', '2026-11-30T09:00:00.000Z'],
    ['int(now)', 1796029200],
    ['timestamp(1796029200) == now', true],
    ['duration("1.5s") + duration("500ms") == duration("2s")', true],
    ['-1 * duration("90m").getMinutes()', -90],
    ['string(duration("-1500ms"))', '-1.5s'],
    ['now.getHours()', 9],
    ['now.getHours("Europe/Amsterdam")', 10],
    ['now.getDayOfWeek("America/New_York")', 1],
    ['now.getFullYear() * 10000 + (now.getMonth() + 1) * 100 + now.getDate()', 20261130],
    ['now.getDayOfYear()', 333],
  ])
})

describe('keys that may be missing', () => {
  table([
    ['has(doc.n)', true],
    ['has(doc.nothing)', false],
    ['has(doc.inner.deep.value)', true],
    ['has(doc.items[0].tag)', true],
    ['has(doc.items[2].tag)', false],
    ['has(before.n)', false],
    ['doc.?nothing.orValue(3)', 3],
    ['doc.items[?9].?tag.orValue("none")', 'none'],
    ['doc.?n.hasValue()', true],
    ['doc.nothing == 1 || doc.n == 7', true],
    ['doc.n == 7 || doc.nothing == 1', true],
    ['doc.nothing == 1 && false', false],
    ['doc.items.exists(item, item.tag == "b")', true],
    ['doc.items.all(item, item.done)', false],
  ])

  it.each([
    ['doc.nothing', 'doc.nothing: no key "nothing"'],
    ['doc.nothing.deeper', 'doc.nothing: no key "nothing"'],
    ['doc.nothing == 1 || false', 'doc.nothing: no key "nothing"'],
    ['doc.list[3]', 'doc.list[3]: no element at 3, the list has 3'],
    ['before.n', 'before.n: null has no keys'],
    ['doc.items.exists(item, item.tag == "c")', 'item.tag: no key "tag"'],
  ])('%s is missing, and says what', (text, detail) => {
    expect(() => value(text)).toThrow(expect.objectContaining({ name: 'CelFault', reason: 'missing', detail }))
  })

  it('a variable that has no value is missing, and one that is not looked at is not missed', () => {
    const program = compileCel('doc.n == 7 || before.n == 1', names)
    expect(program.names).toEqual(['doc', 'before'])
    expect(program.evaluate({ doc })).toBe(true)
    expect(() => program.evaluate({ doc: { n: 1 }, before: undefined })).toThrow(
      expect.objectContaining({ reason: 'missing', detail: 'before has no value' }),
    )
  })
})
