import type { Client } from '../../client/client.ts'
import { type Entry, hashOf, type PlanKind, timeFieldNames } from './plan.ts'
import { actual, comparedOf, defaultOf, type Row, readRow, wanted } from './rows.ts'
import { isKnown, type Known, type State } from './state.ts'

export interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
  /** Somebody changed it since it was applied. */
  readonly byHand: boolean
}

export type Change =
  | { readonly kind: 'create'; readonly entry: Entry }
  /** It was there, and is not any more. */
  | { readonly kind: 'gone'; readonly entry: Entry; readonly why: string }
  | { readonly kind: 'same'; readonly entry: Entry; readonly row: Row }
  | {
      readonly kind: 'update'
      readonly entry: Entry
      readonly row: Row
      readonly fields: readonly FieldChange[]
      /** Null: as it is. */
      readonly pause: boolean | null
    }
  /** In Rouse, and no longer in the file. `name` null: it is gone there too. */
  | { readonly kind: 'dropped'; readonly key: string; readonly known: Known; readonly name: string | null }
  /** The key stands for nothing any more: what it stood for has another one. */
  | { readonly kind: 'renamed'; readonly key: string }

/** What would have to be done to make Rouse as the file has it. Reads only. */
export async function differences(client: Client, entries: readonly Entry[], state: State): Promise<Change[]> {
  const keys = new Set(entries.map(({ key }) => key))
  const changes = await inTurns(entries, (entry) => changeOf(client, entry, state))
  const claimed = new Set(changes.flatMap((change) => ('row' in change ? [change.row.id] : [])))
  const dropped = Object.entries(state.entries).flatMap(([key, known]) =>
    keys.has(key) || !isKnown(known) ? [] : [{ key, known }],
  )
  const gone = await inTurns(dropped, async ({ key, known }): Promise<Change> => {
    // Under another key now, which its id tells.
    if (claimed.has(known.id)) return { kind: 'renamed', key }
    const row = await readRow(client, known.kind, known.id)
    return { kind: 'dropped', key, known, name: isOver(row) ? null : row!.name }
  })
  return [...changes, ...gone]
}

const isOver = (row: Row | null): boolean => row === null || row.status === 'ended'

async function changeOf(client: Client, entry: Entry, state: State): Promise<Change> {
  const found = state.entries[entry.key]
  if (!isKnown(found) || (entry.id !== null && entry.id !== found.id)) {
    // Written out by this Rouse: it is taken over, not made again. Of another one, its id names nothing here.
    const row = entry.id === null ? null : await readRow(client, entry.kind, entry.id)
    if (!isOver(row)) return compared(entry, row!, null)
    if (!isKnown(found)) return { kind: 'create', entry }
  }
  if (found.kind !== entry.kind) return { kind: 'gone', entry, why: `it was a ${found.kind} when it was applied` }
  const row = await readRow(client, found.kind, found.id)
  if (row === null) return { kind: 'gone', entry, why: 'it was deleted by hand' }
  if (row.status === 'ended') return { kind: 'gone', entry, why: `it has ended (${row.endedReason ?? 'no reason'})` }
  return compared(entry, row, found)
}

function compared(entry: Entry, row: Row, known: Known | null): Change {
  const fields: FieldChange[] = []
  for (const field of comparedOf(entry.kind)) {
    const to = wanted(entry, field)
    const from = actual(row, field)
    const byHand = known !== null && known.seen[field] !== undefined && known.seen[field] !== hashOf(from)
    const changed =
      known === null
        ? hashOf(from) !== hashOf(to === undefined ? defaultOf(field, row) : to)
        : (known.applied[field] ?? null) !== (to === undefined ? null : hashOf(to))
    // What the file says nothing of is left to whoever sets it.
    if (changed || (byHand && to !== undefined && hashOf(from) !== hashOf(to)))
      fields.push({ field, from: from ?? null, to: to ?? null, byHand })
  }
  const pause = entry.paused === null || entry.paused === (row.status === 'paused') ? null : entry.paused
  if (fields.length === 0 && (pause === null || row.status === 'done')) return { kind: 'same', entry, row }
  return { kind: 'update', entry, row, fields, pause }
}

/** The body of the call that makes the changes. Of two targets only the new one is named. */
export function patchOf({ kind, fields }: Entry, changes: readonly FieldChange[]): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const { field, to } of changes)
    if (field !== 'target') patch[field] = to
    else if (fields.session !== undefined) patch.session = fields.session
    else if (fields.agent !== undefined) patch.agent = fields.agent
  const isTimed = kind === 'schedule' && timeFieldNames.some((name) => name in patch)
  // A time is judged as a whole: `at` beside `every`, the start beside its rule.
  if (isTimed) for (const name of timeFieldNames) if (fields[name] !== undefined) patch[name] = fields[name]
  return patch
}

/** A trigger follows what it was made for, where it was made for it. */
export const fixedOf = (kind: PlanKind): readonly string[] => (kind === 'trigger' ? ['on', 'target'] : ['flow'])

const atOnce = 8

/** Eight at a time, in order. */
export async function inTurns<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const out: R[] = []
  for (let from = 0; from < all.length; from += atOnce)
    out.push(...(await Promise.all(all.slice(from, from + atOnce).map(work))))
  return out
}
