import { CelFault, compileCel, type Data, holds } from '../cel/index.ts'
import { armed } from '../domain/due.ts'
import { clippedData } from '../domain/fence.ts'
import { timePart } from '../domain/ids.ts'
import { isShallow } from '../domain/json.ts'
import type { Cursor, Run } from '../domain/schedule.ts'
import { decideEvent, isSettling, settling, triggerVariables } from '../domain/trigger.ts'
import { faultOf } from '../ports/log.ts'
import type { Item, Key, Op, Version } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { dayOf } from '../time/index.ts'
import { commitAsked } from './asked.ts'
import { Contended, retrying } from './call.ts'
import { type DocumentState, readDocument } from './document-state.ts'
import { tellCheck } from './incidents.ts'
import { goesToOthers, type Loaded, loadSchedules } from './load.ts'
import { countPrompt } from './prompts.ts'
import { putCursor, putRun } from './rows.ts'
import { asItem, commit, keys, putRunData, type RunData, read, ttlAfter } from './store.ts'

/** Something that happened, as a trigger sees it. */
interface Event {
  /** Tells it from every other. */
  readonly named: string
  readonly at: number
  /** `doc` of its condition; undefined: there is none. */
  readonly doc: unknown
  readonly data: RunData
  /** What the last look at the same thing left, and what this one leaves. */
  readonly seen: { readonly key: Key; readonly mark: number | string; readonly value: unknown }
  /** Written in the commit that takes it. */
  readonly more?: readonly Op[]
}

/** Tells triggers that a document has changed. One that cannot be looked at stops no other. @returns false when one has to be told again */
export async function changedUnder(
  world: World,
  ids: readonly string[],
  state: DocumentState,
  now: number,
): Promise<boolean> {
  const told = await Promise.all(
    ids.map((id) => attempt(world, id, () => happened(world, id, { path: state.path, state }, now))),
  )
  return told.every((one) => one)
}

/** Tells a trigger that its webhook was called. @throws Contended, Unavailable: the caller may call again */
export async function calledBack(
  world: World,
  id: string,
  call: { readonly name: string; readonly doc: unknown; readonly text: string; readonly more: readonly Op[] },
  now: number,
): Promise<void> {
  await happened(world, id, { path: null, call }, now)
}

/** A trigger whose event has settled: looks and fires. @throws Conflict */
export async function settleEvent(world: World, loaded: Loaded, now: number): Promise<void> {
  const { cursor, definition, recurrence } = loaded
  const { event } = cursor.item
  if (event == null || event.lookAt > now) return
  const found =
    event.changed === null ? [await keptCall(world, definition.id)] : await seenAll(world, loaded, event.changed)
  const events = found.filter((one) => one !== null)
  // The latest that counts wakes; the others are what was there besides.
  const [last = null, ...others] = events
  const best = (await firstHolding(world, loaded, events, now)) ?? last
  if (best !== null)
    return await take(world, loaded, best, now, others.length > 0 ? events.filter((one) => one !== best) : [])
  await commit(world, [
    putCursor(world, armed({ ...cursor.item, event: null }, definition, recurrence, null), cursor.version, now),
  ])
}

/** Latest first. */
async function seenAll(
  world: World,
  loaded: Loaded,
  changed: readonly (readonly [path: string, mark: number])[],
): Promise<(Event | null)[]> {
  return await Promise.all(changed.toReversed().map(([path]) => seen(world, loaded, path, null)))
}

async function firstHolding(
  world: World,
  { definition }: Loaded,
  events: readonly Event[],
  now: number,
): Promise<Event | null> {
  for (const event of events) {
    const before = await read<Seen>(world, event.seen.key)
    if (
      verdictOf(definition.on!.when, { doc: event.doc, before: before?.item.value ?? null, now: new Date(now) }) ===
      'true'
    )
      return event
  }
  return null
}

async function attempt(world: World, id: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    const level = error instanceof Contended ? 'warn' : 'error'
    world.log(level, 'trigger could not be looked at', { schedule: id, ...faultOf(error) })
    return false
  }
}

type What =
  | { readonly path: string; readonly state: DocumentState }
  | {
      readonly path: null
      readonly call: {
        readonly name: string
        readonly doc: unknown
        readonly text: string
        readonly more: readonly Op[]
      }
    }

async function happened(world: World, id: string, what: What, now: number): Promise<void> {
  await retrying(async () => {
    const loaded = (await loadSchedules(world, [id]))[0] ?? null
    const on = loaded?.definition.on ?? null
    if (loaded === null || on === null || loaded.cursor.item.status !== 'active' || loaded.cursor.item.deleted) return
    const { until } = loaded.definition
    if (until !== null && until < now) return
    // Told again of what it has seen, or of what was there before it: nothing has happened.
    const event = what.path === null ? eventOf(id, what.call, now) : await seen(world, loaded, what.path, what.state)
    if (event === null) return
    const { cursor, definition, recurrence } = loaded
    const change = what.path === null ? null : { path: what.path, mark: Number(event.seen.mark) }
    if (change !== null && isSettling(cursor.item.event, change.path, change.mark)) return
    const waits = settling(cursor.item.event ?? null, on, change, now)
    if (waits === null) return await take(world, loaded, event, now, [])
    const kept = what.path === null ? [keepCall(id, what.call, now), ...(event.more ?? [])] : []
    const next = armed({ ...cursor.item, event: waits }, definition, recurrence, null)
    await world.alarms.set({ kind: 'schedule', id }, waits.lookAt)
    await commit(world, [putCursor(world, next, cursor.version, now), ...kept])
  })
}

/**
 * Decides an event and writes what became of it.
 *
 * @param besides  what else had changed when it settled: seen, and no reason to wake
 * @throws Conflict
 */
async function take(world: World, loaded: Loaded, event: Event, now: number, besides: readonly Event[]): Promise<void> {
  const { cursor, definition, recurrence, seat } = loaded
  const on = definition.on!
  const before = await read<Seen>(world, event.seen.key)
  const verdict = verdictOf(on.when, { doc: event.doc, before: before?.item.value ?? null, now: new Date(now) })
  const leaves: Op[] = [
    ...(event.more ?? []),
    ...(needsSeen(on.when) || verdict !== 'false' ? [putSeen(event, on.when, before?.version ?? 'absent', now)] : []),
    ...besides.map((other) => putSeen(other, on.when, 'any', now)),
  ]
  const rest = (item: Cursor): Cursor => armed({ ...item, event: null }, definition, recurrence, null)
  if (verdict === 'false') {
    const { event: waiting, checkFailures } = cursor.item
    if (waiting == null && leaves.length === 0 && checkFailures === 0) return
    const good = rest({ ...cursor.item, checkFailures: 0 })
    return await commit(world, [putCursor(world, good, cursor.version, now), ...leaves])
  }
  const day = dayOf(now, definition.spec.tz).day
  const decided = decideEvent({
    ...loaded,
    cursor: cursor.item,
    seat,
    session: loaded.head?.item.session,
    at: event.at,
    named: event.named,
    day,
    now,
  })
  if ((await read<Item>(world, keys.run(definition.id, decided.row.row))) !== null) return
  if (verdict !== 'true') {
    const row: Run = { ...decided.row, message: null, session: null, outcome: 'failed', reason: 'condition_failed' }
    const failed = rest({
      ...cursor.item,
      events: (cursor.item.events ?? 0) + 1,
      checkFailures: cursor.item.checkFailures + 1,
    })
    const told = await tellCheck(world, loaded, failed, row, now)
    return await commit(world, [
      putCursor(world, told.cursor, cursor.version, now),
      putRun(row, now),
      ...told.ops,
      ...leaves,
    ])
  }
  const next = { ...rest(decided.cursor), checkFailures: 0 }
  if (next.dueAt !== null) await world.alarms.set({ kind: 'schedule', id: next.id }, next.dueAt)
  const waiting = decided.row.outcome === 'coalesced' ? waitingRow(cursor.item) : null
  await commitAsked(world, loaded, {
    cursor: next,
    row: decided.row,
    put: decided.put,
    data: decided.put || decided.row.outcome === 'held' ? event.data : null,
    more: [
      ...leaves,
      // What waits tells of the latest that happened.
      ...(waiting === null ? [] : [putRunData({ schedule: definition.id, row: waiting }, event.data, now)]),
      ...(decided.put && goesToOthers(cursor.item) && loaded.maker !== null ? [countPrompt(loaded.maker)] : []),
    ],
    now,
  })
}

const waitingRow = (cursor: Cursor): string | null =>
  cursor.held?.row ?? cursor.open.find((run) => run.turn === null && run.data === true)?.row ?? null

function verdictOf(when: string | null, data: Data): 'true' | 'false' | 'failed' {
  if (when === null) return 'true'
  try {
    return holds(compileCel(when, triggerVariables), data) ? 'true' : 'false'
  } catch (error) {
    // Decision 30: a key that is missing makes it false.
    return error instanceof CelFault && error.reason === 'missing' ? 'false' : 'failed'
  }
}

/** What the last look saw. Written where it is asked for again; deleted by TTL. */
interface Seen {
  readonly mark: number | string
  readonly value: unknown
}

const needsSeen = (when: string | null): boolean =>
  when !== null && compileCel(when, triggerVariables).names.includes('before')

const seenKey = (id: string, of: string): Key => [keys.cursor(id)[0], `N#${of}`]

const putSeen = (event: Event, when: string | null, expect: Version | 'absent' | 'any', now: number): Op => {
  const seen: Seen = { mark: event.seen.mark, value: needsSeen(when) ? event.seen.value : null }
  return { put: event.seen.key, item: asItem(seen), expect, ttl: ttlAfter(now) }
}

/** What a document is to a trigger now; null: it has seen this, or it was there before the trigger was. */
async function seen(world: World, loaded: Loaded, path: string, known: DocumentState | null): Promise<Event | null> {
  const { definition } = loaded
  let state = known ?? (await readDocument(world, definition.createdBy, path))
  const key = seenKey(definition.id, path)
  const before = await read<Seen>(world, key)
  if (before?.item.mark === state.mark) return null
  // Whoever read it earlier may tell of it later, when a newer one was seen already: marks say only that it is another.
  if (known !== null && before !== null) state = await readDocument(world, definition.createdBy, path)
  if (before?.item.mark === state.mark) return null
  const { head, text } = state
  if (head !== null && head.item.updatedAt < definition.createdAt) return null
  const doc = text === null ? undefined : head!.item.type === 'json' ? bounded(text) : text
  return {
    named: `${path}|${state.mark}`,
    at: head?.item.updatedAt ?? loaded.cursor.item.event?.since ?? world.clock.now(),
    doc,
    data: {
      what: `document ${path}${head === null ? ', which was deleted' : ''}`,
      text: clippedData(shownText(text, doc)),
    },
    seen: { key, mark: state.mark, value: doc ?? null },
  }
}

/** What is nested without end is a text to us: neither a condition nor a message can hold it otherwise. */
function bounded(text: string): unknown {
  const doc = JSON.parse(text) as unknown
  return isShallow(doc) ? doc : text
}

const shownText = (text: string | null, doc: unknown): string =>
  text === null ? '' : typeof doc === 'object' && doc !== null ? JSON.stringify(doc, null, 2) : text

function eventOf(
  id: string,
  call: { readonly name: string; readonly doc: unknown; readonly text: string; readonly more: readonly Op[] },
  now: number,
): Event {
  return {
    named: `webhook|${call.name}`,
    at: now,
    doc: call.doc,
    data: { what: 'what the webhook was called with', text: clippedData(shownText(call.text, call.doc)) },
    seen: { key: seenKey(id, ''), mark: `${timePart(now)}${call.name}`, value: call.doc ?? null },
    more: call.more,
  }
}

/** The last call of a webhook that settles. */
const callKey = (id: string): Key => [keys.cursor(id)[0], 'H#']
interface KeptCall {
  readonly name: string
  readonly text: string
  readonly json: boolean
  readonly at: number
}

const keepCall = (id: string, call: { name: string; doc: unknown; text: string }, now: number): Op => {
  const kept: KeptCall = { name: call.name, text: call.text, json: call.doc !== call.text, at: now }
  return { put: callKey(id), item: asItem(kept), expect: 'any', ttl: ttlAfter(now) }
}

async function keptCall(world: World, id: string): Promise<Event | null> {
  const kept = await read<KeptCall>(world, callKey(id))
  if (kept === null) return null
  const { name, text, json, at } = kept.item
  return eventOf(id, { name, text, doc: json ? bounded(text) : text, more: [] }, at)
}
