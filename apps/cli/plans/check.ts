import type { Client } from '../../client/client.ts'
import { path } from '../../client/client.ts'
import { ApiError } from '../../client/errors.ts'
import { agentId } from '../lookup.ts'
import { NotThere, UsageError } from '../report.ts'
import { type Change, fixedOf, inTurns, patchOf } from './diff.ts'
import { type Entry, type Fault, timeFieldNames } from './plan.ts'

/** Names of agents become ids; what is not there is told by entry. */
export async function resolved(
  client: Client,
  entries: readonly Entry[],
): Promise<{ readonly entries: Entry[]; readonly faults: Fault[] }> {
  const faults: Fault[] = []
  const agents = new Map<string, string | null>()
  const sessions = new Map<string, boolean>()
  const out: Entry[] = []
  for (const entry of entries) {
    const { agent, session } = entry.fields
    if (agent !== undefined) {
      const name = String(agent)
      if (!agents.has(name)) agents.set(name, await idOf(client, name))
      const id = agents.get(name) ?? null
      if (id === null) {
        faults.push({ where: entry.where, field: 'agent', message: `there is no agent "${name}" that you can talk to` })
        continue
      }
      out.push({ ...entry, fields: { ...entry.fields, agent: id } })
      continue
    }
    if (session !== undefined) {
      const name = String(session)
      if (!sessions.has(name)) sessions.set(name, await isThere(client, path`/v1/sessions/${name}`))
      if (sessions.get(name) === false) {
        faults.push({ where: entry.where, field: 'session', message: `there is no session ${name} that you can use` })
        continue
      }
    }
    out.push(entry)
  }
  return { entries: out, faults }
}

async function idOf(client: Client, name: string): Promise<string | null> {
  try {
    const id = await agentId(client, name)
    return (await isThere(client, path`/v1/agents/${id}`)) ? id : null
  } catch (error) {
    if (error instanceof NotThere) return null
    throw error
  }
}

/** The key of an agent reaches more than it can look at: for it the call itself tells. */
async function isThere(client: Client, where: string): Promise<boolean> {
  try {
    await client.call('GET', where)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return client.key.startsWith('rsa_')
    throw error
  }
}

/** What Rouse would refuse of these changes, as far as a preview tells. Stores nothing. */
export async function faultsOf(client: Client, changes: readonly Change[]): Promise<Fault[]> {
  const all = await inTurns(changes, async (change): Promise<Fault[]> => {
    if (change.kind !== 'create' && change.kind !== 'update') return []
    const { entry } = change
    const fixed =
      change.kind === 'update'
        ? change.fields
            .filter(({ field }) => fixedOf(entry.kind).includes(field))
            .map(({ field }) => ({
              where: entry.where,
              field: field === 'target' ? 'session' : field,
              message: 'cannot be changed in place: give the entry a new key, so that another one is made',
            }))
        : []
    if (entry.kind === 'trigger') return fixed
    const patch = change.kind === 'update' ? patchOf(entry, change.fields) : entry.fields
    const isTimed = timeFieldNames.some((name) => name in patch)
    // A time that stays is not judged again: it may be past by now.
    const timed = isTimed
      ? entry.fields
      : { ...Object.fromEntries(Object.entries(entry.fields).filter(([name]) => !isTime(name))), every: '1h' }
    return [...fixed, ...(await previewed(client, entry, timed))]
  })
  return all.flat()
}

const isTime = (name: string): boolean =>
  (timeFieldNames as readonly string[]).includes(name) || name === 'until' || name === 'maxRuns'

async function previewed(client: Client, entry: Entry, body: object): Promise<Fault[]> {
  const { where } = entry
  try {
    const { refusal } = await client.call<{ refusal: { code: string; detail: string } | null }>(
      'POST',
      '/v1/schedules/preview',
      { body: { ...body, count: 1 } },
    )
    return refusal === null ? [] : [{ where, field: timeField(entry), message: `${refusal.detail} (${refusal.code})` }]
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 401) throw error
    if (error.errors.length === 0)
      return [{ where, field: timeField(entry), message: `${error.detail} (${error.code})` }]
    return error.errors.map(({ path: field, message }) => ({
      where,
      field: field === '' ? timeField(entry) : field,
      // A word such as "is past" says what; the detail says what would be right.
      message: error.errors.length === 1 ? `${error.detail} (${error.code})` : message,
    }))
  }
}

/** What a refusal of its time is about. */
const timeField = ({ fields }: Entry): string =>
  timeFieldNames.find((name) => name !== 'tz' && fields[name] !== undefined) ?? 'cron'

/** @throws UsageError */
export function assertEntries(entries: readonly Entry[], file: string): void {
  if (entries.length > 500)
    throw new UsageError(`${file} has ${entries.length} entries; 500 are the most, so split it up`)
}
