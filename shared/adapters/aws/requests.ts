import { createHash } from 'node:crypto'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { type Guard, type IndexEntries, type IndexName, type Key, type Op, tableOf } from '../../ports/table.ts'
import { attributesOf, indexesOf, keyAttributes, tokenAttribute, ttlAttribute, versionAttribute } from './schema.ts'
import { type Attributes, addAttributes, attributeOf, nameOf } from './values.ts'

/** One operation as DynamoDB takes it, alone or in a transaction. */
export type Request =
  | { readonly kind: 'Put'; readonly input: Written & { Item: Attributes } }
  | { readonly kind: 'Update'; readonly input: Written & { Key: Attributes; UpdateExpression: string } }
  | { readonly kind: 'Delete'; readonly input: Written & { Key: Attributes } }
  | { readonly kind: 'ConditionCheck'; readonly input: Written & { Key: Attributes; ConditionExpression: string } }

interface Written {
  TableName: string
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, AttributeValue>
}

/** What follows from a commit's token. */
export interface Marks {
  /** What DynamoDB knows the transaction by: 36 characters at most. */
  readonly request: string
  /** Short, stands on an item that a single write made, so that its writer knows it again. */
  readonly item: string
  /** 48 bits. */
  readonly number: number
}

export function marksOf(token: string): Marks {
  const hash = createHash('sha256').update(token).digest()
  return {
    request: token.length > 0 && token.length <= 36 ? token : hash.toString('base64url').slice(0, 36),
    item: hash.toString('base64url').slice(0, 8),
    number: hash.readUIntBE(26, 6),
  }
}

/**
 * @param place  the operation's place in the commit
 * @param alone  the item carries the commit's mark; a transaction has its token for that
 */
export function requestOf(op: Op, place: number, table: string, marks: Marks, alone: boolean): Request {
  const terms = new Terms()
  const mark = alone ? marks.item : null
  if ('put' in op) {
    const item: Attributes = {
      ...keyAttributesOf(op.put),
      [versionAttribute]: { N: String(versionAfter(op.expect, marks.number, place)) },
    }
    if (op.ttl !== undefined) item[ttlAttribute] = { N: String(op.ttl) }
    if (mark !== null) item[tokenAttribute] = { S: mark }
    addPlaces(item, op.index ?? {})
    addAttributes(item, op.item)
    return { kind: 'Put', input: terms.into({ TableName: table, Item: item }, expectation(op.expect, terms)) }
  }
  if ('patch' in op) {
    const update = updateOf(op, terms, mark)
    const conditions = op.guards.map((guard) => guardOf(guard, terms))
    if (mark !== null) {
      // A repeated patch would find its guards met once more: it must not write over what came after it.
      const [name, value] = [terms.name(tokenAttribute), terms.value({ S: mark })]
      conditions.push(`(attribute_not_exists(${name}) OR ${name} <> ${value})`)
    }
    const input = { TableName: table, Key: keyAttributesOf(op.patch), UpdateExpression: update }
    return { kind: 'Update', input: terms.into(input, conditions.join(' AND ')) }
  }
  if ('delete' in op) {
    return {
      kind: 'Delete',
      input: terms.into({ TableName: table, Key: keyAttributesOf(op.delete) }, expectation(op.expect, terms)),
    }
  }
  const condition = expectation(op.expect, terms)
  const input = { TableName: table, Key: keyAttributesOf(op.check), ConditionExpression: condition }
  return { kind: 'ConditionCheck', input: terms.into(input, condition) }
}

export const keyAttributesOf = ([pk, sk]: Key): Attributes => ({
  [keyAttributes.pk]: { S: pk },
  [keyAttributes.sk]: { S: sk },
})

/**
 * After `any`, nobody knows what was there: a number that no counting reaches. It follows from the token, since a repeated
 * transaction has to say the same, byte by byte.
 */
const versionAfter = (expect: number | 'absent' | 'any', mark: number, place: number): number =>
  expect === 'absent' ? 1 : expect === 'any' ? 2 ** 51 + mark + place : expect + 1

function expectation(expect: number | 'absent' | 'present' | 'any', terms: Terms): string {
  if (expect === 'any') return ''
  if (typeof expect === 'number') return `${terms.name(versionAttribute)} = ${terms.value({ N: String(expect) })}`
  return `${expect === 'absent' ? 'attribute_not_exists' : 'attribute_exists'}(${terms.name(keyAttributes.pk)})`
}

function guardOf(guard: Guard, terms: Terms): string {
  const name = terms.name(nameOf(guard.attr))
  if ('value' in guard) return `${name} ${guard.is} ${terms.value(attributeOf(guard.value))}`
  return `${guard.is === 'absent' ? 'attribute_not_exists' : 'attribute_exists'}(${name})`
}

function updateOf(op: Extract<Op, { patch: Key }>, terms: Terms, mark: string | null): string {
  const changed: Attributes = addAttributes({}, op.set ?? {})
  const gone = (op.unset ?? []).map(nameOf)
  if (op.ttl !== undefined) changed[ttlAttribute] = { N: String(op.ttl) }
  if (mark !== null) changed[tokenAttribute] = { S: mark }
  if (op.index !== undefined) {
    addPlaces(changed, op.index)
    for (const index of indexesOf(tableOf(op.patch[0]))) {
      const { pk, sk } = attributesOf(index)
      if (op.index[index] === undefined) gone.push(pk, sk)
    }
  }
  const sets = Object.entries(changed).map(([name, value]) => `${terms.name(name)} = ${terms.value(value)}`)
  const adds = Object.entries(op.add ?? {}).map(
    ([attr, by]) => `${terms.name(nameOf(attr))} ${terms.value(attributeOf(by))}`,
  )
  adds.push(`${terms.name(versionAttribute)} ${terms.value({ N: '1' })}`)
  return [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(', ')}`]),
    ...(gone.length === 0 ? [] : [`REMOVE ${gone.map((name) => terms.name(name)).join(', ')}`]),
    `ADD ${adds.join(', ')}`,
  ].join(' ')
}

function addPlaces(into: Attributes, entries: IndexEntries) {
  for (const index of Object.keys(entries) as IndexName[]) {
    const entry = entries[index]
    if (entry === undefined) continue
    const { pk, sk } = attributesOf(index)
    into[pk] = attributeOf(entry[0])
    into[sk] = attributeOf(entry[1])
  }
}

/** The names and values of one request's expressions; each is written once. */
export class Terms {
  readonly #names = new Map<string, string>()
  readonly #values: Record<string, AttributeValue> = {}
  #count = 0

  name(attribute: string): string {
    let term = this.#names.get(attribute)
    if (term === undefined) {
      term = `#${this.#names.size}`
      this.#names.set(attribute, term)
    }
    return term
  }

  value(value: AttributeValue): string {
    const term = `:${this.#count++}`
    this.#values[term] = value
    return term
  }

  /** The request with its terms, and without what it has none of: DynamoDB refuses empty ones. */
  into<T extends { TableName: string }>(input: T, condition: string): T & Written {
    const written: T & Written = { ...input }
    if (condition !== '') written.ConditionExpression = condition
    if (this.#names.size > 0) written.ExpressionAttributeNames = this.names
    if (this.#count > 0) written.ExpressionAttributeValues = this.#values
    return written
  }

  get names(): Record<string, string> {
    return Object.fromEntries([...this.#names].map(([name, term]) => [term, name]))
  }

  get values(): Record<string, AttributeValue> {
    return this.#values
  }
}
