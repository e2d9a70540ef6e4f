import { decideAsked, isRetryRow, markOf } from '../domain/asked.ts'
import { nextToBegin } from '../domain/due.ts'
import { decideEnded } from '../domain/ended.ts'
import { timeOf } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import type { Message } from '../domain/message.ts'
import { onOneLine } from '../domain/names.ts'
import type { Cursor, Result, Run } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import type { Op } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import type { Charges } from './budgets.ts'
import { beginOps, placed, withSession } from './fire.ts'
import { tellEnd } from './incidents.ts'
import { type Loaded, runIdOf } from './load.ts'
import { patchRun, putCursor, putRun } from './rows.ts'
import { headUnchanged, keys, putHistory, putWaiting, read, type SessionRow } from './store.ts'

/** A schedule of which runs end, and which of its rows do. */
export interface Worked {
  readonly loaded: Loaded
  readonly rows: readonly string[]
}

/** How runs end, whether a turn worked on them or a flow was replayed. */
export interface RunEnd {
  readonly result: Result
  readonly reason: string | null
  /** The turn; null: a flow's run. */
  readonly turn: string | null
  readonly trace: string | null
  /** What a person has to see to; null: nothing but failures that pile up. */
  readonly told: { readonly reason: string; readonly detail: string | null } | null
}

/** A run that goes out with this end: one that was put, or one that had waited for it. */
export type Next = Pick<Run, 'id' | 'message' | 'flowRun' | 'at' | 'session'>

/**
 * The writes with which runs of schedules end: rows have their result, and what waited for this end (a retry, the next of a backfill, the
 * next run of a flow) is put or begun.
 *
 * @param charges  takes what the runs that are put draw on budgets
 * @returns        `next`: to be rung for after the commit
 */
export async function endRuns(
  world: World,
  worked: readonly Worked[],
  end: RunEnd,
  charges: Charges,
  now: number,
): Promise<{ readonly ops: Op[]; readonly next: { readonly loaded: Loaded; readonly run: Next }[] }> {
  const ops: Op[] = []
  const next: { loaded: Loaded; run: Next }[] = []
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
      const at = asked.put ? placed(loaded, asked.row, cursor) : null
      if (at !== null) {
        cursor = withSession(cursor, at.run)
        ops.push(...at.ops(world, now))
        charges.draw(loaded.purse, { wakes: 1 })
        next.push({ loaded, run: at.run })
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
        result: end.result,
        isRetry: isRetryRow(row),
      })
      cursor = ended.cursor
      ops.push(...ended.rows.map((covered) => putRun(covered, now)))
      ops.push(
        patchRun(
          { schedule: cursor.id, row },
          {
            result: end.result,
            reason: end.reason,
            ...(end.turn === null ? {} : { turn: end.turn }),
            ...(end.trace === null ? {} : { trace: end.trace }),
            endedAt: now,
          },
        ),
      )
      if (ended.retry && !cursor.deleted && cursor.status !== 'ended') follow('retry', timeOf(row.slice(2, 12)))
    }
    cursor = nextBackfill(cursor, follow, () => cursor)
    const waits = nextToBegin(cursor, loaded.definition)
    if (waits !== null) {
      const begun = beginOps(world, cursor, waits, now)
      cursor = begun.cursor
      ops.push(...begun.ops)
      next.push({ loaded, run: begun.run })
    }
    const run = runIdOf(cursor.id, rows.at(-1)!)
    const told = await tellEnd(world, loaded, cursor, { result: end.result, run, told: end.told }, now)
    ops.push(putCursor(world, told.cursor, loaded.cursor.version, now), ...told.ops)
  }
  return { ops, next }
}

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

/** What the end of a run says in other sessions. */
export interface Said {
  readonly result: Result
  readonly reason: string | null
  readonly summary: string | null
  /** Its text, where it stands as a message of its own too. */
  readonly answer: Message | null
}

/**
 * S2-18, decision 23: the agent's main session, or the channel, gets a short note of what a fresh run did, and the answer. A
 * run into a conversation answers there, and a flow's run nowhere; they tell a channel only where one is named. S2-19: nothing to do,
 * nothing posted.
 *
 * @param from  where the run worked; null: a flow's run
 */
export async function tellChannel(
  world: World,
  from: Pick<Head, 'session' | 'conv'> | null,
  worked: readonly Worked[],
  said: Said,
  now: number,
): Promise<Op[]> {
  const ops: Op[] = []
  const told = new Set<string>()
  if (said.result === 'nothing_to_do') return ops
  for (const { loaded } of worked) {
    const { definition } = loaded
    const byItself = from !== null && definition.conv === null
    const session = definition.channel ?? (byItself ? (loaded.agent?.mainSession ?? null) : null)
    if (session === null || session === from?.session) continue
    const row = await read<SessionRow>(world, keys.session(session))
    const target = row === null ? null : await read<Head>(world, keys.head(row.item.conv))
    if (
      target === null ||
      target.item.archivedAt !== null ||
      target.item.deletedAt !== null ||
      target.item.conv === from?.conv
    )
      continue
    const { answer } = said
    const words = said.summary ?? answer?.text ?? ''
    const text = `Scheduled run: ${onOneLine(definition.name)} (${said.result}${said.reason === null ? '' : `, ${said.reason}`})${words === '' ? '' : `: ${clipped(words)}`}`
    const origin = {
      kind: 'schedule',
      principal: definition.createdBy,
      agent: definition.makerAgent,
      session: from?.session ?? null,
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
