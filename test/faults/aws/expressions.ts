import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { compareText } from '../../../shared/adapters/order.ts'

export type Attributes = Record<string, AttributeValue>

/** A refusal as AWS gives it. */
export class AwsRefusal extends Error {
  readonly extra: object
  constructor(name: string, message = name, extra: object = {}) {
    super(message)
    this.name = name
    this.extra = extra
    // As the SDK shows them.
    Object.assign(this, extra)
  }
}

const invalid = (what: string) => new AwsRefusal('ValidationException', what)

interface Terms {
  readonly ExpressionAttributeNames?: Record<string, string>
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>
}

const nameIn = (terms: Terms, term: string): string => {
  const name = terms.ExpressionAttributeNames?.[term]
  if (name === undefined) throw invalid(`name ${term} is not defined`)
  return name
}
const valueIn = (terms: Terms, term: string): AttributeValue => {
  const value = terms.ExpressionAttributeValues?.[term]
  if (value === undefined) throw invalid(`value ${term} is not defined`)
  return value
}

const comparison = /^(#\d+) (<>|<=|>=|=|<|>) (:\d+)$/
const presence = /^(attribute_exists|attribute_not_exists)\((#\d+)\)$/

/**
 * Whether a condition holds, as far as the adapters write conditions: comparisons and presence, joined by AND, and one OR in brackets.
 *
 * @throws AwsRefusal for everything else
 */
export function holds(condition: string | undefined, terms: Terms, item: Attributes | null): boolean {
  if (condition === undefined) return true
  return condition
    .replace(/\(([^()]*\([^()]*\)) OR ([^()]*)\)/g, (_, a: string, b: string) => `${a} || ${b}`)
    .split(' AND ')
    .every((part) => part.split(' || ').some((one) => atom(one, terms, item)))
}

function atom(text: string, terms: Terms, item: Attributes | null): boolean {
  const asked = presence.exec(text)
  if (asked !== null) {
    const there = item?.[nameIn(terms, asked[2]!)] !== undefined
    return there === (asked[1] === 'attribute_exists')
  }
  const compared = comparison.exec(text)
  if (compared === null) throw invalid(`condition '${text}' is not one that is known here`)
  const left = item?.[nameIn(terms, compared[1]!)]
  const order = left === undefined ? null : ordered(left, valueIn(terms, compared[3]!))
  switch (compared[2]) {
    case '<>':
      return order !== 0
    case '=':
      return order === 0
    case '<':
      return order !== null && order < 0
    case '<=':
      return order !== null && order <= 0
    case '>':
      return order !== null && order > 0
    default:
      return order !== null && order >= 0
  }
}

/** Null where the two are of different types, or of one that has no order and differs. */
function ordered(a: AttributeValue, b: AttributeValue): number | null {
  if (a.N !== undefined && b.N !== undefined) return Number(a.N) - Number(b.N)
  if (a.S !== undefined && b.S !== undefined) return compareText(a.S, b.S)
  return JSON.stringify(a) === JSON.stringify(b) ? 0 : null
}

/** The item after an update: SET, REMOVE and ADD as the adapters write them. */
export function updated(expression: string, terms: Terms, key: Attributes, before: Attributes | null): Attributes {
  const item: Attributes = { ...(before ?? key) }
  for (const clause of expression.split(/ (?=(?:SET|REMOVE|ADD) )/)) {
    const [verb, rest] = [clause.slice(0, clause.indexOf(' ')), clause.slice(clause.indexOf(' ') + 1)]
    for (const part of rest.split(', ')) {
      const [term, ...words] = part.split(' ')
      const name = nameIn(terms, term!)
      if (verb === 'REMOVE') delete item[name]
      else if (verb === 'SET') item[name] = valueIn(terms, words[1]!)
      else if (verb === 'ADD') item[name] = sum(item[name], valueIn(terms, words[0]!))
      else throw invalid(`update '${clause}' is not one that is known here`)
    }
  }
  return item
}

function sum(before: AttributeValue | undefined, by: AttributeValue): AttributeValue {
  if (before !== undefined && before.N === undefined) throw invalid('ADD to what is no number')
  return { N: String(Number(before?.N ?? 0) + Number(by.N)) }
}

/** What a Query bounds: one partition, and a range of the sort key. */
export interface KeyRange {
  readonly pkName: string
  readonly pk: string
  readonly fits: (sk: string | number) => boolean
}

export function keyRange(expression: string, terms: Terms): KeyRange {
  const [first, ...rest] = expression.split(/ AND (?=#|begins_with)/)
  const partition = comparison.exec(first ?? '')
  if (partition?.[2] !== '=') throw invalid(`key condition '${expression}' is not one that is known here`)
  const value = (term: string): string | number => {
    const { S, N } = valueIn(terms, term)
    return S ?? Number(N)
  }
  const order = (a: string | number, b: string | number) =>
    typeof a === 'number' ? a - Number(b) : compareText(a, String(b))
  return {
    pkName: nameIn(terms, partition[1]!),
    pk: String(value(partition[3]!)),
    fits: bound(rest.join(' AND '), value, order),
  }
}

function bound(
  text: string,
  value: (term: string) => string | number,
  order: (a: string | number, b: string | number) => number,
): KeyRange['fits'] {
  if (text === '') return () => true
  const between = /^#\d+ BETWEEN (:\d+) AND (:\d+)$/.exec(text)
  if (between !== null) {
    const [low, high] = [value(between[1]!), value(between[2]!)]
    return (sk) => order(sk, low) >= 0 && order(sk, high) <= 0
  }
  const open = /^#\d+ (<=|>=) (:\d+)$/.exec(text)
  if (open !== null) {
    const edge = value(open[2]!)
    return open[1] === '<=' ? (sk) => order(sk, edge) <= 0 : (sk) => order(sk, edge) >= 0
  }
  return prefixed(text, value)
}

function prefixed(text: string, value: (term: string) => string | number): KeyRange['fits'] {
  const begins = /^begins_with\(#\d+, (:\d+)\)$/.exec(text)
  if (begins === null) throw invalid(`key condition '${text}' is not one that is known here`)
  const prefix = String(value(begins[1]!))
  return (sk) => String(sk).startsWith(prefix)
}
