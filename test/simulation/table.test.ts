import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openIds } from '../../shared/adapters/ids.ts'
import { openAlarms } from '../../shared/adapters/sqlite/alarms.ts'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openSecrets } from '../../shared/adapters/sqlite/secrets.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import type { Envelope } from '../../shared/ports/world.ts'
import { conformance, type Pieces } from '../conformance/suite.ts'
import { MemoryTable } from './table.ts'

conformance('the table of simulated worlds', pieces)

async function pieces(): Promise<Pieces> {
  const folder = mkdtempSync(join(tmpdir(), 'rouse-simulation-'))
  const clock = { now: () => Date.now() }
  const table = new MemoryTable(clock.now, 1)
  // The embedded node's alarms follow a table of its kind.
  const own = openTable({ file: ':memory:', clock })
  const bell = openBell()
  let called: (now: number) => void = () => {}
  const alarms = openAlarms({ table: own, clock, shards: 1, due: async (now) => called(now) })
  alarms.start()
  return {
    table,
    bell,
    alarms,
    secrets: openSecrets(join(folder, 'secrets.json')),
    clock,
    ids: openIds(),
    catchUp: () => table.catchUp(),
    hear(queue) {
      const heard: Envelope[] = []
      let wake = () => {}
      bell.onRing((rung, envelope) => {
        if (rung !== queue) return
        heard.push(envelope)
        wake()
      })
      return {
        async next() {
          if (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve))
          return heard.shift()!
        },
      }
    },
    nextAlarm: () => new Promise((resolve) => (called = resolve)),
    async close() {
      await alarms.stop()
      bell.closeAll()
      await own.close()
      rmSync(folder, { recursive: true })
    },
  }
}
