import { Buffer } from 'node:buffer'
import { bounds } from './bounds.ts'
import { CelFault } from './errors.ts'
import { CelType, Duration, isList, type Json, type JsonObject, Optional, type Value } from './values.ts'

/** Objects measured before; a document is looked at by many conditions. Data does not change while it is shared. */
const measured = new WeakSet<object>()

/**
 * A variable's value, without copying it.
 *
 * @throws CelFault as `measure` does
 */
export function fromData(name: string, data: unknown): Value {
  const isObject = typeof data === 'object' && data !== null
  if (!isObject || !measured.has(data)) measure(name, data, bounds.dataCharsMax)
  if (isObject) measured.add(data)
  return data as Value
}

/** @throws CelFault `size` when it is larger than `most` characters as JSON or deeper than 64 levels, `type` when it is no JSON and no Date */
export function measure(name: string, data: unknown, most: number): void {
  if (charsOf(data, { name, depth: 0, room: most }) > most)
    throw new CelFault('size', `${name} is larger than ${most} characters as JSON`)
}

/** About the length as JSON: escapes are not counted. Stops soon after `room` is passed. */
function charsOf(data: unknown, at: { name: string; depth: number; room: number }): number {
  switch (typeof data) {
    case 'string':
      return data.length + 2
    case 'number':
      if (!Number.isFinite(data)) throw new CelFault('type', `${at.name} holds ${data}, which is no JSON number`)
      return String(data).length
    case 'boolean':
      return 5
    case 'object':
      break
    default:
      throw new CelFault('type', `${at.name} holds a ${typeof data}, which is no JSON`)
  }
  if (data === null) return 4
  if (data instanceof Date) {
    if (Number.isNaN(data.getTime())) throw new CelFault('type', `${at.name} holds an invalid date`)
    return 26
  }
  if (at.depth === bounds.depthMax) throw new CelFault('size', `${at.name} is deeper than ${bounds.depthMax} levels`)
  const inner = { name: at.name, depth: at.depth + 1, room: at.room }
  let chars = 2
  if (Array.isArray(data)) {
    for (let i = 0; i < data.length && chars <= at.room; i++) {
      inner.room = at.room - chars
      chars += charsOf(data[i], inner) + 1
    }
    return chars
  }
  const prototype = Object.getPrototypeOf(data)
  if (prototype !== Object.prototype && prototype !== null)
    throw new CelFault('type', `${at.name} holds an object of a class, which is no JSON`)
  for (const key in data) {
    if (chars > at.room) break
    if (!Object.hasOwn(data, key)) continue
    const value = (data as Record<string, unknown>)[key]
    if (value === undefined) continue
    inner.room = at.room - chars
    chars += key.length + 4 + charsOf(value, inner)
  }
  return chars
}

/** Counts what is written, so that a few references to one long text do not become many copies. */
export class Room {
  left: number
  readonly max: number
  constructor(max: number) {
    this.max = max
    this.left = max
  }

  /** @throws CelFault `size` */
  take(chars: number): void {
    this.left -= chars
    if (this.left < 0) throw new CelFault('size', `the result is larger than ${this.max} characters as JSON`)
  }
}

/**
 * A value as JSON: whole numbers within 2^53 are numbers, larger ones text; a timestamp is ISO 8601 text, a duration its seconds with
 * `s`, bytes are base64, a type is its name, an optional its value or null.
 *
 * @throws CelFault `size`; `other` for a number that JSON has not, such as infinity
 */
export function toJson(value: Value, room: Room, depth = 0): Json {
  switch (typeof value) {
    case 'string':
      room.take(value.length + 2)
      return value
    case 'boolean':
      room.take(5)
      return value
    case 'bigint': {
      const text = String(value)
      room.take(text.length)
      return value <= SAFE && value >= -SAFE ? Number(value) : text
    }
    case 'number':
      if (!Number.isFinite(value)) throw new CelFault('other', `the result ${value} is no JSON number`)
      room.take(value >= 0 && value < 10 && Number.isInteger(value) ? 1 : String(value).length)
      return value === 0 ? 0 : value
  }
  if (value === null) {
    room.take(4)
    return null
  }
  if (value instanceof Date) return toJson(value.toISOString(), room)
  if (value instanceof Duration) return toJson(String(value), room)
  if (value instanceof Uint8Array) return toJson(Buffer.from(value).toString('base64'), room)
  if (value instanceof CelType) return toJson(value.name, room)
  if (value instanceof Optional) return toJson(value.value ?? null, room, depth)
  if (depth === bounds.depthMax) throw new CelFault('size', `the result is deeper than ${bounds.depthMax} levels`)
  room.take(2)
  if (isList(value)) {
    room.take(value.length)
    return value.map((item) => toJson(item, room, depth + 1))
  }
  const entries: [string, Json][] = []
  const put = (key: string, item: Value) => {
    room.take(key.length + 4)
    entries.push([key, toJson(item, room, depth + 1)])
  }
  if (value instanceof Map) for (const [key, item] of value) put(String(key), item)
  else for (const [key, item] of Object.entries(value as JsonObject)) if (item !== undefined) put(key, item)
  // Defines each key, `__proto__` too, and assigns none.
  return Object.fromEntries(entries)
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** A value inside a text: texts as they are, everything else as JSON. */
export function asText(json: Json): string {
  return typeof json === 'string' ? json : JSON.stringify(json)
}
