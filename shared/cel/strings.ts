import { CelFault } from './errors.ts'
import type { Apply, Fn } from './functions.ts'
import { matches } from './regex.ts'
import type { Steps } from './steps.ts'
import { isList, type Kind, said, type Value, whole } from './values.ts'

function text(name: string, value: Value | undefined): string {
  if (typeof value === 'string') return value
  throw new CelFault('type', `${name}() takes text, got ${said(value!)}`)
}

/**
 * Searching may compare each character of the one text with each of the other (V8's search looks at the last 250 of a long text
 * only), so it is paid for like that.
 */
function sought(name: string, [value, other]: readonly Value[], steps: Steps): [string, string] {
  const within = text(name, value)
  const part = text(name, other)
  steps.spendChars(Math.ceil((within.length * Math.max(16, part.length)) / 16))
  return [within, part]
}

/** Positions count characters, not halves of surrogate pairs, as `size()` does. */
const paired = /[\ud800-\udbff][\udc00-\udfff]/
const characters = (value: string): string | string[] => (paired.test(value) ? [...value] : value)
const sliced = (value: string | string[], from: number, to: number): string =>
  typeof value === 'string' ? value.slice(from, to) : value.slice(from, to).join('')
const positionIn = (value: string, unit: number): bigint =>
  BigInt(unit <= 0 ? unit : characterCount(value.slice(0, unit)))

/** The second half of a pair counts no more. */
export function characterCount(value: string): number {
  let count = 0
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0xdc00 || code > 0xdfff) count++
  }
  return count
}

function position(name: string, value: Value | undefined, atMost: number): number {
  const at = whole(value!)
  if (at === null) throw new CelFault('type', `${name}() takes a whole number as position, got ${said(value!)}`)
  if (at < 0 || at > atMost) throw new CelFault('other', `${name}() at ${at}: the text has ${atMost} characters`)
  return at
}

const tested =
  (name: string, holds: (within: string, part: string) => boolean): Apply =>
  (args, steps) =>
    holds(...sought(name, args, steps))

const changed =
  (name: string, change: (value: string) => string): Apply =>
  ([value], steps) => {
    const before = text(name, value)
    steps.spendChars(before.length)
    return change(before)
  }

const found =
  (name: string, search: (within: string, part: string, from?: number) => number): Apply =>
  (args, steps) => {
    const [within, part] = sought(name, args, steps)
    if (args[2] === undefined) return positionIn(within, search(within, part))
    steps.spend(within.length)
    const all = characters(within)
    const from = position(name, args[2], all.length)
    return positionIn(within, search(within, part, sliced(all, 0, from).length))
  }

const substring: Apply = ([value, first, last], steps) => {
  const whole = text('substring', value)
  steps.spendChars(whole.length)
  const all = characters(whole)
  if (typeof all !== 'string') steps.spend(all.length)
  const to = last === undefined ? all.length : position('substring', last, all.length)
  const from = position('substring', first, all.length)
  if (from > to) throw new CelFault('other', `substring() from ${from} to ${to}: the end is before the start`)
  return sliced(all, from, to)
}

const split: Apply = (args, steps) => {
  const [within, separator] = sought('split', args, steps)
  // Each part is an object of its own, however short.
  steps.spend(separator === '' ? within.length : Math.floor(within.length / separator.length))
  const parts = separator === '' ? [...within] : within.split(separator)
  if (args[2] === undefined) return parts
  const most = whole(args[2])
  if (most === null) throw new CelFault('type', `split() takes a whole number as limit, got ${said(args[2])}`)
  if (most < 0 || parts.length <= most) return parts
  return most === 0 ? [] : [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]
}

const join: Apply = ([list, between], steps) => {
  if (!isList(list!)) throw new CelFault('type', `join() joins a list, got ${said(list!)}`)
  const separator = between === undefined ? '' : text('join', between)
  for (const item of list) {
    if (typeof item !== 'string')
      throw new CelFault('type', `join() joins texts, got ${said(item)}; map(x, string(x)) makes them texts`)
    steps.spend(1)
    steps.spendChars(item.length + separator.length)
  }
  return list.join(separator)
}

const method = (takes: readonly [number, number], gives: Kind, apply: Apply): Fn => ({ apply, takes, gives })

export const strings: ReadonlyMap<string, Fn> = new Map<string, Fn>([
  [
    'startsWith',
    method(
      [1, 1],
      'bool',
      tested('startsWith', (within, part) => within.startsWith(part)),
    ),
  ],
  [
    'endsWith',
    method(
      [1, 1],
      'bool',
      tested('endsWith', (within, part) => within.endsWith(part)),
    ),
  ],
  [
    'contains',
    method(
      [1, 1],
      'bool',
      tested('contains', (within, part) => within.includes(part)),
    ),
  ],
  ['lowerAscii', method([0, 0], 'string', changed('lowerAscii', lower))],
  ['upperAscii', method([0, 0], 'string', changed('upperAscii', upper))],
  [
    'trim',
    method(
      [0, 0],
      'string',
      changed('trim', (value) => value.trim()),
    ),
  ],
  [
    'indexOf',
    method(
      [1, 2],
      'int',
      found('indexOf', (within, part, from) => within.indexOf(part, from)),
    ),
  ],
  [
    'lastIndexOf',
    method(
      [1, 2],
      'int',
      found('lastIndexOf', (within, part, from) => within.lastIndexOf(part, from)),
    ),
  ],
  ['substring', method([1, 2], 'string', substring)],
  ['split', method([1, 2], 'list', split)],
  ['join', method([0, 1], 'string', join)],
  [
    'matches',
    method([1, 1], 'bool', ([value, pattern], steps) =>
      matches(text('matches', value), text('matches', pattern), steps),
    ),
  ],
])

function lower(value: string): string {
  return value.replace(/[A-Z]+/g, (part) => part.toLowerCase())
}

function upper(value: string): string {
  return value.replace(/[a-z]+/g, (part) => part.toUpperCase())
}
