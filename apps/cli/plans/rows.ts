import { type Client, everyItem, path } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { type Entry, fieldsOf, hashOf, type PlanKind } from './plan.ts'
import type { Hashes } from './state.ts'

/** A schedule or a trigger as Rouse shows it. */
export type Row = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly endedReason: string | null
  readonly createdAt: string
}

export const pathOf = (kind: PlanKind): string => `/v1/${kind}s`
export const rowPath = (kind: PlanKind, id: string): string => `${pathOf(kind)}${path`/${id}`}`

/** Null: there is none any more, or none that the caller may see. */
export async function readRow(client: Client, kind: PlanKind, id: string): Promise<Row | null> {
  try {
    return await client.call<Row>('GET', rowPath(kind, id))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}

export async function allRows(client: Client, kind: PlanKind): Promise<Row[]> {
  const rows: Row[] = []
  for await (const row of everyItem<Row>(client, pathOf(kind))) rows.push(row)
  return rows
}

/** Fields of an entry that are compared: where it goes is one of them, whichever way it is said. */
export const comparedOf = (kind: PlanKind): string[] => [
  ...fieldsOf(kind).filter((field) => field !== 'session' && field !== 'agent'),
  'target',
]

/** What the file says of a field; undefined: nothing. */
export function wanted({ fields }: Pick<Entry, 'fields'>, field: string): unknown {
  if (field !== 'target') return fields[field]
  return fields.session ?? fields.agent
}

/** What Rouse has in it. */
export function actual(row: Row, field: string): unknown {
  if (field === 'target') return row.session ?? row.agent
  const value = row[field]
  return Array.isArray(value) && value.length === 0 ? null : value
}

export const wantedHashes = (entry: Entry): Hashes =>
  Object.fromEntries(
    comparedOf(entry.kind)
      .map((field) => [field, wanted(entry, field)] as const)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, hashOf(value)]),
  )

export const seenHashes = (kind: PlanKind, row: Row): Hashes =>
  Object.fromEntries(comparedOf(kind).map((field) => [field, hashOf(actual(row, field))]))

/** What a field is when nothing is said of it. */
export function defaultOf(field: string, row: Row): unknown {
  switch (field) {
    case 'tz':
      return 'UTC'
    case 'misfire':
      return 'once'
    case 'onUnknown':
      return 'leave'
    case 'overlap':
      return row.session !== null && row.kind !== 'flow' ? 'buffer' : 'skip'
    // Set to when and where it was made.
    case 'dtstart':
    case 'channel':
    case 'target':
      return actual(row, field)
    default:
      return null
  }
}
