import { canReach, canUseSchedule, canUseSessions, principalOf, verdictOn, verdictOnCommon } from '../domain/access.ts'
import type { CommonDeed, Deed } from '../domain/access-matrix.ts'
import { isId } from '../domain/ids.ts'
import type { Reach } from '../domain/provenance.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Head, isGone, runningTurn } from '../domain/session.ts'
import type { Stored } from '../ports/table.ts'
import type { Call } from './call.ts'
import { type Loaded, loadSchedules } from './load.ts'
import { type Agent, defaultSettings, keys, read, readAll, type SessionRow, type Settings } from './store.ts'

/** Everything a call names is looked up here, so that what the caller may not see answers as what does not exist. */

export interface FoundSession {
  readonly row: Stored<SessionRow>
  readonly head: Stored<Head>
  readonly agent: Agent
}

async function findSession(call: Call, id: string): Promise<FoundSession | null> {
  if (!isId('ses', id)) return null
  const row = await read<SessionRow>(call.world, keys.session(id))
  if (row === null) return null
  const [head, agent] = (await readAll<unknown>(call.world, [
    keys.head(row.item.conv),
    keys.agent(row.item.agent),
  ])) as [Stored<Head> | null, Stored<Agent> | null]
  if (head === null || agent === null || head.item.deletedAt !== null) return null
  return { row, head, agent: agent.item }
}

/** A session whose agent the caller may use. @throws Refused `not_found` */
export async function sessionFor(call: Call, id: string): Promise<FoundSession> {
  const found = await findSession(call, id)
  if (found === null || found.agent.deletedAt !== null || !canUseSessions(call.caller, found.agent))
    throw notFound('session', id)
  return touched(call, found.agent, found)
}

/** The same, and it must still be open. @throws Refused `session_archived` naming the session that took over */
export async function openSession(call: Call, id: string): Promise<FoundSession> {
  const found = await sessionFor(call, id)
  assertOpen(found)
  return found
}

export function assertOpen(found: FoundSession): void {
  const { row, head } = found
  if (row.item.compactedInto !== null)
    throw new Refused('session_archived', `session ${row.item.id} was compacted: go on in ${head.item.session}`)
  if (isGone(head.item))
    throw new Refused('session_archived', `session ${row.item.id} is archived: nothing runs in it any more`)
}

/** A session that a send may go to: of an agent that the caller's person can talk to (decision 26). */
export async function reachableSession(call: Call, id: string): Promise<FoundSession | null> {
  const found = await findSession(call, id)
  const reached = found !== null && found.agent.deletedAt === null && reaches(call, found.agent)
  return reached ? touched(call, found.agent, found) : null
}

/** An agent whose sessions the caller may use. @throws Refused `not_found` */
export async function agentFor(call: Call, id: string): Promise<Stored<Agent>> {
  const found = isId('agt', id) ? await read<Agent>(call.world, keys.agent(id)) : null
  if (found === null || found.item.deletedAt !== null || !canSee(call, found.item)) throw notFound('agent', id)
  return touched(call, found.item, found)
}

const canSee = (call: Call, agent: Agent): boolean => verdictOn('see_agent', call.caller, agent) === 'yes'

/** An agent that the caller may address. */
export async function reachableAgent(call: Call, id: string): Promise<Agent | null> {
  const found = isId('agt', id) ? await read<Agent>(call.world, keys.agent(id)) : null
  const reached = found !== null && found.item.deletedAt === null && reaches(call, found.item)
  return reached ? touched(call, found.item, found.item) : null
}

/** Without a session an agent's key reaches only its own agent. */
const reaches = (call: Call, agent: Agent): boolean => canReach(call.caller, agent, call.session !== null)

/** Its owner sees in the audit trail what a call that changes something does here. */
export function touched<T>(call: Call, agent: Agent, found: T): T {
  call.trail?.owners.add(agent.owner)
  return found
}

/**
 * A schedule the caller may use.
 *
 * @param kept  also one that was deleted: its runs stay readable
 * @throws Refused `not_found`
 */
export async function scheduleFor(call: Call, id: string, kept = false): Promise<Loaded> {
  const loaded = isId('sch', id) ? ((await loadSchedules(call.world, [id]))[0] ?? null) : null
  if (loaded === null || loaded.agent === null || (loaded.cursor.item.deleted && !kept)) throw notFound('schedule', id)
  if (!canUseSchedule(call.caller, loaded.agent, loaded.cursor.item)) throw notFound('schedule', id)
  // Who asked for it keeps it, and so sees what others do to it.
  call.trail?.owners.add(loaded.cursor.item.createdBy)
  return touched(call, loaded.agent, loaded)
}

/** The session that an agent's key acts in. */
export interface Acting {
  readonly head: Head
  readonly stored: Stored<Head>
  /** Hops and depth of the turn it acts in; zero when none runs. */
  readonly reach: Reach
}

/**
 * Where an agent's call comes from: origin, hops and depth are taken from its session's running turn as we know it; the turn
 * header is only a fence.
 *
 * @returns null for a person's key, and for an agent's that names no session
 * @throws Refused `not_found`, `turn_not_running`
 */
export async function actingIn(call: Call): Promise<Acting | null> {
  if (call.caller.kind === 'person' || call.session === null) return null
  const { head } = await openSession(call, call.session)
  if (call.turn !== null) runningTurn(head.item, call.turn, call.now)
  const origin = head.item.turn?.origin ?? null
  return {
    head: head.item,
    stored: head,
    reach: origin === null ? { hops: 0, depth: 0 } : { hops: origin.hops, depth: origin.depth },
  }
}

/**
 * Where an agent's prompt comes from that names no session: its main one, so that leaving the header out is no way around the count or
 * the mode. Null when it has none.
 */
export async function actingInMain(call: Call): Promise<Acting | null> {
  if (call.caller.kind === 'person') return null
  const agent = await read<Agent>(call.world, keys.agent(call.caller.agent))
  const main = agent?.item.mainSession ?? null
  if (main === null) return null
  const found = await findSession(call, main)
  if (found === null || isGone(found.head.item)) return null
  return { head: found.head.item, stored: found.head, reach: { hops: 0, depth: 0 } }
}

export async function settingsOf(call: Call): Promise<Settings> {
  return (await read<Settings>(call.world, keys.settings))?.item ?? defaultSettings
}

/** S0-7, S0-8: the setting is a person's word on whether agents may wake anybody, themselves included. */
export async function assertAgentSessions(call: Call): Promise<void> {
  if (call.caller.kind === 'person' || (await settingsOf(call)).agentSessions) return
  throw new Refused(
    'agent_sessions_off',
    'the setting "Agents may start and use sessions" is off; a person turns it on with PATCH /v1/settings {"agentSessions": true} or `rouse settings --agent-sessions on`',
  )
}

/** @throws Refused `person_only` */
export function assertPerson(call: Call, what: string): string {
  assertCommon(call, 'act_as_person', what)
  return principalOf(call.caller)
}

/** @throws Refused `admin_only`, `person_only` */
export function assertAdmin(call: Call, what: string): void {
  assertCommon(call, 'add_people', what)
}

function assertCommon(call: Call, deed: CommonDeed, what: string): void {
  const verdict = verdictOnCommon(deed, call.caller)
  if (verdict === 'person_only') throw new Refused('person_only', `only a person's key may ${what}`)
  if (verdict === 'admin_only') throw new Refused('admin_only', `only an admin may ${what}`)
}

/**
 * What changes who an agent is, or lets somebody act as it, is its owner's alone: its keys reach all that the owner can talk to.
 *
 * @throws Refused `not_found`, `person_only`, `owner_only`
 */
export function assertMay(call: Call, deed: Deed, agent: Agent, what: string): void {
  const verdict = verdictOn(deed, call.caller, agent)
  if (verdict === 'yes') return
  if (verdict === 'hidden') throw notFound('agent', agent.id)
  throw new Refused(
    verdict,
    verdict === 'owner_only'
      ? `only the owner of agent ${agent.id} may ${what}`
      : `this key may not ${what} (agent ${agent.id})`,
  )
}

export const principal = (call: Call): string => principalOf(call.caller)
