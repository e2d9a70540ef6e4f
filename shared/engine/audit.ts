import { type Caller, principalOf } from '../domain/access.ts'
import { limits } from '../domain/limits.ts'
import { faultOf } from '../ports/log.ts'
import type { Op, Stored } from '../ports/table.ts'
import type { Call } from './call.ts'
import { assertPerson } from './reach.ts'
import { asItem, commit, keys } from './store.ts'

/**
 * Who did what, to what. Written after a call that changed something; read by `GET /v1/audit`; deleted by TTL after a year. Ids and names
 * only: no contents, no secrets.
 *
 * One row for the person in whose name it was done, and one for each other person whose agent or schedule it concerns.
 */
export interface AuditRow {
  /** A ULID: the time of the call, and which of that instant. */
  readonly id: string
  readonly at: number
  readonly by: Caller['kind']
  /** The person, or the agent. */
  readonly who: string
  /** Whose call it counts as: the person, or the agent's owner. */
  readonly principal: string
  readonly key: string
  /** The session that an agent named as its own. */
  readonly session: string | null
  /** As in openapi.json. */
  readonly operation: string
  /** What the path names and what was made: ids, and names of secrets. */
  readonly targets: readonly string[]
  readonly status: number
}

/** Writes it down. The call has succeeded already and succeeds whatever becomes of this: never rejects. */
export async function audit(
  call: Call,
  done: { readonly operation: string; readonly targets: readonly string[]; readonly status: number },
): Promise<void> {
  const { world, caller, now, trail } = call
  const principal = principalOf(caller)
  const row: AuditRow = {
    id: world.ids.ulid(now),
    at: now,
    by: caller.kind,
    who: caller.kind === 'person' ? caller.person : caller.agent,
    principal,
    key: caller.key,
    session: caller.kind === 'agent' ? call.session : null,
    operation: done.operation,
    targets: [...done.targets, ...(trail?.made ?? [])],
    status: done.status,
  }
  const ttl = Math.ceil((now + limits.auditMs) / 1000)
  const put = (person: string): Op => ({ put: keys.audit(person, row.id), item: asItem(row), expect: 'any', ttl })
  try {
    await commit(world, [...new Set([principal, ...(trail?.owners ?? [])])].map(put))
  } catch (error) {
    const ids = { operation: row.operation, who: row.who, key: row.key }
    world.log('error', 'audit row not written', { ...ids, ...faultOf(error) })
  }
}

/** What was done in the caller's name or to what is theirs, newest first. @throws Refused `person_only` */
export async function listAudit(
  call: Call,
  page: { readonly limit: number; readonly before: string | null },
): Promise<{ readonly items: readonly AuditRow[]; readonly next: string | null }> {
  const person = assertPerson(call, 'read the audit trail')
  const [pk] = keys.audit(person, '')
  const range = { descending: true, limit: page.limit + 2, ...(page.before === null ? {} : { to: page.before }) }
  const found = await call.world.table.list(pk, range)
  const rows = (found.items as readonly Stored<unknown>[] as readonly Stored<AuditRow>[]).map(({ item }) => item)
  const older = rows.filter(({ id }) => id !== page.before)
  const items = older.slice(0, page.limit)
  return { items, next: older.length > page.limit ? items.at(-1)!.id : null }
}
