import type { Seat } from '../domain/admit.ts'
import { derivedUlid, timeOf } from '../domain/ids.ts'
import { type Message, scheduleText } from '../domain/message.ts'
import type { Origin } from '../domain/provenance.ts'
import type { Cursor, Definition, OpenRun, Run } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import { Defect, type Key, type Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { compile, type Recurrence } from '../time/index.ts'
import { type Agent, defaultSettings, keys, readAll, type Settings } from './store.ts'

/** A schedule with everything that a decision about it reads. */
export interface Loaded {
  readonly cursor: Stored<Cursor>
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly agent: Agent | null
  /** The conversation it fires in; null for an agent target, or when it is gone without a trace. */
  readonly head: Stored<Head> | null
  readonly maker: Head | null
  readonly seat: Seat
}

/**
 * Loads schedules in three requests, however many: cursors, then definitions with the heads and agents they share.
 *
 * @param unreadable  `strict` throws at a row that cannot be read; `skip` logs it, so that one bad row does not take a list along
 * @returns           one place per id, in order; null where there is none
 */
export async function loadSchedules(
  world: World,
  ids: readonly string[],
  unreadable: 'strict' | 'skip' = 'skip',
): Promise<(Loaded | null)[]> {
  const cursors = await readAll<Cursor>(world, ids.map(keys.cursor))
  const wanted = new Map<string, Key>()
  const want = (key: Key): void => {
    wanted.set(`${key[0]} ${key[1]}`, key)
  }
  let agentsMade = false
  for (const stored of cursors) {
    if (stored === null) continue
    const { item: cursor } = stored
    want(keys.definition(cursor.id, cursor.gen))
    want(keys.agent(cursor.agent))
    if (cursor.conv !== null) want(keys.head(cursor.conv))
    if (cursor.makerConv !== null) want(keys.head(cursor.makerConv))
    if (cursor.makerAgent !== null) agentsMade = true
  }
  if (agentsMade) want(keys.settings)
  const all = [...wanted.values()]
  const found = new Map<string, Stored<unknown> | null>()
  const items = await readAll<unknown>(world, all)
  all.forEach((key, i) => {
    found.set(`${key[0]} ${key[1]}`, items[i] ?? null)
  })
  const at = <T>(key: Key): Stored<T> | null => (found.get(`${key[0]} ${key[1]}`) ?? null) as Stored<T> | null

  const assembled = (stored: Stored<Cursor>): Loaded => {
    const cursor = stored.item
    const definition = at<Definition>(keys.definition(cursor.id, cursor.gen))?.item
    if (definition === undefined)
      throw new Defect(`schedule ${cursor.id} has no definition of generation ${cursor.gen}`)
    const head = cursor.conv === null ? null : at<Head>(keys.head(cursor.conv))
    const maker = cursor.makerConv === null ? null : (at<Head>(keys.head(cursor.makerConv))?.item ?? null)
    const agent = at<Agent>(keys.agent(cursor.agent))?.item ?? null
    const settings = at<Settings>(keys.settings)?.item ?? defaultSettings
    return {
      cursor: stored,
      definition,
      recurrence: compile(definition.spec),
      agent,
      head,
      maker,
      seat: seatOf({ cursor, agent, head: head?.item ?? null, maker, settings }),
    }
  }
  return cursors.map((stored) => {
    if (stored === null) return null
    try {
      return assembled(stored)
    } catch (error) {
      if (unreadable === 'strict') throw error
      world.log('error', `schedule cannot be read: ${error instanceof Error ? error.message : 'unknown fault'}`, {
        schedule: stored.key[0],
      })
      return null
    }
  })
}

export function seatOf(o: {
  readonly cursor: Cursor
  readonly agent: Agent | null
  readonly head: Head | null
  readonly maker: Head | null
  readonly settings: Settings
}): Seat {
  const state = (head: Head | null): Seat['conversation'] =>
    head === null || head.deletedAt !== null ? 'deleted' : head.archivedAt !== null ? 'archived' : 'open'
  return {
    agentDeleted: o.agent === null || o.agent.deletedAt !== null,
    conversation: o.cursor.conv === null ? 'open' : state(o.head),
    makerConversation: o.cursor.makerConv === null ? 'open' : state(o.maker),
    left: o.head?.left ?? false,
    disconnected: o.cursor.conv === null && o.agent?.workerConnected === false,
    agentSessions: o.settings.agentSessions,
  }
}

/** The message of a run, as it waits or was taken: everything in it follows from the run and the definition of its generation. */
export function messageOf(o: {
  readonly run: Pick<Run, 'id' | 'message' | 'at'>
  readonly definition: Definition
  readonly makerSession: string | null
  readonly status: Message['status']
}): Message {
  const { definition } = o
  const origin: Origin = {
    kind: 'schedule',
    principal: definition.createdBy,
    agent: definition.makerAgent,
    session: o.makerSession,
    schedule: definition.id,
    run: o.run.id,
    hops: definition.reach.hops,
    depth: definition.reach.depth,
  }
  // S0-34: only when another session created it; a person's schedule names none.
  const other = o.makerSession !== null && definition.makerConv !== definition.conv
  return {
    id: o.run.message!,
    kind: 'schedule',
    text: scheduleText({
      schedule: definition.id,
      name: definition.name,
      prompt: definition.prompt ?? '',
      from: other ? { session: o.makerSession, title: definition.makerTitle } : null,
    }),
    origin,
    automated: true,
    status: o.status,
    replyTo: null,
    at: o.run.at,
  }
}

/** Ids of an open run's row and message, which the cursor need not repeat. */
export function openIds(schedule: string, open: OpenRun): { readonly id: string; readonly message: string } {
  const nominal = timeOf(open.row.slice(2, 12))
  const ulid = derivedUlid(nominal, `${schedule}|${open.row}`)
  return { id: `run_${ulid}`, message: `msg_${ulid}` }
}
