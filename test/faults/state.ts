import { keyAttributes } from '../../shared/adapters/aws/schema.ts'
import { storedOf } from '../../shared/adapters/aws/values.ts'
import { alarmsQueue, flowsQueue, queuePrefix, tableNames } from './aws/memory-aws.ts'
import type { Cloud } from './cloud.ts'

/**
 * Everything that there is in the end, a line each, in an order of its own, without what may differ between two ways to the same end: ids
 * that were made up, the instants at which something was done. Nominal times stand in keys and stay.
 *
 * What keeps calls from being repeated, and the audit trail, which says who was answered, are left out. So is how often a document was put:
 * whoever puts it again, because nobody answered, makes the same text anew; and how often a result was tried to be sent, which counts tries
 * that were cut off.
 */
export const stateOf = (cloud: Cloud): string[] =>
  [
    ...stored(cloud),
    ...armed(cloud),
    ...sent(cloud),
    ...[...cloud.aws.parameters].map(([name, value]) => `secret ${plain(name)}=${value}`),
    ...[alarmsQueue, flowsQueue].flatMap((queue) => cloud.dead(queue).map((body) => `given up ${plain(body)}`)),
  ].sort()

function* stored(cloud: Cloud): Generator<string> {
  for (const [table, attributes] of cloud.aws.dynamo.all()) {
    if (table === tableNames.access) continue
    const { key, item } = storedOf(attributes)
    const indexes = Object.keys(attributes)
      .filter((name) => /^_[a-z]p$/.test(name))
      .sort()
    const text = plain(JSON.stringify(item, sortedFields)).replace(/"tries":\d+/g, '"tries":N')
    const is = table === tableNames.documents ? text.replace(/"version":\d+/g, '"version":V') : text
    yield `${table} ${plainKey(key)} ${is} in ${indexes.join(' ')}`
  }
}

/** Whether each schedule that goes on has its next alarm. Without it, the sweep would find it a minute late. */
function* armed(cloud: Cloud): Generator<string> {
  const waiting = new Set(
    [
      ...[...cloud.aws.entries.values()].map(({ body }) => body),
      ...[...(cloud.aws.queues.named(alarmsQueue)?.messages.values() ?? [])].map(({ body }) => body),
    ].map((body) => {
      const { id, at } = JSON.parse(body)
      return `${id} ${at}`
    }),
  )
  for (const [table, attributes] of cloud.aws.dynamo.all()) {
    if (table !== tableNames.schedules) continue
    const { key, item } = storedOf(attributes)
    if (key[1] !== 'A' || item.s !== 'active' || typeof item.n !== 'number') continue
    yield `next alarm of ${plain(String(item.id))}: ${waiting.has(`${item.id} ${item.n}`) ? 'set' : 'MISSING'}`
  }
}

/** Each message that was rung for, once: a bell that rings twice does no harm. */
export function* rungIn(cloud: Cloud): Generator<string> {
  for (const { name, messages } of cloud.aws.queues.all()) {
    if (!name.startsWith(queuePrefix)) continue
    const ids = new Set([...messages.values()].map(({ body }) => JSON.parse(body).id))
    for (const id of ids) yield `rung for ${plain(String(id))} on ${plain(name)}`
  }
}

/** What was sent to others. The same under the same id is one thing, however often it went. */
function* sent(cloud: Cloud): Generator<string> {
  const all = cloud.outside.sent.map((request) => {
    if (!('url' in request)) return JSON.stringify(request)
    const id = request.headers['webhook-id'] ?? request.headers['idempotency-key'] ?? ''
    return `${request.method} ${request.url} ${id}`
  })
  for (const one of new Set(all)) yield `sent ${plain(one)}`
}

const plainKey = ([pk, sk]: readonly [string, string]): string =>
  `${keyAttributes.pk}=${plain(pk)} ${keyAttributes.sk}=${plain(sk.replace(/^(M|W#\w)#[0-9A-Z]{10}/, '$1#T'))}`

/** Ids become what they are ids of, also the mark in a run's key; instants `T`. `n` and `v` of a cursor are nominal. */
const plain = (text: string): string =>
  text
    .replace(/"(n|v|nominalAt|missedFrom)":(\d{13})/g, '"$1":"at $2"')
    .replace(/\b(R#[0-9A-Z]{10}#[a-z])[0-9A-Z]{10}\b/g, '$1…')
    .replace(/(?<![0-9A-HJKMNP-TV-Z])(\w{3}_)?[0-9A-HJKMNP-TV-Z]{26}\b/g, '$1#')
    .replace(/(?<!at )\b1[78]\d{11}\b/g, 'T')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')

const sortedFields = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
