import { readAlarms } from '../../shared/adapters/aws/alarms.ts'
import { openEmf } from '../../shared/adapters/aws/emf.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { openIds } from '../../shared/adapters/ids.ts'
import { createApp } from '../../shared/api/app.ts'
import { sha256 } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { onAlarms } from '../../shared/engine/alarm.ts'
import { drain } from '../../shared/engine/drain.ts'
import { stepOrSetAside } from '../../shared/engine/flow-due.ts'
import { onDocumentChange } from '../../shared/engine/monitor-look.ts'
import { loadNow } from '../../shared/ports/later.ts'
import type { World } from '../../shared/ports/world.ts'
import { answered, openOutside } from '../../test/engine/outside.ts'
import { sdkClients } from '../../test/faults/aws/clients.ts'
import { alarmsQueue, flowsQueue, MemoryAws, queuePrefix, tableNames } from '../../test/faults/aws/memory-aws.ts'
import { memoryWorld } from '../../test/faults/aws/memory-world.ts'
import { Meter } from './meter.ts'
import { type Bill, nothing, plus } from './prices.ts'
import { Timeline } from './timeline.ts'
import { type Attributes, apiCalls, gbSeconds, itemBytes, sqsRequests } from './units.ts'

/** As infra/functions.ts sets it. */
export const memoryMb = 512
const shards = 8
/** As infra/queues.ts sets them. */
const batchSizes = { [alarmsQueue]: 10, [flowsQueue]: 1 } as const
const hiddenMs = 360_000

/** What requests take from a function in the same region, ms, and the function's own work for each: estimates, on the high side. */
export const latencyMs = {
  GetItem: 5,
  BatchGetItem: 8,
  Query: 8,
  PutItem: 8,
  UpdateItem: 8,
  DeleteItem: 8,
  TransactWriteItems: 18,
  SendMessage: 12,
  CreateSchedule: 40,
  other: 25,
} as const
/** What an invocation takes besides. */
export const ownMs = 4
/** A tool that a flow or a monitor calls answers within that. */
export const toolMs = 200
/** A line of the access log, as infra/api.ts writes it. */
const accessLineBytes = 330

const key = 'key-of-ann'

/** What something came to. */
export interface Spent {
  readonly bill: Bill
  /** What the functions asked the SDK for; what services do for us is none of it. */
  readonly requests: number
}

/**
 * Rouse on AWS in memory: the engine, the API and the adapters over the SDK's own clients, with a meter on them, and whatever wakes them.
 * What services do for us is added where it is played: the Scheduler's sends, the mappings' receives and deletes, invocations.
 */
export class Cloud {
  readonly aws: MemoryAws
  readonly time: Timeline
  readonly meter: Meter
  /** Names of CloudWatch metrics that were written. */
  readonly metrics = new Set<string>()
  readonly #world: World
  readonly #app: ReturnType<typeof createApp>
  readonly #emf: ReturnType<typeof openEmf>
  #services: Bill = nothing()
  #changed: { readonly pk: string; readonly sk: string }[] = []

  constructor(start: number) {
    this.time = new Timeline(start)
    this.aws = new MemoryAws(() => this.time.now)
    this.aws.dynamo.changed = (table, pk, sk) => {
      if (table === tableNames.documents && sk.startsWith('H#')) this.#changed.push({ pk, sk })
    }
    this.meter = new Meter(tableNames, (table, { pk, sk }) => {
      const found = this.aws.dynamo.call('GetItem', { TableName: table, Key: { pk, sk } }) as { Item?: Attributes }
      return found.Item ?? null
    })
    this.#emf = openEmf('prod', (line) => this.#logged(line))
    const patience = new Patience({ now: () => this.time.now, random: () => 0, pause: async () => {} })
    const clients = sdkClients((...call) => this.aws.call(...call), patience)
    for (const client of Object.values(clients)) this.meter.watch(client, (action) => this.time.wait(latencyOf(action)))
    const { outside, outbound } = openOutside()
    outside.answer = async () => {
      await this.time.wait(toolMs)
      return answered(200, { 'content-type': 'application/json' }, '{"rate":1.07}')
    }
    const ids = openIds()
    this.#world = {
      ...memoryWorld({ clients, patience, now: () => this.time.now, ids, outbound, log: () => {}, shards }),
      meter: this.#emf,
    }
    this.#app = createApp({ world: this.#world, settled: async () => {}, rate: null })
  }

  /** The first person, who calls from then on. */
  async bootstrap(): Promise<void> {
    await loadNow()
    const at = this.time.now
    const person = { id: `per_${this.#world.ids.ulid(at)}`, name: 'Ann', tz: 'UTC', admin: true, createdAt: at }
    const ops = personOps(person, `key_${this.#world.ids.ulid(at)}`, sha256(key))
    await this.time.took(() => this.#world.table.commit(ops, 'first'))
    this.taken()
  }

  /** What was spent since the last time. */
  taken(): Spent {
    const { bill, requests } = this.meter.taken()
    const spent = { bill: plus(bill, this.#services), requests }
    this.#services = nothing()
    return spent
  }

  /** One call of the API, that must pass. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
  async ask(method: string, path: string, body?: object): Promise<any> {
    let answer: Response | null = null
    let bytes = 0
    await this.#invoked(async () => {
      answer = await this.#app.request(path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    })
    const { status, text } = await read(answer!)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(body ?? ''))
    this.#spend({ apiCalls: apiCalls(bytes), logBytes: accessLineBytes })
    return text === '' ? null : JSON.parse(text)
  }

  /** Time passes; what is due in the Scheduler goes into its queue. */
  pass(ms: number): void {
    this.time.now += ms
    for (const entry of [...this.aws.entries.values()].filter(({ at }) => at <= this.time.now)) {
      this.aws.entries.delete(entry.name)
      this.aws.queues.send(this.aws.queues.make(entry.queue), entry.body, 0)
      this.#spend({ schedulerFires: 1, sqsRequests: sqsRequests(Buffer.byteLength(entry.body)) })
    }
  }

  /** Hands over what may be seen in a queue, as the event source mapping does. @returns how many batches */
  async deliver(queue: typeof alarmsQueue | typeof flowsQueue = alarmsQueue): Promise<number> {
    const from = this.aws.queues.named(queue)!
    for (let batches = 0; ; batches += 1) {
      const taken = this.aws.queues.receive(from, batchSizes[queue], hiddenMs)
      if (taken.length === 0) return batches
      const bodies = taken.map(({ body }) => body)
      await this.#invoked(() => (queue === alarmsQueue ? this.#alarm(bodies) : this.#flow(bodies)))
      for (const { id } of taken) from.messages.delete(id)
      // A receive and a delete for all of the batch.
      this.#spend({ sqsRequests: 1 + sqsRequests(Buffer.byteLength(bodies.join(''))) })
    }
  }

  /** Lambda reads the stream for nothing. */
  async stream(): Promise<void> {
    const records = this.#changed.splice(0)
    await this.#invoked(async () => {
      for (const { pk, sk } of records)
        await onDocumentChange(this.#world, `per_${pk.slice(2)}`, sk.slice(2), this.time.now)
    })
  }

  async sweep(): Promise<void> {
    await this.#invoked(() => drain(this.#world, this.time.now, 20_000))
  }

  /** A worker's look at its session's queue: one long poll, and the bells' deletion. @returns how many bells there were */
  listen(session: string): number {
    const queue = this.aws.queues.named(queuePrefix + session)
    const bells = queue === null ? [] : this.aws.queues.receive(queue, 10, hiddenMs)
    for (const { id } of bells) queue!.messages.delete(id)
    this.#spend({ sqsRequests: sqsRequests(Buffer.byteLength(bells.map(({ body }) => body).join(''))) + bells.length })
    return bells.length
  }

  /** What is stored: bytes for as long as they stay, in GB-months. What has no TTL stays; it counts for nothing that is done every day. */
  storedGbMonths(): number {
    let byteMs = 0
    for (const [, item] of this.aws.dynamo.all()) {
      const until = Number((item as Attributes).ttl?.N ?? 0) * 1000
      // 100 bytes an item are DynamoDB's own.
      if (until > this.time.now) byteMs += (itemBytes(item as Attributes) + 100) * (until - this.time.now)
    }
    return byteMs / (30.4 * 86_400_000) / 2 ** 30
  }

  async #alarm(bodies: readonly string[]): Promise<void> {
    const { due, bad, unset } = await readAlarms(this.#world.alarms, bodies, this.time.now)
    if (bad.length + unset.length > 0) throw new Error('an alarm could not be read or set')
    await onAlarms(this.#world, due, this.time.now)
  }

  async #flow(bodies: readonly string[]): Promise<void> {
    const { due } = await readAlarms(this.#world.alarms, bodies, this.time.now)
    for (const key of due)
      if ((await stepOrSetAside(this.#world, key.id)) === 'on') await this.#world.alarms.set(key, this.time.now)
  }

  async #invoked(work: () => Promise<unknown>): Promise<void> {
    const ms = await this.time.took(work)
    this.#emf.flush()
    this.#spend({ invocations: 1, gbSeconds: gbSeconds(ms + ownMs, memoryMb) })
  }

  #logged(line: string): void {
    this.#spend({ logBytes: Buffer.byteLength(line) })
    for (const { Metrics } of JSON.parse(line)._aws.CloudWatchMetrics as { Metrics: { Name: string }[] }[])
      for (const { Name } of Metrics) this.metrics.add(Name)
  }

  #spend(bill: Partial<Bill>): void {
    this.#services = plus(this.#services, bill)
  }
}

const latencyOf = (action: string): number =>
  action in latencyMs ? latencyMs[action as keyof typeof latencyMs] : latencyMs.other

const read = async (answer: Response) => ({ status: answer.status, text: await answer.text() })
