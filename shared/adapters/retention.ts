import { limits } from '../domain/limits.ts'
import type { Key, Op, Table } from '../ports/table.ts'
import { parseDuration } from '../time/index.ts'

/** How long what has ended is kept, in ms: decision 37, unless the deployment says otherwise. */
export interface Retention {
  /** Runs, messages, turns, jobs, flow runs, and schedules and conversations that were deleted. */
  readonly ledgerMs: number
  readonly tracesMs: number
  readonly auditMs: number
}

const usual: Retention = { ledgerMs: limits.retentionMs, tracesMs: limits.traceMs, auditMs: limits.auditMs }
const leastMs = 10 * 60_000
const mostMs = 100 * 365 * 86_400_000
/** A delivery is tried for about two days: its item must outlive its last try. */
const deliveryMsMin = 3 * 86_400_000
/** A job waits for a worker, and is then worked on: its item, which counts from when it was made, must outlive both. */
const jobMsMin = limits.jobWaitMs + 3_600_000

/**
 * Reads ROUSE_RETENTION (90d unless set), ROUSE_RETENTION_TRACES (30d) and ROUSE_RETENTION_AUDIT (365d).
 *
 * @throws Error naming the variable that is no duration from 10 minutes to 100 years
 */
export function retentionFromEnv(env: Readonly<Record<string, string | undefined>>): Retention {
  const read = (name: string, unset: number): number => {
    const text = env[name]
    if (text === undefined || text === '') return unset
    const ms = parseDuration(text)
    if (ms !== null && ms >= leastMs && ms <= mostMs) return ms
    throw new Error(`${name}: expected a duration from 10m to 36500d, such as 90d, got "${text}"`)
  }
  return {
    ledgerMs: read('ROUSE_RETENTION', usual.ledgerMs),
    tracesMs: read('ROUSE_RETENTION_TRACES', usual.tracesMs),
    auditMs: read('ROUSE_RETENTION_AUDIT', usual.auditMs),
  }
}

/**
 * The engine writes items that expire after the usual time; here that moment moves to where the deployment wants it. What has expired by an
 * earlier setting stays so: a change holds for what is written from then on.
 */
export function retained(table: Table, retention: Retention): Table {
  if (Object.entries(usual).every(([name, ms]) => retention[name as keyof Retention] === ms)) return table
  const seconds = (ms: number) => Math.round(ms / 1000)
  const moved = (op: Op): Op => {
    if ((!('put' in op) && !('patch' in op)) || op.ttl === undefined) return op
    const by = moveMs('put' in op ? op.put : op.patch, retention)
    return by === 0 ? op : { ...op, ttl: op.ttl + seconds(by) }
  }
  return {
    get: (keys) => table.get(keys),
    list: (pk, range) => table.list(pk, range),
    find: (index, pk, range) => table.find(index, pk, range),
    commit: (ops, token) => table.commit(ops.map(moved), token),
  }
}

/**
 * Only what is the ledger's, the traces' or the trail's moves. What a limit of a day counts by, what an idempotency key or a trigger
 * remembers, and cards keep their own time.
 */
function moveMs([pk, sk]: Key, { ledgerMs, tracesMs, auditMs }: Retention): number {
  const ledger = ledgerMs - usual.ledgerMs
  switch (`${pk.slice(0, 2)}${sk.slice(0, 1)}`) {
    case 'S#R':
    case 'S#K':
    case 'S#D':
    case 'S#A':
    case 'C#M':
    case 'C#A':
    case 'X#A':
    case 'T#A':
    case 'Q#A':
    case 'Q#S':
      return ledger
    case 'J#A':
    case 'A#J':
      return Math.max(ledgerMs, jobMsMin) - usual.ledgerMs
    case 'S#V':
      return Math.max(ledgerMs, deliveryMsMin) - usual.ledgerMs
  }
  if (pk.startsWith('R#') || pk.startsWith('F#')) return tracesMs - usual.tracesMs
  return pk.startsWith('U#') ? auditMs - usual.auditMs : 0
}
