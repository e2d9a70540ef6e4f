import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { serverNow } from '../lookup.ts'
import { faultsOf, resolved } from './check.ts'
import { type Change, differences, patchOf } from './diff.ts'
import { type Entry, type Fault, hashOf, PlanBusy, PlanRefused } from './plan.ts'
import { actual, allRows, pathOf, type Row, rowPath, seenHashes, wantedHashes } from './rows.ts'
import { isKnown, type Known, type Pending, type State, type StateEntry, type StateStore } from './state.ts'

export interface ApplyOptions {
  readonly dryRun: boolean
  /** Those that are no longer in the file are deleted. */
  readonly prune: boolean
  /** Those that were deleted by hand or have ended are made again. */
  readonly recreate: boolean
  /** An entry that is refused is left out and told; else it stops all of them. */
  readonly skipBad: boolean
  /** Is told how far it has come, in words. */
  readonly progress?: (text: string) => void
}

export interface Applied {
  readonly changes: readonly Change[]
  /** Left out with `skipBad`. */
  readonly faults: readonly Fault[]
  /** What was made, by key. A webhook's address is shown this once. */
  readonly made: ReadonlyMap<string, Row>
  /** A person is asked first: the card, by key. */
  readonly asked: ReadonlyMap<string, string>
}

/**
 * Makes Rouse as a file has it: looks first, writes down what it is about to make, makes it, and keeps which key is which schedule. However
 * often it runs, and wherever it breaks off, nothing is made twice.
 *
 * @throws PlanRefused naming entries and fields, with nothing changed
 */
export async function applyPlan(
  client: Client,
  store: StateStore,
  given: readonly Entry[],
  o: ApplyOptions,
): Promise<Applied> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(client, store, given, o)
    } catch (error) {
      // Of several at once each can be in the way of another: those that give way look again a little later.
      if (!(error instanceof PlanBusy) || tries >= triesMost) throw error
      await sleep(Math.random() * 100 * 2 ** tries)
    }
  }
}

const triesMost = 6

async function applyOnce(
  client: Client,
  store: StateStore,
  given: readonly Entry[],
  o: ApplyOptions,
): Promise<Applied> {
  const { entries, faults: lost } = await resolved(client, given)
  const now = await serverNow(client)
  o.progress?.(`Looks at ${entries.length} entries`)
  let state = await store.read()
  state = await recovered(client, entries, state, now)
  let changes = await differences(client, entries, state)
  const wouldMake = changes.map((change) =>
    change.kind === 'gone' && o.recreate ? { kind: 'create' as const, entry: change.entry } : change,
  )
  const faults = [...lost, ...(await faultsOf(client, wouldMake))]
  if (faults.length > 0 && !o.skipBad) throw new PlanRefused(faults)
  const bad = new Set(faults.map(({ where }) => where))
  changes = wouldMake.filter((change) => !('entry' in change) || !bad.has(change.entry.where))
  // What is refused now and was taken once has not left the file.
  const kept = new Set(given.map(({ key }) => key))
  changes = changes.filter((change) => change.kind !== 'dropped' || !kept.has(change.key))
  const made = new Map<string, Row>()
  const asked = new Map<string, string>()
  if (!o.dryRun) await perform({ client, store, state, changes, o, now, made, asked, faults })
  const refused = new Set(faults.map(({ where }) => where))
  changes = changes.filter((change) => change.kind !== 'create' || !refused.has(change.entry.where))
  return { changes, faults, made, asked }
}

interface Work {
  readonly client: Client
  readonly store: StateStore
  readonly state: State
  readonly changes: readonly Change[]
  readonly o: ApplyOptions
  readonly now: number
  /** What is refused, where that stops nothing else. */
  readonly faults: Fault[]
  readonly made: Map<string, Row>
  readonly asked: Map<string, string>
}

async function perform(work: Work): Promise<void> {
  const { client, store, changes, now } = work
  const next: Record<string, StateEntry> = { ...work.state.entries }
  const creates = changes.filter((change) => change.kind === 'create')
  for (const { entry } of creates) next[entry.key] = reservationOf(entry, now, work.state.entries[entry.key])
  let { version } = work.state
  const write = async (): Promise<void> => {
    ;({ version } = await store.write(next, version))
  }
  if (creates.length > 0) await write()
  try {
    for (const [i, { entry }] of creates.entries()) {
      work.o.progress?.(`Makes ${i + 1} of ${creates.length}: ${entry.key}`)
      await make(work, entry, next)
    }
  } catch (error) {
    // One was refused that a preview could not tell: all or nothing, so those made before it go again.
    if (error instanceof ApiError && error.status < 500) {
      for (const { entry } of creates) {
        const row = work.made.get(entry.key)
        if (row !== undefined) await client.call('DELETE', rowPath(entry.kind, row.id))
        delete next[entry.key]
      }
      await write()
    }
    throw error
  }
  try {
    for (const [i, change] of changes.entries()) {
      work.o.progress?.(`Settles ${i + 1} of ${changes.length}`)
      await settle(work, change, next)
    }
  } finally {
    if (hashOf(next) !== hashOf(work.state.entries)) await write()
  }
}

/** One that waits from a run that broke off is gone on with under the same call. */
function reservationOf(entry: Entry, now: number, before: StateEntry | undefined): Pending {
  const body = hashOf(entry.fields)
  if (before !== undefined && !isKnown(before) && before.pending.body === body && isRepeatable(before, now))
    return before
  const call = `plan-${randomBytes(16).toString('hex')}`
  return { kind: entry.kind, pending: { call, at: now, body, applied: wantedHashes(entry) } }
}

async function make(work: Work, entry: Entry, next: Record<string, StateEntry>): Promise<void> {
  const { client, made, asked } = work
  const { pending } = next[entry.key] as Pending
  let row: Row | { readonly card: string }
  try {
    row = await client.call('POST', pathOf(entry.kind), { body: entry.fields, idempotencyKey: pending.call })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    // The same call, by another run at this moment: nothing is refused.
    if (error.code === 'idempotency_in_flight') throw new PlanBusy()
    if (!work.o.skipBad) throw named(error, entry)
    delete next[entry.key]
    work.faults.push({ where: entry.where, field: '', message: `${error.detail} (${error.code})` })
    return
  }
  if ('card' in row && !('id' in row)) {
    asked.set(entry.key, row.card)
    return
  }
  const shown = row as Row
  made.set(entry.key, shown)
  next[entry.key] = knownOf(entry, shown)
  if (entry.paused === true) await client.call('POST', `${rowPath(entry.kind, shown.id)}/pause`, { body: {} })
}

const knownOf = (entry: Entry, row: Row): Known => ({
  kind: entry.kind,
  id: row.id,
  applied: wantedHashes(entry),
  seen: seenHashes(entry.kind, row),
})

async function settle({ client, o: { prune } }: Work, change: Change, next: Record<string, StateEntry>): Promise<void> {
  switch (change.kind) {
    case 'same':
      next[change.entry.key] = knownOf(change.entry, change.row)
      return
    case 'update': {
      const { entry, fields, pause } = change
      const where = rowPath(entry.kind, change.row.id)
      let { row } = change
      try {
        if (fields.length > 0) row = await client.call<Row>('PATCH', where, { body: patchOf(entry, fields) })
        if (pause !== null) row = await client.call<Row>('POST', `${where}/${pause ? 'pause' : 'resume'}`, { body: {} })
      } catch (error) {
        throw error instanceof ApiError && error.status < 500 ? named(error, entry) : error
      }
      next[entry.key] = knownOf(entry, row)
      return
    }
    case 'dropped':
      if (!prune) return
      if (change.name !== null) await client.call('DELETE', rowPath(change.known.kind, change.known.id))
      delete next[change.key]
      return
    case 'renamed':
      delete next[change.key]
      return
    case 'create':
    case 'gone':
      return
  }
}

/** The server's refusal, with the entry that it is about in front. */
function named(error: ApiError, { where }: Entry): ApiError {
  const problem = { ...(error.problem as object), detail: `${where}: ${error.detail}`, code: error.code }
  return new ApiError({ status: error.status, problem, retryAfter: null })
}

const dayMs = 86_400_000

/** An Idempotency-Key holds for a day; an hour of it is left for clocks that differ. */
const isRepeatable = ({ pending }: Pending, now: number): boolean => now - pending.at < dayMs - 3_600_000

/**
 * A run that broke off may have made what it wrote down, and a person may have allowed what was asked for: those are found by what they are.
 * What is not found is made under the same call again, so that a list that lags makes no second one.
 */
async function recovered(client: Client, entries: readonly Entry[], state: State, now: number): Promise<State> {
  const pending = Object.entries(state.entries).filter((one): one is [string, Pending] => !isKnown(one[1]))
  const ids = new Set(Object.values(state.entries).flatMap((one) => (isKnown(one) ? [one.id] : [])))
  const next: Record<string, StateEntry> = { ...state.entries }
  for (const kind of ['schedule', 'trigger'] as const) {
    const of = pending.filter(([, one]) => one.kind === kind)
    if (of.length === 0) continue
    const rows = (await allRows(client, kind)).reverse()
    for (const [key, one] of of) {
      const row = rows.find((shown) => !ids.has(shown.id) && isMadeFrom(one, shown))
      if (row !== undefined) {
        ids.add(row.id)
        next[key] = { kind, id: row.id, applied: one.pending.applied, seen: seenHashes(kind, row) }
      } else if (!isRepeatable(one, now) || !isSameBody(entries, key, one)) delete next[key]
    }
  }
  return { ...state, entries: next }
}

const isMadeFrom = ({ pending }: Pending, row: Row): boolean =>
  Date.parse(row.createdAt) >= pending.at - 60_000 &&
  Object.entries(pending.applied).every(([field, hash]) => hashOf(actual(row, field)) === hash)

const isSameBody = (entries: readonly Entry[], key: string, { pending }: Pending): boolean =>
  entries.some((entry) => entry.key === key && hashOf(entry.fields) === pending.body)
