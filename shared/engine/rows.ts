import { derivedUlid, timeOf } from '../domain/ids.ts'
import { type Counts, type Cursor, noCounts, type OpenRun, type Run } from '../domain/schedule.ts'
import type { IndexEntries, Item, Key, Op, Stored, Version } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { keys, readAll, shardOf, ttlAfter } from './store.ts'

/**
 * The two items that every fire writes, as they are stored: what is null, empty or follows from the key is left out. Half the
 * bytes of a burst are theirs, on disk here and in write units there.
 */

/** Short names stand only here. `o` holds open runs as [row, gen, at, session, turn | 0]. */
interface StoredCursor {
  readonly id: string
  readonly g: number
  readonly s: Cursor['status']
  readonly agent: string
  readonly createdBy: string
  readonly c?: string
  readonly r?: string
  readonly ma?: string
  readonly mc?: string
  readonly n?: number
  readonly v?: number
  readonly d?: number
  readonly p?: true
  readonly f?: number
  readonly x?: number
  readonly o?: readonly (readonly [string, number, number, string, string | 0, ...1[]])[]
  readonly k?: readonly [number, number, number, number, number]
  readonly b?: readonly number[]
  readonly h?: readonly [string, number, number, ...('script' | 'tool' | 'done')[]]
  readonly y?: number
  readonly e?: readonly [number, number, readonly (readonly [string, number])[] | 0]
  readonly w?: number
  readonly t?: readonly [string, number]
  readonly i?: true
  readonly gone?: true
}

export function encodeCursor(cursor: Cursor): Item {
  const { id, gen, status, agent, createdBy, counts } = cursor
  const item: { -readonly [field in keyof StoredCursor]: StoredCursor[field] } = {
    id,
    g: gen,
    s: status,
    agent,
    createdBy,
  }
  if (cursor.conv !== null) item.c = cursor.conv
  if (cursor.reason !== null) item.r = cursor.reason
  if (cursor.makerAgent !== null) item.ma = cursor.makerAgent
  if (cursor.makerConv !== null) item.mc = cursor.makerConv
  if (cursor.nextAt !== null) item.n = cursor.nextAt
  if (cursor.covered !== null) item.v = cursor.covered
  if (cursor.dueAt !== null && cursor.dueAt !== cursor.nextAt) item.d = cursor.dueAt
  if (!cursor.serial) item.p = true
  if (cursor.fires !== 0) item.f = cursor.fires
  if (cursor.failures !== 0) item.x = cursor.failures
  if (cursor.open.length > 0)
    item.o = cursor.open.map((run) => {
      const open = [run.row, run.gen, run.at, run.session, run.turn ?? 0] as const
      return run.data === true ? [...open, 1 as const] : open
    })
  if (counts !== noCounts) item.k = [counts.fired, counts.skipped, counts.missed, counts.ok, counts.failed]
  if (cursor.held !== null) {
    const { row, gen, lookAt, check } = cursor.held
    item.h = check === null ? [row, gen, lookAt] : [row, gen, lookAt, check]
  }
  if (cursor.checkFailures !== 0) item.y = cursor.checkFailures
  if (cursor.event != null) item.e = [cursor.event.since, cursor.event.lookAt, cursor.event.changed ?? 0]
  if (cursor.events !== undefined && cursor.events !== 0) item.w = cursor.events
  if (cursor.today != null) item.t = [cursor.today.day, cursor.today.fired]
  if (cursor.incident) item.i = true
  if (cursor.backfill.length > 0) item.b = cursor.backfill
  if (cursor.deleted) item.gone = true
  return Object.freeze(item) as unknown as Item
}

export function decodeCursor(stored: Stored): Stored<Cursor> {
  const item = stored.item as unknown as StoredCursor
  const next = item.n ?? null
  return {
    key: stored.key,
    version: stored.version,
    item: {
      id: item.id,
      gen: item.g,
      status: item.s,
      reason: item.r ?? null,
      agent: item.agent,
      conv: item.c ?? null,
      createdBy: item.createdBy,
      makerAgent: item.ma ?? null,
      makerConv: item.mc ?? null,
      nextAt: next,
      covered: item.v ?? null,
      dueAt: item.d ?? next,
      open: (item.o ?? []).map(
        ([row, gen, at, session, turn, data]): OpenRun => ({
          row,
          gen,
          at,
          session,
          turn: turn === 0 ? null : turn,
          ...(data === 1 ? { data: true } : {}),
        }),
      ),
      held:
        item.h === undefined ? null : { row: item.h[0], gen: item.h[1], lookAt: item.h[2], check: item.h[3] ?? null },
      ...(item.e === undefined
        ? {}
        : { event: { since: item.e[0], lookAt: item.e[1], changed: item.e[2] === 0 ? null : item.e[2] } }),
      ...(item.w === undefined ? {} : { events: item.w }),
      ...(item.t === undefined ? {} : { today: { day: item.t[0], fired: item.t[1] } }),
      incident: item.i === true,
      serial: item.p !== true,
      fires: item.f ?? 0,
      failures: item.x ?? 0,
      checkFailures: item.y ?? 0,
      counts: item.k === undefined ? noCounts : countsOf(item.k),
      backfill: item.b ?? [],
      deleted: item.gone === true,
    },
  }
}

const countsOf = ([fired, skipped, missed, ok, failed]: NonNullable<StoredCursor['k']>): Counts => ({
  fired,
  skipped,
  missed,
  ok,
  failed,
})

/** @returns one place per id, in order; null where there is no such schedule */
export async function readCursors(world: World, ids: readonly string[]): Promise<(Stored<Cursor> | null)[]> {
  return (await readAll<Item>(world, ids.map(keys.cursor))).map((stored) =>
    stored === null ? null : decodeCursor(stored),
  )
}

export const readCursor = async (world: World, id: string): Promise<Stored<Cursor> | null> =>
  (await readCursors(world, [id]))[0] ?? null

type StoredRun = Pick<Run, 'gen' | 'trigger' | 'at' | 'outcome'> & Partial<Omit<Run, 'flowRun'>> & { readonly f?: true }

/** Its ids and its nominal time follow from schedule and row. */
export function encodeRun(run: Run): Item {
  const item: { -readonly [field in keyof StoredRun]: StoredRun[field] } = {
    gen: run.gen,
    trigger: run.trigger,
    at: run.at,
    outcome: run.outcome,
  }
  if (run.missed !== 0) item.missed = run.missed
  if (run.missedFrom !== null) item.missedFrom = run.missedFrom
  if (run.reason !== null) item.reason = run.reason
  if (run.result !== null) item.result = run.result
  if (run.turn !== null) item.turn = run.turn
  if (run.trace != null) item.trace = run.trace
  if (run.session !== null) item.session = run.session
  if (run.flowRun != null) item.f = true
  if (run.endedAt !== null) item.endedAt = run.endedAt
  return item as unknown as Item
}

export function decodeRun(stored: Stored): Run {
  const [pk, row] = stored.key
  const item = stored.item as unknown as StoredRun
  const schedule = `sch_${pk.slice(2)}`
  const nominalAt = timeOf(row.slice(2, 12))
  const ulid = derivedUlid(nominalAt, `${schedule}|${row}`)
  return {
    id: `run_${ulid}`,
    schedule,
    row,
    gen: item.gen,
    trigger: item.trigger,
    nominalAt,
    missedFrom: item.missedFrom ?? null,
    missed: item.missed ?? 0,
    at: item.at,
    outcome: item.outcome,
    reason: item.reason ?? null,
    result: item.result ?? null,
    message: item.outcome === 'fired' && item.f !== true ? `msg_${ulid}` : null,
    turn: item.turn ?? null,
    ...(item.f === true ? { flowRun: `flr_${ulid}` } : {}),
    trace: item.trace ?? null,
    session: item.session ?? null,
    endedAt: item.endedAt ?? null,
  }
}

/** @param key  of the cursor that was read, where it was: the same text need not be put together and looked up anew */
export function putCursor(
  world: World,
  cursor: Cursor,
  expect: Version | 'absent',
  now: number,
  key: Key = keys.cursor(cursor.id),
): Op {
  const index: IndexEntries = cursor.deleted
    ? {}
    : {
        schedulesByAgent: [cursor.agent, cursor.id],
        schedulesByMaker: [cursor.createdBy, cursor.id],
        ...(cursor.dueAt === null ? {} : { due: [shardOf(world, cursor.id), cursor.dueAt] as const }),
      }
  const over = cursor.deleted || cursor.status === 'ended'
  return {
    put: key,
    item: encodeCursor(cursor),
    expect,
    index,
    ...(over ? { ttl: ttlAfter(now) } : {}),
  }
}

export const putRun = (run: Run, now: number, pk: string = keys.cursor(run.schedule)[0]): Op => ({
  put: [pk, run.row],
  item: encodeRun(run),
  expect: 'absent',
  // A prompt may wait longer than rows are kept: the row of one that is open stays until it has ended.
  ...(run.outcome === 'fired' ? {} : { ttl: ttlAfter(now) }),
})

export const patchRun = (run: { schedule: string; row: string }, set: Partial<Run>): Op => ({
  patch: keys.run(run.schedule, run.row),
  set: set as Item,
  guards: [{ attr: 'outcome', is: 'present' }],
  ...(set.endedAt == null ? {} : { ttl: ttlAfter(set.endedAt) }),
})
