import {
  durationMs,
  frequencyFault,
  futureFault,
  instantOf,
  mergeTime,
  misfireWithinMs,
  pastStartFault,
  specOf,
  type TimeFields,
  timeFieldNames,
  timeFieldsOf,
} from '../domain/define.ts'
import { armed, countFrom, cover, disarmed, nextFrom } from '../domain/due.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { type Reach, reachOf } from '../domain/provenance.ts'
import { Refused } from '../domain/refused.ts'
import type { Cursor, Definition } from '../domain/schedule.ts'
import type { Op } from '../ports/table.ts'
import { compile } from '../time/index.ts'
import { type Call, retrying } from './call.ts'
import { checkOf } from './check-input.ts'
import { closeConversation } from './closing.ts'
import { deliverOf } from './deliveries.ts'
import { dropWaiting } from './inbox.ts'
import { linkOps, type Place, placeOf } from './links.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { look } from './look.ts'
import { promptOp } from './prompts.ts'
import { actingIn, assertAgentSessions, scheduleFor } from './reach.ts'
import { putCursor, putRun } from './rows.ts'
import { assertMayFlow, editedWork } from './schedule-flow.ts'
import { channelOf, type ScheduleInput, type Target, targetOf, unchangedHeads } from './schedules.ts'
import { commit, expireDefinition, keys, putDefinition } from './store.ts'

export type SchedulePatch = { readonly [field in keyof ScheduleInput]?: ScheduleInput[field] | undefined }

/**
 * Changes what is given and leaves the rest, the zone too; null clears. A paused schedule stays paused (S2-49), a finished
 * one runs again when given a time to come (S2-50). A refused change changes nothing.
 *
 * @param ifMatch  the version the caller saw, or null
 */
export async function editSchedule(
  call: Call,
  id: string,
  patch: SchedulePatch,
  ifMatch: string | null,
): Promise<Loaded> {
  const { world, now } = call
  await scheduleFor(call, id)
  await assertAgentSessions(call)
  await look(world, [id], now)
  const { loaded, emptied } = await retrying(async () => {
    const before = await scheduleFor(call, id)
    const { cursor, definition: old } = before
    if (cursor.item.status === 'ended') throw ended(id, cursor.item.reason)
    if (old.on != null)
      throw new Refused('schedule_invalid', `${id} is a trigger: change it with PATCH /v1/triggers/${id}`)
    assertMatches(before, ifMatch)
    assertMayFlow(call, old)
    const { target, reach } = await retargeted(call, before, patch)
    const counted = await countedEdit(call, before, patch, target)
    const definition = { ...(await redefined(call, old, patch, target)), reach }
    const moved = old.conv !== definition.conv || old.agent !== definition.agent
    // What waits was put for the old conversation, and leaves it from there.
    const dropped = moved
      ? await dropWaiting(world, cursor.item, 'moved', now)
      : { cursor: cursor.item, ops: [], emptied: [] }
    const moving: Cursor = {
      ...dropped.cursor,
      gen: definition.gen,
      agent: definition.agent,
      conv: definition.conv,
      serial: definition.overlap !== 'allow',
      backfill: moved ? [] : cursor.item.backfill,
    }
    const kept = rearmed(moving, definition, patch, now)
    // The old rule's time that has passed and waits for its jitter keeps its row when the new rule leaves it out.
    const covered = kept.nextAt === moving.nextAt ? null : cover({ ...before, cursor: moving, now }, 'edited')
    const next = covered === null ? kept : rearmed(covered.cursor, definition, patch, now)
    const revived = cursor.item.status === 'done' && next.status === 'active'
    if (next.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, next.dueAt)
    await commit(world, [
      putCursor(world, next, cursor.version, now),
      putDefinition(definition),
      expireDefinition(old, now),
      ...dropped.ops,
      ...(moved || revived ? await linkOps(world, id, placesOf(definition, moved)) : []),
      ...(moved || revived ? unchangedHeads(target.head) : []),
      ...(covered?.rows ?? []).map((row) => putRun(row, now)),
      ...counted,
    ])
    return { loaded: (await loadSchedules(world, [id]))[0]!, emptied: dropped.emptied }
  })
  for (const conv of emptied) await closeConversation(world, conv, now)
  return loaded
}

/** S0-61 holds for a schedule that an edit moves away from the conversation that made it, too. */
function placesOf(definition: Definition, moved: boolean): Place[] {
  const fires: Place = { list: 'fires', key: placeOf(definition) }
  const { makerConv } = definition
  return moved && makerConv !== null && makerConv !== definition.conv
    ? [fires, { list: 'made', key: keys.links(makerConv) }]
    : [fires]
}

/** The next time after an edit: counted from now where the time changed, left where it is otherwise. @throws Refused */
function rearmed(cursor: Cursor, definition: Definition, patch: SchedulePatch, now: number): Cursor {
  const recurrence = compile(definition.spec)
  const timed = isTimed(patch)
  const bounded = timed || patch.until !== undefined || patch.maxRuns !== undefined
  const fault =
    (timed ? frequencyFault(definition.spec, definition.kind, recurrence) : null) ??
    (timed || (bounded && cursor.status !== 'done') ? futureFault(recurrence, now, definition.until) : null) ??
    (typeof patch.at === 'string' ? pastStartFault(definition.spec, now) : null)
  if (fault !== null) throw fault
  if (cursor.status === 'paused' || !(bounded || patch.jitter !== undefined)) return cursor
  const again = timed && cursor.status === 'done' ? { ...cursor, fires: 0 } : cursor
  const spent = definition.maxRuns !== null && again.fires >= definition.maxRuns
  const from = timed || cursor.nextAt === null ? countFrom(cursor, now) : cursor.nextAt - 1
  return armed(again, definition, recurrence, spent ? null : nextFrom(definition, recurrence, from))
}

const isTimed = (patch: SchedulePatch): boolean => timeFieldNames.some((name) => patch[name] !== undefined)

/** S2-48: the conversation, when the patch names one; else the one it has. */
async function retargeted(
  call: Call,
  loaded: Loaded,
  patch: SchedulePatch,
): Promise<{ readonly target: Target; readonly reach: Reach }> {
  const acting = await actingIn(call)
  const named = patch.session != null || patch.agent != null
  const addressed = named
    ? await targetOf(call, patch, acting?.head ?? null)
    : { agent: loaded.agent!, head: loaded.head }
  const target = loaded.definition.kind === 'flow' ? { ...addressed, head: null } : addressed
  const { reach } = loaded.definition
  if (acting === null) return { target, reach }
  // S0-45: an agent that rewrites a schedule reaches no further with it than with one of its own.
  const own = reachOf(acting.reach, acting.head.conv !== target.head?.item.conv)
  return { target, reach: { hops: Math.max(reach.hops, own.hops), depth: Math.max(reach.depth, own.depth) } }
}

/** A prompt that an agent rewrites, or moves, toward another session is one more prompt to it. */
async function countedEdit(call: Call, loaded: Loaded, patch: SchedulePatch, target: Target): Promise<Op[]> {
  const acting = await actingIn(call)
  if (acting === null || acting.head.conv === target.head?.item.conv) return []
  if (patch.prompt == null && patch.session == null && patch.agent == null) return []
  const name = onOneLine(patch.name ?? loaded.definition.name)
  return [
    await promptOp(call, acting, {
      title: `"${name}", a schedule for another session, is to be changed`,
      body: patch.prompt ?? loaded.definition.prompt ?? '',
    }),
  ]
}

async function redefined(call: Call, old: Definition, patch: SchedulePatch, target: Target): Promise<Definition> {
  const kept = <T>(given: T | undefined, before: T): T => (given === undefined ? before : given)
  const time: TimeFields = mergeTime(timeFieldsOf(old), patch)
  const timed = isTimed(patch)
  // An interval keeps its anchor, unless it becomes one only now.
  const spec = timed
    ? specOf(time, old.spec.kind === 'every' && time.every !== null ? old.spec.anchor : call.now)
    : old.spec
  const work = await editedWork(call, old, target.agent, patch)
  const misfire = patch.misfire === undefined ? old.misfire : (patch.misfire ?? 'once')
  const jitter = kept(patch.jitter, old.jitter)
  // Moved to another agent it runs among that one's files: whoever moves it sets it.
  const sameAgent = target.agent.id === old.agent
  return {
    ...old,
    ...work,
    gen: old.gen + 1,
    name: patch.name ?? old.name,
    agent: target.agent.id,
    conv: target.head?.item.conv ?? null,
    spec,
    every: timed ? time.every : old.every,
    jitter,
    jitterMs: jitter === null ? 0 : durationMs(jitter, 'jitter', limits.jitterMsMax),
    channel: patch.channel == null ? kept(patch.channel, old.channel) : await channelOf(call, patch.channel),
    note: kept(patch.note, old.note),
    deliver: patch.deliver === undefined ? (old.deliver ?? []) : await deliverOf(call, patch.deliver),
    check:
      patch.check === undefined && sameAgent
        ? (old.check ?? null)
        : await checkOf(
            call,
            target.agent,
            patch.check === undefined ? old.check : patch.check,
            sameAgent ? old.check : null,
          ),
    misfire,
    misfireWithinMs: misfireWithinMs(misfire),
    overlap: patch.overlap === undefined ? old.overlap : (patch.overlap ?? (target.head === null ? 'skip' : 'buffer')),
    onUnknown: patch.onUnknown === undefined ? old.onUnknown : (patch.onUnknown ?? 'leave'),
    until: patch.until == null ? kept(patch.until, old.until) : instantOf(patch.until, 'until'),
    maxRuns: kept(patch.maxRuns, old.maxRuns),
    pauseAfterFailures: kept(patch.pauseAfterFailures, old.pauseAfterFailures),
    editedAt: call.now,
  }
}

/** @returns the refusal of what an ended schedule cannot do any more */
export const ended = (id: string, reason: string | null): Refused =>
  new Refused(
    'schedule_ended',
    `schedule ${id} has ended (${reason ?? 'unknown'}) and does not run again; make a new one`,
  )

/** S2-45: a pause clears the next run. Pausing what is paused or done changes nothing. */
export async function pauseSchedule(call: Call, id: string, reason: string | null): Promise<Loaded> {
  await scheduleFor(call, id)
  await look(call.world, [id], call.now)
  return await change(call, id, (loaded) => {
    if (loaded.cursor.item.status !== 'active') return null
    const covered = cover({ ...loaded, cursor: loaded.cursor.item, now: call.now }, 'paused')
    return {
      cursor: disarmed(covered.cursor, 'paused', reason),
      ops: covered.rows.map((row) => putRun(row, call.now)),
    }
  })
}

/** S2-46, S2-47: the next run counts from now; what the pause left out is not made up. */
export async function resumeSchedule(call: Call, id: string): Promise<Loaded> {
  await scheduleFor(call, id)
  await assertAgentSessions(call)
  return await change(call, id, ({ cursor, definition, recurrence }) => {
    assertMayFlow(call, definition)
    if (cursor.item.status !== 'paused') return null
    const spent = definition.maxRuns !== null && cursor.item.fires >= definition.maxRuns
    const next = spent ? null : nextFrom(definition, recurrence, countFrom(cursor.item, call.now))
    return { cursor: armed({ ...cursor.item, failures: 0 }, definition, recurrence, next), ops: [] }
  })
}

async function change(
  call: Call,
  id: string,
  decide: (loaded: Loaded) => { readonly cursor: Cursor; readonly ops: readonly Op[] } | null,
): Promise<Loaded> {
  const { world, now } = call
  return await retrying(async () => {
    const loaded = await scheduleFor(call, id)
    const { cursor } = loaded
    if (cursor.item.status === 'ended') throw ended(id, cursor.item.reason)
    const decided = decide(loaded)
    if (decided === null) return loaded
    if (decided.cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, decided.cursor.dueAt)
    await commit(world, [putCursor(world, decided.cursor, cursor.version, now), ...decided.ops])
    return (await loadSchedules(world, [id]))[0]!
  })
}

/** @throws Refused `precondition_failed` when it has changed since the caller read it */
export function assertMatches(loaded: Loaded, ifMatch: string | null): void {
  if (ifMatch === null || ifMatch === etagOf(loaded)) return
  throw new Refused(
    'precondition_failed',
    `schedule ${loaded.definition.id} has changed since ${ifMatch}: it is ${etagOf(loaded)} now. Read it again`,
  )
}

/** The version a caller saw: an edit, a pause or a fire makes another. */
export const etagOf = (loaded: Loaded): string => `"${loaded.cursor.item.gen}-${loaded.cursor.version}"`
