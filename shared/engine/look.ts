import { type Advance, checkingReason, type DueDecision, decideDue } from '../domain/due.ts'
import { isTold } from '../domain/incident.ts'
import type { Cursor, Run } from '../domain/schedule.ts'
import { later } from '../ports/later.ts'
import { faultOf } from '../ports/log.ts'
import { type Op, Unavailable } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { Charges } from './budgets.ts'
import { Contended, retrying } from './call.ts'
import { cancellations, type Placed, placed, ring, ringAgain, withSession } from './fire.ts'
import { goesToOthers, type Loaded, loadSchedules } from './load.ts'
import { countPrompt } from './prompts.ts'
import { putCursor, putRun } from './rows.ts'
import { commit } from './store.ts'

const checks = later(() => import('./checks.ts'))
const holds = later(() => import('./held.ts'))
const inbox = later(() => import('./inbox.ts'))
const incidents = later(() => import('./incidents.ts'))
const triggers = later(() => import('./trigger-fire.ts'))

/**
 * Looks at schedules and commits what became of their due times. The one way in for alarms, the sweep and calls alike.
 *
 * What touches nothing but its own schedule is committed together, many in one commit: that is most of a herd, and half its price.
 * The rest goes one by one, and so does a group that was refused. A row that cannot be read or decided stops no other: it is
 * logged and set aside.
 *
 * @param by  `alarm`: one that was delivered. It may come again because whoever looked first died before it rang: what waits is rung for again
 * @returns   the ids that could not be looked at
 */
export async function look(
  world: World,
  ids: readonly string[],
  now: number,
  by: 'alarm' | 'other' = 'other',
): Promise<string[]> {
  let loaded: (Loaded | null)[]
  try {
    loaded = await loadSchedules(world, ids, 'strict')
  } catch (error) {
    if (ids.length === 1) return named([setAside(world, ids[0]!, error)])
    const bad: string[] = []
    for (const id of ids) bad.push(...(await look(world, [id], now, by)))
    return bad
  }
  const bad: (string | null)[] = []
  const together: Plan[] = []
  const apart: Loaded[] = []
  for (const found of loaded) {
    if (found === null) continue
    try {
      const plan = planOf(world, found, now)
      if (plan === null) apart.push(found)
      else together.push(plan)
    } catch (error) {
      bad.push(setAside(world, found.cursor.item.id, error))
    }
  }
  const free = apart.filter((found) => found.purse.counters.length === 0)
  // Where a budget is short people's schedules go first: one after the other, so that it holds.
  const limited = apart.filter((found) => found.purse.counters.length > 0).sort(peopleFirst)
  await Promise.all([
    ...groupsOf(together).map(async (group) => {
      if (!(await advanceTogether(world, group)))
        for (const { loaded } of group) bad.push(await lookApart(world, loaded, now, by))
    }),
    ...free.map(async (found) => bad.push(await lookApart(world, found, now, by))),
    (async () => {
      for (const found of limited) bad.push(await lookApart(world, found, now, by))
    })(),
  ])
  return named(bad)
}

const peopleFirst = (a: Loaded, b: Loaded): number =>
  Number(a.definition.makerAgent !== null) - Number(b.definition.makerAgent !== null)

const named = (ids: readonly (string | null)[]): string[] => ids.filter((id) => id !== null)

/** A store that is away says nothing about the row: that is the caller's to try again. */
function setAside(world: World, id: string, error: unknown): string | null {
  if (error instanceof Contended) {
    world.log('warn', 'schedule is written by many at once; the next look decides', { schedule: id })
    return null
  }
  if (error instanceof Unavailable) throw error
  world.log('error', 'schedule could not be looked at', { schedule: id, ...faultOf(error) })
  return id
}

/** What becomes of a schedule when nothing is written but its own items. */
interface Plan {
  readonly loaded: Loaded
  readonly cursor: Cursor
  readonly put: Run | null
  readonly ops: readonly Op[]
}

/** @returns null when nothing is due, or when others' items are touched: a turn to cancel, messages to drop */
function planOf(world: World, loaded: Loaded, now: number): Plan | null {
  if (loaded.cursor.item.deleted || loaded.cursor.item.held !== null || loaded.cursor.item.event != null) return null
  const decision = decided(loaded, now)
  if (decision.kind === 'wait' || decision.cancel.length > 0 || decision.cursor.status === 'ended') return null
  // A prompt to others is counted where it comes from, one that could not be is told to a person.
  if (decision.put !== null && (goesToOthers(decision.cursor) || loaded.purse.counters.length > 0)) return null
  if (decision.rows.some(isTold)) return null
  const put = decision.put === null ? null : placed(loaded, decision.put, decision.cursor)
  const cursor = put === null ? decision.cursor : withSession(decision.cursor, put.run)
  return { loaded, cursor, put: put?.run ?? null, ops: opsOf(world, loaded, cursor, decision, put, now) }
}

const decided = ({ cursor, definition, recurrence, seat }: Loaded, now: number): DueDecision =>
  decideDue({ cursor: cursor.item, definition, recurrence, seat, now })

const opsOf = (
  world: World,
  loaded: Loaded,
  cursor: Cursor,
  { rows, put: fired }: Advance,
  put: Placed | null,
  now: number,
): Op[] => [
  putCursor(world, cursor, loaded.cursor.version, now, loaded.cursor.key),
  ...rows.map((row) => putRun(row === fired && put !== null ? put.run : row, now, loaded.cursor.key[0])),
  ...(put === null ? [] : put.ops(world, now)),
]

const opsPerGroup = 100

function groupsOf(plans: readonly Plan[]): Plan[][] {
  const groups: Plan[][] = []
  let room = 0
  for (const plan of plans) {
    if (plan.ops.length > room) {
      groups.push([])
      room = opsPerGroup
    }
    groups.at(-1)!.push(plan)
    room -= plan.ops.length
  }
  return groups
}

/** @returns false when the commit was refused, whatever the reason: one of them lost a race, or cannot be written */
async function advanceTogether(world: World, group: readonly Plan[]): Promise<boolean> {
  try {
    const toArm = group.filter(({ cursor }) => cursor.dueAt !== null)
    if (toArm.length > 0) await Promise.all(toArm.map(({ cursor }) => arm(world, cursor)))
    await commit(
      world,
      group.flatMap((plan) => plan.ops),
    )
  } catch (error) {
    if (error instanceof Unavailable) throw error
    return false
  }
  tellLateness(
    world,
    group.filter(({ put }) => put !== null).map(({ loaded }) => loaded),
  )
  await Promise.all(group.map(({ loaded, put }) => (put === null ? null : ring(world, loaded, put))))
  return true
}

/** From when they were due to when their prompts are there: what was read still says when that was. */
function tellLateness(world: World, fired: readonly Loaded[]): void {
  if (fired.length === 0) return
  const now = world.clock.now()
  for (const { cursor } of fired)
    if (cursor.item.dueAt !== null) world.meter.observe('lateness', now - cursor.item.dueAt)
}

/** The next alarm is set before the cursor moves: one too many does no harm, one too few is late. */
const arm = (world: World, cursor: Cursor): Promise<void> | null =>
  cursor.dueAt === null ? null : world.alarms.set({ kind: 'schedule', id: cursor.id }, cursor.dueAt)

async function lookApart(world: World, loaded: Loaded, now: number, by: 'alarm' | 'other'): Promise<string | null> {
  try {
    await lookAt(world, loaded, now, by)
    return null
  } catch (error) {
    return setAside(world, loaded.cursor.item.id, error)
  }
}

/** One schedule: decide on what was read, and again on what another commit made of it. */
async function lookAt(world: World, read: Loaded, now: number, by: 'alarm' | 'other'): Promise<void> {
  const { id } = read.cursor.item
  let loaded: Loaded | null = read
  let fresh = true
  await retrying(async () => {
    if (!fresh) loaded = (await loadSchedules(world, [id]))[0] ?? null
    fresh = false
    if (loaded === null || loaded.cursor.item.deleted) return
    if (loaded.cursor.item.held !== null && (await (await holds()).settleHeld(world, loaded, now)))
      loaded = (await loadSchedules(world, [id]))[0] ?? null
    if (loaded === null) return
    const { event } = loaded.cursor.item
    if (event != null && event.lookAt <= now) return await (await triggers()).settleEvent(world, loaded, now)
    const decision = decided(loaded, now)
    // Early, or delivered again: the alarm of what comes next was set by the commit that made it so.
    if (decision.kind === 'advance') await advance(world, loaded, decision, now)
    else if (by === 'alarm') await ringAgain(world, loaded)
  })
}

/** Commits a decision and performs its effects. */
async function advance(world: World, loaded: Loaded, decision: Advance, now: number): Promise<void> {
  const put = decision.put === null ? null : placed(loaded, decision.put, decision.cursor)
  // A gate that ends the schedule leaves nothing of it in an inbox that nobody serves any more.
  const dropped =
    decision.cursor.status === 'ended'
      ? await (await inbox()).dropWaiting(world, decision.cursor, decision.cursor.reason!, now)
      : null
  const moved = dropped?.cursor ?? decision.cursor
  const cursor = put === null ? moved : withSession(moved, put.run)
  const cancelled = await cancellations(world, loaded, decision.cancel, now)
  const told = decision.rows.some(isTold)
    ? await (await incidents()).tellRows(world, loaded, cursor, decision.rows, now)
    : { cursor, ops: [] }
  await arm(world, cursor)
  const checking = decision.rows.find((row) => row.reason === checkingReason)
  const check = checking === undefined ? null : { row: checking, by: await checks() }
  await commit(world, [
    ...opsOf(world, loaded, told.cursor, decision, put, now),
    ...(check === null ? [] : check.by.checkOps(world, loaded, check.row, now)),
    ...told.ops,
    ...(put === null ? [] : new Charges().draw(loaded.purse, { wakes: 1 }).ops(now)),
    ...(put !== null && goesToOthers(cursor) ? [countPrompt(loaded.maker!)] : []),
    ...(dropped?.ops ?? []),
    ...cancelled.ops,
  ])
  if (put !== null) {
    tellLateness(world, [loaded])
    await ring(world, loaded, put.run)
  }
  if (check !== null) await check.by.announceCheck(world, loaded, check.row.row, now)
  await cancelled.tell()
}
