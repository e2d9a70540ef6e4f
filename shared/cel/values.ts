import { CelFault } from './errors.ts'

/** What JSON can say. Numbers are finite. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A span of time, in nanoseconds. */
export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    if (nanos > SPAN_MAX || nanos < -SPAN_MAX) throw new CelFault('other', 'a duration of more than 10,000 years')
    this.nanos = nanos
  }

  /** Seconds with `s`, as protobuf's JSON has it: `3600s`, `-1.5s`. */
  toString(): string {
    const sign = this.nanos < 0n ? '-' : ''
    const size = this.nanos < 0n ? -this.nanos : this.nanos
    const fraction = String(size % SECOND)
      .padStart(9, '0')
      .replace(/0+$/, '')
    return `${sign}${size / SECOND}${fraction === '' ? '' : `.${fraction}`}s`
  }
}

const SECOND = 1_000_000_000n
const SPAN_MAX = 315_576_000_000n * SECOND

/** What `type(x)` gives. */
export class CelType {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** What `.?name` gives: a value, or none. */
export class Optional {
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

export type JsonObject = { readonly [name: string]: Value }

/**
 * A value during an evaluation. An int is a bigint, a double is a number; JSON numbers come in as doubles. Objects of the data stay
 * plain objects, of which only own keys are looked at; what an expression builds is a Map.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Date
  | Duration
  | CelType
  | Optional
  | readonly Value[]
  | ReadonlyMap<Value, Value>
  | JsonObject

export type Kind =
  | 'null'
  | 'bool'
  | 'int'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'optional'
  | 'list'
  | 'map'

/** One value of each kind. */
export const samples: Readonly<Record<Kind, Value>> = {
  null: null,
  bool: true,
  int: 1n,
  double: 1,
  string: '',
  bytes: new Uint8Array(),
  timestamp: new Date(0),
  duration: new Duration(1n),
  type: new CelType('int'),
  optional: new Optional(undefined),
  list: [],
  map: new Map(),
}

/** Never by `constructor`, which data may have as a key. */
export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
  }
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Date) return 'timestamp'
  if (value instanceof Duration) return 'duration'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelType) return 'type'
  if (value instanceof Optional) return 'optional'
  return 'map'
}

/** In words of the reader: JSON knows one kind of number. */
export function said(value: Value): string {
  const kind = kindOf(value)
  return kind === 'double' ? 'number' : kind
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

export const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

const INT_MAX = 2n ** 63n - 1n
const INT_MIN = -(2n ** 63n)

/** @throws CelFault when a whole number left 64 bits */
export function int(value: bigint): bigint {
  if (value > INT_MAX || value < INT_MIN) throw new CelFault('other', 'a whole number of more than 64 bits')
  return value
}

/** A whole number, whichever kind it came as; null for every other value. */
export function whole(value: Value): number | null {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' && Number.isInteger(value) ? value : null
}

/** The value under a key of an object, or undefined. 1 and 1.0 are one key. */
export function valueAt(object: ReadonlyMap<Value, Value> | JsonObject, key: Value): Value | undefined {
  if (object instanceof Map) return object.get(asKey(key))
  return typeof key === 'string' && Object.hasOwn(object, key) ? (object as JsonObject)[key] : undefined
}

export function asKey(key: Value): Value {
  return Number.isSafeInteger(key) ? BigInt(key as number) : key
}

export function keysOf(object: ReadonlyMap<Value, Value> | JsonObject): Value[] {
  return object instanceof Map ? [...object.keys()] : Object.keys(object)
}

export function sizeOf(object: ReadonlyMap<Value, Value> | JsonObject): number {
  return object instanceof Map ? object.size : Object.keys(object).length
}
