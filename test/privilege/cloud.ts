import { vi } from 'vitest'
import { configFromEnv } from '../../shared/adapters/aws/config.ts'
import { openWorld } from '../../shared/adapters/aws/world.ts'
import { sha256 } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import type { World } from '../../shared/ports/world.ts'
import { MemoryAws } from '../faults/aws/memory-aws.ts'
import { type AwsDoor, openDoor } from './aws-door.ts'
import { deployedStack, type FunctionName, region } from './stack.ts'

export const minute = 60_000
export const hour = 60 * minute
const start = Date.parse('2026-11-30T08:00:00Z')
const [alarmsQueue, flowsQueue] = ['rouse-dev-alarms', 'rouse-dev-flows']

/** Who finds what is due: the alarm function, as long as alarms arrive, or the sweep when none does. */
export type Finder = 'alarms' | 'sweep'

/** Set before a function runs: its world, made of the environment that the template gives it. */
let worldOfTurn: (() => World) | null = null

/** What stands in for `functions/world.ts`: one process is all five functions, one at a time. */
export const worldModule = () => ({
  worldFromEnv: (): World => {
    if (worldOfTurn === null) throw new Error('no function runs')
    return worldOfTurn()
  },
})

const kept = new Set(['pk', 'sk', 'v', 'ttl', '_t'])

// biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
type Json = any

/**
 * The five functions as the template sets them up, on AWS in memory: each with the environment that it has there, the product's own clients,
 * and a clock that is moved by hand. Whatever they send is written down by the door.
 */
export class Cloud {
  readonly door: AwsDoor
  readonly stack: ReturnType<typeof deployedStack>
  readonly said: string[] = []
  finder: Finder = 'alarms'
  /** Batches may fail in part: something stored is spoilt. */
  isSpoilt = false
  #aws = new MemoryAws(() => Date.now())
  #stream: { readonly pk: string; readonly sk: string }[] = []
  #sequence = 0
  readonly #worlds = new Map<FunctionName, World>()

  private constructor(door: AwsDoor) {
    this.door = door
    this.stack = deployedStack(door.address)
  }

  static async open(): Promise<Cloud> {
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const cloud: Cloud = new Cloud(await openDoor(() => cloud.#aws))
    const own = { AWS_ENDPOINT_URL: cloud.door.address, AWS_REGION: region, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE' }
    const all = { ...own, AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: '', ...cloud.stack.environmentOf('Api') }
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
    return cloud
  }

  /** Everything is empty, but for an admin; what is due from now on is found by this one. */
  async begin(finder: Finder): Promise<void> {
    this.finder = finder
    this.isSpoilt = false
    this.#stream.length = 0
    this.#aws = new MemoryAws(() => Date.now())
    for (const name of this.stack.queues) this.#aws.queues.make(name)
    this.#aws.dynamo.changed = (table, pk, sk) => {
      if (table === 'rouse-documents' && sk.startsWith('H#')) this.#stream.push({ pk, sk })
    }
    await this.#bootstrap()
  }

  close(): void {
    this.door.close()
    vi.unstubAllEnvs()
    vi.useRealTimers()
  }

  /** An admin, as `rouse admin bootstrap` makes one: with the rights of whoever deploys, which is nobody's turn. */
  async #bootstrap(): Promise<void> {
    const person = { id: 'per_00000000000000000000000ANN', name: 'Ann', tz: 'UTC', admin: true, createdAt: Date.now() }
    const ops = personOps(person, 'key_00000000000000000000000ANN', sha256('key-of-ann'))
    await this.#as('Api', () => this.#worldOf('Api').table.commit(ops, `ann ${this.#sequence++}`))
  }

  /** One call of the API. @throws Error for one that is refused */
  async ask(method: string, path: string, body?: object | string, headers: Record<string, string> = {}): Promise<Json> {
    const { handler } = await this.#as('Api', () => import('../../functions/api.ts'))
    const [rawPath = '', rawQueryString = ''] = path.split('?')
    const type = typeof body === 'string' ? 'text/plain' : 'application/json'
    const event = {
      version: '2.0',
      rawPath,
      rawQueryString,
      headers: { authorization: 'Bearer key-of-ann', 'content-type': type, ...headers },
      isBase64Encoded: false,
      requestContext: { domainName: 'rouse.test', http: { method, path: rawPath } },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    const answer = await this.#as('Api', () => handler(event as never, {} as never))
    const text = answer.isBase64Encoded ? Buffer.from(answer.body, 'base64').toString('utf8') : answer.body
    if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
    return /^[[{]/.test(text ?? '') ? JSON.parse(text) : text
  }

  /** What is stored of this is not what it was: only what it is called, whose it is and where it stands is left. */
  spoil(id: string, what: 'all' | 'all but numbers' = 'all'): void {
    const bare = id.slice(-26)
    for (const [, item] of this.#aws.dynamo.all())
      if (item.pk?.S?.endsWith(bare) && item.sk?.S === 'A')
        for (const [name, value] of Object.entries(item))
          if (!kept.has(name) && !/^_[a-z][ps]$/.test(name) && !('S' in value) && (what === 'all' || !('N' in value)))
            item[name] = { S: 'spoilt' }
  }

  /** Time passes, and whatever is due is done on the way. A sweep costs a look at each index, and finds all the same what is late. */
  async pass(ms: number): Promise<void> {
    const step = this.finder === 'sweep' ? 5 * minute : minute
    for (const end = Date.now() + ms; Date.now() < end; ) {
      vi.setSystemTime(Math.min(end, Date.now() + step))
      await this.settle()
    }
  }

  /** Everything that is due now is found and done, by whoever finds it. */
  async settle(): Promise<void> {
    for (const entry of [...this.#aws.entries.values()].filter(({ at }) => at <= Date.now())) {
      this.#aws.entries.delete(entry.name)
      this.#aws.queues.send(this.#aws.queues.make(entry.queue), entry.body, 0)
    }
    if (this.finder === 'sweep') {
      this.#stream.length = 0
      for (const name of [alarmsQueue, flowsQueue]) this.#aws.queues.named(name)!.messages.clear()
      await this.#sweep()
      await this.#queue(flowsQueue, 1, 'Flow')
      await this.#sweep()
    } else await this.#stirred()
  }

  async #stirred(): Promise<void> {
    await this.#changes()
    for (let round = 0; round < 100; round++) {
      const brought = (await this.#queue(alarmsQueue, 10, 'Alarm')) + (await this.#queue(flowsQueue, 1, 'Flow'))
      if (brought === 0) return
      await this.#changes()
    }
    throw new Error(
      `what is due stays due: ${JSON.stringify([...this.#aws.queues.named(alarmsQueue)!.messages.values()])}`,
    )
  }

  /** Hands a batch to its function, as the event source mapping does. @returns how many messages */
  async #queue(queue: string, most: number, name: 'Alarm' | 'Flow'): Promise<number> {
    const from = this.#aws.queues.named(queue)!
    const taken = this.#aws.queues.receive(from, most, 2 * minute)
    if (taken.length === 0) return 0
    const { handler } = await (name === 'Alarm'
      ? import('../../functions/alarm.ts')
      : import('../../functions/flow.ts'))
    const Records = taken.map(({ id, body }) => ({ messageId: id, body }))
    const { batchItemFailures } = await this.#as(name, () => handler({ Records }))
    if (batchItemFailures.length > 0 && !this.isSpoilt)
      throw new Error(`${name} failed: ${JSON.stringify(Records)} ${this.said.join('\n')}`)
    for (const { id } of taken) from.messages.delete(id)
    return taken.length
  }

  async #changes(): Promise<void> {
    const changed = this.#stream.splice(0)
    if (changed.length === 0) return
    const { handler } = await import('../../functions/change.ts')
    const Records = changed.map(({ pk, sk }) => ({
      dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: String(++this.#sequence) },
    }))
    const { batchItemFailures } = await this.#as('Change', () => handler({ Records }))
    if (batchItemFailures.length > 0 && !this.isSpoilt) throw new Error(`Change failed: ${this.said.join('\n')}`)
  }

  async #sweep(): Promise<void> {
    const { handler } = await import('../../functions/sweep.ts')
    await this.#as('Sweep', () => handler({}))
  }

  async #as<T>(name: FunctionName, run: () => Promise<T>): Promise<T> {
    this.door.by = name
    worldOfTurn = () => this.#worldOf(name)
    try {
      return await run()
    } finally {
      this.door.by = null
      worldOfTurn = null
    }
  }

  #worldOf(name: FunctionName): World {
    // One shard: what is sent is the same for each.
    const own = { AWS_REGION: region, AWS_ENDPOINT_URL: this.door.address, ROUSE_SHARDS: '1' }
    const env = { ...this.stack.environmentOf(name), ...own }
    const made =
      this.#worlds.get(name) ??
      openWorld(configFromEnv(env), (level, what, ids) => {
        if (level !== 'info') this.said.push(`${name}: ${what} ${JSON.stringify(ids ?? {})}`)
      })
    this.#worlds.set(name, made)
    return made
  }
}
