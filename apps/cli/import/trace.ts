import { createHash } from 'node:crypto'
import { canonicalJson, nestsDeeper } from '../../../shared/domain/canonical.ts'
import { limits } from '../../../shared/domain/limits.ts'
import { type Reported, recorded } from '../../../shared/domain/trace.ts'

/** One turn of an agent, as a log of another harness has it. */
export interface Imported {
  /** Where it begins in its file, counted from 1. */
  readonly line: number
  /** What it is told from others by, wherever the file lies and however often it comes. */
  readonly identity: unknown
  readonly outcome: 'ok' | 'failed'
  readonly tokens: number | null
  /** Instants; null where the log has none. */
  readonly startedAt: string | null
  readonly at: string | null
  readonly calls: readonly Reported[]
}

export interface BadLine {
  readonly line: number
  readonly why: string
}

/** What a log has in it. `unfinished`: turns that still waited for a call's result when the log ended. */
export interface Log {
  readonly traces: readonly Imported[]
  readonly bad: readonly BadLine[]
  readonly unfinished: number
  /** Calls that were left out, since they are the work of another agent. */
  readonly ofOthers: number
}

export type Importer = (text: string) => Log

/** A record of a log that is not what its format says. */
export class Unreadable extends Error {}

/** What `POST /v1/traces` takes, within its bounds. @throws Unreadable when there are more calls than a trace holds */
export function bodyOf(trace: Imported, where: { readonly agent: string; readonly project?: string | undefined }) {
  if (trace.calls.length > limits.toolCallsPerTurnMax)
    throw new Unreadable(`${trace.calls.length} tool calls in one turn; a trace holds ${limits.toolCallsPerTurnMax}`)
  const whole = trace.calls.map(sent)
  const calls = size(whole) <= callsBytesMax ? whole : whole.map(withoutResult)
  if (size(calls) > callsBytesMax)
    throw new Unreadable(`the arguments of its ${calls.length} calls take more than 1 MB`)
  return {
    agent: where.agent,
    ...(where.project === undefined ? {} : { project: where.project }),
    ref: createHash('sha256').update(JSON.stringify(trace.identity)).digest('hex'),
    outcome: trace.outcome,
    tokens: trace.tokens,
    startedAt: trace.startedAt,
    at: trace.at,
    calls,
  }
}

/** A body holds 1 MB. */
const callsBytesMax = 1_000_000
const size = (calls: readonly object[]): number => Buffer.byteLength(JSON.stringify(calls))

/** Cut here already: what Rouse would not keep need not travel. */
function sent(call: Reported): Reported {
  const kept = recorded(call)
  return {
    tool: kept.tool,
    status: kept.status,
    ...(kept.argsClipped ? { args: kept.args, argsClipped: true } : { args: JSON.parse(kept.args) as unknown }),
    ...(kept.result === null
      ? {}
      : kept.resultClipped
        ? { result: kept.result, resultClipped: true }
        : { result: JSON.parse(kept.result) as unknown }),
  }
}

const withoutResult = (call: Reported): Reported =>
  call.result === undefined ? call : { ...call, result: '', resultClipped: true }

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** @throws Unreadable */
export function parsedLine(text: string): unknown {
  const value = jsonIn(text)
  if (value === undefined) throw new Unreadable('is not JSON')
  if (nestsDeeper(value, limits.jsonDepthMax)) throw new Unreadable(`nests more than ${limits.jsonDepthMax} deep`)
  return value
}

/** Undefined: it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A file of JSON lines: each line is handed on with its number; what it says is wrong with one is noted.
 *
 * @param broken  told of each bad line: whatever it was part of is not known in full
 */
export function eachLine(
  text: string,
  take: (value: unknown, line: number) => void,
  broken: (line: number) => void = () => {},
): BadLine[] {
  const bad: BadLine[] = []
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue
    try {
      take(parsedLine(line), i + 1)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      bad.push({ line: i + 1, why: error.message })
      broken(i + 1)
    }
  }
  return bad
}

/** A file that is one JSON value, or has one a line. */
export function jsonOrLines(text: string, take: (value: unknown, line: number) => void): BadLine[] {
  const plain = text.replace(/^\ufeff/, '')
  // Most files of lines begin with one that is JSON by itself: they need not be read whole first.
  return jsonIn(plain.slice(0, plain.indexOf('\n') + 1)) !== undefined || jsonIn(plain) === undefined
    ? eachLine(plain, take)
    : eachLine(plain.replaceAll(/[\r\n]/g, ' '), take)
}

/** A tool's name. @throws Unreadable */
export function toolName(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > 200)
    throw new Unreadable('a tool call without the name of its tool')
  return value
}

/** The same for the same calls. */
export const callsIdentity = (calls: readonly Reported[]): string => canonicalJson(calls).text

/** An instant as the API takes it, from epoch ms; null for what is none. */
export function instantOf(ms: unknown): string | null {
  if (typeof ms !== 'number' || !(ms > 0 && ms < 8.64e15)) return null
  return new Date(ms).toISOString()
}
