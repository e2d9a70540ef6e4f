import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commit, machine } from './machine.ts'
import { markdown, terminalTable, withMonths } from './report.ts'
import { fullRuns, keepRun, type MeasuredRow } from './results.ts'
import type { Row } from './row.ts'
import { cel } from './rows/cel.ts'
import { change } from './rows/change.ts'
import { cold } from './rows/cold.ts'
import { cost } from './rows/cost.ts'
import { create } from './rows/create.ts'
import { drain } from './rows/drain.ts'
import { flows } from './rows/flows.ts'
import { herd } from './rows/herd.ts'
import { idle } from './rows/idle.ts'
import { lateness } from './rows/lateness.ts'
import { sweep } from './rows/sweep.ts'
import { rows as timeRows } from './rows/time.ts'
import { quick } from './sizes.ts'
import { stopEverything, stopOnSignals } from './started.ts'

const USAGE = 'npm run bench [-- row-id … --quick]'
const rows: Row[] = [...timeRows, cel, drain, change, flows, create, idle, sweep, lateness, herd, cold, cost]

const asked = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const unknown = [
  ...asked.filter((id) => !rows.some((row) => row.id === id)),
  ...process.argv.slice(2).filter((arg) => arg.startsWith('--') && arg !== '--quick'),
]
if (unknown.length > 0) {
  console.error(`${USAGE}\nexpected rows of ${rows.map(({ id }) => id).join(', ')}; got ${unknown.join(', ')}`)
  process.exit(2)
}

stopOnSignals()
const at = new Date().toISOString()
const where = machine()
const measured: MeasuredRow[] = []
for (const row of rows.filter(({ id }) => asked.length === 0 || asked.includes(id))) {
  console.error(`${row.id}: measuring …`)
  const next = await measuredRow(row)
  console.error(`${row.id}: ${next.result?.summary ?? `did not run: ${next.failure}`}`)
  measured.push(next)
}
console.log(terminalTable(measured))

const kept = keepRun({ at, commit: commit(), quick, machine: where, rows: measured })
console.log(`kept in ${relative(process.cwd(), kept)}`)
if (quick) console.log('a quick run: docs/benchmarks.md stays as it is')
else writeDocs()
process.exit(measured.some(({ result }) => result === null) ? 1 : 0)

/** A row that fails leaves the others their turn; its reason is part of the result. */
async function measuredRow(row: Row): Promise<MeasuredRow> {
  const { id, what, peer, gate, aim } = row
  const named = { id, what, peer, gate, aim }
  try {
    return { ...named, result: await row.measure(), failure: null }
  } catch (error) {
    return { ...named, result: null, failure: error instanceof Error ? error.message : String(error) }
  } finally {
    await stopEverything()
  }
}

function writeDocs(): void {
  const file = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))
  mkdirSync(fileURLToPath(new URL('../docs/', import.meta.url)), { recursive: true })
  writeFileSync(file, markdown(rows, fullRuns()))
  console.log(`written ${relative(process.cwd(), file)}`)
  const months = measured.find(({ id }) => id === 'cost')?.result?.readme
  if (months === undefined) return
  const readme = fileURLToPath(new URL('../README.md', import.meta.url))
  writeFileSync(readme, withMonths(readFileSync(readme, 'utf8'), months))
  console.log('written README.md')
}
