import { openIds } from '../../shared/adapters/ids.ts'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import { newSecret } from '../../shared/api/keys.ts'
import { personOps } from '../../shared/engine/agents.ts'
import { commit } from '../../shared/engine/store.ts'
import type { Log } from '../../shared/ports/log.ts'
import type { Meter } from '../../shared/ports/meter.ts'
import type { Table } from '../../shared/ports/table.ts'
import type { AlarmKey, World } from '../../shared/ports/world.ts'
import { type Outside, openOutside, openSecrets } from '../engine/outside.ts'

/** A world as the functions have it: alarms are told to nobody, changes of documents and steps of flows come as events. */
export interface Cloud {
  world: World
  readonly outside: Outside
  /** Alarms that were set and not yet brought. */
  readonly set: { readonly key: AlarmKey; readonly at: number }[]
  readonly key: string
  at: number
  /** Stands before the store: what a read or a write fails with, null: it does not. */
  fault: (act: 'read' | 'write', asked: unknown) => Error | null
}

export async function openCloud(log: Log, meter: Meter, at: number): Promise<Cloud> {
  const ids = openIds()
  const clock = { now: () => cloud.at }
  const { outside, outbound } = openOutside()
  const table = openTable({ file: ':memory:', clock })
  const bell = openBell()
  const faulty =
    <A extends unknown[], R>(kind: 'read' | 'write', act: (...asked: A) => Promise<R>) =>
    async (...asked: A): Promise<R> => {
      const fault = cloud.fault(kind, asked)
      if (fault !== null) throw fault
      return await act(...asked)
    }
  const store: Table = {
    get: faulty('read', (keys) => table.get(keys)),
    list: faulty('read', (pk, range) => table.list(pk, range)),
    find: faulty('read', (index, pk, range) => table.find(index, pk, range)),
    commit: faulty('write', (ops, token) => table.commit(ops, token)),
  }
  const world: World = {
    table: store,
    bell,
    ears: bell,
    alarms: {
      async set(key, when) {
        cloud.set.push({ key, at: when })
      },
    },
    secrets: openSecrets(),
    outbound,
    clock,
    ids,
    log,
    meter,
    shards: 1,
    streamed: true,
    flowsApart: true,
    proactive: true,
  }
  const { key, sha256 } = newSecret(ids)
  const cloud: Cloud = { world, outside, set: [], key, at, fault: () => null }
  const person = { id: `per_${ids.ulid(at)}`, name: 'Ann', tz: 'UTC', admin: true, createdAt: at }
  await commit(world, personOps(person, `key_${ids.ulid(at)}`, sha256))
  return cloud
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is what is under test; no type vouches for it
export type Json = any

/** An event of API Gateway, payload 2.0. */
export const gatewayEvent = (
  cloud: Pick<Cloud, 'key'>,
  method: string,
  path: string,
  body?: Json,
  headers: Record<string, string> = {},
): Json => ({
  version: '2.0',
  rawPath: path.split('?')[0],
  rawQueryString: path.split('?')[1] ?? '',
  headers: {
    authorization: `Bearer ${cloud.key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  },
  ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  isBase64Encoded: false,
  requestContext: { requestId: 'gateway-1', domainName: 'rouse.test', http: { method, path, sourceIp: '192.0.2.1' } },
})

/** What goes to standard output meanwhile, line by line. */
export function listening(): { readonly lines: Json[]; readonly raw: string[]; stop(): void } {
  const raw: string[] = []
  const lines: Json[] = []
  const { write } = process.stdout
  process.stdout.write = ((text: string) => {
    raw.push(text)
    lines.push(JSON.parse(text))
    return true
  }) as typeof write
  return {
    raw,
    lines,
    stop() {
      process.stdout.write = write
    },
  }
}
