import { bare } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Cursor, OpenRun, Run } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { type Loaded, messageOf, openIds } from './load.ts'
import { keys, putHead, putSession, read } from './store.ts'

/** A run and where its message goes. */
export interface Placed {
  readonly run: Run
  readonly ops: (world: World, now: number) => Op[]
}

/**
 * Where a run's message goes: into the conversation's session as it is called now, or into a session made for this run alone,
 * which the same commit creates.
 */
export function placed(loaded: Loaded, run: Run): Placed {
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
    sends: 0,
    grants: 0,
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
export async function cancellations(world: World, loaded: Loaded, runs: readonly OpenRun[]): Promise<Stored<Head>[]> {
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

export const flagged = (head: Head): Head => ({ ...head, turn: { ...head.turn!, cancelled: 'overlap' } })

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
