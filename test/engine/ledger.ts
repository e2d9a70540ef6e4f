import { expect } from 'vitest'
import { bare } from '../../shared/domain/ids.ts'
import type { Message } from '../../shared/domain/message.ts'
import type { Cursor, Run } from '../../shared/domain/schedule.ts'
import { type Head, isGone } from '../../shared/domain/session.ts'
import { loadFront } from '../../shared/engine/inbox.ts'
import { openIds } from '../../shared/engine/load.ts'
import { decodeRun, readCursor } from '../../shared/engine/rows.ts'
import { keys, read } from '../../shared/engine/store.ts'
import type { Item, Stored } from '../../shared/ports/table.ts'
import type { Room } from './room.ts'

export async function cursorOf(room: Room, id: string): Promise<Cursor> {
  return (await readCursor(room.world, id))!.item
}

export async function headOf(room: Room, session: string): Promise<Head> {
  const row = await read<{ conv: string }>(room.world, keys.session(session))
  return (await read<Head>(room.world, keys.head(row?.item.conv ?? bare(session))))!.item
}

/** Every row of a schedule, oldest first. */
export async function rowsOf(room: Room, id: string): Promise<Run[]> {
  return (await listAll<Item>(room, `S#${bare(id)}`, 'R#')).map(decodeRun)
}

export async function messagesOf(room: Room, conv: string, prefix: 'W#' | 'M#'): Promise<Message[]> {
  return (await listAll<Message>(room, `C#${conv}`, prefix)).map((row) => row.item)
}

async function listAll<T>(room: Room, pk: string, prefix: string): Promise<Stored<T>[]> {
  const out: Stored<T>[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<Room['table']['list']>> = await room.table.list(pk, {
      prefix,
      limit: 1000,
      ...(after === null ? {} : { after }),
    })
    out.push(...(page.items as readonly Stored<unknown>[] as readonly Stored<T>[]))
    after = page.next
  } while (after !== null)
  return out
}

/** What must hold of a schedule at any time, whatever happened to it. Nominal times are held against `expected` when it is given. */
export async function checkSchedule(room: Room, id: string, expected?: ReadonlySet<number>): Promise<void> {
  const cursor = await cursorOf(room, id)
  const rows = await rowsOf(room, id)
  const at = (run: Run): string => `${id} ${run.row} ${run.trigger} ${run.outcome} ${run.reason}`

  expect(new Set(rows.map((r) => r.id)).size, 'run ids differ').toBe(rows.length)

  // No open run without a row, and at most one that waits.
  for (const open of cursor.open) {
    const row = rows.find((r) => r.row === open.row)
    expect(row, `open run ${open.row} has a row`).toBeDefined()
    expect(row, at(row!)).toMatchObject({ outcome: 'fired', result: null, turn: open.turn })
    expect(openIds(id, open), 'derived ids').toEqual({ id: row!.id, message: row!.message })
  }
  const waiting = cursor.open.filter((open) => open.turn === null)
  expect(waiting.length, 'waiting prompts').toBeLessThanOrEqual(1)
  if (cursor.status === 'ended') expect(waiting, 'an ended schedule leaves nothing waiting').toEqual([])

  // Every fired row has a message that is waiting, taken or dropped, exactly once.
  for (const run of rows) {
    if (run.outcome !== 'fired') {
      expect([run.message, run.turn, run.session], at(run)).toEqual([null, null, null])
      continue
    }
    const head = await headOf(room, run.session!)
    const places = (await messagesOf(room, head.conv, 'M#')).filter((m) => m.id === run.message).map((m) => m.status)
    const open = cursor.open.find((o) => o.row === run.row)
    if (open?.turn === null) {
      const front = await loadFront(room.world, head.conv)
      const seen = front!.waiting.filter((w) => w.id === run.message)
      expect(isGone(head), `${at(run)} waits in an open session`).toBe(false)
      // The next run of a fresh session may have to wait for the one before it; all else can be claimed.
      const isNext = head.fresh !== null && cursor.serial && cursor.open.some((o) => o.turn !== null)
      expect(seen.length, `${at(run)} is seen`).toBe(1)
      expect(seen[0]!.held, `${at(run)} can be claimed`).toBe(isNext)
      places.push('waiting')
    }
    expect(places, at(run)).toHaveLength(1)
    if (places[0] === 'taken') expect(run.turn, at(run)).not.toBeNull()
    // What is over says so: a result, or that it was dropped.
    if (open === undefined) expect(run.endedAt, `${at(run)} is over`).not.toBeNull()
  }
  if (expected !== undefined) checkCover(room, cursor, rows, expected)
}

/** The counts that a schedule shows are those of its rows. */
export async function checkCounts(room: Room, id: string): Promise<void> {
  const rows = await rowsOf(room, id)
  const count = (is: (run: Run) => boolean): number => rows.filter(is).length
  expect((await cursorOf(room, id)).counts, id).toEqual({
    fired: count((r) => r.outcome === 'fired'),
    skipped: count((r) => r.outcome === 'skipped' || r.outcome === 'blocked'),
    missed: count((r) => r.outcome === 'missed'),
    ok: count((r) => r.result === 'ok' || r.result === 'nothing_to_do'),
    failed: count((r) => r.result === 'failed' || r.result === 'unknown'),
  })
}

/** Each nominal time is covered by exactly one row of trigger slot or catch_up, and no other time is. */
function checkCover(room: Room, cursor: Cursor, rows: readonly Run[], expected: ReadonlySet<number>): void {
  const covering = rows.filter((r) => r.trigger === 'slot' || r.trigger === 'catch_up')
  const by = new Map<number, number>()
  let listed = 0
  for (const run of covering) {
    const from = run.missedFrom ?? run.nominalAt
    for (const at of expected) if (at >= from && at <= run.nominalAt) by.set(at, (by.get(at) ?? 0) + 1)
    listed += Math.max(1, run.missed)
  }
  const iso = (at: number): string => new Date(at).toISOString()
  const open = (at: number): boolean => cursor.status === 'active' && at === cursor.nextAt && cursor.dueAt! > room.now()
  const uncovered = [...expected].filter((at) => (by.get(at) ?? 0) !== 1 && !open(at))
  expect(uncovered.map((at) => `${iso(at)} covered ${by.get(at) ?? 0} times`)).toEqual([])
  expect(listed, 'rows count the times they stand for').toBe([...expected].filter((at) => !open(at)).length)
}

/** What must hold of a conversation when everything that is due is done. */
export async function checkSession(room: Room, session: string): Promise<void> {
  const head = await headOf(room, session)
  if (head.turn !== null) expect(head.turn.leaseUntil, 'no turn outlives its lease').toBeGreaterThan(room.now())
  if (isGone(head)) expect(await messagesOf(room, head.conv, 'W#'), 'nothing waits in a closed session').toEqual([])
}
