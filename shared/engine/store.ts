import type { Card } from '../domain/card.ts'
import { bare, timePart } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { type Message, orderClass } from '../domain/message.ts'
import type { Definition } from '../domain/schedule.ts'
import { type Head, isGone, type Links } from '../domain/session.ts'
import { Conflict, type Item, type Key, type Op, type Stored, type Version } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { tellLedger } from './sight.ts'

/** Where everything lives: the keys, and the writes that must look the same wherever they are made. */
export const keys = {
  agent: (id: string): Key => [`A#${bare(id)}`, 'A'],
  agentName: (owner: string, name: string): Key => [`P#${bare(owner)}`, `N#${name}`],
  person: (id: string): Key => [`P#${bare(id)}`, 'A'],
  secret: (sha256: string): Key => [`K#${sha256}`, 'A'],
  keyOf: (id: string): Key => [`O#${bare(id)}`, 'A'],
  /** A key once more, in the list of the person or agent whose it is. */
  keyIn: (holder: string, id: string): Key => [`O#${bare(holder)}`, id],
  /** What was done in a person's name or to what is theirs; `id` is a ULID, which sorts by time. */
  audit: (person: string, id: string): Key => [`U#${bare(person)}`, id],
  settings: ['G#settings', 'A'] as Key,
  session: (id: string): Key => [`X#${bare(id)}`, 'A'],
  head: (conv: string): Key => [`C#${conv}`, 'A'],
  links: (conv: string): Key => [`C#${conv}`, 'L'],
  /** Schedules with an agent target hang on the agent. */
  agentLinks: (agent: string): Key => [`A#${bare(agent)}`, 'L'],
  waiting: (conv: string, m: Pick<Message, 'kind' | 'at' | 'id'>): Key => [
    `C#${conv}`,
    `W#${orderClass(m.kind)}#${timePart(m.at)}#${m.id}`,
  ],
  /** An answer stands below what it answers, also within one instant. */
  history: (conv: string, m: Pick<Message, 'at' | 'id' | 'kind'>): Key => [
    `C#${conv}`,
    `M#${timePart(m.at)}#${m.kind === 'answer' ? 'b' : 'a'}#${m.id}`,
  ],
  turn: (id: string): Key => [`T#${bare(id)}`, 'A'],
  cursor: (id: string): Key => [`S#${bare(id)}`, 'A'],
  definition: (id: string, gen: number): Key => [`S#${bare(id)}`, `D#${String(gen).padStart(6, '0')}`],
  run: (id: string, row: string): Key => [`S#${bare(id)}`, row],
  /** What a run's message carries besides its prompt. */
  runData: (id: string, row: string): Key => [`S#${bare(id)}`, `K#${row.slice(2)}`],
  job: (id: string): Key => [`J#${bare(id)}`, 'A'],
  /** A job that waits for whoever serves its agent. */
  jobOf: (agent: string, id: string): Key => [`A#${bare(agent)}`, `J#${bare(id)}`],
  /** What a person has set for themselves, and what a day has used of a limited budget. */
  limits: (person: string): Key => [`B#${bare(person)}`, 'L'],
  budget: (id: string, day: string): Key => [`B#${bare(id)}`, `D#${day}`],
  /** What monitors have fired in a conversation on a day. */
  events: (conv: string, day: string): Key => [`B#${conv}`, `D#${day}`],
  card: (person: string, id: string): Key => [`E#${bare(person)}`, `C#${bare(id)}`],
}

/**
 * Which conversation a session id stands for.
 *
 * Written when a session is made, compacted or deleted; read by every call that names a session.
 */
export interface SessionRow {
  readonly id: string
  readonly conv: string
  readonly agent: string
  /** The session that took over its conversation. */
  readonly compactedInto: string | null
  readonly title: string | null
  readonly archived: boolean
  readonly createdAt: number
}

/** A person. Written by an admin's call; read by access; never deleted. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly tz: string
  readonly admin: boolean
  readonly createdAt: number
}

/** An agent. Written by its owner's calls and by session calls (main session, worker); kept after deletion for the ledger's readers. */
export interface Agent {
  readonly id: string
  readonly name: string
  readonly owner: string
  readonly team: boolean
  readonly sharedWith: readonly string[]
  readonly project: string | null
  readonly proactive: { readonly [setting: string]: number | boolean }
  readonly autoApprove: readonly string[]
  readonly budget: { readonly [limit: string]: number | null }
  /** Its first main session that is not archived: where notes of fresh runs go. */
  readonly mainSession: string | null
  /** Null: no worker ever said anything. */
  readonly workerConnected: boolean | null
  /** Its worker runs checks and host steps. Absent: nobody ever said so. */
  readonly checks?: boolean
  readonly createdAt: number
  readonly deletedAt: number | null
}

/** A turn. Written by claim and end; read to find its conversation and for the ledger; deleted by TTL. */
export interface TurnRow {
  readonly id: string
  readonly conv: string
  readonly session: string
  readonly message: string
  readonly startedAt: number
  readonly outcome: string | null
  readonly summary: string | null
  readonly tokens: number | null
  readonly usd: number | null
  /** Where its tool calls stand; null: it reported none. Absent in rows that are older than traces. */
  readonly trace?: string | null
  /** What the agent asked for at the end, seconds. */
  readonly sleep: { readonly seconds: number; readonly reason: string | null } | null
  readonly endedAt: number | null
}

export interface Settings {
  readonly agentSessions: boolean
}
export const defaultSettings: Settings = { agentSessions: false }

/** The shapes are ours: what a key holds is what the writers of that key put there. */
/** What a check or an event said, in words of others. Written when a run goes out; read by whoever writes its message; deleted by TTL. */
export interface RunData {
  /** Where it comes from, in words of ours. */
  readonly what: string
  readonly text: string
}

export const asItem = (shape: object): Item => shape as Item
const typed = <T>(stored: Stored | null): Stored<T> | null => stored as Stored<T> | null

export async function read<T>(world: World, key: Key): Promise<Stored<T> | null> {
  return typed<T>((await world.table.get([key]))[0] ?? null)
}

/** Any number of keys, in order, in as few requests as the port allows. */
export async function readAll<T>(world: World, all: readonly Key[]): Promise<(Stored<T> | null)[]> {
  const out: (Stored<T> | null)[] = []
  for (let from = 0; from < all.length; from += 100)
    for (const stored of await world.table.get(all.slice(from, from + 100))) out.push(typed<T>(stored))
  return out
}

/** The same where some places ask for nothing. */
export async function readSome<T>(world: World, some: readonly (Key | null)[]): Promise<(Stored<T> | null)[]> {
  const found = await readAll<T>(
    world,
    some.filter((key) => key !== null),
  )
  let nth = 0
  return some.map((key) => (key === null ? null : (found[nth++] ?? null)))
}

export const ttlAfter = (now: number): number => Math.ceil((now + limits.retentionMs) / 1000)

/** A partition of a due index. Spread by the id's last characters, which are random. */
export function shardOf(world: World, id: string): string {
  if (world.shards === 1) return '0'
  let sum = 0
  for (let i = id.length - 4; i < id.length; i++) sum = sum * 31 + id.charCodeAt(i)
  return String(sum % world.shards)
}

export const everyShard = (world: World): string[] => Array.from({ length: world.shards }, (_, i) => String(i))

export const putDefinition = (definition: Definition): Op => ({
  put: keys.definition(definition.id, definition.gen),
  item: asItem(definition),
  expect: 'absent',
})

export const putRunData = (run: { schedule: string; row: string }, data: RunData, now: number): Op => ({
  put: keys.runData(run.schedule, run.row),
  item: asItem(data),
  expect: 'any',
  ttl: ttlAfter(now),
})

/** A definition goes with its schedule. */
export const expireDefinition = (definition: Definition, now: number): Op => ({
  put: keys.definition(definition.id, definition.gen),
  item: asItem(definition),
  expect: 'any',
  ttl: ttlAfter(now),
})

/** What a decision read of a conversation must still hold: a session that was archived meanwhile takes nothing new. */
export const headUnchanged = (head: Stored<Head>): Op => ({ check: head.key, expect: head.version })

/** The lease index shows heads that have to be looked at: a turn may have lapsed, a tick is due, or a closing was cut off. */
export function putHead(world: World, head: Head, expect: Version | 'absent', now: number): Op {
  const due = head.turn === null ? (isGone(head) ? null : (head.tick?.nextAt ?? null)) : head.turn.leaseUntil
  const lookAt = head.closing ? (head.deletedAt ?? head.archivedAt) : due
  const leases = lookAt === null ? {} : { leases: [shardOf(world, head.conv), lookAt] as const }
  return {
    put: keys.head(head.conv),
    item: asItem(head),
    expect,
    index: leases,
    ...(isForgotten(head) ? { ttl: ttlAfter(now) } : {}),
  }
}

/** Deleted conversations, and those that were made for one run, go with the ledger; an archived one stays. */
const isForgotten = (head: Head): boolean =>
  head.deletedAt !== null || (head.fresh !== null && head.archivedAt !== null)

export const putLinks = (key: Key, links: Links, expect: Version | 'absent'): Op => ({
  put: key,
  item: asItem(links),
  expect,
})

/** Archived sessions leave the partition that an agent's claim walks, and stay listable. */
export const putSession = (row: SessionRow, expect: Version | 'absent', ttl?: number): Op => ({
  put: keys.session(row.id),
  item: asItem(row),
  expect,
  index: { sessionsByAgent: [row.archived ? archivedOf(row.agent) : row.agent, row.id] },
  ...(ttl === undefined ? {} : { ttl }),
})
export const archivedOf = (agent: string): string => `${agent}!archived`

export const putWaiting = (conv: string, message: Message): Op => ({
  put: keys.waiting(conv, message),
  item: asItem(message),
  expect: 'absent',
})

export const putHistory = (conv: string, message: Message, now: number): Op => ({
  put: keys.history(conv, message),
  item: asItem(message),
  expect: 'any',
  ttl: ttlAfter(now),
})

export const putCard = (card: Card, expect: Version | 'absent' | 'any'): Op => ({
  put: keys.card(card.person, card.id),
  item: asItem(card),
  expect,
  ttl: ttlAfter(card.at),
})

export const putPerson = (person: Person): Op => ({
  put: keys.person(person.id),
  item: asItem(person),
  expect: 'absent',
})

export const putAgent = (agent: Agent, expect: Version | 'absent'): Op => ({
  put: keys.agent(agent.id),
  item: asItem(agent),
  expect,
  index: agent.deletedAt === null ? { agents: ['all', agent.id] } : {},
})

/**
 * Commits with a token of its own. The token lets an adapter repeat this very attempt after a time-out; it must not follow from
 * what the attempt read, or the second of two that read the same would be told that it is done.
 */
export async function commit(world: World, ops: readonly Op[]): Promise<void> {
  try {
    await world.table.commit(ops, world.ids.token())
  } catch (error) {
    if (error instanceof Conflict) world.meter.count('conflicts', 1)
    throw error
  }
  tellLedger(world, ops)
}
