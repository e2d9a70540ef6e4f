import { Patience } from '../../shared/adapters/aws/patience.ts'
import { createApp } from '../../shared/api/app.ts'
import { sha256 } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { openOutside } from '../engine/outside.ts'
import { countedIds } from '../engine/room.ts'
import { plainClients } from '../faults/aws/clients.ts'
import type { Attributes } from '../faults/aws/expressions.ts'
import { alarmsQueue, type MemoryAws, queuePrefix, tableNames } from '../faults/aws/memory-aws.ts'
import { memoryWorld } from '../faults/aws/memory-world.ts'
import { ours } from './quotas.ts'

export interface FleetOptions {
  readonly aws: MemoryAws
  /** When they are made, epoch ms. */
  readonly now: number
  /** How many schedules each session has, 20 at most. */
  readonly perSession: number
  /** When each of them is due first, epoch ms; it comes again after a day. */
  readonly due: readonly number[]
  readonly shards?: number
}

/**
 * Schedules by the thousand: one is made by the API, with its agent and its session, and all others are its likenesses. Alarms stand in the
 * Scheduler, queues of sessions are there.
 */
export async function fleet({ aws, now, perSession, due, shards = ours.shards }: FleetOptions): Promise<void> {
  const one = await theFirst(aws, now, due[0]!)
  for (const [TableName, { pk, sk }] of one.items)
    aws.dynamo.call('DeleteItem', { TableName, Key: { pk: pk!, sk: sk! } })
  const like = (n: number, text: string): string => {
    const [conv, at] = [Math.floor(n / perSession), due[n]!]
    return text
      .replaceAll(one.conv, idLike(one.conv, 'C', conv))
      .replaceAll(one.schedule, idLike(one.schedule, 'S', n))
      .replaceAll(one.agent, idLike(one.agent, 'A', Math.floor(conv / 10)))
      .replaceAll(String(one.at), String(at))
      .replaceAll(one.due, new Date(at).toISOString().slice(0, 16))
  }
  const put = (table: string, Item: Attributes) => aws.dynamo.call('PutItem', { TableName: table, Item })
  const ofSchedule = one.items.filter(([, , text]) => text.includes(one.schedule) && !text.includes('"sk":{"S":"L"}'))
  const rest = one.items.filter((item) => !ofSchedule.includes(item))
  for (const [n] of due.entries()) {
    if (n % perSession === 0) {
      const schedules = due.slice(n, n + perSession).map((_, i) => `sch_${idLike(one.schedule, 'S', n + i)}`)
      for (const [table, , text] of rest) {
        const item: Attributes = JSON.parse(like(n, text))
        if (item.fires !== undefined) item.fires = { SS: [JSON.stringify(schedules)] }
        put(table, item)
      }
      aws.queues.make(`${queuePrefix}ses_${idLike(one.conv, 'C', n / perSession)}`)
    }
    for (const [table, , text] of ofSchedule) {
      const item: Attributes = JSON.parse(like(n, text))
      // Spread as the store does it, by the id; which shard is whose does not matter here.
      if (item._dp !== undefined) item._dp = { S: String(n % shards) }
      put(table, item)
    }
    const entry = JSON.parse(like(n, JSON.stringify(one.entry)))
    const at = Math.floor((due[n]! - 60_000) / 1000) * 1000
    aws.entries.set(entry.name, { ...entry, at, queue: alarmsQueue })
  }
}

/** The id with another end: 26 characters all the same, and none that was there before. */
const idLike = (id: string, kind: string, n: number): string => id.slice(0, 10) + kind + String(n).padStart(15, '0')

async function theFirst(aws: MemoryAws, now: number, due: number) {
  const world = memoryWorld({
    clients: plainClients((service, action, input) => aws.call(service, action, input)),
    patience: new Patience(),
    now: () => now,
    ids: countedIds(),
    outbound: openOutside().outbound,
    log: () => {},
    shards: ours.shards,
  })
  const person = { id: 'per_00000000000000000000000ANN', name: 'Ann', tz: 'UTC', admin: true, createdAt: now }
  await world.table.commit(personOps(person, 'key_00000000000000000000000ANN', sha256('key-of-ann')), 'ann')
  const app = createApp({ world, settled: async () => {} })
  const ask = async (path: string, body: object) => {
    const headers = { authorization: 'Bearer key-of-ann', 'content-type': 'application/json' }
    const answer = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    // biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
    const made = (await answer.json()) as any
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(made)}`)
    return made
  }
  const agent = (await ask('/v1/agents', { name: 'assistant' })).id as string
  const session = (await ask('/v1/sessions', { agent, title: 'Work', main: false })).id as string
  const at = `${new Date(due).toISOString().slice(0, 16)}`
  const body = { name: 'Review', prompt: 'Look at what came in since yesterday.', at, every: '24h', tz: 'UTC', session }
  const schedule = (await ask('/v1/schedules', body)).id as string
  const items = [...aws.dynamo.all()]
    .filter(([table]) => table !== tableNames.access)
    .map(([table, item]) => [table, item, JSON.stringify(item)] as const)
  const [entry] = aws.entries.values()
  aws.entries.clear()
  return {
    conv: session.slice(4),
    schedule: schedule.slice(4),
    agent: agent.slice(4),
    at: Date.parse(`${at}:00Z`),
    due: at,
    items,
    entry: entry!,
  }
}
