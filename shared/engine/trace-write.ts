import { createHash } from 'node:crypto'
import { bare } from '../domain/ids.ts'
import { limits } from '../domain/limits.ts'
import { counted, type Repeated, totalsOf } from '../domain/repeated.ts'
import type { Result } from '../domain/schedule.ts'
import type { Head, RunningTurn } from '../domain/session.ts'
import { bytesOf, dirtOf, fitted, pieces, type ToolCall, type Trace } from '../domain/trace.ts'
import { type IndexEntries, type Key, type Op, type Stored, tableBounds, type Version } from '../ports/table.ts'
import type { World } from '../ports/world.ts'
import { asItem, read, readAll } from './store.ts'

export const traceKey = (id: string): Key => [`R#${bare(id)}`, 'A']
const chunkKey = (id: string, chunk: number): Key => [`R#${bare(id)}`, `C#${chunk}`]
export const repeatedKey = (agent: string, fingerprint: string): Key => [`F#${bare(agent)}`, fingerprint]

/** Some of a trace's calls, in order. Written and deleted with its head. */
interface Chunk {
  readonly calls: readonly ToolCall[]
}

export type TraceInput = Omit<Trace, 'calls' | 'chunks' | 'bytes' | 'fingerprint'>

/** A trace as it will be stored. */
export interface TraceMade {
  readonly trace: Trace
  readonly calls: readonly ToolCall[]
  /** How many are kept that did the same, itself included; 0 for one that is not clean. */
  readonly repeats: number
  readonly ops: Op[]
}

/**
 * What stores a trace, and counts it among those that did the same. The commit it goes into has to read again when it loses a race: two turns
 * that did the same may end at once.
 *
 * @param beside  what else goes into that commit: the calls are cut to what it leaves
 * @param expect  of the head: another version than 'absent' writes over a trace that has gone by its retention
 */
export async function traceOps(
  world: World,
  input: TraceInput,
  calls: readonly ToolCall[],
  beside: readonly Op[] = [],
  expect: Version | 'absent' = 'absent',
): Promise<TraceMade> {
  const kept = fitted(calls, roomBeside(beside))
  const chunks = pieces(kept, bytesOf, limits.traceChunkBytesMax)
  const trace: Trace = {
    ...input,
    calls: kept.length,
    chunks: chunks.length,
    bytes: kept.reduce((sum, call) => sum + bytesOf(call), 0),
    fingerprint: kept.length === 0 || dirtOf(input, kept) !== null ? null : fingerprintOf(kept),
  }
  const repeated = await repeatedOps(world, trace)
  const ops: Op[] = [
    putTraceHead(trace, expect),
    ...chunks.map((of, i) => putTraceChunk(trace, i, of)),
    ...repeated.ops,
  ]
  return { trace, calls: kept, repeats: repeated.count, ops }
}

/** With its head a trace is there: what was written of it before, nobody sees. */
export function putTraceHead(trace: Trace, expect: Version | 'absent' | 'any'): Op {
  const index: IndexEntries = {
    tracesByAgent: [trace.agent, trace.id],
    ...(trace.project === null ? {} : { tracesByProject: [inProject(trace.agent, trace.project), trace.id] }),
  }
  return { put: traceKey(trace.id), item: asItem(trace), expect, index, ttl: ttlOf(trace) }
}

/** @param calls  the `nth` item of them, from 0; `limits.traceChunkBytesMax` at most */
export function putTraceChunk(of: Pick<Trace, 'id' | 'storedAt'>, nth: number, calls: readonly ToolCall[]): Op {
  const chunk: Chunk = { calls }
  return { put: chunkKey(of.id, nth), item: asItem(chunk), expect: 'any', ttl: ttlOf(of) }
}

/** Where the traces of one project stand. A project is a label, which two people may use for different things. */
export const inProject = (agent: string, project: string): string => `${agent}|${project}`

const ttlOf = (trace: Pick<Trace, 'storedAt'>): number => Math.ceil((trace.storedAt + limits.traceMs) / 1000)

export const isOver = (trace: Trace, now: number): boolean => trace.storedAt + limits.traceMs <= now

/** For names and marks of the adapters, and for the head. */
const spareBytes = 100_000

function roomBeside(ops: readonly Op[]): number {
  const bytes = ops.reduce(
    (sum, op) => sum + ('put' in op ? Buffer.byteLength(JSON.stringify(op.item)) : 1_000),
    spareBytes,
  )
  // The head, the count of those that did the same, and a chunk that is not full.
  const chunks = Math.max(1, tableBounds.opsPerCommit - ops.length - 3)
  const inChunks = chunks * (limits.traceChunkBytesMax - 3 * limits.toolCallBytesMax)
  return Math.min(limits.traceBytesMax, tableBounds.commitBytesMax - bytes, inChunks)
}

/** The same for the same tools with the same arguments in the same order. Whoever promotes compares them all the same. */
function fingerprintOf(calls: readonly ToolCall[]): string {
  const hash = createHash('sha256')
  for (const { tool, args } of calls) hash.update(JSON.stringify([tool, args]))
  return hash.digest('hex').slice(0, 32)
}

/** A replay costs nothing and comes from a flow already: it is not counted. */
async function repeatedOps(world: World, trace: Trace): Promise<{ readonly count: number; readonly ops: Op[] }> {
  if (trace.fingerprint === null || trace.source === 'flow') return { count: 0, ops: [] }
  const key = repeatedKey(trace.agent, trace.fingerprint)
  const stored = await read<Repeated>(world, key)
  const next = counted(stored?.item ?? null, trace, trace.fingerprint)
  const { traces, tokens } = totalsOf(next, trace.storedAt)
  const put: Op = {
    put: key,
    item: asItem(next),
    expect: stored?.version ?? 'absent',
    index: traces < 2 || next.declined === true ? {} : { suggestions: [trace.agent, Math.round(tokens)] },
    ttl: ttlOf(trace),
  }
  return { count: traces, ops: [put] }
}

/** The calls of traces that were read, in as few requests as there can be; null for one whose items are going. */
export async function callsOf(world: World, traces: readonly Trace[]): Promise<(readonly ToolCall[] | null)[]> {
  const keys = traces.map(({ id, chunks }) => Array.from({ length: chunks }, (_, i) => chunkKey(id, i)))
  const found: (Stored<Chunk> | null)[] = await readAll<Chunk>(world, keys.flat())
  return traces.map((trace, i) => {
    const calls = found.splice(0, keys[i]!.length).flatMap((chunk) => chunk?.item.calls ?? [])
    return calls.length === trace.calls ? calls : null
  })
}

/** The trace that a turn leaves, for the commit that ends it. */
export async function turnTraceOps(
  world: World,
  head: Head,
  turn: RunningTurn,
  o: {
    readonly id: string
    readonly ending: Pick<Trace, 'tokens' | 'usd'> & {
      readonly result: Result
      readonly toolCalls: readonly ToolCall[]
    }
    /** What else that commit writes. */
    readonly beside: readonly Op[]
    readonly now: number
  },
): Promise<TraceMade> {
  const { kind, agent, session, schedule, run } = turn.origin
  return await traceOps(
    world,
    {
      id: o.id,
      agent: head.agent,
      session: head.session,
      project: head.project,
      source: 'turn',
      turn: turn.id,
      origin: { kind, agent, session, schedule, run },
      outcome: o.ending.result,
      tokens: o.ending.tokens,
      usd: o.ending.usd,
      startedAt: turn.startedAt,
      at: o.now,
      storedAt: o.now,
    },
    o.ending.toolCalls,
    o.beside,
  )
}
