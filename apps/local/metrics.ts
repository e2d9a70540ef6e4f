import type { Counts } from '../../shared/adapters/counts.ts'
import { type Operation, operation } from '../../shared/api/operation.ts'
import { nextDue } from '../../shared/engine/drain.ts'
import { assertAdmin } from '../../shared/engine/reach.ts'
import type { World } from '../../shared/ports/world.ts'

/** `GET /metrics`: what a Prometheus scrapes. Its numbers are about everybody, so it takes an admin's key. */
export function metricsOperation(world: World, counts: Counts): Operation {
  const startedAt = Date.now() / 1000
  return operation({
    name: 'readMetrics',
    method: 'get',
    path: '/metrics',
    summary: "Read the node's counters, in the text format of Prometheus",
    tag: 'Metrics',
    run: async (call) => {
      assertAdmin(call, 'read metrics')
      const text = `${counts.text()}${await gauges(world, startedAt)}`
      return { status: 200, body: null, text, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } }
    },
  })
}

/** How things stand now, read when somebody asks: the process, and the oldest of what is due and not done. */
async function gauges(world: World, startedAt: number): Promise<string> {
  const next = await nextDue(world)
  const overdueMs = next === null ? 0 : Math.max(0, world.clock.now() - next)
  const cpu = process.cpuUsage()
  const values = [
    ['rouse_overdue_seconds', 'gauge', 'Age of the oldest thing that is due and not done', overdueMs / 1000],
    ['process_start_time_seconds', 'gauge', 'When the process started, Unix time', startedAt],
    ['process_cpu_seconds_total', 'counter', 'CPU time used', (cpu.user + cpu.system) / 1e6],
    ['process_resident_memory_bytes', 'gauge', 'Memory in use', process.memoryUsage.rss()],
  ] as const
  return values
    .map(([name, type, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join('')
}
