import type { Limits } from '../domain/budget.ts'
import type { Message } from '../domain/message.ts'
import type { Result } from '../domain/schedule.ts'
import type { Head, Links, RunningTurn } from '../domain/session.ts'
import type { ToolCall } from '../domain/trace.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges, limitedBy, purse } from './budgets.ts'
import { closeConversation } from './closing.ts'
import { outgoing } from './deliver.ts'
import { ring } from './fire.ts'
import { offerOps } from './flow-offers.ts'
import { type Loaded, loadSchedules, openIds } from './load.ts'
import { endRuns, type RunEnd, tellChannel, type Worked } from './run-ends.ts'
import { stallOps } from './stalls.ts'
import {
  type Agent,
  asItem,
  commit,
  keys,
  putHead,
  putHistory,
  putSession,
  read,
  readAll,
  type SessionRow,
  type TurnRow,
  ttlAfter,
} from './store.ts'
import { armTick, planAfter } from './ticks.ts'
import { turnTraceOps } from './trace-write.ts'

/** How a turn ended, whoever says so: its worker, or the clock. */
export interface Ending {
  readonly result: Result
  /** Why, where the result does not say it: `cancelled`, `cancelled_by_overlap`, `lease_expired`. */
  readonly reason: string | null
  readonly answer: string | null
  readonly summary: string | null
  readonly tokens: number | null
  readonly usd: number | null
  readonly toolCalls: readonly ToolCall[]
  readonly sleep: TurnRow['sleep']
}

/**
 * Ends a running turn: the session is free, the runs it worked on have their result, the answer stands under its message, and
 * what the schedule had waiting for this end (a retry, the next of a backfill) is put. One commit.
 *
 * @returns the id of its trace; null when it reported no tool calls
 * @throws Conflict when anything came between; the caller reads again
 */
export async function finish(
  world: World,
  head: Stored<Head>,
  turn: RunningTurn,
  ending: Ending,
  now: number,
): Promise<string | null> {
  const trace = ending.toolCalls.length === 0 ? null : `trc_${world.ids.ulid(now)}`
  const row = await read<TurnRow>(world, keys.turn(turn.id))
  const schedules = await schedulesOf(world, turn)
  const charges = await spentBy(world, head.item, turn, ending, now)
  const { result, reason, summary } = ending
  const end: RunEnd = { result, reason, turn: turn.id, trace, told: goneOf(head.item) }
  const { ops: followOps, next } = await endRuns(world, schedules, end, charges, now)
  const answer = answerOf(world, turn, ending, now)
  const over = head.item.fresh !== null && head.item.archivedAt === null
  const closing = head.item.closing || (over && (await hasMore(world, head.item.conv)))
  const { conv, session } = head.item
  const out = outgoing(world, schedules, { conv, session, result, reason, summary, answer }, now)
  const tick = over ? undefined : await planAfter(world, head.item, turn, ending, now)
  const after: Head = {
    ...head.item,
    turn: null,
    archivedAt: over ? now : head.item.archivedAt,
    closing,
    ...(tick === undefined ? {} : { tick }),
  }

  const ops: Op[] = [
    putHead(world, after, head.version, now),
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
        trace,
        sleep: ending.sleep,
        endedAt: now,
      } satisfies TurnRow),
      expect: 'any',
      ttl: ttlAfter(now),
    },
    ...followOps,
    ...(answer === null ? [] : [putHistory(head.item.conv, answer, now)]),
    ...(over ? await archiveFresh(world, head.item, now) : []),
    ...(await tellChannel(world, head.item, schedules, { result, reason, summary, answer }, now)),
    ...out.ops,
    ...charges.ops(now),
    ...(await stallOps(world, head.item, ending.toolCalls, now)),
  ]
  if (trace !== null) {
    const made = await turnTraceOps(world, head.item, turn, { id: trace, ending, beside: ops, now })
    ops.push(...made.ops, ...(await offerOps(world, made, now)))
  }
  await commit(world, ops)
  if (tick !== undefined) await armTick(world, after)
  for (const { loaded, run } of next) await ring(world, loaded, run)
  for (const { loaded } of schedules) await ringNext(world, loaded)
  await out.leave()
  if (over && closing) await closeConversation(world, head.item.conv, now)
  return trace
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

const goneOf = (head: Head): RunEnd['told'] => {
  const reason = head.deletedAt !== null ? 'session_deleted' : head.archivedAt !== null ? 'session_archived' : null
  return reason === null ? null : { reason, detail: null }
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
