import { canonicalJson } from './canonical.ts'
import { limits } from './limits.ts'
import type { Origin } from './provenance.ts'
import type { Result } from './schedule.ts'

export const callStatuses = ['ok', 'failed', 'denied'] as const
export type CallStatus = (typeof callStatuses)[number]

/** One tool call of a trace. Arguments and result are canonical JSON, or its beginning where they were clipped. */
export interface ToolCall {
  readonly tool: string
  readonly args: string
  readonly status: CallStatus
  /** Null: none was reported. */
  readonly result: string | null
  /** The arguments are not known in full: too long, or with numbers whose digits JSON readers lose. */
  readonly argsClipped: boolean
  readonly resultClipped: boolean
}

/**
 * What an agent did in one turn, one replay or one turn of another harness: the head, without its calls.
 *
 * Written once, by the end of a turn, of a flow's run, or an import; read by lists and promotion; deleted by TTL.
 */
export interface Trace {
  readonly id: string
  readonly agent: string
  /** The session it ran in; null for an import that names none. */
  readonly session: string | null
  readonly project: string | null
  readonly source: 'turn' | 'flow' | 'import'
  readonly turn: string | null
  /** What woke the agent; null where nobody here knows. */
  readonly origin: Pick<Origin, 'kind' | 'agent' | 'session' | 'schedule' | 'run'> | null
  readonly outcome: Result
  readonly tokens: number | null
  readonly usd: number | null
  /** Epoch ms; null: not known. */
  readonly startedAt: number | null
  /** When it ended, epoch ms. */
  readonly at: number
  /** When it came here: what its retention counts from. An import may be of long ago. */
  readonly storedAt: number
  /** How many calls. */
  readonly calls: number
  /** How many items hold them. */
  readonly chunks: number
  /** About what the calls take as JSON. */
  readonly bytes: number
  /** Of the sequence of tools and arguments, when the trace is clean; else null. */
  readonly fingerprint: string | null
}

/** A call as it is reported. */
export interface Reported {
  readonly tool: string
  /** Any JSON; where `argsClipped`, the beginning of its text. */
  readonly args: unknown
  readonly status: CallStatus
  readonly result?: unknown
  readonly argsClipped?: boolean | undefined
  readonly resultClipped?: boolean | undefined
}

/** Writes a reported call down: in canonical form, and cut where it is longer than `limits.toolCallBytesMax`. */
export function recorded(call: Reported): ToolCall {
  const args = call.argsClipped === true ? beginning(call.args) : canonicalJson(call.args)
  const result =
    call.result === undefined ? null : call.resultClipped === true ? beginning(call.result) : canonicalJson(call.result)
  const [kept, keptResult] = [clipped(args.text), result === null ? null : clipped(result.text)]
  return {
    tool: call.tool,
    args: kept,
    status: call.status,
    result: keptResult,
    argsClipped: !args.exact || kept.length < args.text.length,
    resultClipped: call.resultClipped === true || (keptResult?.length ?? 0) < (result?.text.length ?? 0),
  }
}

/** Text of somebody else's clipping, which may have been cut in the middle of a character. */
const beginning = (of: unknown) => ({
  text: (typeof of === 'string' ? of : canonicalJson(of).text).toWellFormed(),
  exact: false,
})

/** The beginning of a text, at most `limits.toolCallBytesMax` bytes of UTF-8, whole characters. */
function clipped(text: string): string {
  const max = limits.toolCallBytesMax
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 <= max) return text
  let bytes = 0
  let at = 0
  for (const character of text) {
    bytes += utf8(character.codePointAt(0)!)
    if (bytes > max) return text.slice(0, at)
    at += character.length
  }
  return text
}

const utf8 = (code: number): number => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4)

/**
 * Cuts what is too long for one commit: results first, since nothing can be replayed from them, then arguments, both from the end. Every
 * call keeps its tool and its status, unless not even these fit: then the last one that does is marked, so that nobody takes it for the end.
 *
 * @param bytesMax  of all calls, as they are stored
 */
export function fitted(calls: readonly ToolCall[], bytesMax: number): ToolCall[] {
  let left = bytesMax
  const fits = (bytes: number): boolean => {
    if (bytes > left) return false
    left -= bytes
    return true
  }
  const cut = calls.findIndex((call) => !fits(bytesOf({ ...call, args: '', result: null })))
  const named = cut < 0 ? calls : calls.slice(0, cut)
  const withArgs = named.map((call, i) => {
    const isWhole = i !== cut - 1 && fits(storedBytes(call.args))
    return isWhole ? call : { ...call, args: '', argsClipped: true }
  })
  return withArgs.map((call) =>
    call.result === null || fits(storedBytes(call.result)) ? call : { ...call, result: null, resultClipped: true },
  )
}

/** What a call takes in its item, at most: names and brackets of JSON around its texts. */
export const bytesOf = (call: Pick<ToolCall, 'tool' | 'args' | 'result'>): number =>
  110 + storedBytes(call.tool) + storedBytes(call.args) + (call.result === null ? 0 : storedBytes(call.result))

/** Of a text inside a JSON string. */
function storedBytes(text: string): number {
  let bytes = 2
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x22 || unit === 0x5c) bytes += 2
    else if (unit < 0x20) bytes += 6
    else bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
  }
  return bytes
}

/** Cuts a list into pieces that fit an item each, in order. */
export function pieces<T>(list: readonly T[], bytes: (one: T) => number, bytesMax: number): T[][] {
  const out: T[][] = []
  let room = 0
  for (const one of list) {
    const size = bytes(one)
    if (size > room || out.length === 0) {
      out.push([])
      room = bytesMax
    }
    room -= size
    out.at(-1)!.push(one)
  }
  return out
}

/** Why nothing may be replayed from a trace. `step` counts from 1; null: it is the whole. */
export interface Dirt {
  readonly why: 'denied' | 'failed' | 'clipped' | 'outcome'
  readonly step: number | null
}

/** S1-13 to S1-15: the first thing that is not clean, or null. */
export function dirtOf(trace: Pick<Trace, 'outcome'>, calls: readonly ToolCall[]): Dirt | null {
  for (const why of ['denied', 'failed'] as const) {
    const at = calls.findIndex((call) => call.status === why)
    if (at >= 0) return { why, step: at + 1 }
  }
  const at = calls.findIndex((call) => call.argsClipped)
  if (at >= 0) return { why: 'clipped', step: at + 1 }
  return trace.outcome === 'ok' ? null : { why: 'outcome', step: null }
}
