import { readAlarms } from '../../shared/adapters/aws/alarms.ts'
import { Patience } from '../../shared/adapters/aws/patience.ts'
import { timeOf } from '../../shared/domain/ids.ts'
import { onAlarms } from '../../shared/engine/alarm.ts'
import { drain } from '../../shared/engine/drain.ts'
import type { World } from '../../shared/ports/world.ts'
import { openOutside } from '../engine/outside.ts'
import { countedIds } from '../engine/room.ts'
import { plainClients } from '../faults/aws/clients.ts'
import { AwsRefusal } from '../faults/aws/expressions.ts'
import { alarmsQueue, MemoryAws, queuePrefix, type Service, tableNames } from '../faults/aws/memory-aws.ts'
import { memoryWorld } from '../faults/aws/memory-world.ts'
import type { QueueMessage } from '../faults/aws/queues.ts'
import { partitioned, type Throttling } from './partitions.ts'
import { ours, quotas, usual } from './quotas.ts'
import { chance, VirtualTime } from './virtual.ts'

export interface RegionOptions {
  readonly now: number
  readonly seed: number
  /** Partitions that each table has, and each index. */
  readonly partitions: number
  /** Of the Scheduler, a second. */
  readonly creates?: number
  /** Of what is due. */
  readonly shards?: number
}

const hiddenMs = 6 * ours.alarmSeconds * 1000

/** A region of AWS in time that is not real: services with their limits and delays, and the alarm function that is woken by its queue. */
export class Region {
  readonly time: VirtualTime
  readonly aws: MemoryAws
  readonly throttling: Throttling
  /** Message → when it was rung for, epoch ms. */
  readonly rung = new Map<string, number>()
  readonly said: string[] = []
  /** The most invocations at once. */
  busiest = 0
  invocations = 0
  readonly #random: () => number
  readonly #ids = countedIds()
  readonly #creates: number
  readonly #shards: number
  readonly #idle: World[] = []
  #running = 0
  #waitsSince = 0
  #created = { second: 0, count: 0 }
  #isLimited = false
  #isGrowing = false

  constructor({ now, seed, partitions, creates = quotas.scheduler.creates, shards = ours.shards }: RegionOptions) {
    this.#shards = shards
    this.time = new VirtualTime(now)
    this.#random = chance(seed)
    this.#creates = creates
    this.throttling = partitioned(this.time.now, partitions)
    this.aws = new MemoryAws(this.time.now, (touches, action) => {
      if (this.#isLimited) this.throttling.limits(touches, action)
    })
  }

  /** The Scheduler sends each entry within its minute; the queue wakes the function. To be called once, with the entries in place. */
  begin(): void {
    this.#isLimited = true
    for (const { name, at } of this.aws.entries.values())
      this.time.at(at + this.#random() * quotas.scheduler.spreadMs, () => {
        const entry = this.aws.entries.get(name)
        if (entry === undefined) return
        this.aws.entries.delete(name)
        this.aws.queues.send(this.aws.queues.named(alarmsQueue)!, entry.body, 0)
        this.#poll()
      })
  }

  /** How late each message was rung for, ms: its id says when its slot was. */
  lateMs(): number[] {
    return [...this.rung].map(([message, at]) => at - timeOf(message.slice(4)))
  }

  /** How many schedules have another number of runs than one. */
  oddSlots(): number {
    const runs = new Map<string, number>()
    for (const [table, { pk, sk }] of this.aws.dynamo.all()) {
      if (table !== tableNames.schedules) continue
      const isRun = sk!.S!.startsWith('R#') ? 1 : 0
      runs.set(pk!.S!, (runs.get(pk!.S!) ?? 0) + isRun)
    }
    return [...runs.values()].filter((n) => n !== 1).length
  }

  /** Every minute from then on, as the rule does. */
  sweepFrom(at: number): void {
    this.time.at(at, () => {
      void drain(this.#world(), this.time.now()).catch((error) => this.said.push(`sweep: ${error}`))
      this.sweepFrom(at + 60_000)
    })
  }

  /** What may be seen is received, after the time that it takes to be noticed. */
  #poll(): void {
    this.time.at(this.time.now() + this.#between(usual.pollMs), () => this.#receive())
  }

  #receive(): void {
    const { batchesAtFirst, batchesPerMinute } = quotas.lambda
    if (this.#running === 0) this.#waitsSince = this.time.now()
    const grown = batchesAtFirst + ((this.time.now() - this.#waitsSince) / 60_000) * batchesPerMinute
    const queue = this.aws.queues.named(alarmsQueue)!
    while (this.#running < Math.min(ours.batchesAtOnce, grown)) {
      const batch = this.aws.queues.receive(queue, ours.batch, hiddenMs)
      if (batch.length === 0) return
      this.#running += 1
      this.busiest = Math.max(this.busiest, this.#running)
      void this.#invoke(batch).then((kept) => {
        for (const { id } of batch) if (!kept.has(id)) queue.messages.delete(id)
        this.#running -= 1
        this.time.at(this.time.now() + hiddenMs, () => this.#receive())
        this.#receive()
      })
    }
    // There may be more than is handled at once: looked at again when the mapping has grown.
    if (this.#isGrowing) return
    this.#isGrowing = true
    this.time.at(this.time.now() + 60_000 / batchesPerMinute, () => {
      this.#isGrowing = false
      this.#receive()
    })
  }

  /** As functions/alarm.ts does it. @returns the messages that stay in the queue */
  async #invoke(batch: readonly QueueMessage[]): Promise<ReadonlySet<string>> {
    this.invocations += 1
    const warm = this.#idle.pop()
    await this.time.sleep(this.#between(warm === undefined ? usual.coldStartMs : usual.invokeMs))
    const world = warm ?? this.#world()
    const now = this.time.now()
    const { due, bad, unset } = await readAlarms(
      world.alarms,
      batch.map(({ body }) => body),
      now,
    )
    try {
      await onAlarms(world, due, now)
      return new Set([...bad, ...unset].map((place) => batch[place]!.id))
    } catch (error) {
      this.said.push(`alarms not looked at: ${error}`)
      return new Set(batch.map(({ id }) => id))
    } finally {
      this.#idle.push(world)
    }
  }

  /** One container: its requests share a CPU, and nothing else. */
  #world(): World {
    const { time } = this
    const random = this.#random
    const patience = new Patience({ now: time.now, random, pause: (ms) => time.sleep(ms) })
    let freeAt = 0
    const clients = plainClients(async (service, action, input) => {
      const from = Math.max(freeAt, time.now())
      freeAt = from + usual.requestCpuMs
      const ms = this.#between(usual.requestMs[action as keyof typeof usual.requestMs])
      await time.sleep(freeAt - time.now() + ms / 2)
      try {
        return this.#served(service, action, input)
      } finally {
        await time.sleep(ms / 2)
      }
    })
    const { outbound } = openOutside()
    const log: World['log'] = (level, what, ids) => {
      if (level !== 'info') this.said.push(`${what} ${JSON.stringify(ids ?? {})}`)
    }
    return memoryWorld({ clients, patience, now: time.now, ids: this.#ids, outbound, log, shards: this.#shards })
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the SDK sends it
  #served(service: Service, action: string, input: any): object {
    if (service === 'scheduler') this.#createdOne()
    const answer = this.aws.call(service, action, input)
    if (action.startsWith('SendMessage')) {
      const name = String(input.QueueUrl).split('/').at(-1)!
      for (const { MessageBody, DelaySeconds = 0 } of input.Entries ?? [input])
        if (name.startsWith(queuePrefix)) this.#heard(MessageBody)
        else if (name === alarmsQueue) this.time.at(this.time.now() + DelaySeconds * 1000, () => this.#poll())
    }
    return answer
  }

  #createdOne(): void {
    const second = Math.floor(this.time.now() / 1000)
    if (this.#created.second !== second) this.#created = { second, count: 0 }
    if (this.#created.count >= this.#creates) throw new AwsRefusal('ThrottlingException')
    this.#created.count += 1
  }

  #heard(body: string): void {
    const { id } = JSON.parse(body)
    if (!this.rung.has(id)) this.rung.set(id, this.time.now())
  }

  #between([least, most]: readonly [number, number]): number {
    return least + this.#random() * (most - least)
  }
}
