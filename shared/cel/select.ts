import { CelFault, quoted } from './errors.ts'
import type { Eval } from './scope.ts'
import { isList, isNumber, type JsonObject, kindOf, Optional, said, type Value, valueAt, whole } from './values.ts'

/** `object.key` and `object[key]`. */
export function indexed(object: Eval, key: Eval, where: string): Eval {
  return (run) => {
    const from = object(run)
    // What comes behind `.?` is optional too.
    if (from instanceof Optional) return inside(from, key(run), where)
    const name = key(run)
    const value = at(from, name, where)
    if (value !== undefined) return value
    throw new CelFault('missing', `${where}: ${absent(from, name)}`)
  }
}

/** `object.?key` and `object[?key]`. */
export function optionally(object: Eval, key: Eval, where: string): Eval {
  return (run) => {
    const from = object(run)
    return inside(from instanceof Optional ? from : new Optional(from), key(run), where)
  }
}

/**
 * `has(object.key)`. null has no keys.
 *
 * Differs from CEL: there `has(null.key)` is an error; `before` is null at the first look.
 */
export function has(object: Eval, key: string): Eval {
  return (run) => {
    const from = object(run)
    const value = from instanceof Optional ? inside(from, key, 'has()').value : at(from, key, 'has()')
    return value !== undefined
  }
}

function inside(from: Optional, key: Value, where: string): Optional {
  return new Optional(from.value === undefined ? undefined : at(from.value, key, where))
}

/** undefined for a key, or an index, that is not there; only an object's own keys are. */
function at(from: Value, key: Value, where: string): Value | undefined {
  if (from === null) return undefined
  if (isList(from)) {
    const index = whole(key)
    if (index === null) throw new CelFault('type', `${where}: a list is asked for a position, got ${said(key)}`)
    return index >= 0 && index < from.length ? from[index] : undefined
  }
  if (kindOf(from) === 'map') return valueAt(from as JsonObject, key)
  throw new CelFault('type', `${where}: a ${said(from)} has no keys`)
}

function absent(from: Value, key: Value): string {
  if (from === null) return 'null has no keys'
  if (isList(from)) return `no element at ${String(key)}, the list has ${from.length}`
  return `no key ${typeof key === 'string' ? quoted(key) : isNumber(key) ? key : said(key)}`
}
