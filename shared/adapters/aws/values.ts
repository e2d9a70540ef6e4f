import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Item, Json, Key, Stored } from '../../ports/table.ts'
import { keyAttributes, ttlAttribute, versionAttribute } from './schema.ts'

/**
 * Items as DynamoDB keeps them: each attribute its own, so that a patch and its guards can reach it. Text, numbers, true, false and
 * null are DynamoDB's own. All else, lists and objects above all, is JSON in a set of one text, which is a type that nothing else here
 * has. As DynamoDB's lists and maps they cost the SDK much more (1.7 ms of CPU for a list of a hundred numbers), and nothing in
 * the port looks into them.
 *
 * Our own attributes are `pk`, `sk`, `v`, `ttl` and all that begin with one underscore. An item's attribute keeps its
 * name, unless it is one of those or begins with an underscore: then it gets an underscore more.
 */
export type Attributes = Record<string, AttributeValue>

const own: ReadonlySet<string> = new Set(['', keyAttributes.pk, keyAttributes.sk, versionAttribute, ttlAttribute])

/** How an item's attribute is called in DynamoDB. */
export const nameOf = (attr: string): string => (attr[0] === '_' || own.has(attr) ? `_${attr}` : attr)

/** Adds an item's attributes to `into`. As in JSON, what is undefined is left out. */
export function addAttributes(into: Attributes, item: Item): Attributes {
  for (const attr of Object.keys(item)) {
    const value = item[attr]
    if (value !== undefined) into[nameOf(attr)] = attributeOf(value)
  }
  return into
}

/** One value as DynamoDB takes it. */
export function attributeOf(value: Json): AttributeValue {
  switch (typeof value) {
    case 'string':
      // DynamoDB takes UTF-8 only, and half of a surrogate pair is none; JSON escapes it.
      return value.isWellFormed() ? { S: value } : inJson(value)
    case 'number':
      return fitsNumber(value) ? { N: String(value) } : inJson(value)
    case 'boolean':
      return { BOOL: value }
  }
  return value === null ? { NULL: true } : inJson(value)
}

const inJson = (value: Json): AttributeValue => ({ SS: [JSON.stringify(value)] })

/** DynamoDB's numbers have 38 digits, more than a double, but end at 9.99e125 and 1e-130. */
export function fitsNumber(value: number): boolean {
  const size = Math.abs(value)
  return size === 0 || (size >= 1e-130 && size <= 9.99e125)
}

/** @param attributes  an item with its key and version, as DynamoDB answers it */
export function storedOf(attributes: Readonly<Attributes>): Stored {
  const item: Record<string, Json> = {}
  let key: Key = ['', '']
  let version = 0
  for (const name in attributes) {
    const value = attributes[name]!
    if (name[0] === '_') {
      const attr = name.slice(1)
      if (attr[0] === '_' || own.has(attr)) put(item, attr, jsonOf(value))
    } else if (name === keyAttributes.pk) key = [value.S!, key[1]]
    else if (name === keyAttributes.sk) key = [key[0], value.S!]
    else if (name === versionAttribute) version = Number(value.N)
    else if (name !== ttlAttribute) item[name] = jsonOf(value)
  }
  return { key, version, item }
}

function jsonOf({ S, N, BOOL, SS }: AttributeValue): Json {
  if (S !== undefined) return S
  if (N !== undefined) return Number(N)
  if (SS !== undefined) return JSON.parse(SS[0]!) as Json
  return BOOL ?? null
}

/** As JSON.parse does it: `__proto__` is a name like any other. */
function put(into: Record<string, Json>, name: string, value: Json) {
  if (name !== '__proto__') into[name] = value
  else Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true })
}
