import { describe, expect, it } from 'vitest'
import { bounds } from '../../shared/cel/bounds.ts'
import { CelInvalid, compileCel, type FaultReason } from '../../shared/cel/index.ts'
import { compiled } from '../../shared/cel/program.ts'
import { Steps } from '../../shared/cel/steps.ts'

const names = ['doc', 'before', 'now']
const list = (length: number) => Array.from({ length }, (_, i) => i)

describe('an expression that is too large is refused before it is evaluated', () => {
  const chain = (term: string, op: string, n: number) => Array.from({ length: n }, () => term).join(op)

  it.each<[string, string]>([
    ['100,000 parentheses', '('.repeat(100_000)],
    ['4,000 parentheses', '('.repeat(bounds.textCharsMax)],
    ['parentheses that are closed', `${'('.repeat(1_999)}1${')'.repeat(1_999)}`],
    ['4,000 times not', '!'.repeat(bounds.textCharsMax)],
    ['4,000 times minus', '-'.repeat(bounds.textCharsMax)],
    ['lists in lists', '['.repeat(2_000)],
    ['maps in maps', '{1:'.repeat(1_300)],
    ['conditions in conditions', 'true?'.repeat(800)],
    ['indexes in indexes', 'doc['.repeat(1_000)],
    ['a path of 1,000 names', `doc${'.a'.repeat(1_000)}`],
    ['calls in calls', 'size('.repeat(800)],
    ['a text of 4,001 characters', `"${'a'.repeat(bounds.textCharsMax)}"`],
    ['more than 200 parts', chain('1', '+', 150)],
    ['a list of 500 literals', `[${chain('1', ',', 500)}]`],
    ['a map of 200 entries', `{${list(200).map((i) => `${i}:1`)}}`],
    ['three loops in each other', 'doc.all(x, doc.all(y, doc.all(z, true)))'],
    ['a number of 4,000 digits', '9'.repeat(bounds.textCharsMax)],
    ['a regular expression of 251 characters', `doc.matches("${'a'.repeat(251)}")`],
    ['a regular expression that repeats repetitions', 'doc.matches("((a{20}){20}){20}")'],
    ['a regular expression of much work', 'doc.matches("(a{30}){33}b{20}")'],
    ['a regular expression that folds all of Unicode', 'doc.matches("(?i)[\\\\x{100}-\\\\x{1ffff}]")'],
    [
      'many dear regular expressions',
      list(15)
        .map((i) => `"".matches("${'(?:\\\\pL|a)'.repeat(20)}${i}")`)
        .join('||'),
    ],
  ])('%s', (_, text) => {
    expect(() => compileCel(text, names)).toThrow(CelInvalid)
  })

  it('what is known of types does not grow with each use of a value', () => {
    const pairs = list(30)
      .map((i) => `map(x${i}, {x${i}: x${i}})`)
      .join('.')
    expect(() => compileCel(`[1].${pairs}`, names).evaluate({})).toThrow(expect.objectContaining({ reason: 'type' }))
    const binds = list(20).reduceRight(
      (body, i) => `cel.bind(b${i + 1}, {"a": b${i}, "b": b${i}}, ${body})`,
      'b20 == b19',
    )
    expect(compileCel(`cel.bind(b0, {"a": 1}, ${binds})`, names).evaluate({})).toBe(false)
    const whole = binds.replace('b20 == b19', 'b20')
    expect(() => compileCel(`cel.bind(b0, {"a": 1}, ${whole})`, names).evaluate({})).toThrow(
      expect.objectContaining({ reason: 'size' }),
    )
  })

  it('loops behind each other, or two in each other, are fine', () => {
    expect(
      compileCel('doc.filter(x, x > 1).map(x, x * 2).all(x, doc.exists(y, y < x))', names).evaluate({ doc: [1, 2] }),
    ).toBe(true)
  })

  it('an expression compiled or evaluated with little stack left is refused or faults, and nothing overflows', () => {
    const program = compileCel(chain('doc', '+', 90), names)
    expect(() => nearTheEnd(1_500, () => compileCel('!'.repeat(bounds.textCharsMax), names))).toThrow(
      'the expression is nested too deeply',
    )
    expect(() => nearTheEnd(100, () => program.evaluate({ doc: 1 }))).toThrow(
      expect.objectContaining({ name: 'CelFault', reason: 'budget' }),
    )
  })
})

describe('an evaluation ends within its budget', () => {
  const letters = 'a'.repeat(30_000)
  const attacks: [what: string, text: string, doc: unknown, reason: FaultReason | null][] = [
    ['loops over loops', 'doc.all(x, doc.all(y, x + y >= 0))', list(9_000), 'budget'],
    ['lists of lists', 'doc.map(x, doc.map(y, x))', list(1_000), 'budget'],
    ['one list many times in the result', 'doc.map(x, doc)', list(9_000), 'size'],
    ['one text many times in the result', 'doc.list.map(x, doc.text)', { list: list(3_000), text: letters }, 'size'],
    [
      'doubling a text',
      `cel.bind(a, doc + doc, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, d + d))))`,
      letters,
      'budget',
    ],
    [
      'doubling a list',
      `cel.bind(a, doc + doc, cel.bind(b, a + a, cel.bind(c, b + b, cel.bind(d, c + c, d + d)))).size()`,
      list(9_000),
      'budget',
    ],
    ['concatenating in a loop', 'doc.map(x, doc + doc).size()', list(9_000), 'budget'],
    ['searching each in each', 'doc.filter(x, x in doc)', list(9_000), 'budget'],
    [
      'a search that V8 does in quadratic time',
      'doc.text.contains(doc.part)',
      { text: letters, part: `b${'a'.repeat(15_000)}` },
      'budget',
    ],
    ['errors that are absorbed', 'doc.exists(x, x.nothing)', list(9_000), 'budget'],
    ['a text split into letters', 'doc.split("").map(x, x + x)', letters, 'budget'],
    ['joining long texts', 'doc.list.map(x, doc.text).join("")', { list: list(3_000), text: letters }, 'budget'],
    [
      'comparing long texts',
      'doc.list.all(x, doc.text == doc.again)',
      { list: list(1_000), text: letters.slice(9_999), again: letters.slice(9_999) },
      'budget',
    ],
    ['clocks of time zones', 'doc.map(x, now.getHours("Europe/Amsterdam"))', list(3_000), 'budget'],
    ['a pattern with very many states', 'doc.matches("(?:a|b|ab|ba)*a(?:a|b|ab){60}[cd]$")', letters, 'budget'],
    ['nested repetitions on a text that nearly matches', 'doc.matches("(a+a+)+b")', letters, null],
    [
      'patterns made from data',
      'doc.exists(x, "k".matches("(?i)(\\\\pL|" + x + ")*z"))',
      list(3_000).map(String),
      'budget',
    ],
    ['a deep result', `${'['.repeat(55)}doc${']'.repeat(55)}`, deepData(20), 'size'],
  ]

  it.each(attacks)('%s', (_, text, doc, reason) => {
    const steps = new Steps()
    const run = () => compiled(text, names).run({ doc, now: new Date(0) }, steps)
    if (reason === null) run()
    else expect(run).toThrow(expect.objectContaining({ name: 'CelFault', reason }))
    expect(steps.taken).toBeGreaterThan(0)
    expect(steps.taken).toBeLessThanOrEqual(bounds.stepsMax)
  })

  it('running out of budget is not absorbed', () => {
    for (const text of ['doc.all(x, doc.all(y, x + y >= 0)) || true', '[1].exists(z, doc.all(x, x in doc)) || true'])
      expect(() => compileCel(text, names).evaluate({ doc: list(9_000) })).toThrow(
        expect.objectContaining({ reason: 'budget' }),
      )
  })

  it('what conditions usually ask is far from it', () => {
    const items = list(500).map((i) => ({ tag: `tag-${i}`, price: i + 0.5 }))
    const steps = new Steps()
    const text =
      'doc.items.exists(item, item.price > 499 && item.tag.matches("^tag-[0-9]+$")) && doc.items.size() < 1000'
    expect(compiled(text, names).run({ doc: { items } }, steps)).toBe(true)
    expect(steps.taken).toBeLessThan(bounds.stepsMax / 10)
  })
})

describe('data are bounded, as far as the expression looks at them', () => {
  const tooLarge = { text: 'a'.repeat(bounds.dataCharsMax) }

  it('a variable of more than 64 KB is a fault, and does not matter where it is not used', () => {
    expect(() => compileCel('has(doc.text)', names).evaluate({ doc: tooLarge })).toThrow(
      expect.objectContaining({ reason: 'size', detail: 'doc is larger than 65536 characters as JSON' }),
    )
    expect(compileCel('before == 1', names).evaluate({ doc: tooLarge, before: 1 })).toBe(true)
    expect(compileCel('before == 1 || has(doc.text)', names).evaluate({ doc: tooLarge, before: 1 })).toBe(true)
    expect(() => compileCel('has(doc.text) || true', names).evaluate({ doc: tooLarge })).toThrow(
      expect.objectContaining({ reason: 'size' }),
    )
  })

  it('many small values count as well', () => {
    expect(() => compileCel('doc.size() > 0', names).evaluate({ doc: list(20_000) })).toThrow(
      expect.objectContaining({ reason: 'size' }),
    )
  })

  it('a value of more than 64 levels is a fault, not an overflow', () => {
    expect(compileCel('size(doc)', names).evaluate({ doc: deepData(bounds.depthMax) })).toBe(1)
    for (const depth of [bounds.depthMax + 1, 100_000])
      expect(() => compileCel('size(doc)', names).evaluate({ doc: deepData(depth) })).toThrow(
        expect.objectContaining({ reason: 'size', detail: 'doc is deeper than 64 levels' }),
      )
  })
})

function deepData(depth: number): unknown {
  let data: unknown = 1
  for (let i = 0; i < depth; i++) data = [data]
  return data
}

/** Calls when about that many small frames are left of the stack. */
function nearTheEnd<T>(framesLeft: number, call: () => T): T {
  const dive = (left: number): T => (left === 0 ? call() : dive(left - 1))
  let reached = 0
  const measure = (): void => {
    reached++
    measure()
  }
  expect(measure).toThrow(RangeError)
  // Frames of `dive` are about as large as those of `measure`; the first that leaves too little is given back half of it.
  for (let frames = reached - framesLeft; ; frames -= 50) {
    try {
      return dive(frames)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
}
