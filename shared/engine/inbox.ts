import { bare, isId } from '../domain/ids.ts'
import { inboxOrder, type Message, type MessageKind } from '../domain/message.ts'
import type { Cursor, Definition, OpenRun } from '../domain/schedule.ts'
import { type Head, isGone, type Links, noLinks, type RunRef } from '../domain/session.ts'
import { tickMessage } from '../domain/tick-message.ts'
import type { Key, Op, Stored } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { dropFlowRun } from './flow-rows.ts'
import { messageOf, openIds } from './load.ts'
import { patchRun, putCursor, readCursor, readCursors } from './rows.ts'
import {
  keys,
  putHead,
  putHistory,
  putSession,
  type RunData,
  readAll,
  readSome,
  type SessionRow,
  ttlAfter,
} from './store.ts'

/** Everything that waits in a conversation, and what it takes to hand one out. */
export interface Front {
  readonly head: Stored<Head>
  readonly links: Stored<Links> | null
  /** Schedules that fire here, live ones and those that are over. */
  readonly cursors: readonly Stored<Cursor>[]
  /** Waiting messages that may be claimed, the next one first. */
  readonly waiting: readonly Candidate[]
  readonly notes: readonly Stored<Message>[]
  /** Behind these wait more, from here on. */
  readonly rest: string | null
}

export type Candidate = Placed & {
  readonly kind: MessageKind
  readonly at: number
  readonly id: string
  /** Decision 12: unless runs may overlap, a fresh session's prompt is handed out when the run before it has ended. */
  readonly held: boolean
}
type Placed =
  | { readonly from: 'row'; readonly row: Stored<Message> }
  | { readonly from: 'tick'; readonly message: Message }
  | { readonly from: 'schedule'; readonly cursor: Stored<Cursor>; readonly open: OpenRun; readonly message: Message }

/** Notes sort behind everything that can be claimed, so that one page of rows holds what comes next. */
const rowsPerLook = 200

/** @returns null when the conversation is not there (any more) */
export async function loadFront(world: World, conv: string): Promise<Front | null> {
  const [[head, links], rows] = await Promise.all([
    readAll<unknown>(world, [keys.head(conv), keys.links(conv)]) as Promise<
      [Stored<Head> | null, Stored<Links> | null]
    >,
    world.table.list(`C#${conv}`, { prefix: 'W#', limit: rowsPerLook }),
  ])
  if (head === null) return null
  const fires = (links?.item ?? noLinks).fires
  const cursors = (await readCursors(world, fires)).filter((c): c is Stored<Cursor> => c !== null)
  const messages = rows.items as readonly Stored<unknown>[] as readonly Stored<Message>[]
  const waiting: Candidate[] = [
    ...messages.flatMap((row) => (row.item.kind === 'note' ? [] : [rowCandidate(row)])),
    ...(await scheduleCandidates(world, conv, cursors, head.item)),
    ...tickCandidate(head.item),
  ]
  return {
    head,
    links,
    cursors,
    waiting: waiting.sort(inboxOrder),
    notes: messages.filter((row) => row.item.kind === 'note'),
    rest: rows.next,
  }
}

/** How many messages wait to be claimed behind those of a front. Beyond a thousand it makes no difference to anybody, and costs. */
export async function countRest(world: World, conv: string, front: Front): Promise<number> {
  let count = 0
  for (let after = front.rest; after !== null && count < restMax; ) {
    const page = await world.table.list(`C#${conv}`, { prefix: 'W#', limit: rowsPerLook, after })
    count += (page.items as readonly Stored<unknown>[] as readonly Stored<Message>[]).filter(
      (row) => row.item.kind !== 'note',
    ).length
    after = page.next
  }
  return count
}

const restMax = 1000

const rowCandidate = (row: Stored<Message>): Candidate => {
  const { kind, at, id } = row.item
  return { from: 'row', row, kind, at, id, held: false }
}

/** A tick that waits stands in the head: at most one does. */
function tickCandidate(head: Head): Candidate[] {
  const message = tickMessage(head)
  return message === null ? [] : [{ from: 'tick', message, kind: 'tick', at: message.at, id: message.id, held: false }]
}

/**
 * Prompts that wait in cursors: of schedules that fire here, and of the one that made this session for its run.
 *
 * One whose definition is gone is left out and named in the log: it must not keep what stands behind it.
 */
async function scheduleCandidates(
  world: World,
  conv: string,
  cursors: readonly Stored<Cursor>[],
  head: Head,
): Promise<Candidate[]> {
  const found: { cursor: Stored<Cursor>; open: OpenRun; held: boolean }[] = []
  for (const cursor of cursors) {
    // A schedule that was moved away fires elsewhere, though its id may still stand in these links.
    if (cursor.item.conv !== conv) continue
    const open = cursor.item.open.find((run) => run.turn === null)
    if (open !== undefined) found.push({ cursor, open, held: false })
  }
  const { fresh } = head
  if (fresh !== null && head.turn === null) {
    const cursor = await readCursor(world, fresh.schedule)
    const open = cursor?.item.open.find((run) => run.row === fresh.row && run.turn === null)
    if (cursor !== null && open !== undefined)
      found.push({ cursor, open, held: cursor.item.serial && cursor.item.open.some((run) => run.turn !== null) })
  }
  const messages = await Promise.all(found.map(({ cursor, open }) => scheduleMessage(world, cursor.item, open)))
  return found.flatMap(({ cursor, open, held }, i): Candidate[] => {
    const message = messages[i] ?? null
    if (message !== null)
      return [{ from: 'schedule', cursor, open, message, kind: 'schedule', at: open.at, id: message.id, held }]
    const { id } = openIds(cursor.item.id, open)
    world.log('error', 'prompt left out: its definition is gone', { schedule: cursor.item.id, run: id })
    return []
  })
}

/** A message that leaves the inbox for a turn, and the writes that make it so. */
export interface Taken {
  readonly message: Message
  readonly run: RunRef | null
  readonly ops: Op[]
}

/** Takes a candidate out: a row moves to the history, a schedule's prompt leaves its cursor and enters the history. */
export function take(world: World, conv: string, candidate: Candidate, turn: string, now: number): Taken {
  if (candidate.from === 'row') {
    const message: Message = { ...candidate.row.item, status: 'taken' }
    return { message, run: null, ops: [leave(candidate.row), putHistory(conv, message, now)] }
  }
  if (candidate.from === 'tick') {
    // It leaves the head with the turn that begins.
    const message: Message = { ...candidate.message, status: 'taken' }
    return { message, run: null, ops: [putHistory(conv, message, now)] }
  }
  const { cursor, open } = candidate
  const message = { ...candidate.message, status: 'taken' as const }
  const next: Cursor = {
    ...cursor.item,
    open: cursor.item.open.map((run) => (run.row === open.row ? { ...run, turn } : run)),
  }
  const run: RunRef = { schedule: cursor.item.id, row: open.row }
  return {
    message,
    run,
    ops: [putCursor(world, next, cursor.version, now), patchRun(run, { turn }), putHistory(conv, message, now)],
  }
}

/** A tick that was put and not begun leaves the inbox unread (S3-42). */
export function droppedTick(head: Head, now: number): Op[] {
  const message = tickMessage(head)
  return message === null ? [] : [putHistory(head.conv, { ...message, status: 'dropped' }, now)]
}

/** Notes come along with a claim; they are read by then. */
export const takeNotes = (conv: string, notes: readonly Stored<Message>[], now: number): Op[] =>
  notes.flatMap((row) => [leave(row), putHistory(conv, { ...row.item, status: 'taken' }, now)])

const leave = (row: Stored<Message>): Op => ({ delete: row.key as Key, expect: row.version })

/** The message of an open run, its text from the definition it was fired from; null when that is gone. */
async function scheduleMessage(world: World, cursor: Cursor, open: OpenRun): Promise<Message | null> {
  const [definition, maker, data] = (await readSome<unknown>(world, [
    keys.definition(cursor.id, open.gen),
    cursor.makerConv === null ? null : keys.head(cursor.makerConv),
    open.data === true ? keys.runData(cursor.id, open.row) : null,
  ])) as [Stored<Definition> | null, Stored<Head> | null, Stored<RunData> | null]
  if (definition === null) return null
  const ids = openIds(cursor.id, open)
  return messageOf({
    run: { id: ids.id, message: ids.message, at: open.at },
    definition: definition.item,
    makerSession: maker?.item.session ?? null,
    status: 'waiting',
    data: data?.item ?? null,
  })
}

export interface Dropped {
  readonly cursor: Cursor
  readonly ops: Op[]
  /** Conversations made for a run that will not be: to be closed after the commit. */
  readonly emptied: readonly string[]
}

/**
 * Takes what waits of a schedule out of the inbox unread: it was deleted, ended or moved.
 *
 * @param cursor  as it was when the message was put: its conversation is where the message waits
 * @param only    one row, or all that wait
 */
export async function dropWaiting(
  world: World,
  cursor: Cursor,
  reason: string,
  now: number,
  only?: string,
): Promise<Dropped> {
  const ops: Op[] = []
  const emptied: string[] = []
  const goes = (run: OpenRun): boolean => run.turn === null && (only === undefined || run.row === only)
  for (const open of cursor.open.filter(goes)) {
    if (isId('flr', open.session)) {
      ops.push(dropFlowRun(open, reason, cursor.agent, now))
      ops.push(patchRun({ schedule: cursor.id, row: open.row }, { reason, endedAt: now }))
      continue
    }
    const message = await scheduleMessage(world, cursor, open)
    const conv = cursor.conv ?? bare(open.session)
    if (message !== null) ops.push(putHistory(conv, { ...message, status: 'dropped' }, now))
    ops.push(patchRun({ schedule: cursor.id, row: open.row }, { reason, endedAt: now }))
    if (cursor.conv !== null) continue
    const archived = await archiveOps(world, open.session, now)
    ops.push(...archived)
    if (archived.length > 0) emptied.push(conv)
  }
  return { cursor: { ...cursor, open: cursor.open.filter((run) => !goes(run)) }, ops, emptied }
}

/** A session made for a run that will not be: it is archived with its message. */
async function archiveOps(world: World, session: string, now: number): Promise<Op[]> {
  const [head, row] = (await readAll<unknown>(world, [keys.head(bare(session)), keys.session(session)])) as [
    Stored<Head> | null,
    Stored<SessionRow> | null,
  ]
  if (head === null || row === null || isGone(head.item)) return []
  return [
    putHead(world, { ...head.item, archivedAt: now, closing: true }, head.version, now),
    putSession({ ...row.item, archived: true }, row.version, ttlAfter(now)),
  ]
}
