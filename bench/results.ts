import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from './machine.ts'
import type { RowResult } from './row.ts'

const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

/** One run of the bench. Written by main.ts, read by report.ts; deleted by nobody. */
export interface Run {
  at: string
  commit: string
  quick: boolean
  machine: Machine
  rows: MeasuredRow[]
}

export interface MeasuredRow {
  id: string
  what: string
  peer: string
  gate: string
  aim: string | null
  /** null: the row did not run, `failure` says why */
  result: RowResult | null
  failure: string | null
}

/** Keeps the run as bench/results/<date>-<commit>.json; answers the file's path. */
export function keepRun(run: Run): string {
  mkdirSync(RESULTS, { recursive: true })
  // To the second: two runs of one day on one commit are two runs.
  const file = join(RESULTS, `${run.at.slice(0, 19).replaceAll(':', '')}-${run.commit}.json`)
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`)
  return file
}

/** Every full run, newest first. Quick ones are kept but prove only that a row runs. */
export function fullRuns(): Run[] {
  mkdirSync(RESULTS, { recursive: true })
  return readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(RESULTS, name), 'utf8')) as Run)
    .filter((run) => !run.quick)
    .sort((a, b) => b.at.localeCompare(a.at))
}
