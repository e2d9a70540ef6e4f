import { Patience } from '../../shared/adapters/aws/patience.ts'
import { sha256 } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import type { World } from '../../shared/ports/world.ts'
import { type Outside, openOutside } from '../engine/outside.ts'
import { countedIds } from '../engine/room.ts'
import { plainClients, sdkClients } from './aws/clients.ts'
import { alarmsQueue, flowsQueue, MemoryAws, tableNames } from './aws/memory-aws.ts'
import { memoryWorld } from './aws/memory-world.ts'
import type { QueueMessage } from './aws/queues.ts'
import { type Fault, Line } from './line.ts'

export const start = Date.parse('2026-11-30T08:00:00Z')
const second = 1000
export const minute = 60 * second
/** As infra/queues.ts sets them. */
const hiddenMs: Readonly<Record<string, number>> = { [alarmsQueue]: 120 * second, [flowsQueue]: 360 * second }
const receivesMax = 5

/** The functions' world. A container makes it once; here each invocation has its own, as if it were the first of its container. */
let world: World | null = null
export const currentWorld = (): World => {
  if (world === null) throw new Error('no process is running')
  return world
}

/** The functions as they are deployed. Loaded once: `../../functions/world.ts` must be mocked by `worldFromEnv` of here before. */
const functions = {
  alarm: () => import('../../functions/alarm.ts'),
  flow: () => import('../../functions/flow.ts'),
  change: () => import('../../functions/change.ts'),
  sweep: () => import('../../functions/sweep.ts'),
  api: () => import('../../functions/api.ts'),
}

/** How else an event may come than once and in order. */
export const arrivals = ['twice in a row', 'twice at once', 'one by one, the last first', 'after the sweep'] as const
export type Arrival = (typeof arrivals)[number]

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
export type Answered = { readonly status: number; readonly body: any }

/** Rouse on AWS in memory: its functions, what wakes them, and a person who calls. Nothing in it takes time but `pass`. */
export class Cloud {
  readonly aws: MemoryAws
  readonly outside: Outside
  readonly said: string[] = []
  #now = start
  readonly #ids = countedIds()
  readonly #outbound: World['outbound']
  #stream: { readonly pk: string; readonly sk: string }[] = []
  #unanswered: Asked | null = null
  #sequence = 0
  #arrival: Arrival | null = null

  constructor() {
    this.aws = new MemoryAws(() => this.#now)
    const { outside, outbound } = openOutside()
    this.outside = outside
    this.#outbound = outbound
    this.aws.dynamo.changed = (table, pk, sk) => {
      if (table === tableNames.documents && sk.startsWith('H#')) this.#stream.push({ pk, sk })
    }
  }

  now = (): number => this.#now

  /** A line to a process of its own; with a fault, over the SDK's own clients. */
  line(fault: Fault | null = null): Line {
    return new Line(this.aws, fault)
  }

  /** Runs something as one process that has this line to AWS. */
  async process<T>(line: Line, run: () => Promise<T>): Promise<T> {
    const pace = { now: () => this.#now, random: () => 0, pause: async () => {} }
    const patience = new Patience({ ...pace, now: () => this.#now + line.calls * 500 })
    const clients = line.fault === null ? plainClients(line.dispatch) : sdkClients(line.dispatch, patience)
    world = memoryWorld({
      clients,
      patience,
      now: this.now,
      ids: this.#ids,
      outbound: this.#outbound,
      log: (level, what, ids) => {
        if (!line.isDead) this.said.push(`${level} ${what} ${JSON.stringify(ids ?? {})}`)
      },
      shards: 1,
    })
    return await run()
  }

  /** What `run` brings comes in this way. */
  async arriving(arrival: Arrival, run: () => Promise<unknown>): Promise<void> {
    this.#arrival = arrival
    if (arrival === 'after the sweep') await this.sweep()
    await run()
    this.#arrival = null
  }

  /** An event is handled, or handled twice. @returns the answers */
  async #handled<T>(line: Line, run: () => Promise<T>): Promise<T[]> {
    if (this.#arrival === 'twice at once') return await this.process(line, () => Promise.all([run(), run()]))
    const answer = await this.process(line, run)
    return this.#arrival === 'twice in a row' ? [answer, await this.process(line, run)] : [answer]
  }

  /** The first person, who calls from then on. */
  async bootstrap(): Promise<void> {
    const person = { id: 'per_00000000000000000000000ANN', name: 'Ann', tz: 'UTC', admin: true, createdAt: start }
    await this.process(this.line(), () =>
      currentWorld().table.commit(personOps(person, 'key_00000000000000000000000ANN', sha256('key-of-ann')), 'ann'),
    )
  }

  /** One call of the API that must pass. */
  async ask(method: string, path: string, body?: object): Promise<Answered['body']> {
    const answer = await this.call({ method, path, ...(body === undefined ? {} : { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** A call of the API. What is not answered is called again by `settle`, as whoever calls would do. */
  async call(asked: Asked, line = this.line()): Promise<Answered> {
    const answers = await this.#handled(line, () => this.#api(asked)).catch(() => [{ status: 502, body: null }])
    // Of two, the one that says what was done.
    const answer = answers.toSorted((a, b) => a.status - b.status)[0]!
    const isLost = line.isDead || answer.status >= 500 || answer.body?.code === 'idempotency_in_flight'
    this.#unanswered = isLost ? asked : null
    return line.isDead ? { status: 502, body: null } : answer
  }

  async #api({ method, path, body, key = 'key-of-ann', headers = {} }: Asked): Promise<Answered> {
    const { handler } = await functions.api()
    const [rawPath, rawQueryString = ''] = path.split('?')
    const event = {
      version: '2.0',
      rawPath,
      rawQueryString,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      isBase64Encoded: false,
      requestContext: { domainName: 'rouse.test', http: { method, path: rawPath } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    const { statusCode, body: text } = await handler(event as never, {} as never)
    return { status: statusCode, body: text ? JSON.parse(text) : null }
  }

  /** Hands a batch of a queue to its function, as the event source mapping does. @returns the messages */
  async deliver(queue: string, line = this.line(), most = 10): Promise<readonly QueueMessage[]> {
    const from = this.aws.queues.named(queue)!
    for (const message of [...from.messages.values()])
      if (message.visibleAt <= this.#now && message.receives >= receivesMax) {
        from.messages.delete(message.id)
        this.aws.queues.send(this.aws.queues.make(`${queue}-dead`), message.body, 0)
      }
    const received = this.aws.queues.receive(from, most, hiddenMs[queue]!)
    const batches = this.#arrival?.startsWith('one by one') ? received.toReversed().map((one) => [one]) : [received]
    for (const batch of batches) await this.#batch(queue, batch, line)
    return received
  }

  /** What the function does not keep is deleted, as the mapping does it. */
  async #batch(queue: string, taken: readonly QueueMessage[], line: Line): Promise<void> {
    if (taken.length === 0) return
    const { handler } = await (queue === flowsQueue ? functions.flow() : functions.alarm())
    const event = { Records: taken.map(({ id, body }) => ({ messageId: id, body })) }
    const answers = await this.#handled(line, () => handler(event)).catch(() => null)
    const kept =
      answers === null || line.isDead
        ? taken.map(({ id }) => id)
        : answers[0]!.batchItemFailures.map((failed) => failed.itemIdentifier)
    for (const { id } of taken) if (!kept.includes(id)) this.aws.queues.named(queue)!.messages.delete(id)
  }

  /** Hands the stream's records to their function: from the first that failed on they come again. */
  async stream(line = this.line()): Promise<void> {
    const records = this.#stream.splice(0)
    if (records.length === 0) return
    const { handler } = await functions.change()
    const Records = records.map(({ pk, sk }) => ({
      dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: String(++this.#sequence) },
    }))
    const answers = await this.#handled(line, () => handler({ Records })).catch(() => null)
    const failed = answers?.[0]?.batchItemFailures[0]?.itemIdentifier
    const from = answers === null || line.isDead ? 0 : Records.findIndex((r) => r.dynamodb.SequenceNumber === failed)
    if (from >= 0) this.#stream.unshift(...records.slice(from))
  }

  async sweep(line = this.line()): Promise<void> {
    const { handler } = await functions.sweep()
    await this.process(line, () => handler({})).catch(() => null)
  }

  /** Time passes; what is due in the Scheduler goes into its queue, and nothing else happens. */
  pass(ms: number): void {
    this.#now += ms
    for (const entry of [...this.aws.entries.values()].filter(({ at }) => at <= this.#now)) {
      this.aws.entries.delete(entry.name)
      this.aws.queues.send(this.aws.queues.make(entry.queue), entry.body, 0)
    }
  }

  /**
   * Whatever is still to come comes: calls that were not answered, messages, records, the sweep, for so many minutes, without faults.
   */
  async settle(minutes = 8): Promise<void> {
    for (let half = 0; half < minutes * 2; half++) {
      await this.#bring()
      if (half % 2 === 1) await this.sweep()
      await this.#bring()
      this.pass(minute / 2)
    }
    if (this.#unanswered !== null) throw new Error(`never answered: ${JSON.stringify(this.#unanswered)}`)
  }

  async #bring(): Promise<void> {
    if (this.#unanswered !== null) await this.call(this.#unanswered)
    await this.stream()
    for (const queue of [alarmsQueue, flowsQueue])
      while ((await this.deliver(queue, this.line(), queue === flowsQueue ? 1 : 10)).length > 0);
  }

  dead(queue: string): string[] {
    return [...(this.aws.queues.named(`${queue}-dead`)?.messages.values() ?? [])].map(({ body }) => body)
  }

  /** How everything is now, to come back to. */
  kept(): () => void {
    const [back, at] = [this.aws.kept(), this.#now]
    const stream = [...this.#stream]
    const [sent, called] = [[...this.outside.sent], [...this.outside.called]]
    return () => {
      back()
      this.#now = at
      this.#stream = [...stream]
      this.#unanswered = null
      this.said.length = 0
      this.outside.sent.splice(0, Number.POSITIVE_INFINITY, ...sent)
      this.outside.called.splice(0, Number.POSITIVE_INFINITY, ...called)
    }
  }
}

/** What `vi.mock('../../functions/world.ts')` puts in its place. The api takes its world when it is loaded, so that it gets one that changes. */
export const mockedWorld = () => ({
  worldFromEnv: () =>
    new Proxy({} as World, {
      get: (_, name) => currentWorld()[name as keyof World],
      has: (_, name) => name in currentWorld(),
      ownKeys: () => Reflect.ownKeys(currentWorld()),
      getOwnPropertyDescriptor: (_, name) => ({
        configurable: true,
        enumerable: true,
        value: currentWorld()[name as keyof World],
      }),
    }),
})
