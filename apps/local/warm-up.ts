import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { openIds } from '../../shared/adapters/ids.ts'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import { createAgent, personOps } from '../../shared/engine/agents.ts'
import type { Call } from '../../shared/engine/call.ts'
import { drainWakes } from '../../shared/engine/drain.ts'
import { createSchedule } from '../../shared/engine/schedules.ts'
import { createSession } from '../../shared/engine/sessions.ts'
import { commit } from '../../shared/engine/store.ts'
import { loadNow } from '../../shared/ports/later.ts'
import { noMeter } from '../../shared/ports/meter.ts'
import type { World } from '../../shared/ports/world.ts'
import { formatInstant } from '../../shared/time/index.ts'

/** As many as one look at a herd takes. */
const perRound = 500
const perSession = 20
const rounds = 12

/**
 * Runs a few herds through the engine, on a store that is thrown away.
 *
 * JavaScript runs slow until it has run often: the first herd after a start took nearly twice as long as the second. The one at eight
 * in the morning should not be the one that pays for that. Gives way to other work every few milliseconds.
 *
 * @param live  the node's own world, of which only what does nothing is borrowed
 */
export async function warmUp(live: World, signal: AbortSignal): Promise<void> {
  await loadNow()
  const at = live.clock.now()
  // A file, so that what writes to disk has run often too.
  const dir = mkdtempSync(join(tmpdir(), 'rouse-warm-'))
  const table = openTable({ file: join(dir, 'rouse.db'), clock: live.clock })
  const bell = openBell()
  const ids = openIds()
  const world: World = {
    ...live,
    table,
    bell,
    ears: bell,
    alarms: { set: async () => {} },
    ids,
    log: () => {},
    meter: noMeter,
    shards: 1,
    streamed: false,
    flowsApart: false,
    proactive: false,
  }
  const person = { id: `per_${ids.ulid(at)}`, name: 'nobody', tz: 'UTC', admin: true, createdAt: at }
  const call: Call = {
    world,
    caller: { kind: 'person', key: 'key_none', person: person.id, admin: true },
    now: at,
    session: null,
    turn: null,
    newId: (prefix) => `${prefix}_${ids.ulid(at)}`,
    repeatable: false,
  }
  try {
    await commit(world, personOps(person, `key_${ids.ulid(at)}`, 'none'))
    const agent = await createAgent(call, { name: 'Nobody' })
    for (let round = 1; round <= rounds && !signal.aborted; round++) {
      const due = at + round * 1000
      for (let made = 0; made < perRound && !signal.aborted; made += perSession) {
        const session = (await createSession(call, { agent: agent.id })).row.id
        for (let i = 0; i < perSession; i++)
          await createSchedule(call, { name: 'Nothing', session, prompt: 'Nothing.', at: formatInstant(due) })
        await turn()
      }
      await drainWakes(world, due)
      await turn()
    }
  } finally {
    bell.closeAll()
    await table.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
