import { canUseSchedule } from '../domain/access.ts'
import { isId } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { decideLook, type Monitor, monitorFault, nextRunOf, statusOf } from '../domain/monitor.ts'
import type { Asked, MonitorInput } from '../domain/monitor-define.ts'
import { notFound, Refused } from '../domain/refused.ts'
import { type Head, type Links, noLinks } from '../domain/session.ts'
import { onlyReadsDocuments } from '../domain/tool.ts'
import { later } from '../ports/later.ts'
import type { Op, Stored } from '../ports/table.ts'
import { type Call, retrying } from './call.ts'
import { documentUnchanged, pathFault, readDocument } from './document-state.ts'
import { hint } from './fire.ts'
import { lookAlone, toolChanged } from './monitor-look.ts'
import { originOf } from './monitor-origin.ts'
import { overOps, pointerOf, putMonitor, readMonitor, readMonitors } from './monitor-rows.ts'
import { assertOpen, openSession, principal, touched } from './reach.ts'
import { type Agent, commit, headUnchanged, keys, putLinks, read } from './store.ts'
import { argsFaults } from './tool-args.ts'
import { readTool } from './tool-rows.ts'

export type { MonitorInput } from '../domain/monitor-define.ts'

const defines = later(() => import('../domain/monitor-define.ts'))
const sights = later(() => import('./monitor-sight.ts'))

/** A monitor as it is shown, with the session that stands for its conversation now. */
export interface MonitorView {
  readonly monitor: Monitor
  /** Null: its conversation is gone. */
  readonly session: string | null
}

/**
 * Arms a monitor. A condition on a document that is true already fires at once, before this answers.
 *
 * The commit that makes the monitor findable checks that the document has not changed since it was read, and whoever changes it later looks
 * for monitors after their own commit: so that a change is seen by one of the two.
 *
 * @throws Refused `monitor_limit`, `monitor_depth`, `hop_limit`, `approval_needed`; then `monitor_invalid`, `monitor_tool_not_readonly`
 */
export async function armMonitor(call: Call, input: MonitorInput): Promise<Monitor> {
  const { world, now } = call
  const target = input.session ?? call.session
  if (target === null)
    throw monitorFault(
      'session',
      'expected the session that the monitor wakes: name it, or act in one (X-Rouse-Session)',
    )
  const id = call.newId('mon')
  const armed = await retrying(async () => {
    const found = await openSession(call, target)
    assertOpen(found)
    const { conv } = found.head.item
    if (call.repeatable && (await readMonitor(world, id)) !== null) return null
    const links = await read<Links>(world, keys.links(conv))
    const kept = await roomIn(call, links?.item ?? noLinks)
    const origin = await originOf(call, found.head)
    const asked = (await defines()).readMonitor(input, now)
    const draft: Monitor = {
      id,
      conv,
      agent: found.agent.id,
      owner: found.agent.owner,
      principal: principal(call),
      makerAgent: call.caller.kind === 'agent' ? call.caller.agent : null,
      madeIn: origin.session,
      reach: origin.reach,
      note: input.note,
      ...asked,
      status: 'armed',
      reason: null,
      armedAt: now,
      nextLookAt: asked.expiresAt,
      failures: 0,
      error: null,
      before: null,
      mark: null,
      message: null,
      endedAt: null,
    }
    const { monitor, checks } = await firstLook(call, draft, found.agent)
    const counted = await origin.counted(input.note)
    const pointed = pointerOf(monitor)
    await commit(world, [
      putMonitor(world, monitor, 'absent', now),
      ...(pointed === null ? [] : [{ put: pointed, item: {}, expect: 'any', ttl: ttlOf(asked) } as const]),
      putLinks(keys.links(conv), { ...(links?.item ?? noLinks), monitors: [...kept, id] }, links?.version ?? 'absent'),
      ...headOps(found.head, counted),
      ...checks,
    ])
    return monitor
  })
  if (armed !== null) await follow(call, armed)
  return (await readMonitor(world, id))!.item
}

/** Decision 28: armed ones count, whatever else still stands in the list. */
async function roomIn(call: Call, { monitors = [] }: Links): Promise<readonly string[]> {
  if (monitors.length < limits.monitorsPerSession) return monitors
  const rows = await readMonitors(call.world, monitors)
  const live = rows.flatMap((row) => (row !== null && statusOf(row.item, call.now) === 'armed' ? [row.item.id] : []))
  if (live.length >= limits.monitorsPerSession)
    throw new Refused(
      'monitor_limit',
      `at most ${limits.monitorsPerSession} monitors may be armed for one session; cancel one that is no longer needed (GET /v1/monitors?session=…)`,
    )
  return live
}

/** The target's head must still be open, unless one of the writes is to that very head. */
const headOps = (target: Stored<Head>, counted: readonly Op[]): Op[] =>
  counted.some((op) => 'put' in op && op.put[0] === target.key[0]) ? [...counted] : [headUnchanged(target), ...counted]

/** A pointer that a crash left behind goes some time after the monitor could have found anything. */
const ttlOf = ({ expiresAt }: Asked): number => Math.ceil((expiresAt + limits.monitorExpiryMsMax) / 1000)

/** The monitor as it is stored, and what must still hold then. @throws Refused */
async function firstLook(
  call: Call,
  draft: Monitor,
  agent: Agent,
): Promise<{ readonly monitor: Monitor; readonly checks: readonly Op[] }> {
  const { world, now } = call
  const { watch } = draft
  switch (watch.kind) {
    case 'time':
      return { monitor: { ...draft, nextLookAt: watch.at }, checks: [] }
    case 'tool': {
      const hash = await hashOf(call, agent, watch)
      const nextLookAt = nextRunOf(draft, watch.everyMs, now)
      return { monitor: { ...draft, watch: { ...watch, hash }, nextLookAt }, checks: [] }
    }
    case 'document': {
      const fault = pathFault(watch.path)
      if (fault !== null) throw monitorFault('watch.document.path', fault)
      const state = await readDocument(world, draft.principal, watch.path)
      const { documentSight } = await sights()
      const { found } = await documentSight(world, state, now)(draft)
      const decision = decideLook(draft, found, now)
      const looked = decision.kind === 'keep' ? decision.monitor : draft
      // True already: it is due from now on, so that a crash before it fires loses nothing.
      const monitor = decision.kind === 'fire' ? { ...draft, nextLookAt: now } : { ...looked, mark: state.mark }
      return { monitor, checks: [documentUnchanged(state)] }
    }
  }
}

/** @throws Refused `monitor_invalid`, `monitor_tool_not_readonly` */
async function hashOf(call: Call, agent: Agent, watch: Extract<Monitor['watch'], { kind: 'tool' }>): Promise<string> {
  const tool = await readTool(call.world, agent.id, watch.name)
  if (tool === null)
    throw monitorFault(
      'watch.tool.name',
      `agent ${agent.id} has no tool "${watch.name.slice(0, 64)}": register it first`,
    )
  if (!tool.readOnly)
    throw new Refused(
      'monitor_tool_not_readonly',
      `tool ${tool.name} may change something, and a watched tool is run again and again: only one registered with readOnly: true may be watched`,
      [{ path: 'watch.tool.name', message: 'is not read-only' }],
    )
  if (onlyReadsDocuments(tool))
    throw monitorFault(
      'watch.tool',
      `tool ${tool.name} only reads a document: watch it with {"document": {"path": …}}, which costs no polling and wakes within a second`,
    )
  const [fault] = await argsFaults(tool, watch.args)
  if (fault !== undefined)
    throw monitorFault(fault.path === '' ? 'watch.tool.args' : `watch.tool.args.${fault.path}`, fault.message)
  return tool.hash
}

/** What comes after the commit: what is true already, a tool that was changed meanwhile, the alarm. */
async function follow(call: Call, monitor: Monitor): Promise<void> {
  const { world, now } = call
  const { id, agent, watch, nextLookAt } = monitor
  if (watch.kind === 'document' && nextLookAt === now) {
    const state = await readDocument(world, monitor.principal, watch.path)
    const { documentSight } = await sights()
    return await lookAlone(world, id, documentSight(world, state, now), now)
  }
  // An expiry is nobody's hurry: the sweep writes it.
  if (watch.kind === 'document') return
  await hint(world, () => world.alarms.set({ kind: 'monitor', id }, nextLookAt!))
  if (watch.kind !== 'tool') return
  const tool = await readTool(world, agent, watch.name)
  if (tool?.hash !== watch.hash) await toolChanged(world, agent, watch.name, tool?.hash ?? null, now)
}

/** A monitor that the caller may see. @throws Refused `not_found` */
export async function monitorFor(call: Call, id: string): Promise<Stored<Monitor>> {
  const stored = isId('mon', id) ? await readMonitor(call.world, id) : null
  const agent = stored === null ? null : await read<Agent>(call.world, keys.agent(stored.item.agent))
  if (stored === null || agent === null || !maySee(call, stored.item, agent.item)) throw notFound('monitor', id)
  return touched(call, agent.item, stored)
}

/** As schedules: who can talk to the agent, and who asked for it. */
export const maySee = ({ caller }: Call, monitor: Monitor, agent: Agent): boolean =>
  canUseSchedule(caller, agent, { createdBy: monitor.principal, makerAgent: monitor.makerAgent })

export async function viewMonitor(call: Call, id: string): Promise<MonitorView> {
  const { item: monitor } = await monitorFor(call, id)
  const head = await read<Head>(call.world, keys.head(monitor.conv))
  return { monitor, session: head?.item.session ?? null }
}

/** S4-46 to S4-49: it is over at once, fires no more and frees its place. @throws Refused `not_found`, also for one that is over */
export async function cancelMonitor(call: Call, id: string): Promise<void> {
  await retrying(async () => {
    const stored = await monitorFor(call, id)
    const status = statusOf(stored.item, call.now)
    if (status !== 'armed')
      throw new Refused('not_found', `monitor ${id} is ${status}: there is nothing to cancel any more`)
    await commit(call.world, overOps(call.world, stored, call.now, 'cancelled'))
  })
}
