import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNode } from '../../apps/local/node.ts'
import type { Caller } from '../../shared/domain/access.ts'
import { createAgent, personOps } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { drain } from '../../shared/engine/drain.ts'
import { loadSchedules } from '../../shared/engine/load.ts'
import { putCursor } from '../../shared/engine/rows.ts'
import { createSchedule } from '../../shared/engine/schedules.ts'
import { commit, putDefinition } from '../../shared/engine/store.ts'
import { formatInstant, type Spec } from '../../shared/time/index.ts'
import { median, quantile } from '../figures.ts'
import { sayToParent, scriptOptions } from '../inside.ts'

/** What this process prints, on one line; ms. */
export interface OurSwept {
  readonly nothingDue: number
  readonly someDue: number
  readonly slowest: number
}

export interface OurSweepOptions {
  /** Schedules that are armed, a year away. */
  readonly armed: number
  /** How many more are due at each sweep. */
  readonly due: number
  readonly sweeps: number
}

const { armed, due, sweeps } = scriptOptions<OurSweepOptions>()
const start = Date.UTC(2026, 10, 30, 12)
const minute = 60_000
const farOff = start + 365 * 86_400_000

const dir = mkdtempSync(join(tmpdir(), 'rouse-bench-sweep-'))
const node = openNode({ dir, standingAt: start, log: (level, what) => console.error(level, what) })
try {
  const { world } = node
  const person = { id: `per_${world.ids.ulid(start)}`, name: 'Ann', tz: 'UTC', admin: true, createdAt: start }
  await world.table.commit(personOps(person, `key_${world.ids.ulid(start)}`, 'sha'), 'person')
  const caller: Caller = { kind: 'person', key: 'key', person: person.id, admin: true }
  const call: Call = {
    world,
    caller,
    now: start,
    session: null,
    turn: null,
    newId: (prefix) => `${prefix}_${world.ids.ulid(start)}`,
    repeatable: false,
  }
  const { id: agent } = await createAgent(call, { name: 'scout' })
  const pattern = await createSchedule(call, {
    name: 'Review',
    prompt: 'Look.',
    agent,
    at: formatInstant(farOff),
  })
  const [loaded] = await loadSchedules(world, [pattern.cursor.item.id])
  if (loaded == null) throw new Error('expected the schedule that was made, got none')

  /** As many like it, due at so many moments. */
  const arm = async (ats: readonly number[]): Promise<void> => {
    for (let from = 0; from < ats.length; from += 50 * 64)
      await Promise.all(
        Array.from({ length: 64 }, (_, n) => ats.slice(from + n * 50, from + (n + 1) * 50))
          .filter((few) => few.length > 0)
          .map((few) =>
            commit(
              world,
              few.flatMap((at) => {
                const id = call.newId('sch')
                const spec: Spec = { kind: 'at', at: formatInstant(at), tz: 'UTC' }
                return [
                  putCursor(world, { ...loaded.cursor.item, id, dueAt: at, nextAt: at }, 'absent', start),
                  putDefinition({ ...loaded.definition, id, spec }),
                ]
              }),
            ),
          ),
      )
  }
  await arm(Array.from({ length: armed }, () => farOff))
  await arm(Array.from({ length: due * sweeps }, (_, i) => start + (1 + Math.floor(i / due)) * minute))
  await node.table.flush()

  const idle: number[] = []
  const busy: number[] = []
  for (let n = 0; n < sweeps; n += 1) {
    const at = start + (n + 1) * minute
    const began = performance.now()
    const looked = await drain(world, at)
    busy.push(performance.now() - began)
    if (looked !== due) throw new Error(`expected a sweep to look at ${due}, got ${looked}`)
    const again = performance.now()
    await drain(world, at)
    idle.push(performance.now() - again)
  }
  // The first ones load what they need.
  const warm = (all: readonly number[]) => all.slice(Math.min(3, all.length - 1))
  sayToParent({
    nothingDue: median(warm(idle)),
    someDue: median(warm(busy)),
    slowest: quantile(warm(busy), 1),
  } satisfies OurSwept)
} finally {
  await node.close()
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
