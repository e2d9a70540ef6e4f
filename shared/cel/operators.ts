import { CelFault } from './errors.ts'
import type { Steps } from './steps.ts'
import {
  type CelType,
  Duration,
  int,
  isList,
  isNumber,
  keysOf,
  kindOf,
  type Optional,
  said,
  sizeOf,
  type Value,
  valueAt,
} from './values.ts'

export type Binary = (a: Value, b: Value, steps: Steps) => Value

const unlike = (a: Value, op: string, b: Value) =>
  new CelFault('type', `${said(a)} ${op} ${said(b)} does not go together`)

/**
 * Two whole numbers of the expression (literals, `size()`, `int()`) count as 64-bit integers, `7 / 2` is 3. As soon as one number comes
 * from data, both are floating-point numbers, whatever their values: `doc.n / 2` is 3.5 for 7. Division by zero is always a fault.
 *
 * Differs from CEL: there an int and a double never mix in arithmetic, and 1.0 / 0.0 is infinite.
 */
function arithmetic(
  op: string,
  ints: (a: bigint, b: bigint) => bigint,
  doubles: (a: number, b: number) => number,
  others?: Binary,
): Binary {
  const divides = op === '/' || op === '%'
  return (a, b, steps) => {
    if (isNumber(a) && isNumber(b)) {
      // biome-ignore lint/suspicious/noDoubleEquals: 0n and 0 alike
      if (divides && b == 0) throw new CelFault('other', 'division by zero')
      if (typeof a === 'bigint' && typeof b === 'bigint') return int(ints(a, b))
      return doubles(Number(a), Number(b))
    }
    if (others) return others(a, b, steps)
    throw unlike(a, op, b)
  }
}

function joined(a: Value, b: Value, steps: Steps): Value {
  if (typeof a === 'string' && typeof b === 'string') {
    steps.spendChars(a.length + b.length)
    return a + b
  }
  if (isList(a) && isList(b)) {
    steps.spend(a.length + b.length)
    return [...a, ...b]
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    steps.spendChars(a.length + b.length)
    const both = new Uint8Array(a.length + b.length)
    both.set(a)
    both.set(b, a.length)
    return both
  }
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos + b.nanos)
  if (a instanceof Date && b instanceof Duration) return moved(a, b.nanos)
  if (a instanceof Duration && b instanceof Date) return moved(b, a.nanos)
  throw unlike(a, '+', b)
}

function difference(a: Value, b: Value): Value {
  if (a instanceof Date && b instanceof Date) return new Duration(BigInt(a.getTime() - b.getTime()) * 1_000_000n)
  if (a instanceof Date && b instanceof Duration) return moved(a, -b.nanos)
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos - b.nanos)
  throw unlike(a, '-', b)
}

/** A moment of the years 1 to 9999. Milliseconds: the rest of a duration is cut off. */
export function moment(ms: number): Date {
  if (!(ms >= -62_135_596_800_000 && ms < 253_402_300_800_000))
    throw new CelFault('other', 'a timestamp outside the years 1 to 9999')
  return new Date(ms)
}

function moved(at: Date, nanos: bigint): Date {
  return moment(at.getTime() + Number(nanos / 1_000_000n))
}

/** Equality never fails: values of two kinds differ, and 1 equals 1.0. */
export function equal(a: Value, b: Value, steps: Steps): boolean {
  steps.spend(1)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false
    steps.spendChars(a.length)
    return a === b
  }
  // biome-ignore lint/suspicious/noDoubleEquals: an int and a double of one value are equal
  if (isNumber(a) && isNumber(b)) return a == b
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return false
  switch (kind) {
    case 'list': {
      const [left, right] = [a as readonly Value[], b as readonly Value[]]
      return left.length === right.length && left.every((item, i) => equal(item, right[i]!, steps))
    }
    case 'timestamp':
      return (a as Date).getTime() === (b as Date).getTime()
    case 'duration':
      return (a as Duration).nanos === (b as Duration).nanos
    case 'type':
      return (a as CelType).name === (b as CelType).name
    case 'optional': {
      const [left, right] = [(a as Optional).value, (b as Optional).value]
      return left === undefined || right === undefined ? left === right : equal(left, right, steps)
    }
    case 'bytes': {
      const [left, right] = [a as Uint8Array, b as Uint8Array]
      if (left.length !== right.length) return false
      steps.spendChars(left.length)
      return left.every((byte, i) => byte === right[i])
    }
  }
  const [left, right] = [a as ReadonlyMap<Value, Value>, b as ReadonlyMap<Value, Value>]
  steps.spend(sizeOf(left) + sizeOf(right))
  return (
    sizeOf(left) === sizeOf(right) &&
    keysOf(left).every((key) => {
      const other = valueAt(right, key)
      return other !== undefined && equal(valueAt(left, key)!, other, steps)
    })
  )
}

function compared(op: string, holds: (order: number) => boolean): Binary {
  return (a, b, steps) => {
    const order = orderOf(a, b, steps)
    if (order === undefined) throw unlike(a, op, b)
    return holds(order)
  }
}

/** Negative, 0, positive; NaN when one side is; undefined when the two have no order. */
function orderOf(a: Value, b: Value, steps: Steps): number | undefined {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return undefined
  if (typeof a === 'string' && typeof b === 'string') {
    steps.spendChars(Math.min(a.length, b.length))
    return a < b ? -1 : a > b ? 1 : 0
  }
  switch (kind) {
    case 'bool':
      return Number(a) - Number(b)
    case 'timestamp':
      return (a as Date).getTime() - (b as Date).getTime()
    case 'duration':
      return Number((a as Duration).nanos - (b as Duration).nanos)
    case 'bytes':
      return bytesOrder(a as Uint8Array, b as Uint8Array, steps)
    default:
      return undefined
  }
}

function bytesOrder(a: Uint8Array, b: Uint8Array, steps: Steps): number {
  const both = Math.min(a.length, b.length)
  steps.spendChars(both)
  for (let i = 0; i < both; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

function within(a: Value, b: Value, steps: Steps): boolean {
  if (isList(b)) return b.some((item) => equal(a, item, steps))
  if (kindOf(b) === 'map') return valueAt(b as ReadonlyMap<Value, Value>, a) !== undefined
  throw new CelFault('type', `in looks into a list or a map, got ${said(b)}`)
}

const remainder = arithmetic(
  '%',
  (a, b) => a % b,
  (a, b) => a % b,
)

export const binaries: Readonly<Record<string, Binary>> = {
  '+': arithmetic(
    '+',
    (a, b) => a + b,
    (a, b) => a + b,
    joined,
  ),
  '-': arithmetic(
    '-',
    (a, b) => a - b,
    (a, b) => a - b,
    difference,
  ),
  '*': arithmetic(
    '*',
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  '/': arithmetic(
    '/',
    (a, b) => a / b,
    (a, b) => a / b,
  ),
  '%': remainder,
  '==': equal,
  '!=': (a, b, steps) => !equal(a, b, steps),
  '<': compared('<', (order) => order < 0),
  '<=': compared('<=', (order) => order <= 0),
  '>': compared('>', (order) => order > 0),
  '>=': compared('>=', (order) => order >= 0),
  in: within,
}
