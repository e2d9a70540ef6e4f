import { Buffer } from 'node:buffer'
import { bounds } from './bounds.ts'
import { CelFault, quoted } from './errors.ts'
import { clockOf, durationOf, fields, timestampOf } from './moments.ts'
import { moment } from './operators.ts'
import type { Steps } from './steps.ts'
import { characterCount, strings } from './strings.ts'
import {
  CelType,
  Duration,
  int,
  isList,
  isNumber,
  type JsonObject,
  type Kind,
  kindOf,
  Optional,
  said,
  sizeOf,
  type Value,
} from './values.ts'

/** A method gets its receiver as the first argument. */
export type Apply = (args: readonly Value[], steps: Steps) => Value

export interface Fn {
  readonly apply: Apply
  /** How many arguments, at least and at most; the receiver is none of them. */
  readonly takes: readonly [number, number]
  /** null: it depends. */
  readonly gives: Kind | null
}

const unfit = (name: string, value: Value, wanted: string) =>
  new CelFault('type', `${name}() takes ${wanted}, got ${said(value)}`)

const size: Apply = ([value], steps) => {
  if (typeof value === 'string') {
    steps.spendChars(value.length)
    return BigInt(characterCount(value))
  }
  if (value instanceof Uint8Array || isList(value!)) return BigInt(value.length)
  if (kindOf(value!) === 'map') {
    const entries = sizeOf(value as JsonObject)
    steps.spend(entries)
    return BigInt(entries)
  }
  throw unfit('size', value!, 'a text, a list or a map')
}

const toInt: Apply = ([value]) => {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return int(BigInt(Math.trunc(value)))
    throw new CelFault('other', `int() takes a finite number, got ${value}`)
  }
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000))
  if (typeof value !== 'string') throw unfit('int', value!, 'a number, a text or a timestamp')
  if (/^[+-]?\d{1,19}$/.test(value)) return int(BigInt(value[0] === '+' ? value.slice(1) : value))
  throw new CelFault('other', `int() takes a whole number as text, got ${quoted(value)}`)
}

const toDouble: Apply = ([value]) => {
  if (isNumber(value!)) return Number(value)
  if (typeof value !== 'string') throw unfit('double', value!, 'a number or a text')
  if (/^[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?$/.test(value)) return Number(value)
  throw new CelFault('other', `double() takes a number as text, got ${quoted(value)}`)
}

const toText: Apply = ([value], steps) => {
  if (typeof value === 'string') return value
  if (isNumber(value!) || typeof value === 'boolean' || value instanceof Duration) return String(value)
  if (value instanceof Date) return value.toISOString()
  if (!(value instanceof Uint8Array))
    throw unfit('string', value!, 'a number, a bool, a timestamp, a duration or bytes')
  steps.spendChars(value.length)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    throw new CelFault('other', 'string() takes bytes that are UTF-8')
  }
}

const truths: Readonly<Record<string, boolean>> = { true: true, True: true, TRUE: true, t: true, '1': true }
const lies: Readonly<Record<string, boolean>> = { false: true, False: true, FALSE: true, f: true, '0': true }

const toBool: Apply = ([value]) => {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') throw unfit('bool', value!, 'a bool or a text')
  if (Object.hasOwn(truths, value)) return true
  if (Object.hasOwn(lies, value)) return false
  throw new CelFault('other', `bool() takes "true" or "false", got ${quoted(value)}`)
}

const toBytes: Apply = ([value], steps) => {
  if (value instanceof Uint8Array) return value
  if (typeof value !== 'string') throw unfit('bytes', value!, 'a text')
  steps.spendChars(value.length * 3)
  return new TextEncoder().encode(value)
}

/** Epoch seconds, or RFC 3339 text. */
const timestamp: Apply = ([value]) => {
  if (value instanceof Date) return value
  if (isNumber(value!)) return moment(Math.round(Number(value) * 1000))
  if (typeof value === 'string') return timestampOf(value)
  throw unfit('timestamp', value!, 'RFC 3339 text or epoch seconds')
}

const duration: Apply = ([value]) => {
  if (value instanceof Duration) return value
  if (typeof value === 'string') return durationOf(value)
  throw unfit('duration', value!, 'text such as 90s or 1h30m')
}

const type: Apply = ([value]) => {
  const kind = kindOf(value!)
  return new CelType(
    kind === 'timestamp' || kind === 'duration'
      ? `google.protobuf.${kind === 'timestamp' ? 'Timestamp' : 'Duration'}`
      : kind,
  )
}

const NANOS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
}

/** A field of a timestamp, in UTC or in the zone of the second argument; of a duration the whole of it in that unit. */
const fieldOf =
  (name: string): Apply =>
  ([value, zone], steps) => {
    const unit = NANOS[name]
    if (value instanceof Duration && unit !== undefined && zone === undefined) return value.nanos / unit
    if (!(value instanceof Date)) throw unfit(name, value!, `a timestamp${unit === undefined ? '' : ' or a duration'}`)
    if (zone === undefined) return BigInt(fields[name]!(clockOf(value, null)))
    if (typeof zone !== 'string') throw unfit(name, zone, 'the name of a time zone')
    steps.spend(bounds.zoneSteps)
    return BigInt(fields[name]!(clockOf(value, zone)))
  }

function encoded(name: string, encoding: 'base64' | 'hex'): Apply {
  return ([value], steps) => {
    if (!(value instanceof Uint8Array)) throw unfit(name, value!, 'bytes')
    steps.spendChars(value.length * 2)
    return Buffer.from(value).toString(encoding)
  }
}

function optional(name: string, value: Value): Optional {
  if (value instanceof Optional) return value
  throw unfit(name, value, 'an optional, as .?name gives one')
}

const one = (apply: Apply, gives: Kind | null): Fn => ({ apply, takes: [1, 1], gives })
const none = (apply: Apply, gives: Kind | null): Fn => ({ apply, takes: [0, 0], gives })

/** What is called as `name(x)`. */
export const functions: ReadonlyMap<string, Fn> = new Map<string, Fn>([
  ['size', one(size, 'int')],
  ['int', one(toInt, 'int')],
  ['double', one(toDouble, 'double')],
  ['string', one(toText, 'string')],
  ['bool', one(toBool, 'bool')],
  ['bytes', one(toBytes, 'bytes')],
  ['timestamp', one(timestamp, 'timestamp')],
  ['duration', one(duration, 'duration')],
  ['type', one(type, 'type')],
  ['dyn', one(([value]) => value!, null)],
  ['matches', { ...strings.get('matches')!, takes: [2, 2] }],
])

/** What is called as `x.name()`. */
export const methods: ReadonlyMap<string, Fn> = new Map<string, Fn>([
  ...strings,
  ['size', none(size, 'int')],
  ['base64', none(encoded('base64', 'base64'), 'string')],
  ['hex', none(encoded('hex', 'hex'), 'string')],
  ...Object.keys(fields).map((name): [string, Fn] => [name, { apply: fieldOf(name), takes: [0, 1], gives: 'int' }]),
  ['hasValue', none(([value]) => optional('hasValue', value!).value !== undefined, 'bool')],
  ['value', none(([value]) => inside(value!), null)],
])

function inside(value: Value): Value {
  const held = optional('value', value).value
  if (held === undefined) throw new CelFault('missing', 'value() of an optional that has none')
  return held
}
