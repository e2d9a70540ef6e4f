import { type Advance, decideDue } from '../domain/due.ts'
import { bare } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Cursor, OpenRun, Run } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import { type Op, type Stored, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Contended, retrying } from './call.ts'
import { dropWaiting } from './inbox.ts'
import { type Loaded, loadSchedules, messageOf, openIds } from './load.ts'
import { putCursor, putRun } from './rows.ts'
import { commit, keys, putHead, putSession, read } from './store.ts'

/**
 * Looks at schedules and commits what became of their due times. The one way in for alarms, the sweep and calls alike.
 *
 * A row that cannot be read or decided stops no other: it is logged and set aside.
 *
 * @returns the ids that could not be looked at
 */
export async function look(world: World, ids: readonly string[], now: number): Promise<string[]> {
  let loaded: (Loaded | null)[]
  try {
    loaded = await loadSchedules(world, ids, 'strict')
  } catch (error) {
    if (ids.length === 1) return named([setAside(world, ids[0]!, error)])
    const bad: string[] = []
    for (const id of ids) bad.push(...(await look(world, [id], now)))
    return bad
  }
  const bad: (string | null)[] = []
  await Promise.all(
    ids.map(async (id, i) => {
      try {
        await lookAt(world, id, now, loaded[i] ?? null)
      } catch (error) {
        bad.push(setAside(world, id, error))
      }
    }),
  )
  return named(bad)
}

const named = (ids: readonly (string | null)[]): string[] => ids.filter((id) => id !== null)

/** A store that is away says nothing about the row: that is the caller's to try again. */
function setAside(world: World, id: string, error: unknown): string | null {
  if (error instanceof Contended) {
    world.log('warn', 'schedule is written by many at once; the next look decides', { schedule: id })
    return null
  }
  if (error instanceof Unavailable) throw error
  world.log('error', `schedule could not be looked at: ${error instanceof Error ? error.message : 'unknown fault'}`, {
    schedule: id,
  })
  return id
}

/** One schedule: decide on what was read, and again on what another commit made of it. */
async function lookAt(world: World, id: string, now: number, first: Loaded | null): Promise<void> {
  let loaded = first
  let fresh = true
  await retrying(async () => {
    if (!fresh) loaded = (await loadSchedules(world, [id]))[0] ?? null
    fresh = false
    if (loaded === null || loaded.cursor.item.deleted) return
    const decision = decideDue({
      cursor: loaded.cursor.item,
      definition: loaded.definition,
      recurrence: loaded.recurrence,
      seat: loaded.seat,
      now,
    })
    if (decision.kind === 'wait') {
      // Early, or delivered again: the hint is set anew, and nothing is written.
      if (decision.armAt !== null && decision.armAt > now)
        await world.alarms.set({ kind: 'schedule', id }, decision.armAt)
      return
    }
    await advance(world, loaded, decision, now)
  })
}

/** Commits a decision and performs its effects. The next alarm is set first: one too many does no harm, one too few is late. */
async function advance(world: World, loaded: Loaded, decision: Advance, now: number): Promise<void> {
  const put = decision.put === null ? null : placed(loaded, decision.put)
  const rows = put === null ? decision.rows : decision.rows.map((row) => (row === decision.put ? put.run : row))
  // A gate that ends the schedule leaves nothing of it in an inbox that nobody serves any more.
  const dropped =
    decision.cursor.status === 'ended' ? await dropWaiting(world, decision.cursor, decision.cursor.reason!, now) : null
  const moved = dropped?.cursor ?? decision.cursor
  const cursor = put === null ? moved : withSession(moved, put.run)
  const cancelled = await cancellations(world, loaded, decision.cancel)
  if (cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id: cursor.id }, cursor.dueAt)
  await commit(world, [
    putCursor(world, cursor, loaded.cursor.version, now),
    ...rows.map((row) => putRun(row, now)),
    ...(put === null ? [] : put.ops(world, now)),
    ...(dropped?.ops ?? []),
    ...cancelled.map((head) => putHead(world, flagged(head.item), head.version, now)),
  ])
  if (put !== null) await ring(world, loaded, put.run)
  for (const head of cancelled) await ringCancelled(world, head.item)
}

/**
 * Where a run's message goes: into the conversation's session as it is called now, or into a session made for this run alone,
 * which the same commit creates.
 */
export function placed(
  loaded: Loaded,
  run: Run,
): { readonly run: Run; readonly ops: (world: World, now: number) => Op[] } {
  if (loaded.head !== null) return { run: { ...run, session: loaded.head.item.session }, ops: () => [] }
  const { definition, agent } = loaded
  const session = run.session!
  const head: Head = {
    conv: bare(session),
    session,
    agent: definition.agent,
    owner: agent!.owner,
    title: definition.name,
    main: false,
    parent: null,
    forkedFrom: null,
    project: agent!.project,
    mode: 'agent',
    permission: 'auto',
    paused: false,
    compacting: false,
    goal: null,
    pendingRequests: 0,
    workerConnected: null,
    checks: false,
    left: false,
    scheduledFired: true,
    fresh: { schedule: run.schedule, row: run.row },
    turn: null,
    createdAt: run.at,
    archivedAt: null,
    deletedAt: null,
    closing: false,
  }
  return {
    run,
    ops: (world, now) => [
      putHead(world, head, 'absent', now),
      putSession(
        {
          id: session,
          conv: head.conv,
          agent: head.agent,
          compactedInto: null,
          title: head.title,
          archived: false,
          createdAt: run.at,
        },
        'absent',
      ),
    ],
  }
}

/** The newest open run stands in the session its message was placed in. */
export const withSession = (cursor: Cursor, run: Run): Cursor => ({
  ...cursor,
  open: cursor.open.map((open) => (open.row === run.row ? { ...open, session: run.session! } : open)),
})

/** Rings for a run's message: its session's queue, or the agent's for a session that nobody serves yet. */
export async function ring(
  world: World,
  loaded: Loaded,
  run: Pick<Run, 'id' | 'message' | 'at' | 'session'>,
): Promise<void> {
  const { definition } = loaded
  const queue = definition.conv === null ? definition.agent : run.session!
  const message = (): Message =>
    messageOf({ run, definition, makerSession: loaded.maker?.session ?? null, status: 'waiting' })
  await hint(world, () =>
    world.bell.ring(queue, {
      kind: 'message',
      session: run.session!,
      agent: definition.agent,
      id: run.message!,
      message,
    }),
  )
}

/**
 * The conversations whose running turn a newer run replaces. Only a turn that the schedule's own prompt started: one that it
 * steered is somebody else's.
 */
async function cancellations(world: World, loaded: Loaded, runs: readonly OpenRun[]): Promise<Stored<Head>[]> {
  const heads: Stored<Head>[] = []
  for (const open of runs) {
    const conv = loaded.definition.conv ?? bare(open.session)
    const head = loaded.head ?? (await read<Head>(world, keys.head(conv)))
    const turn = head?.item.turn ?? null
    if (head === null || turn === null || turn.id !== open.turn || turn.cancelled !== null) continue
    if (turn.message === openIds(loaded.definition.id, open).message) heads.push(head)
  }
  return heads
}

const flagged = (head: Head): Head => ({ ...head, turn: { ...head.turn!, cancelled: 'overlap' } })

/** Tells whoever works on a conversation's turn that it was cancelled. */
export async function ringCancelled(world: World, head: Head): Promise<void> {
  await hint(world, () =>
    world.bell.ring(head.session, {
      kind: 'cancelled',
      session: head.session,
      agent: head.agent,
      id: head.turn!.id,
      message: () => null,
    }),
  )
}

/** What follows a commit is a hint: it failed only if the next look fails too, and what was done must not be told as undone. */
export async function hint(world: World, give: () => Promise<void>): Promise<void> {
  try {
    await give()
  } catch (error) {
    world.log('warn', `bell or alarm failed: ${error instanceof Error ? error.message : 'unknown fault'}`)
  }
}
