import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openIds } from '../../shared/adapters/ids.ts'
import { openAlarms } from '../../shared/adapters/sqlite/alarms.ts'
import { openBell } from '../../shared/adapters/sqlite/bell.ts'
import { openSecrets } from '../../shared/adapters/sqlite/secrets.ts'
import { openTable } from '../../shared/adapters/sqlite/table.ts'
import type { Envelope } from '../../shared/ports/world.ts'
import { conformance, type Pieces } from './suite.ts'

conformance('SQLite', () => pieces({ lagIndexes: false }))
conformance('SQLite with indexes that lag', () => pieces({ lagIndexes: true }))

async function pieces({ lagIndexes }: { lagIndexes: boolean }): Promise<Pieces> {
  const folder = mkdtempSync(join(tmpdir(), 'rouse-conformance-'))
  const clock = { now: () => Date.now() }
  const table = openTable({ file: join(folder, 'rouse.db'), lagIndexes, clock })
  const bell = openBell()
  let called: (now: number) => void = () => {}
  const alarms = openAlarms({ table, clock, shards: 1, due: async (now) => called(now) })
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
      await table.close()
      rmSync(folder, { recursive: true })
    },
  }
}
