import { bare } from '../domain/ids.ts'
import { Refused } from '../domain/refused.ts'
import { type Head, isGone, type Mode, noLinks, type Permission } from '../domain/session.ts'
import type { Op } from '../ports/table.ts'
import { allAgents } from './agents.ts'
import { type Call, retrying } from './call.ts'
import { closeConversation } from './closing.ts'
import { hint } from './fire.ts'
import { countRest, loadFront } from './inbox.ts'
import { type ById, type PageAsked, pageById } from './pages.ts'
import { agentFor, assertAgentSessions, assertOpen, type FoundSession, openSession, sessionFor } from './reach.ts'
import { readCursors } from './rows.ts'
import {
  type Agent,
  archivedOf,
  commit,
  keys,
  putAgent,
  putHead,
  putSession,
  read,
  readAll,
  type SessionRow,
} from './store.ts'
import { parked, todayOf } from './ticks.ts'

export interface SessionInput {
  readonly agent: string
  readonly title?: string | null | undefined
  readonly main?: boolean | undefined
  readonly parent?: string | null | undefined
  readonly project?: string | null | undefined
  readonly mode?: Mode | undefined
  readonly permission?: Permission | undefined
}

/** A session as it is shown: its row, the head of its conversation, and what is scheduled around it. */
export interface SessionView {
  readonly row: SessionRow
  readonly head: Head
  /** Messages that wait to be claimed. */
  readonly waiting: number
  /** Live schedules that fire in it or that it made. */
  readonly scheduled: { readonly count: number; readonly nextAt: number | null }
  readonly firesHere: boolean
}

export async function createSession(call: Call, input: SessionInput): Promise<SessionView> {
  const { world, now } = call
  const agent = await agentFor(call, input.agent)
  await assertAgentSessions(call)
  const parent = input.parent ?? null
  if (parent !== null) {
    const found = await openSession(call, parent)
    if (found.agent.id !== agent.item.id)
      throw new Refused('body_invalid', `parent: session ${parent} belongs to another agent`, [
        { path: 'parent', message: 'belongs to another agent' },
      ])
  }
  const head = newHead({
    session: call.newId('ses'),
    agent: agent.item,
    title: input.title ?? null,
    main: input.main ?? parent === null,
    parent,
    forkedFrom: null,
    project: input.project ?? agent.item.project,
    mode: input.mode ?? 'agent',
    permission: input.permission ?? 'auto',
    now,
  })
  return await retrying(async () => {
    if (call.repeatable && (await read(world, keys.session(head.session))) !== null)
      return await viewSession(call, head.session)
    await commit(world, [
      putHead(world, head, 'absent', now),
      putSession(rowOf(head), 'absent'),
      ...(await mainOps(call, head)),
    ])
    return await viewSession(call, head.session)
  })
}

/** The agent remembers its main session, where fresh runs leave their notes: the first one that is still open. */
async function mainOps(call: Call, head: Head): Promise<Op[]> {
  if (!head.main) return []
  const agent = await agentFor(call, head.agent)
  const current = agent.item.mainSession
  if (current !== null) {
    const row = await read<SessionRow>(call.world, keys.session(current))
    if (row !== null && !row.item.archived) return []
  }
  return [putAgent({ ...agent.item, mainSession: head.session }, agent.version)]
}

export function newHead(o: {
  readonly session: string
  readonly agent: Agent
  readonly title: string | null
  readonly main: boolean
  readonly parent: string | null
  readonly forkedFrom: string | null
  readonly project: string | null
  readonly mode: Mode
  readonly permission: Permission
  readonly now: number
}): Head {
  const { agent, now, ...given } = o
  return {
    ...given,
    conv: bare(o.session),
    agent: agent.id,
    owner: agent.owner,
    paused: false,
    compacting: false,
    goal: null,
    pendingRequests: 0,
    workerConnected: null,
    checks: false,
    left: false,
    scheduledFired: false,
    sends: 0,
    grants: 0,
    fresh: null,
    turn: null,
    createdAt: now,
    archivedAt: null,
    deletedAt: null,
    closing: false,
  }
}

const rowOf = (head: Head): SessionRow => ({
  id: head.session,
  conv: head.conv,
  agent: head.agent,
  compactedInto: null,
  title: head.title,
  archived: isGone(head),
  createdAt: head.createdAt,
})

export async function viewSession(call: Call, id: string): Promise<SessionView> {
  return await viewOf(call, await sessionFor(call, id))
}

async function viewOf(call: Call, found: FoundSession): Promise<SessionView> {
  const { row, head } = found
  const quiet = { row: row.item, head: head.item, waiting: 0, scheduled: { count: 0, nextAt: null }, firesHere: false }
  // What hung on a compacted session hangs on the one that took over.
  if (row.item.compactedInto !== null) return quiet
  const front = await loadFront(call.world, head.item.conv)
  if (front === null) return quiet
  const made = await readCursors(call.world, (front.links?.item ?? noLinks).made)
  const here = front.cursors.map((c) => c.item).filter((c) => c.conv === head.item.conv)
  const live = [...here, ...made.flatMap((m) => (m === null ? [] : [m.item]))].filter(
    (c) => !c.deleted && (c.status === 'active' || c.status === 'paused'),
  )
  const times = live.flatMap((c) => (c.nextAt === null ? [] : [c.nextAt]))
  return {
    row: row.item,
    head: head.item,
    waiting: front.waiting.length + (await countRest(call.world, head.item.conv, front)),
    scheduled: { count: live.length, nextAt: times.length === 0 ? null : Math.min(...times) },
    firesHere: here.some((c) => !c.deleted && (c.status === 'active' || c.status === 'paused')),
  }
}

/** Sessions of one agent, or of all that the caller can talk to; newest first, archived ones included. */
export async function listSessions(call: Call, agent: string | null, page: PageAsked): Promise<ById<SessionView>> {
  const agents = agent === null ? (await allAgents(call)).map((a) => a.id) : [(await agentFor(call, agent)).item.id]
  return await pageById<SessionView>(call.world, {
    sources: agents.flatMap((id) => [
      { index: 'sessionsByAgent', pk: id } as const,
      { index: 'sessionsByAgent', pk: archivedOf(id) } as const,
    ]),
    page,
    load: async (ids) => await Promise.all(ids.map(async (id) => await viewIfThere(call, id))),
    idOf: (view) => view.row.id,
  })
}

async function viewIfThere(call: Call, id: string): Promise<SessionView | null> {
  try {
    return await viewSession(call, id)
  } catch (error) {
    // An index entry of a session that is gone by now.
    if (error instanceof Refused && error.code === 'not_found') return null
    throw error
  }
}

export interface SessionPatch {
  readonly title?: string | null | undefined
  readonly mode?: Mode | undefined
  readonly permission?: Permission | undefined
  readonly paused?: boolean | undefined
  readonly compacting?: boolean | undefined
  readonly goal?: string | null | undefined
  readonly pendingRequests?: number | undefined
  readonly workerConnected?: boolean | null | undefined
  readonly checks?: boolean | undefined
}

export async function editSession(call: Call, id: string, patch: SessionPatch): Promise<SessionView> {
  if (call.caller.kind === 'agent' && (patch.mode !== undefined || patch.permission !== undefined))
    throw new Refused('person_only', "only a person's key may change a session's mode or permission")
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<Head>
  await changeHead(
    call,
    id,
    (head) => ({ ...head, ...given }),
    async () => {
      if (patch.workerConnected === undefined && patch.checks === undefined) return []
      const { agent } = await sessionFor(call, id)
      const { workerConnected = agent.workerConnected, checks = agent.checks ?? false } = patch
      if (agent.workerConnected === workerConnected && (agent.checks ?? false) === checks) return []
      const stored = await agentFor(call, agent.id)
      return [putAgent({ ...stored.item, workerConnected, checks }, stored.version)]
    },
  )
  return await viewSession(call, id)
}

/** S2-20: the agent leaves or joins the conversation; while it is gone, runs post nothing and give it no turn. */
export async function setLeft(call: Call, id: string, left: boolean): Promise<SessionView> {
  await changeHead(call, id, (head) => ({ ...head, left }))
  return await viewSession(call, id)
}

async function changeHead(
  call: Call,
  id: string,
  change: (head: Head) => Head,
  more: () => Promise<Op[]> = async () => [],
): Promise<FoundSession> {
  return await retrying(async () => {
    const found = await openSession(call, id)
    await commit(call.world, [
      putHead(call.world, change(found.head.item), found.head.version, call.now),
      ...(await more()),
    ])
    return found
  })
}

/**
 * Archives a conversation: what fires in it and what it made ends, and what waits in it is dropped, before this answers. What
 * is created at the same moment finds the head changed, looks again and is refused.
 */
export async function archiveSession(call: Call, id: string): Promise<SessionView> {
  await close(call, id, (head) => ({ ...head, archivedAt: head.archivedAt ?? call.now, closing: true }))
  return await viewSession(call, id)
}

export async function deleteSession(call: Call, id: string): Promise<void> {
  await close(call, id, (head) => ({ ...head, deletedAt: call.now, closing: true }))
}

async function close(call: Call, id: string, change: (head: Head) => Head): Promise<void> {
  const { world, now } = call
  const conv = await retrying(async () => {
    const found = await sessionFor(call, id)
    const { row, head } = found
    if (row.item.compactedInto !== null) assertOpen(found)
    const next = change(head.item)
    // Archived already: only what a crash left over is still to be done.
    if (head.item.archivedAt !== null && next.deletedAt === null) return head.item.conv
    await commit(world, [
      putHead(world, next, head.version, now),
      next.deletedAt === null
        ? putSession({ ...row.item, archived: true, title: head.item.title }, row.version)
        : { delete: keys.session(id), expect: row.version },
      ...(await forgetMain(call, found)),
    ])
    return head.item.conv
  })
  await closeConversation(world, conv, now)
}

/** The agent's next main session that is open takes the place of the one that closes. */
async function forgetMain(call: Call, closing: FoundSession): Promise<Op[]> {
  const id = closing.row.item.id
  if (closing.agent.mainSession !== id) return []
  const stored = await agentFor(call, closing.agent.id)
  const open = await call.world.table.find('sessionsByAgent', closing.agent.id, { limit: 100 })
  const rows = await readAll<SessionRow>(
    call.world,
    open.items.map((found) => found.key),
  )
  const heads = await readAll<Head>(
    call.world,
    rows.flatMap((row) => (row === null || row.item.id === id ? [] : [keys.head(row.item.conv)])),
  )
  const next = heads.find((head) => head?.item.main && !isGone(head.item))
  return [putAgent({ ...stored.item, mainSession: next?.item.session ?? null }, stored.version)]
}

/** S0-58, S0-59: the conversation gets a new session. What hangs on it hangs on the conversation, so that nothing moves. */
export async function compactSession(call: Call, id: string): Promise<SessionView> {
  const { world, now } = call
  const next = call.newId('ses')
  return await retrying(async () => {
    if (call.repeatable && (await read(world, keys.session(next))) !== null) return await viewSession(call, next)
    const { row, head, agent } = await openSession(call, id)
    const after: Head = { ...head.item, session: next, compacting: false }
    const main: Op[] = []
    if (agent.mainSession === id) {
      const stored = await agentFor(call, agent.id)
      main.push(putAgent({ ...stored.item, mainSession: next }, stored.version))
    }
    await commit(world, [
      putHead(world, after, head.version, now),
      putSession({ ...row.item, compactedInto: next, archived: true, title: head.item.title }, row.version),
      putSession({ ...rowOf(after), createdAt: now }, 'absent'),
      ...main,
    ])
    await hint(world, () => world.bell.close(id))
    return await viewSession(call, next)
  })
}

/** A new conversation that begins like this one; nothing is copied, nothing that wakes is inherited. */
export async function forkSession(call: Call, id: string): Promise<SessionView> {
  const { world, now } = call
  const session = call.newId('ses')
  return await retrying(async () => {
    if (call.repeatable && (await read(world, keys.session(session))) !== null) return await viewSession(call, session)
    const { head, agent } = await openSession(call, id)
    await assertAgentSessions(call)
    const { title, main, parent, project, mode, permission } = head.item
    const fork = newHead({ session, agent, title, main, parent, forkedFrom: id, project, mode, permission, now })
    // S3-45: a session that was split off inherits no planner that runs.
    const quiet = parked(fork, 'fork', (await todayOf(world, fork.owner, now)).day, now)
    await commit(world, [putHead(world, quiet.head, 'absent', now), putSession(rowOf(fork), 'absent')])
    return await viewSession(call, session)
  })
}
