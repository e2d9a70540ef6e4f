import type { Seat } from '../domain/admit.ts'
import type { Limits } from '../domain/budget.ts'
import { derivedUlid, timeOf } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { type Message, scheduleText } from '../domain/message.ts'
import type { Origin } from '../domain/provenance.ts'
import type { Check, Cursor, Definition, OpenRun, Run } from '../domain/schedule.ts'
import { type Head, promptsSent } from '../domain/session.ts'
import { faultOf } from '../ports/log.ts'
import { Defect, type Key, type Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import type { Recurrence } from '../time/index.ts'
import { countersOf, limitedAgent, limitedPerson, noPurse, type Purse, purseOf } from './budgets.ts'
import { compilerOf, Definitions, type Known } from './definitions.ts'
import { readCursors } from './rows.ts'
import { type Agent, defaultSettings, keys, type RunData, readAll, type Settings } from './store.ts'

/** A schedule with everything that a decision about it reads. */
export interface Loaded {
  readonly cursor: Stored<Cursor>
  readonly definition: Definition
  readonly recurrence: Recurrence
  readonly agent: Agent | null
  /** The conversation it fires in; null for an agent target, or when it is gone without a trace. */
  readonly head: Stored<Head> | null
  readonly maker: Head | null
  /** The budgets that its next wake draws on. */
  readonly purse: Purse
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
  const cursors = await readCursors(world, ids)
  // Each has a definition of its own, which may be at hand; heads and agents are shared, and read once.
  const definitions = Definitions.of(world)
  const known = cursors.map((stored) =>
    stored === null ? undefined : definitions.get(stored.item.id, stored.item.gen),
  )
  const wanted: Key[] = cursors.flatMap((stored, i) =>
    stored === null || known[i] !== undefined ? [] : [keys.definition(stored.item.id, stored.item.gen)],
  )
  const unknown = wanted.length
  const shared = new Map<string, number>()
  const want = (name: string | null, keyOf: (name: string) => Key): void => {
    if (name === null || shared.has(name)) return
    shared.set(name, wanted.length)
    wanted.push(keyOf(name))
  }
  let agentsMade = false
  for (const stored of cursors) {
    if (stored === null) continue
    want(stored.item.agent, keys.agent)
    want(stored.item.conv, keys.head)
    want(stored.item.makerConv, keys.head)
    want(stored.item.createdBy, keys.limits)
    if (stored.item.makerAgent !== null) agentsMade = true
  }
  if (agentsMade) want('settings', () => keys.settings)
  const items = await readAll<unknown>(world, wanted)
  const at = <T>(name: string | null): Stored<T> | null => {
    const place = name === null ? undefined : shared.get(name)
    return place === undefined ? null : ((items[place] ?? null) as Stored<T> | null)
  }
  const settings = at<Settings>('settings')?.item ?? defaultSettings
  // Each agent and person once, however many schedules they have.
  const limited = [...shared.keys()].flatMap((name) => {
    if (name.startsWith('agt_')) return limitedAgent(at<Agent>(name)?.item ?? null)
    return name.startsWith('per_') ? limitedPerson(name, at<Limits>(name)?.item ?? null) : []
  })
  const counters = await countersOf(world, limited, world.clock.now())
  const read = items.slice(0, unknown) as (Stored<Definition> | null)[]
  const compile = await compilerOf(read.map((stored) => stored?.item))
  let nth = 0

  const learnt = (cursor: Cursor, stored: Stored<Definition> | null): Known => {
    if (stored === null) throw new Defect(`schedule ${cursor.id} has no definition of generation ${cursor.gen}`)
    return definitions.add(stored.item, compile(stored.item.spec))
  }
  const assembled = (stored: Stored<Cursor>, definition: Known): Loaded => {
    const cursor = stored.item
    const head = at<Head>(cursor.conv)
    const maker = at<Head>(cursor.makerConv)?.item ?? null
    const agent = at<Agent>(cursor.agent)?.item ?? null
    const isFlow = definition.definition.kind === 'flow'
    // A flow wakes nobody and calls no model: it draws on no budget.
    const purse =
      isFlow || counters.size === 0 ? noPurse : purseOf([counters.get(cursor.agent), counters.get(cursor.createdBy)])
    return {
      cursor: stored,
      definition: definition.definition,
      recurrence: definition.recurrence,
      agent,
      head,
      maker,
      purse,
      seat: seatOf({
        cursor,
        agent,
        head: head?.item ?? null,
        maker,
        settings,
        short: purse.short,
        check: definition.definition.check ?? null,
        isFlow,
      }),
    }
  }
  return cursors.map((stored, i) => {
    if (stored === null) return null
    try {
      return assembled(stored, known[i] ?? learnt(stored.item, read[nth++] ?? null))
    } catch (error) {
      if (unreadable === 'strict') throw error
      world.log('error', 'schedule cannot be read', { schedule: `sch_${stored.key[0].slice(2)}`, ...faultOf(error) })
      return null
    }
  })
}

/** S0-22, S0-31: a prompt of one conversation to another session counts; one to itself does not. */
export const goesToOthers = (schedule: Pick<Cursor, 'makerConv' | 'conv'>): boolean =>
  schedule.makerConv !== null && schedule.makerConv !== schedule.conv

export function seatOf(o: {
  readonly cursor: Cursor
  readonly agent: Agent | null
  readonly head: Head | null
  readonly maker: Head | null
  readonly settings: Settings
  readonly short: string | null
  readonly check: Check | null
  /** It needs no worker, or says itself that it has none. */
  readonly isFlow: boolean
}): Seat {
  const state = (head: Head | null): Seat['conversation'] =>
    head === null || head.deletedAt !== null ? 'deleted' : head.archivedAt !== null ? 'archived' : 'open'
  return {
    agentDeleted: o.agent === null || o.agent.deletedAt !== null,
    conversation: o.cursor.conv === null ? 'open' : state(o.head),
    makerConversation: o.cursor.makerConv === null ? 'open' : state(o.maker),
    left: o.head?.left ?? false,
    disconnected: !o.isFlow && o.cursor.conv === null && o.agent?.workerConnected === false,
    uncheckable: o.check !== null && 'script' in o.check && !runsChecks(o.head) && !runsChecks(o.agent),
    agentSessions: o.settings.agentSessions,
    short: o.short,
    promptsSpent: goesToOthers(o.cursor) && promptsSent(o.maker) >= limits.promptsToOthersMax,
  }
}

/** Only a worker that said so runs scripts; one that said since that it is gone runs none. */
export const runsChecks = (
  of: { readonly checks?: boolean; readonly workerConnected: boolean | null } | null,
): boolean => of?.checks === true && of.workerConnected !== false

/** The message of a run, as it waits or was taken: everything in it follows from the run and the definition of its generation. */
export function messageOf(o: {
  readonly run: Pick<Run, 'id' | 'message' | 'at'>
  readonly definition: Definition
  readonly makerSession: string | null
  readonly status: Message['status']
  readonly data: RunData | null
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
      data: o.data,
      triggered: definition.on != null,
    }),
    origin,
    automated: true,
    status: o.status,
    replyTo: null,
    at: o.run.at,
  }
}

/** The id of a row of the ledger. */
export const runIdOf = (schedule: string, row: string): string =>
  `run_${derivedUlid(timeOf(row.slice(2, 12)), `${schedule}|${row}`)}`

/** Ids of an open run's row and message, which the cursor need not repeat. */
export function openIds(
  schedule: string,
  open: Pick<OpenRun, 'row'>,
): { readonly id: string; readonly message: string } {
  const nominal = timeOf(open.row.slice(2, 12))
  const ulid = derivedUlid(nominal, `${schedule}|${open.row}`)
  return { id: `run_${ulid}`, message: `msg_${ulid}` }
}
