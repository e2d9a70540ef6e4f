import { limits } from './limits.ts'
import { textFault } from './names.ts'
import { notFound, Refused } from './refused.ts'
import { dirtOf, type ToolCall, type Trace } from './trace.ts'

/** One step of a flow, copied from the traces that proved it (decision 32). */
export interface FlowStep {
  readonly tool: string
  /** Canonical JSON. */
  readonly args: string
  /** Of the tool's definition when the flow was promoted; null where the agent had no registered tool of that name: its own harness has it. */
  readonly hash: string | null
}

/**
 * A promoted flow: the head, without its steps.
 *
 * Written by promotion; read by its calls and by runs; deleted with `DELETE`. Its steps stand in items of their own that are never
 * rewritten: a run that is under way goes on with the steps it began with, though the name stands for others by now.
 */
export interface Flow {
  readonly agent: string
  readonly name: string
  /** `flw_<ULID>`: names these very steps. */
  readonly rev: string
  /** Of the sequence, as traces have it. */
  readonly fingerprint: string
  /** The traces it was promoted from. */
  readonly from: readonly string[]
  readonly steps: number
  /** The first step of each item that holds steps, counted from 0. */
  readonly chunks: readonly number[]
  /** About what the steps take as JSON. */
  readonly bytes: number
  readonly createdAt: number
  /** The person who promoted it. */
  readonly by: string
}

export interface Proof {
  readonly trace: Pick<Trace, 'id' | 'agent' | 'outcome'>
  readonly calls: readonly ToolCall[]
}

/**
 * Whether traces prove a flow: the same tools with the same arguments in the same order, and nothing that went wrong on the way. Nothing is
 * inferred (S1-12). The checks stand in the order of the behaviours, S1-5 to S1-22.
 *
 * @param o.from    ids as they were given; one that stands there twice proves nothing more
 * @param o.proofs  what was found of each id, in order; null: nothing that the caller may see
 * @throws Refused  `flow_needs_two_traces`, `trace_not_found`, `flow_traces_differ`, `flow_no_tool_calls`, `flow_trace_not_clean`,
 *                  `flow_other_agent`, `flow_exists`
 */
export function decidePromotion(o: {
  readonly name: string
  readonly agent: string
  readonly from: readonly string[]
  readonly proofs: readonly (Proof | null)[]
  readonly exists: boolean
  readonly overwrite: boolean
}): readonly ToolCall[] {
  const ids = [...new Set(o.from)]
  if (ids.length < 2)
    throw new Refused(
      'flow_needs_two_traces',
      `could not promote: a flow takes two traces or more that did the same, got ${ids.length === 0 ? 'none' : `only ${shown(ids[0]!, 40)}`}; one alone is no proof`,
    )
  const proofs = o.proofs.map((proof, i) => {
    if (proof === null) throw new Refused('trace_not_found', notFound('trace', o.from[i]!).detail)
    return proof
  })
  const [first, ...others] = proofs as [Proof, ...Proof[]]
  for (const other of others) {
    const difference = differenceOf(first, other)
    if (difference !== null) throw new Refused('flow_traces_differ', `${differ}: ${difference}`)
  }
  if (first.calls.length === 0)
    throw new Refused(
      'flow_no_tool_calls',
      `could not promote: trace ${first.trace.id} made no tool calls, and a flow is nothing else`,
    )
  for (const proof of proofs) assertClean(proof)
  const foreign = proofs.find(({ trace }) => trace.agent !== o.agent)
  if (foreign !== undefined)
    throw new Refused(
      'flow_other_agent',
      `could not promote: trace ${foreign.trace.id} is of agent ${foreign.trace.agent}, not of ${o.agent}; a flow runs in the folder of the agent that proved it`,
    )
  if (o.exists && !o.overwrite)
    throw new Refused(
      'flow_exists',
      `agent ${o.agent} has a flow named "${o.name}" already; choose another name, or say overwrite to replace it`,
    )
  return first.calls
}

/** S1-10, word for word. */
const differ =
  "could not promote: those traces didn't make the exact same tool calls, in the same order, with the same arguments - flows only replay identical sequences"

/** The first step where the second trace does not do what the first one did, in words; null: there is none. */
export function differenceOf(first: Sequence, other: Sequence): string | null {
  const length = Math.max(first.calls.length, other.calls.length)
  for (let i = 0; i < length; i++) {
    const [wanted, got] = [first.calls[i], other.calls[i]]
    if (wanted !== undefined && got !== undefined && wanted.tool === got.tool && wanted.args === got.args) continue
    return `trace ${other.trace.id} differs from ${first.trace.id} at step ${i + 1}: expected ${inWords(wanted)}, got ${inWords(got)}`
  }
  return null
}

/** Calls, and what they are called. */
interface Sequence {
  readonly trace: Pick<Trace, 'id'>
  readonly calls: readonly Pick<ToolCall, 'tool' | 'args'>[]
}

const inWords = (call: Pick<ToolCall, 'tool' | 'args'> | undefined): string =>
  call === undefined ? 'no further call' : `${shown(call.tool, 80)} ${shown(call.args, 160)}`

/** Other people's text inside a message of ours: control and bidi characters out, cut short. */
const shown = (text: string, max: number): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}]/gu, '·')
  return plain.length <= max ? plain : `${plain.slice(0, max - 1).toWellFormed()}…`
}

function assertClean({ trace, calls }: Proof): void {
  const dirt = dirtOf(trace, calls)
  if (dirt === null) return
  const step =
    dirt.step === null ? '' : `step ${dirt.step} of trace ${trace.id} (${shown(calls[dirt.step - 1]!.tool, 80)})`
  const said: Record<typeof dirt.why, string> = {
    denied: `${step} was denied by the agent's own permission gate`,
    failed: `${step} failed`,
    clipped: `the arguments of ${step} were too long to be recorded in full, or hold numbers that JSON does not keep`,
    outcome: `trace ${trace.id} ended ${trace.outcome}`,
  }
  throw new Refused(
    'flow_trace_not_clean',
    `could not promote: ${said[dirt.why]}; a flow is made of traces in which everything went well`,
  )
}

/** The tools of a flow's steps that the agent may not call unasked, each once, in the order of their first step. */
export function needsApproval(steps: readonly Pick<FlowStep, 'tool'>[], autoApprove: readonly string[]): string[] {
  const tools = new Set(steps.map(({ tool }) => tool))
  return [...tools].filter((tool) => !autoApprove.includes(tool))
}

/** Says what is wrong with the name of a flow, or null. It stands in addresses and in command lines. */
export function flowNameFault(name: string): string | null {
  const chars = [...name].length
  if (chars === 0 || chars > limits.nameCharsMax || name.trim() !== name)
    return `expected 1 to ${limits.nameCharsMax} characters without blanks around them`
  if (name === '.' || name === '..' || /[/\\\t\r\n]/.test(name))
    return 'expected a name without "/", "\\" and line breaks'
  return textFault(name)
}
