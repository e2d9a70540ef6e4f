import { bodyFault, durationMs, instantOf } from '../domain/define.ts'
import { armed } from '../domain/due.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import { reachOf } from '../domain/provenance.ts'
import { notFound } from '../domain/refused.ts'
import type { Definition, TriggerOn } from '../domain/schedule.ts'
import { triggerInWords, triggerVariables } from '../domain/trigger.ts'
import { later } from '../ports/later.ts'
import type { Key, Op } from '../ports/table.ts'
import { compile } from '../time/index.ts'
import { type Call, retrying } from './call.ts'
import { endSchedule } from './closing.ts'
import { Definitions } from './definitions.ts'
import { pathFault } from './documents.ts'
import { linkOps, type Place, placeOf } from './links.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { look } from './look.ts'
import { nameOfConversation, promptOp } from './prompts.ts'
import { actingIn, assertAgentSessions, principal, scheduleFor } from './reach.ts'
import { putCursor } from './rows.ts'
import { assertMatches, ended } from './schedule-edit.ts'
import { assertMayFlow, editedWork, meansFlow, type Work, workOf } from './schedule-flow.ts'
import { newCursor, type Target, targetOf, unchangedHeads } from './schedules.ts'
import { asItem, commit, expireDefinition, keys, type Person, putDefinition, read } from './store.ts'
import { documentWatchers, pointer, prefixWatchers } from './watchers.ts'

const cel = later(() => import('../cel/index.ts'))

/** What a caller gives to create a trigger; undefined and null: left out. */
export interface TriggerInput {
  readonly name: string
  readonly session?: string | null | undefined
  readonly agent?: string | null | undefined
  readonly prompt?: string | null | undefined
  /** In place of a prompt: the name of one of the agent's flows. */
  readonly flow?: string | null | undefined
  readonly on:
    | { readonly document: { readonly path: string } | { readonly prefix: string } }
    | { readonly webhook: true | { readonly signed: boolean } }
  readonly when?: string | null | undefined
  readonly settle?: string | number | null | undefined
  readonly maxPerDay?: number | null | undefined
  readonly until?: string | null | undefined
}
export type TriggerPatch = {
  readonly [field in keyof Omit<TriggerInput, 'on' | 'session' | 'agent'>]?: TriggerInput[field] | undefined
}

/** A trigger and what is shown this once of its webhook. */
export interface MadeTrigger {
  readonly loaded: Loaded
  readonly hook: { readonly token: string; readonly secret: string | null } | null
}

/** A webhook's token and, where its calls are signed, the secret: both shown once. */
export type NewHook = () => { readonly token: string; readonly sha256: string; readonly secret: string }

/**
 * A standing wake: as a schedule in all but its rule, which is something that happens. It shares the 20 places of schedules.
 *
 * @throws Refused, with nothing stored
 */
export async function createTrigger(call: Call, input: TriggerInput, newHook: NewHook): Promise<MadeTrigger> {
  const { world, now } = call
  const id = call.newId('sch')
  const acting = await actingIn(call)
  await assertAgentSessions(call)
  const hook = 'webhook' in input.on ? newHook() : null
  const source = sourceOf(input.on, hook?.sha256 ?? '')
  const on: TriggerOn = { source, ...(await conditionsOf(input, meansFlow(input) ? 'flow' : 'prompt')) }
  const owner = principal(call)
  const tz = (await read<Person>(world, keys.person(owner)))?.item.tz ?? 'UTC'
  const signed = 'webhook' in source && source.webhook.signed
  const loaded = await retrying(async () => {
    const made = call.repeatable ? ((await loadSchedules(world, [id]))[0] ?? null) : null
    if (made !== null) return hook === null ? made : await rehooked(call, made, hook)
    const addressed = await targetOf(call, input, acting?.head ?? null)
    // A flow runs in no session: one that is named stands for its agent.
    const target = meansFlow(input) ? { ...addressed, head: null } : addressed
    const work = await workOf(call, target.agent, input)
    const toOther = acting !== null && acting.head.conv !== target.head?.item.conv
    const reach = reachOf(acting?.reach ?? { hops: 0, depth: 0 }, toOther)
    const definition = define(call, { id, input, on, target, work, tz, reach, maker: acting?.head ?? null })
    const places: Place[] = [{ list: 'fires', key: placeOf(definition) }]
    if (toOther) places.push({ list: 'made', key: keys.links(acting.head.conv) })
    const links = await linkOps(world, id, places)
    const wish = {
      title: `"${onOneLine(definition.name)}" is to run in ${target.head === null ? `new sessions of ${onOneLine(target.agent.name)}` : nameOfConversation(target.head.item)}`,
      body: `${triggerInWords(on)}\n\n${definition.prompt ?? ''}`,
    }
    const counted = toOther ? [await promptOp(call, acting, wish)] : []
    const recurrence = compile(definition.spec)
    const cursor = armed(newCursor(definition), definition, recurrence, null)
    if (cursor.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, cursor.dueAt)
    // Before the trigger is there: one without it would take no call.
    if (signed) await world.secrets.put(id, hookSecret, hook!.secret)
    await commit(world, [
      putCursor(world, cursor, 'absent', now),
      putDefinition(definition),
      ...links,
      ...pointersOf(definition),
      ...unchangedHeads(target.head, counted.length > 0 ? null : (acting?.stored ?? null)),
      ...counted,
    ])
    Definitions.of(world).add(definition, recurrence)
    return (await loadSchedules(world, [id]))[0]!
  })
  return { loaded, hook: hook === null ? null : { token: hook.token, secret: signed ? hook.secret : null } }
}

/**
 * A call that was cut off after its commit, repeated under its Idempotency-Key: nobody has seen the address, and another takes its place.
 *
 * @throws Conflict
 */
async function rehooked({ world, now }: Call, made: Loaded, hook: ReturnType<NewHook>): Promise<Loaded> {
  const { cursor, definition: old } = made
  const { source } = old.on!
  if (!('webhook' in source)) return made
  const { signed } = source.webhook
  const on: TriggerOn = { ...old.on!, source: { webhook: { hook: hook.sha256, signed } } }
  const definition: Definition = { ...old, gen: old.gen + 1, on }
  if (signed) await world.secrets.put(old.id, hookSecret, hook.secret)
  await commit(world, [
    putCursor(world, { ...cursor.item, gen: definition.gen }, cursor.version, now),
    putDefinition(definition),
    expireDefinition(old, now),
    { delete: hookKey(source.webhook.hook), expect: 'any' },
    ...pointersOf(definition),
  ])
  return (await loadSchedules(world, [old.id]))[0]!
}

/** The name under which a webhook's secret is kept, for the trigger alone. */
export const hookSecret = 'webhook'

function sourceOf(on: TriggerInput['on'], sha256: string): TriggerOn['source'] {
  if ('webhook' in on) return { webhook: { hook: sha256, signed: on.webhook !== true && on.webhook.signed } }
  if ('path' in on.document) {
    const fault = pathFault(on.document.path)
    if (fault !== null) throw bodyFault('on.document.path', fault)
    return on
  }
  const { prefix } = on.document
  // A prefix may end within a part, or with a slash.
  const fault =
    prefix === ''
      ? 'expected the beginning of a path, got nothing; name at least its first part'
      : pathFault(`${prefix}x`)
  if (fault !== null) throw bodyFault('on.document.prefix', fault)
  return on
}

async function conditionsOf(input: TriggerPatch, kind: Definition['kind']): Promise<Omit<TriggerOn, 'source'>> {
  const when = input.when ?? null
  if (when !== null) {
    const { CelInvalid, compileCel } = await cel()
    try {
      compileCel(when, triggerVariables)
    } catch (error) {
      if (error instanceof CelInvalid) throw bodyFault('when', error.detail)
      throw error
    }
  }
  // Decision 7, and a flow that writes what it follows would feed itself at the speed of the machine.
  const settle = input.settle ?? (kind === 'flow' ? '1m' : null)
  const settleMs = settle === null ? 0 : durationMs(settle, 'settle', limits.settleMsMax)
  if (kind === 'flow' && settleMs < limits.flowGapMsMin)
    throw bodyFault('settle', 'expected 1 minute or more: a flow runs once a minute at most')
  return {
    when,
    settle,
    settleMs,
    maxPerDay: input.maxPerDay ?? null,
  }
}

function define(
  call: Call,
  o: {
    readonly id: string
    readonly input: TriggerInput
    readonly on: TriggerOn
    readonly target: Target
    readonly work: Work
    readonly tz: string
    readonly reach: Definition['reach']
    readonly maker: { readonly conv: string; readonly title: string | null } | null
  },
): Definition {
  const { input, target, maker } = o
  return {
    id: o.id,
    gen: 1,
    ...o.work,
    name: input.name,
    agent: target.agent.id,
    conv: target.head?.item.conv ?? null,
    spec: { kind: 'event', tz: o.tz },
    on: o.on,
    every: null,
    jitter: null,
    jitterMs: 0,
    channel: null,
    note: null,
    misfire: 'once',
    misfireWithinMs: null,
    overlap: 'buffer',
    onUnknown: 'leave',
    until: untilOf(call, input.until),
    maxRuns: null,
    pauseAfterFailures: null,
    createdBy: principal(call),
    makerAgent: call.caller.kind === 'agent' ? call.caller.agent : null,
    makerConv: maker?.conv ?? null,
    makerTitle: maker?.title ?? null,
    reach: o.reach,
    createdAt: call.now,
    editedAt: call.now,
  }
}

function untilOf(call: Call, until: string | null | undefined): number | null {
  if (until == null) return null
  const at = instantOf(until, 'until')
  if (at <= call.now) throw bodyFault('until', 'expected an instant to come: this one is past')
  return at
}

/** Where whoever changes what it follows finds it. */
function pointersOf({ id, on, createdBy }: Definition, expect: 'absent' | 'any' = 'absent'): Op[] {
  const { source } = on!
  if ('webhook' in source) return [{ put: hookKey(source.webhook.hook), item: { schedule: id }, expect }]
  return 'path' in source.document
    ? [{ put: pointer(documentWatchers(createdBy, source.document.path), id), item: {}, expect: 'any' }]
    : [{ put: pointer(prefixWatchers(createdBy), id), item: asItem({ prefix: source.document.prefix }), expect: 'any' }]
}

/** A webhook by the hash of its token. */
export const hookKey = (sha256: string): Key => [`W#h/${sha256}`, 'A']

/** A trigger that the caller may use. @throws Refused `not_found` */
export async function triggerFor(call: Call, id: string, kept = false): Promise<Loaded> {
  const loaded = await scheduleFor(call, id, kept)
  if (loaded.definition.on == null) throw notFound('trigger', id)
  return loaded
}

/** Changes what is given and leaves the rest; null clears. What it follows, and where it fires, stay: make another for that. */
export async function editTrigger(
  call: Call,
  id: string,
  patch: TriggerPatch,
  ifMatch: string | null,
): Promise<Loaded> {
  const { world, now } = call
  await triggerFor(call, id)
  await assertAgentSessions(call)
  await look(world, [id], now)
  return await retrying(async () => {
    const loaded = await triggerFor(call, id)
    const { cursor, definition: old } = loaded
    if (cursor.item.status === 'ended') throw ended(id, cursor.item.reason)
    assertMayFlow(call, old)
    assertMatches(loaded, ifMatch)
    const on = old.on!
    const given = { when: on.when, settle: on.settle, maxPerDay: on.maxPerDay, ...defined(patch) }
    const acting = await actingIn(call)
    const toOther = acting !== null && acting.head.conv !== old.conv
    const counted =
      toOther && patch.prompt != null
        ? [
            await promptOp(call, acting, {
              title: `"${onOneLine(old.name)}", a trigger for another session, is to be changed`,
              body: patch.prompt,
            }),
          ]
        : []
    const definition: Definition = {
      ...old,
      gen: old.gen + 1,
      name: patch.name ?? old.name,
      ...(await editedWork(call, old, loaded.agent!, patch)),
      on: { source: on.source, ...(await conditionsOf(given, old.kind)) },
      until: patch.until === undefined ? old.until : untilOf(call, patch.until),
      editedAt: now,
    }
    const moved = { ...cursor.item, gen: definition.gen }
    const revived = moved.status === 'done' && patch.until !== undefined
    const next = moved.status === 'active' || revived ? armed(moved, definition, loaded.recurrence, null) : moved
    if (next.dueAt !== null) await world.alarms.set({ kind: 'schedule', id }, next.dueAt)
    await commit(world, [
      putCursor(world, next, cursor.version, now),
      putDefinition(definition),
      expireDefinition(old, now),
      ...(revived
        ? [
            ...pointersOf(definition, 'any'),
            ...(await linkOps(world, id, [{ list: 'fires', key: placeOf(definition) }])),
          ]
        : []),
      ...counted,
    ])
    return (await loadSchedules(world, [id]))[0]!
  })
}

const defined = (patch: TriggerPatch): TriggerPatch =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))

/** It never fires again, and nothing points at it any more. Its runs stay readable. */
export async function removeTrigger(call: Call, id: string): Promise<void> {
  const { definition } = await triggerFor(call, id)
  await endSchedule(call.world, id, 'deleted', call.now)
  // What a crash leaves is met and passed by: a trigger that has ended looks at nothing.
  const gone = pointersOf(definition).map(
    (op): Op => ({ delete: 'put' in op ? op.put : keys.cursor(id), expect: 'any' }),
  )
  await commit(call.world, gone)
  const { source } = definition.on!
  if ('webhook' in source && source.webhook.signed) await call.world.secrets.remove(id, hookSecret)
}
