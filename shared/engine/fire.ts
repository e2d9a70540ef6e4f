import { bare, isId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import type { Cursor, OpenRun, Run } from '../domain/schedule.ts'
import type { Head } from '../domain/session.ts'
import { faultOf } from '../ports/log.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { beginFlowRun, cancelFlowRun, placedFlowRun } from './flow-rows.ts'
import { type Loaded, messageOf, openIds } from './load.ts'
import { keys, putHead, putSession, type RunData, read } from './store.ts'

/** A run and where its message goes. */
export interface Placed {
  readonly run: Run
  readonly ops: (world: World, now: number) => Op[]
}

/**
 * Where a run goes: its message into the conversation's session as it is called now, or into a session made for this run alone; or
 * it is a flow's. What is made for it, the same commit creates.
 *
 * @param cursor  as it is with the run
 */
export function placed(loaded: Loaded, run: Run, cursor: Cursor): Placed {
  if (run.flowRun != null)
    return { run, ops: (world, now) => [placedFlowRun(world, loaded.definition, run, cursor, now)] }
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

/** The newest open run stands in the session its message was placed in. A flow's run is its own place. */
export const withSession = (cursor: Cursor, run: Run): Cursor =>
  run.flowRun != null
    ? cursor
    : {
        ...cursor,
        open: cursor.open.map((open) => (open.row === run.row ? { ...open, session: run.session! } : open)),
      }

/** What waited for the end of the run before it begins: a flow's run, which nobody claims. */
export function beginOps(world: World, cursor: Cursor, waits: OpenRun, now: number) {
  const begun = cursor.open.map((open) => (open === waits ? { ...open, turn: open.session } : open))
  const run = { ...openIds(cursor.id, waits), flowRun: waits.session, at: waits.at, session: null }
  return { cursor: { ...cursor, open: begun }, ops: [beginFlowRun(world, waits, cursor.agent, now)], run }
}

/** Tells whoever goes on with a flow's run that something is to be done. */
export const announceFlowRun = (world: World, id: string): Promise<void> =>
  hint(world, () => world.alarms.set({ kind: 'flow', id }, world.clock.now()))

/** Rings for a run's message: its session's queue, or the agent's for a session that nobody serves yet. */
export async function ring(
  world: World,
  loaded: Loaded,
  run: Pick<Run, 'id' | 'message' | 'flowRun' | 'at' | 'session'>,
  data: RunData | null = null,
): Promise<void> {
  if (run.flowRun != null) return await announceFlowRun(world, run.flowRun)
  const { definition } = loaded
  const queue = definition.conv === null ? definition.agent : run.session!
  const message = (): Message =>
    messageOf({ run, definition, makerSession: loaded.maker?.session ?? null, status: 'waiting', data })
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
 * Rings once more for what waits of a schedule. Without the message, which the claim hands out; a flow's run needs no bell, it is due in the
 * table.
 */
export async function ringAgain(world: World, { cursor: { item: cursor }, head }: Loaded): Promise<void> {
  for (const open of cursor.open) {
    if (open.turn !== null || isId('flr', open.session)) continue
    const { id, agent, conv } = cursor
    const session = head?.item.session ?? open.session
    const envelope = { session, agent, id: openIds(id, open).message, message: () => null }
    await hint(world, () => world.bell.ring(conv === null ? agent : session, { kind: 'message', ...envelope }))
  }
}

/** What is cancelled for a run that is put later than its slot was decided: after its check, or when it is let go. */
export const replaced = async (world: World, loaded: Loaded, now: number): Promise<Cancelled> =>
  loaded.definition.overlap === 'cancel'
    ? await cancellations(
        world,
        loaded,
        loaded.cursor.item.open.filter((run) => run.turn !== null),
        now,
      )
    : { ops: [], tell: async () => {} }

/** What a newer run replaces: the writes that flag it, and how whoever works on it is told after the commit. */
export interface Cancelled {
  readonly ops: readonly Op[]
  readonly tell: () => Promise<void>
}

/**
 * Flags the running turns, or runs of a flow, that a newer run replaces. Only a turn that the schedule's own prompt started: one that it
 * steered is somebody else's.
 */
export async function cancellations(
  world: World,
  loaded: Loaded,
  runs: readonly OpenRun[],
  now: number,
): Promise<Cancelled> {
  // A flow's run looks for itself before each step.
  if (loaded.definition.kind === 'flow') return { ops: runs.map(cancelFlowRun), tell: async () => {} }
  const heads: Stored<Head>[] = []
  for (const open of runs) {
    const conv = loaded.definition.conv ?? bare(open.session)
    const head = loaded.head ?? (await read<Head>(world, keys.head(conv)))
    const turn = head?.item.turn ?? null
    if (head === null || turn === null || turn.id !== open.turn || turn.cancelled !== null) continue
    if (turn.message === openIds(loaded.definition.id, open).message) heads.push(head)
  }
  return {
    ops: heads.map(({ item, version }) => putHead(world, flagged(item), version, now)),
    tell: async () => {
      for (const { item } of heads) await ringCancelled(world, item)
    },
  }
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
    world.log('warn', 'bell or alarm failed', faultOf(error))
  }
}
