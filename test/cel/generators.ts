import fc from 'fast-check'

const patterns = fc.oneof(
  fc.constantFrom(
    '(a+)+$',
    '(a|a)*b',
    '(?i)(\\\\pL|b)*z',
    '((a{30}){30}){30}',
    '(?:.*a.*b){40}',
    '[ab]*a[ab]{90}[cd]',
    '(',
    '(?=a)',
    '\\\\1',
  ),
  fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        '.',
        '*',
        '+',
        '?',
        '(',
        ')',
        '|',
        '[',
        ']',
        '^',
        '$',
        '{9}',
        '{1,99}',
        '\\\\pL',
        '(?i)',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
)

const literals = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '2',
    '-3',
    '9223372036854775807',
    '0.5',
    '1e308',
    'true',
    'false',
    'null',
    '""',
    '"a"',
    "b'a'",
    '"2026-11-30T09:00:00Z"',
    '"90s"',
    'int',
    '1u',
  ),
  fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
  patterns.map((pattern) => `"${pattern}"`),
)

const paths = fc.constantFrom(
  'doc',
  'doc.list',
  'doc.text',
  'doc.n',
  'doc.deep',
  'doc.objects',
  'before',
  'now',
  'doc.nothing',
  'doc.__proto__',
  'doc.constructor',
  'x',
  'y',
)
const methods = fc.constantFrom(
  'size',
  'contains',
  'startsWith',
  'split',
  'join',
  'substring',
  'indexOf',
  'matches',
  'lowerAscii',
  'getHours',
  'orValue',
  'toString',
  'hex',
)
const functions = fc.constantFrom(
  'size',
  'int',
  'double',
  'string',
  'bool',
  'bytes',
  'timestamp',
  'duration',
  'type',
  'dyn',
  'has',
  'matches',
  'eval',
)
const loops = fc.constantFrom('all', 'exists', 'exists_one', 'filter', 'map')
const operators = fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', 'in', '&&', '||')

export const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression')
  return {
    expression: fc.oneof(
      { maxDepth: 5, depthSize: 'medium' },
      fc.oneof(paths, literals),
      fc.tuple(inner, operators, inner).map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(inner, loops, fc.constantFrom('x', 'y'), inner)
        .map(([over, loop, name, body]) => `${over}.${loop}(${name}, ${body})`),
      fc
        .tuple(inner, methods, fc.array(inner, { maxLength: 2 }))
        .map(([on, name, args]) => `${on}.${name}(${args.join(', ')})`),
      fc.tuple(functions, inner).map(([name, arg]) => `${name}(${arg})`),
      fc.array(inner, { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(fc.tuple(literals, inner), { maxLength: 3 })
        .map((entries) => `{${entries.map(([k, v]) => `${k}: ${v}`).join(', ')}}`),
      fc.tuple(inner, inner, inner).map(([condition, yes, no]) => `(${condition} ? ${yes} : ${no})`),
      fc.tuple(inner, inner).map(([from, key]) => `${from}[${key}]`),
      fc.tuple(inner, fc.constantFrom('n', 'list', '__proto__', 'constructor')).map(([from, key]) => `${from}.?${key}`),
      fc.tuple(inner, inner).map(([value, body]) => `cel.bind(x, ${value}, ${body})`),
      inner.map((operand) => `!${operand}`),
      inner.map((operand) => `-${operand}`),
    ),
  }
})

/** No name in it is unknown: most of these compile. */
export const closed = expression.map((text) => `cel.bind(x, dyn([1, 2.5, "a"]), cel.bind(y, dyn(2), ${text}))`)

/** Loops over all of a list in each other, around texts and patterns: the expensive kind. */
export const heavy = fc
  .tuple(
    loops,
    loops,
    fc.constantFrom('doc.list', 'doc.objects', 'doc.text.split("")'),
    fc.constantFrom(
      'x in doc.list',
      'doc.list + doc.list',
      '[x, y] == [y, x]',
      'doc == doc',
      'doc.text + doc.text',
      'doc.text.contains(string(y))',
      'x.nothing',
      'string(y) + doc.text',
      '{"a": doc.list, "b": x}',
    ),
    fc.oneof(
      patterns.map((pattern) => `"${pattern}"`),
      fc.constant('doc.pattern'),
    ),
    fc.boolean(),
  )
  .map(([outer, inner, over, body, pattern, asks]) => {
    const asked = asks ? `doc.text.matches(${pattern})` : body
    return `${over}.${outer}(x, ${over}.${inner}(y, ${asked}))`
  })

const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown

export const data = fc.oneof(
  fc.record({
    list: fc.array(fc.oneof(fc.integer(), fc.string({ maxLength: 5 })), { maxLength: 30 }),
    text: fc.string({ maxLength: 40 }),
    n: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    deep: fc.integer({ min: 1, max: 2_000 }).map(nested),
    objects: fc.array(fc.dictionary(fc.constantFrom('n', '__proto__', 'constructor', 'list'), fc.integer()), {
      maxLength: 5,
    }),
  }),
  fc.jsonValue(),
)

export const largeData = fc.record({
  pattern: patterns.map((pattern) => JSON.parse(`"${pattern}"`) as string),
  list: fc.integer({ min: 500, max: 8_000 }).map((length) => Array.from({ length }, (_, i) => i)),
  text: fc
    .tuple(fc.constantFrom('a', 'ab', 'é', '😀', '\n'), fc.integer({ min: 1, max: 6_000 }))
    .map(([unit, times]) => unit.repeat(times)),
  objects: fc.integer({ min: 100, max: 800 }).map((length) => Array.from({ length }, (_, i) => ({ n: i, list: [i] }))),
})

export const garbage = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '.',
        ',',
        ':',
        '?',
        '!',
        '-',
        '+',
        '&&',
        '||',
        '==',
        'in',
        ' ',
        '"',
        "'",
        'r"',
        "b'",
        '"""',
        '\\',
        '//',
        '\n',
        'doc',
        'has',
        'x',
        '0x',
        '1e',
        '9',
        'cel.bind',
        'optional',
        '.?',
        '[?',
        'null',
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
  fc
    .tuple(
      fc.constantFrom('(', '[', '{', '!', '-', '.a', 'a.', '"', "'", '?', ':', '1+', 'a[', 'size('),
      fc.integer({ min: 1, max: 4_000 }),
    )
    .map(([unit, times]) => unit.repeat(times)),
)
