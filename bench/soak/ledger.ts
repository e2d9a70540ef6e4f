import type { OurNode } from '../ours/node.ts'
import { each } from './armed.ts'
import type { Seen } from './worker.ts'

/** What was expected, and what became of it. All but the first four should be 0. */
export interface Counts {
  schedules: number
  /** Nominal times up to the end, over all schedules. */
  expected: number
  /** Of these, handed out by a claim. */
  claimed: number
  /** Rows read from the ledgers at the end: those that retention has left. */
  rows: number
  /** Nominal times of the last minutes without a row, with two, or with a row that is not fired and ended ok. */
  rowsMissing: number
  rowsDoubled: number
  rowsOther: number
  /** Rows that had outlived their retention by more than the walk that deletes them takes. */
  rowsOverdue: number
}

interface RunRow {
  nominalAt: string
  outcome: string
  result: string | null
}

/** Rows younger than this must be there; older ones may have gone. */
const surelyKept = 0.8

export async function ledgerOf(
  node: OurNode,
  o: {
    schedules: readonly string[]
    seen: Seen['seen']
    everyMs: number
    from: number
    until: number
    retention: string
  },
): Promise<Counts> {
  const { schedules, everyMs, from, until } = o
  const counts: Counts = {
    schedules: schedules.length,
    expected: 0,
    claimed: 0,
    rows: 0,
    rowsMissing: 0,
    rowsDoubled: 0,
    rowsOther: 0,
    rowsOverdue: 0,
  }
  const seen = new Map(o.seen.map(([id, first, last, count]) => [id, { first, last, count }]))
  const retentionMs = Number.parseFloat(o.retention) * 60_000
  await each(schedules.length, async (nth) => {
    const first = from + Math.floor((nth * everyMs) / schedules.length)
    const last = first + Math.floor((until - first) / everyMs) * everyMs
    counts.expected += (last - first) / everyMs + 1
    const got = seen.get(schedules[nth]!)
    // The worker has gone on since: what came after the end is no part of it.
    if (got !== undefined && got.first === first) counts.claimed += got.count - Math.max(0, (got.last - last) / everyMs)
    const rows = await runsOf(node, schedules[nth]!)
    counts.rows += rows.length
    const times = rows.map((row) => Date.parse(row.nominalAt))
    counts.rowsDoubled += times.length - new Set(times).size
    const there = new Set(times)
    for (let at = last; at >= first && Date.now() - at < retentionMs * surelyKept; at -= everyMs)
      if (!there.has(at)) counts.rowsMissing += 1
    for (const row of rows)
      if (Date.parse(row.nominalAt) <= last && (row.outcome !== 'fired' || row.result !== 'ok')) counts.rowsOther += 1
    counts.rowsOverdue += times.filter((at) => Date.now() - at > 2.5 * retentionMs + everyMs).length
  })
  return counts
}

async function runsOf(node: OurNode, schedule: string): Promise<RunRow[]> {
  const answer = await fetch(`http://127.0.0.1:${node.port}/v1/schedules/${schedule}/runs?limit=100`, {
    headers: { authorization: `Bearer ${node.key}` },
  })
  if (!answer.ok) throw new Error(`the runs of ${schedule} answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { data: RunRow[] }).data
}
