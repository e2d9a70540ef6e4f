import { type Caller, verdictOn } from '../domain/access.ts'
import { isId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { notFound } from '../domain/refused.ts'
import { faultOf } from '../ports/log.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Call, retrying } from './call.ts'
import { agentFor, assertMay, assertPerson } from './reach.ts'
import { type Agent, asItem, commit, keys, type Person, read, readAll } from './store.ts'

/**
 * A key. Written when it is made, rotated, and at most once an hour when it is used; read by every call; deleted when revoked, by
 * TTL when it was rotated. The secret itself is never stored.
 */
export interface KeyRow {
  readonly id: string
  readonly person: string | null
  readonly agent: string | null
  /** Person who answers for it. */
  readonly owner: string
  readonly createdAt: number
  /** What it begins with, to be told from others by. Absent in keys made before there were lists of them. */
  readonly prefix?: string | null
  /** To about an hour. */
  readonly lastUsedAt?: number | null
  /** Null: until it is revoked. */
  readonly expiresAt?: number | null
  /** Of a check's process: it reads, and does nothing else (S2-26). */
  readonly reads?: boolean
}

/** A secret that was just made: shown once. */
export interface Secret {
  readonly key: string
  readonly sha256: string
  readonly prefix: string
}

export type NewSecret = (of: 'person' | 'agent') => Secret

type Made = { readonly id: string; readonly key: string }

/** @returns the key's id and its secret, shown this once; only `sha256` of it is stored */
export async function createKey(call: Call, of: { readonly agent: string }, newSecret: NewSecret): Promise<Made> {
  const { item: agent } = await agentFor(call, of.agent)
  assertMay(call, 'make_keys', agent, 'make keys of an agent')
  const id = call.newId('key')
  return await retrying(async () => {
    const again = await reissued(call, id, newSecret)
    if (again !== null) return again
    const secret = newSecret('agent')
    const row = { id, person: null, agent: of.agent, owner: agent.owner, createdAt: call.now, prefix: secret.prefix }
    await commit(call.world, putKey(row, secret.sha256))
    return { id, key: secret.key }
  })
}

/**
 * A call that a crash cut off after its commit is repeated under its Idempotency-Key: nobody has seen the secret that it made, so
 * the key gets another one.
 *
 * @returns null when there is no such key yet
 */
export async function reissued(call: Call, id: string, newSecret: NewSecret): Promise<Made | null> {
  const found = call.repeatable ? await keyRow(call.world, id) : null
  if (found === null) return null
  const { pointer, row } = found
  const { key, sha256, prefix } = newSecret(kindOf(row.item))
  await commit(call.world, [
    { delete: row.key, expect: row.version },
    { put: keys.secret(sha256), item: asItem({ ...row.item, prefix }), expect: 'absent' },
    { put: pointer.key, item: { sha256 }, expect: pointer.version },
    { put: keys.keyIn(holderOf(row.item), id), item: { sha256 }, expect: 'any' },
  ])
  return { id, key }
}

const kindOf = (row: KeyRow): 'person' | 'agent' => (row.agent === null ? 'person' : 'agent')
const holderOf = (row: KeyRow): string => row.agent ?? row.person!

export const putKey = (row: KeyRow, sha256: string): Op[] => [
  { put: keys.secret(sha256), item: asItem(row), expect: 'absent' },
  { put: keys.keyOf(row.id), item: { sha256 }, expect: 'absent' },
  { put: keys.keyIn(holderOf(row), row.id), item: { sha256 }, expect: 'absent' },
]

interface FoundKey {
  readonly pointer: Stored<{ readonly sha256: string }>
  readonly row: Stored<KeyRow>
}

async function keyRow(world: World, id: string): Promise<FoundKey | null> {
  const pointer = isId('key', id) ? await read<{ sha256: string }>(world, keys.keyOf(id)) : null
  const row = pointer === null ? null : await read<KeyRow>(world, keys.secret(pointer.item.sha256))
  return pointer === null || row === null ? null : { pointer, row }
}

/** A key that the caller answers for: one of his own, or of an agent that he owns. @throws Refused `not_found` */
async function keyFor(call: Call, id: string, what: string): Promise<FoundKey> {
  assertPerson(call, what)
  const found = await keyRow(call.world, id)
  if (found === null || isOver(found.row.item, call.now)) throw notFound('key', id)
  const { agent: ofAgent, owner } = found.row.item
  const agent = ofAgent === null ? null : await read<Agent>(call.world, keys.agent(ofAgent))
  // A person's own key stands for itself: it is its owner's and nobody's else.
  const held = agent?.item ?? { id: '', owner, team: false, sharedWith: [] }
  if (verdictOn('change_key', call.caller, held) !== 'yes') throw notFound('key', id)
  return found
}

const isOver = (row: KeyRow, now: number): boolean => row.expiresAt != null && row.expiresAt <= now

/** Ends a key at once. */
export async function revokeKey(call: Call, id: string): Promise<void> {
  const { row } = await keyFor(call, id, 'revoke a key')
  await commit(call.world, removeKey(row))
}

const removeKey = (row: Stored<KeyRow>): Op[] => [
  { delete: row.key, expect: 'any' },
  { delete: keys.keyOf(row.item.id), expect: 'any' },
  { delete: keys.keyIn(holderOf(row.item), row.item.id), expect: 'any' },
]

/** Makes a key that acts as the old one does; the old one holds for `graceMs` more, so that nobody who uses it is cut off. */
export async function rotateKey(call: Call, id: string, graceMs: number, newSecret: NewSecret): Promise<Made> {
  assertPerson(call, rotating)
  const next = call.newId('key')
  return await retrying(async () => {
    const again = await reissued(call, next, newSecret)
    if (again !== null) return again
    const { row, pointer } = await keyFor(call, id, rotating)
    const { person, agent, owner } = row.item
    const secret = newSecret(kindOf(row.item))
    const made = { id: next, person, agent, owner, createdAt: call.now, prefix: secret.prefix }
    await commit(call.world, [
      ...putKey(made, secret.sha256),
      ...(graceMs === 0 ? removeKey(row) : outlive({ row, pointer }, call.now + graceMs)),
    ])
    return { id: next, key: secret.key }
  })
}

const rotating = 'rotate a key'

/** One that was rotated already holds no longer than it did. A key that is revoked meanwhile must not come back. */
function outlive({ row, pointer }: FoundKey, until: number): Op[] {
  const expiresAt = Math.min(until, row.item.expiresAt ?? Number.POSITIVE_INFINITY)
  const ttl = Math.ceil(expiresAt / 1000)
  const { id } = row.item
  return [
    { put: row.key, item: asItem({ ...row.item, expiresAt }), expect: row.version, ttl },
    { put: pointer.key, item: asItem(pointer.item), expect: pointer.version, ttl },
    { put: keys.keyIn(holderOf(row.item), id), item: asItem(pointer.item), expect: 'any', ttl },
  ]
}

/** Keys that hold, newest first: of the caller himself, or of an agent that he owns. */
export async function listKeys(
  call: Call,
  of: { readonly agent: string } | null,
  page: { readonly limit: number; readonly before: string | null },
): Promise<{ readonly items: readonly KeyRow[]; readonly next: string | null }> {
  if (of !== null) assertMay(call, 'make_keys', (await agentFor(call, of.agent)).item, 'list keys of an agent')
  const [pk] = keys.keyIn(of === null ? assertPerson(call, 'list keys') : of.agent, '')
  const items: KeyRow[] = []
  let to = page.before ?? 'key_~'
  for (;;) {
    // Two more than asked for: the one at the bound is known, and one more tells that there are more.
    const range = { from: 'key_', to, descending: true, limit: page.limit + 2 }
    const found = await call.world.table.list(pk, range)
    const rows = await readAll<KeyRow>(
      call.world,
      found.items.filter(({ key }) => key[1] !== to).map(({ item }) => keys.secret(String(item.sha256))),
    )
    for (const row of rows) if (row !== null && !isOver(row.item, call.now)) items.push(row.item)
    if (items.length > page.limit || found.next === null) break
    to = found.items.at(-1)!.key[1]
  }
  const shown = items.slice(0, page.limit)
  return { items: shown, next: items.length > page.limit ? shown.at(-1)!.id : null }
}

/**
 * Whose key it is, by its hash. A key of an agent that was deleted is none.
 *
 * The store finds the row by the hash of the whole key, at which nobody can aim; what it answers is compared once more, in constant time, so that
 * nothing rests on how a store compares.
 */
export async function callerOf(world: World, sha256: string): Promise<Caller | null> {
  const stored = await read<KeyRow>(world, keys.secret(sha256))
  const row = stored !== null && isSame(stored.key[0], keys.secret(sha256)[0]) ? stored.item : undefined
  if (row === undefined || (row.expiresAt != null && isOver(row, world.clock.now()))) return null
  const caller = await holder(world, row)
  if (caller !== null) noteUse(world, row, sha256)
  return caller
}

/** Takes as long wherever two texts of one length differ. */
function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

async function holder(world: World, row: KeyRow): Promise<Caller | null> {
  if (row.person !== null) {
    const person = await read<Person>(world, keys.person(row.person))
    return person === null ? null : { kind: 'person', key: row.id, person: row.person, admin: person.item.admin }
  }
  const agent = await read<Agent>(world, keys.agent(row.agent!))
  if (agent === null || agent.item.deletedAt !== null) return null
  const caller = { kind: 'agent', key: row.id, agent: agent.item.id, owner: agent.item.owner } as const
  return row.reads === true ? { ...caller, reads: true } : caller
}

/** Keys whose use is being written by this process. */
const noting = new Set<string>()

/** Nobody waits for it, and a call does not fail with it: at most an hour later it is tried again. */
function noteUse(world: World, row: KeyRow, sha256: string): void {
  const now = world.clock.now()
  if (now - (row.lastUsedAt ?? 0) < limits.keyUseMs || noting.has(sha256)) return
  noting.add(sha256)
  const use: Op = {
    patch: keys.secret(sha256),
    set: { lastUsedAt: now },
    // A key that is revoked at this moment must not come back.
    guards: [{ attr: 'id', is: 'present' }],
  }
  // Made before there were lists of keys: from its first use on it is in one.
  const listed: Op[] =
    row.prefix === undefined ? [{ put: keys.keyIn(holderOf(row), row.id), item: { sha256 }, expect: 'any' }] : []
  commit(world, [use, ...listed])
    .catch((error: unknown) => {
      world.log('warn', 'key use not noted', { key: row.id, ...faultOf(error) })
    })
    .finally(() => noting.delete(sha256))
}
