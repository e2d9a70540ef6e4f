import { decideAsked, isRetryRow, markOf } from '../domain/asked.ts'
import type { Limits } from '../domain/budget.ts'
import { decideEnded } from '../domain/ended.ts'
import { timeOf } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import type { Message } from '../domain/message.ts'
import { onOneLine } from '../domain/names.ts'
import type { Cursor, Result, Run } from '../domain/schedule.ts'
import type { Head, Links, RunningTurn } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges, limitedBy, purse } from './budgets.ts'
import { closeConversation } from './closing.ts'
import { outgoing } from './deliver.ts'
import { placed, ring, withSession } from './fire.ts'
import { tellEnd } from './incidents.ts'
import { type Loaded, loadSchedules, openIds, runIdOf } from './load.ts'
import { patchRun, putCursor, putRun } from './rows.ts'
import {
  type Agent,
  asItem,
  commit,
  headUnchanged,
  keys,
  putHead,
  putHistory,
  putSession,
  putWaiting,
  read,
  readAll,
  type SessionRow,
  type TurnRow,
  ttlAfter,
} from './store.ts'

/** How a turn ended, whoever says so: its worker, or the clock. */
export interface Ending {
  readonly result: Result
  /** Why, where the result does not say it: `cancelled`, `cancelled_by_overlap`, `lease_expired`. */
  readonly reason: string | null
  readonly answer: string | null
  readonly summary: string | null
  readonly tokens: number | null
  readonly usd: number | null
  readonly toolCalls: TurnRow['toolCalls']
  readonly sleep: TurnRow['sleep']
}

/**
 * Ends a running turn: the session is free, the runs it worked on have their result, the answer stands under its message, and
 * what the schedule had waiting for this end (a retry, the next of a backfill) is put. One commit.
 *
 * @throws Conflict when anything came between; the caller reads again
 */
export async function finish(
  world: World,
  head: Stored<Head>,
  turn: RunningTurn,
  ending: Ending,
  now: number,
): Promise<void> {
  const row = await read<TurnRow>(world, keys.turn(turn.id))
  const schedules = await schedulesOf(world, turn)
  const charges = await spentBy(world, head.item, turn, ending, now)
  const { ops: followOps, put } = await endRuns(world, head.item, schedules, turn, ending, charges, now)
  const answer = answerOf(world, turn, ending, now)
  const over = head.item.fresh !== null && head.item.archivedAt === null
  const closing = head.item.closing || (over && (await hasMore(world, head.item.conv)))
  const out = outgoing(world, schedules, { head: head.item, ending, answer }, now)

  const ops: Op[] = [
    putHead(
      world,
      { ...head.item, turn: null, archivedAt: over ? now : head.item.archivedAt, closing },
      head.version,
      now,
    ),
    {
      put: keys.turn(turn.id),
      item: asItem({
        ...(row?.item ?? {
          id: turn.id,
          conv: head.item.conv,
          session: head.item.session,
          message: turn.message,
          startedAt: turn.startedAt,
        }),
        outcome: ending.result,
        summary: ending.summary,
        tokens: ending.tokens,
        usd: ending.usd,
        toolCalls: ending.toolCalls,
        sleep: ending.sleep,
        endedAt: now,
      } satisfies TurnRow),
      expect: 'any',
      ttl: ttlAfter(now),
    },
    ...followOps,
    ...(answer === null ? [] : [putHistory(head.item.conv, answer, now)]),
    ...(over ? await archiveFresh(world, head.item, now) : []),
    ...(await tellChannel(world, head.item, schedules, ending, answer, now)),
    ...out.ops,
    ...charges.ops(now),
  ]
  await commit(world, ops)
  for (const { loaded, run } of put) await ring(world, loaded, run)
  for (const { loaded } of schedules) await ringNext(world, loaded)
  await out.leave()
  if (over && closing) await closeConversation(world, head.item.conv, now)
}

/** What a turn that nobody's own word began has cost, on the budgets of its agent and of the person it was for. */
async function spentBy(world: World, head: Head, turn: RunningTurn, ending: Ending, now: number): Promise<Charges> {
  const charges = new Charges()
  const used = { tokens: ending.tokens ?? 0, usd: ending.usd ?? 0 }
  if (turn.kind === 'user' || (used.tokens === 0 && used.usd === 0)) return charges
  const { principal } = turn.origin
  const [agent, own] = (await readAll<unknown>(world, [keys.agent(head.agent), keys.limits(principal)])) as [
    Stored<Agent> | null,
    Stored<Limits> | null,
  ]
  return charges.draw(await purse(world, limitedBy(agent?.item ?? null, principal, own?.item ?? null), now), used)
}

/** The schedules whose messages this turn worked on, each once, with those of its rows that did. */
interface Worked {
  readonly loaded: Loaded
  readonly rows: readonly string[]
}

async function schedulesOf(world: World, turn: RunningTurn): Promise<Worked[]> {
  const rows = new Map<string, string[]>()
  for (const ref of turn.runs) rows.set(ref.schedule, [...(rows.get(ref.schedule) ?? []), ref.row])
  const ids = [...rows.keys()]
  const loaded = await loadSchedules(world, ids)
  return ids.flatMap((id, i) => {
    const found = loaded[i] ?? null
    return found === null ? [] : [{ loaded: found, rows: rows.get(id)! }]
  })
}

async function endRuns(
  world: World,
  head: Head,
  worked: readonly Worked[],
  turn: RunningTurn,
  ending: Ending,
  charges: Charges,
  now: number,
): Promise<{ readonly ops: Op[]; readonly put: { loaded: Loaded; run: Run }[] }> {
  const ops: Op[] = []
  const put: { loaded: Loaded; run: Run }[] = []
  for (const { loaded, rows } of worked) {
    let cursor = loaded.cursor.item
    const follow = (trigger: 'retry' | 'backfill', nominal: number): void => {
      const asked = decideAsked({
        cursor,
        definition: loaded.definition,
        seat: loaded.seat,
        session: loaded.head?.item.session,
        now,
        trigger,
        nominal,
        mark: markOf(trigger, world.ids.ulid(now)),
      })
      cursor = asked.cursor
      const at = asked.put ? placed(loaded, asked.row) : null
      if (at !== null) {
        cursor = withSession(cursor, at.run)
        ops.push(...at.ops(world, now))
        charges.draw(loaded.purse, { wakes: 1 })
        put.push({ loaded, run: at.run })
      }
      ops.push(putRun(at?.run ?? asked.row, now))
    }
    for (const row of rows) {
      const ended = decideEnded({
        cursor,
        definition: loaded.definition,
        recurrence: loaded.recurrence,
        now,
        row,
        result: ending.result,
        isRetry: isRetryRow(row),
      })
      cursor = ended.cursor
      ops.push(...ended.rows.map((covered) => putRun(covered, now)))
      ops.push(
        patchRun(
          { schedule: cursor.id, row },
          { result: ending.result, reason: ending.reason, turn: turn.id, endedAt: now },
        ),
      )
      if (ended.retry && !cursor.deleted && cursor.status !== 'ended') follow('retry', timeOf(row.slice(2, 12)))
    }
    cursor = nextBackfill(cursor, follow, () => cursor)
    const told = await tellEnd(
      world,
      loaded,
      cursor,
      { result: ending.result, run: runIdOf(cursor.id, rows.at(-1)!), gone: goneOf(head) },
      now,
    )
    ops.push(putCursor(world, told.cursor, loaded.cursor.version, now), ...told.ops)
  }
  return { ops, put }
}

const goneOf = (head: Head) =>
  head.deletedAt !== null ? 'session_deleted' : head.archivedAt !== null ? 'session_archived' : null

/**
 * Decision 21: one at a time. The next goes when nothing of the schedule waits or runs any more; one that a gate stops says so in
 * its row and ends the backfill, since the gate would stop the others as well.
 */
function nextBackfill(
  start: Cursor,
  follow: (trigger: 'backfill', nominal: number) => void,
  current: () => Cursor,
): Cursor {
  const [next, ...rest] = start.backfill
  if (next === undefined || start.open.length > 0) return start
  follow('backfill', next)
  return { ...current(), backfill: current().open.length > 0 ? rest : [] }
}

/** A fresh session's prompt that waited for this end may be handed out now. */
async function ringNext(world: World, loaded: Loaded): Promise<void> {
  const next = loaded.definition.conv === null ? loaded.cursor.item.open.find((run) => run.turn === null) : undefined
  if (next === undefined) return
  const ids = openIds(loaded.definition.id, next)
  await ring(world, loaded, { ...ids, at: next.at, session: next.session })
}

/** True when a session made for one run has more in it than that run. */
async function hasMore(world: World, conv: string): Promise<boolean> {
  const [links, { items }] = await Promise.all([
    read<Links>(world, keys.links(conv)),
    world.table.list(`C#${conv}`, { prefix: 'W#', limit: 1 }),
  ])
  return links !== null || items.length > 0
}

function answerOf(world: World, turn: RunningTurn, ending: Ending, now: number): Message | null {
  if (ending.answer === null || ending.result === 'nothing_to_do') return null
  return {
    id: `msg_${world.ids.ulid(now)}`,
    kind: 'answer',
    text: ending.answer,
    origin: turn.origin,
    automated: true,
    status: 'taken',
    replyTo: turn.message,
    at: now,
  }
}

/** A session made for one run is archived with it; its row leaves the agent's walk. */
async function archiveFresh(world: World, head: Head, now: number): Promise<Op[]> {
  const row = await read<SessionRow>(world, keys.session(head.session))
  return row === null ? [] : [putSession({ ...row.item, archived: true }, row.version, ttlAfter(now))]
}

/**
 * S2-18, decision 23: the agent's main session, or the channel, gets a short note of what a fresh run did, and the answer. A
 * run into a conversation answers there; it tells a channel only where one is named. S2-19: nothing to do, nothing posted.
 */
async function tellChannel(
  world: World,
  head: Head,
  worked: readonly Worked[],
  ending: Ending,
  answer: Message | null,
  now: number,
): Promise<Op[]> {
  const ops: Op[] = []
  const told = new Set<string>()
  if (ending.result === 'nothing_to_do') return ops
  for (const { loaded } of worked) {
    const { definition } = loaded
    const session = definition.channel ?? (definition.conv === null ? (loaded.agent?.mainSession ?? null) : null)
    if (session === null || session === head.session) continue
    const row = await read<SessionRow>(world, keys.session(session))
    const target = row === null ? null : await read<Head>(world, keys.head(row.item.conv))
    if (
      target === null ||
      target.item.archivedAt !== null ||
      target.item.deletedAt !== null ||
      target.item.conv === head.conv
    )
      continue
    const said = ending.summary ?? ending.answer ?? ''
    const text = `Scheduled run: ${onOneLine(definition.name)} (${ending.result}${ending.reason === null ? '' : `, ${ending.reason}`})${said === '' ? '' : `: ${clipped(said)}`}`
    const origin = {
      kind: 'schedule',
      principal: definition.createdBy,
      agent: definition.makerAgent,
      session: head.session,
      schedule: definition.id,
      run: null,
      hops: definition.reach.hops,
      depth: definition.reach.depth,
    } as const
    if (!told.has(target.item.conv)) ops.push(headUnchanged(target))
    told.add(target.item.conv)
    ops.push(
      putWaiting(target.item.conv, {
        id: `msg_${world.ids.ulid(now)}`,
        kind: 'note',
        text,
        origin,
        automated: true,
        status: 'waiting',
        replyTo: null,
        at: now,
      }),
    )
    if (answer !== null)
      ops.push(putHistory(target.item.conv, { ...answer, id: `msg_${world.ids.ulid(now)}`, origin }, now))
  }
  return ops
}

const clipped = (text: string): string =>
  text.length <= limits.sessionNoteCharsMax ? text : `${text.slice(0, limits.sessionNoteCharsMax - 1)}…`
