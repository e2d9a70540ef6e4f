import { type Monitor, statusOf } from '../domain/monitor.ts'
import type { Call } from '../engine/call.ts'
import { listMonitors } from '../engine/monitor-list.ts'
import { armMonitor, cancelMonitor, type MonitorView, viewMonitor } from '../engine/monitors.ts'
import { principal } from '../engine/reach.ts'
import { formatInstant } from '../time/index.ts'
import { cursorIn, idShape, list } from './cursors.ts'
import { created, noContent, ok, operation } from './operation.ts'
import { monitorCreate, monitorFilter } from './schemas-monitors.ts'

const tag = 'Monitors'

export const monitorOperations = [
  operation({
    name: 'createMonitor',
    method: 'post',
    path: '/v1/monitors',
    summary: 'Wait for a document, a time or a tool: one message with your note when it comes, instead of polling',
    tag,
    body: monitorCreate,
    statuses: [201],
    creates: true,
    run: async (call, { body }) => {
      const { id } = await armMonitor(call, body)
      return created(shown(call, await viewMonitor(call, id)))
    },
  }),
  operation({
    name: 'listMonitors',
    method: 'get',
    path: '/v1/monitors',
    summary: 'List the monitors that the caller may see, newest first',
    tag,
    query: monitorFilter,
    run: async (call, { query }) => {
      const { limit, cursor, agent, session, status } = query
      const filter = { agent: agent ?? null, session: session ?? null, status: status ?? null }
      const { items, next } = await listMonitors(call, filter, { limit, before: cursorIn(cursor, idShape) })
      return ok(
        list(
          items.map((view) => shown(call, view)),
          next,
        ),
      )
    },
  }),
  operation({
    name: 'getMonitor',
    method: 'get',
    path: '/v1/monitors/{id}',
    summary: 'Read a monitor: what it waits for, and what became of it',
    tag,
    run: async (call, { params }) => ok(shown(call, await viewMonitor(call, params.id!))),
  }),
  operation({
    name: 'cancelMonitor',
    method: 'delete',
    path: '/v1/monitors/{id}',
    summary: 'Cancel an armed monitor: it is over at once, never fires and frees its place',
    tag,
    statuses: [204],
    run: async (call, { params }) => {
      await cancelMonitor(call, params.id!)
      return noContent
    },
  }),
]

const instant = (at: number | null): string | null => (at === null ? null : formatInstant(at))

function shown(call: Call, { monitor, session }: MonitorView) {
  const status = statusOf(monitor, call.now)
  return {
    id: monitor.id,
    status,
    reason: monitor.reason,
    session,
    agent: monitor.agent,
    note: monitor.note,
    watch: watched(monitor),
    when: monitor.when,
    depth: monitor.reach.depth,
    createdBy: monitor.principal,
    createdIn: monitor.madeIn,
    armedAt: formatInstant(monitor.armedAt),
    expiresAt: formatInstant(monitor.expiresAt),
    nextLookAt: status === 'armed' ? instant(monitor.nextLookAt) : null,
    failures: monitor.failures,
    found: status === 'armed' && monitor.principal === principal(call) ? monitor.before : null,
    error: monitor.error,
    firedAt: status === 'fired' ? instant(monitor.endedAt) : null,
    endedAt: status === 'expired' ? formatInstant(monitor.endedAt ?? monitor.expiresAt) : instant(monitor.endedAt),
    message: monitor.message,
  }
}

function watched({ watch }: Monitor) {
  switch (watch.kind) {
    case 'document':
      return { document: { path: watch.path } }
    case 'time':
      return { time: { at: formatInstant(watch.at) } }
    case 'tool':
      return { tool: { name: watch.name, args: watch.args, every: watch.everyMs / 60_000 } }
  }
}
