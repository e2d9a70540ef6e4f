import type { Message } from '../../shared/domain/message.ts'
import type { Monitor } from '../../shared/domain/monitor.ts'
import type { Cursor, Definition, Run } from '../../shared/domain/schedule.ts'
import type { Head } from '../../shared/domain/session.ts'
import { openIds } from '../../shared/engine/load.ts'
import { decodeCursor, decodeRun } from '../../shared/engine/rows.ts'
import type { Agent, Person, TurnRow } from '../../shared/engine/store.ts'
import type { Item } from '../../shared/ports/table.ts'
import type { Change } from './table.ts'

/** A stretch of time in which a schedule was active under one definition. Its ends are known as exactly as the clocks are. */
export interface Span {
  readonly gen: number
  readonly from: number
  /** The end is within `toEarliest..to`. */
  to: number
  toEarliest: number
  readonly fromEarliest: number
}

/** Before and after of one kind of item in a commit. */
export interface Was<T> {
  readonly id: string
  readonly old: T | null
  readonly now: T | null
}

/** A commit, read: what it changed, by kind. */
export interface Seen {
  readonly at: number
  /** When whoever committed it may have decided, at the earliest. */
  readonly since: number
  readonly cursors: readonly Was<Cursor>[]
  readonly runs: readonly Was<Run>[]
  readonly heads: readonly Was<Head>[]
  readonly monitors: readonly Was<Monitor>[]
  readonly waiting: readonly (Was<Message> & { readonly conv: string })[]
  readonly history: readonly (Was<Message> & { readonly conv: string })[]
  readonly turns: readonly Was<TurnRow>[]
  /** The conversations whose card somebody allowed: what they have sent counts anew. */
  readonly allowed: boolean
}

/** Reads along what is committed, and remembers what the rules ask for. */
export class Books {
  readonly cursors = new Map<string, Cursor>()
  readonly definitions = new Map<string, Definition>()
  readonly runs = new Map<string, Map<string, Run>>()
  readonly heads = new Map<string, Head>()
  /** The conversation of each session, those that were deleted included. */
  readonly convs = new Map<string, string>()
  readonly agents = new Map<string, Agent>()
  readonly people = new Map<string, Person>()
  readonly monitors = new Map<string, Monitor>()
  readonly waiting = new Map<string, Map<string, Message>>()
  readonly spans = new Map<string, Span[]>()
  readonly limits = new Map<string, Item>()
  /** When a message came into an inbox, by its id. */
  readonly putAt = new Map<string, number>()
  /** When a conversation's head, an agent or a setting last changed, by its partition. */
  readonly changedAt = new Map<string, number>()
  /** When the wakes of a day were last limited, or limited otherwise. */
  readonly limitedAt = new Map<string, number>()
  agentSessions = false
  commits = 0

  definition(id: string, gen: number): Definition {
    return this.definitions.get(`${id} ${gen}`)!
  }

  /** @param clock  of the process that committed */
  read(changes: readonly Change[], at: number, since: number): Seen {
    this.commits += 1
    const seen = {
      at,
      since,
      cursors: [] as Was<Cursor>[],
      runs: [] as Was<Run>[],
      heads: [] as Was<Head>[],
      monitors: [] as Was<Monitor>[],
      waiting: [] as (Was<Message> & { conv: string })[],
      history: [] as (Was<Message> & { conv: string })[],
      turns: [] as Was<TurnRow>[],
      allowed: false,
    }
    for (const change of changes) {
      const { key, before, after } = change
      const [pk, sk] = key
      const id = pk.slice(2)
      if (sk === 'A') this.changedAt.set(pk, at)
      switch (`${pk[0]}${sk[0]}`) {
        case 'SA': {
          const name = `sch_${id}`
          const now = after === null ? null : decodeCursor({ key, version: 1, item: after }).item
          seen.cursors.push({ id: name, old: this.cursors.get(name) ?? null, now })
          if (now !== null) this.cursors.set(name, now)
          for (const open of now?.open ?? [])
            if (open.turn === null) {
              const { message } = openIds(name, open)
              if (!this.putAt.has(message)) this.putAt.set(message, at)
            }
          break
        }
        case 'SD': {
          const definition = after as unknown as Definition
          this.definitions.set(`sch_${id} ${definition.gen}`, definition)
          break
        }
        case 'SR': {
          const read = (item: Item | null) => (item === null ? null : decodeRun({ key, version: 1, item }))
          const was = { id: `sch_${id}`, old: read(before), now: read(after) }
          seen.runs.push(was)
          const rows = this.runs.get(was.id) ?? new Map<string, Run>()
          this.runs.set(was.id, rows)
          if (was.now === null) rows.delete(sk)
          else rows.set(sk, was.now)
          break
        }
        case 'CA':
          seen.heads.push({ id, old: before as Head | null, now: after as Head | null })
          if (after !== null) this.heads.set(id, after as unknown as Head)
          break
        case 'CW': {
          const was = { conv: id, id: sk, old: before as Message | null, now: after as Message | null }
          seen.waiting.push(was)
          const rows = this.waiting.get(id) ?? new Map<string, Message>()
          this.waiting.set(id, rows)
          if (was.now === null) rows.delete(sk)
          else rows.set(sk, was.now)
          if (was.now !== null && was.old === null) this.putAt.set(was.now.id, at)
          break
        }
        case 'CM':
          seen.history.push({ conv: id, id: sk, old: before as Message | null, now: after as Message | null })
          break
        case 'XA':
          if (after !== null) this.convs.set(`ses_${id}`, after.conv as string)
          break
        case 'TA':
          seen.turns.push({ id: `trn_${id}`, old: before as TurnRow | null, now: after as TurnRow | null })
          break
        case 'NA':
          seen.monitors.push({ id: `mon_${id}`, old: before as Monitor | null, now: after as Monitor | null })
          if (after !== null) this.monitors.set(`mon_${id}`, after as unknown as Monitor)
          break
        case 'AA':
          if (wakesOf(before?.budget) !== wakesOf(after?.budget)) this.limitedAt.set(`agt_${id}`, at)
          this.agents.set(`agt_${id}`, after as unknown as Agent)
          break
        case 'PA':
          this.people.set(`per_${id}`, after as unknown as Person)
          break
        case 'BL':
          if (wakesOf(before) !== wakesOf(after)) this.limitedAt.set(`per_${id}`, at)
          this.limits.set(`per_${id}`, after ?? {})
          break
        case 'GA':
          this.agentSessions = (after as { agentSessions?: boolean } | null)?.agentSessions === true
          break
        case 'EC':
          if (after?.status === 'allowed') seen.allowed = true
          break
      }
    }
    for (const { id, old, now } of seen.cursors) this.#span(id, old, now, seen)
    return seen
  }

  /** Keeps when a schedule was active, and as what. */
  #span(id: string, old: Cursor | null, now: Cursor | null, { at, since }: Seen): void {
    const spans = this.spans.get(id) ?? []
    this.spans.set(id, spans)
    const last = spans.at(-1)
    const was = old !== null && old.status === 'active' && !old.deleted
    const is = now !== null && now.status === 'active' && !now.deleted
    if (was && (!is || now.gen !== old.gen) && last !== undefined && last.to === Number.POSITIVE_INFINITY) {
      last.to = at
      last.toEarliest = since
    }
    if (is && (!was || now.gen !== old.gen))
      spans.push({
        gen: now.gen,
        from: at,
        fromEarliest: since,
        to: Number.POSITIVE_INFINITY,
        toEarliest: Number.POSITIVE_INFINITY,
      })
  }

  /** Live schedules that fire in a conversation, or open fresh sessions of an agent. */
  *firing(conv: string | null, agent: string): Generator<Cursor> {
    for (const cursor of this.cursors.values())
      if (!cursor.deleted && cursor.conv === conv && (conv !== null || cursor.agent === agent)) yield cursor
  }
}

const wakesOf = (limits: unknown): unknown =>
  (limits as { wakesPerDay?: number } | null | undefined)?.wakesPerDay ?? null
