import { differenceOf, type Flow, type FlowStep } from './promote.ts'
import { type Dirt, dirtOf, type ToolCall, type Trace } from './trace.ts'

/**
 * A flow that is not one yet: it never runs. The agent's next turns that begin as it does are compared with it, and when enough of them did the
 * same it is offered.
 *
 * Written by promotion with `shadow` and by the ends of turns; read by them; deleted when it is offered and answered, or when a turn differs.
 */
export interface Shadow {
  readonly flow: Flow
  /** The tool of its first step: a turn whose first call is of another tool does something else, and says nothing about it. */
  readonly first: string
  /** How many turns have to do the same. */
  readonly wanted: number
  /** How many did. */
  readonly agreed: number
  readonly overwrite: boolean
  readonly approve: boolean
}

export type Compared =
  /** The turn did something else. */
  | { readonly kind: 'apart' }
  | { readonly kind: 'agrees'; readonly shadow: Shadow; readonly offered: boolean }
  /** It began the same and went on otherwise, or went wrong. */
  | { readonly kind: 'differs' }

/** What a turn's trace says about a shadow. One that is offered is asked no more. */
export function compared(shadow: Shadow, trace: Trace, calls: readonly ToolCall[]): Compared {
  if (shadow.agreed >= shadow.wanted || calls[0]?.tool !== shadow.first) return { kind: 'apart' }
  if (trace.fingerprint !== shadow.flow.fingerprint) return { kind: 'differs' }
  const next = { ...shadow, agreed: shadow.agreed + 1 }
  return { kind: 'agrees', shadow: next, offered: next.agreed >= next.wanted }
}

/** Where a turn went another way than the steps, in words. */
export function wayOff(steps: readonly FlowStep[], trace: Trace, calls: readonly ToolCall[]): string {
  const wanted = steps.map(({ tool, args }) => ({ tool, args }))
  const way = differenceOf({ trace: { id: 'the flow' }, calls: wanted }, { trace, calls })
  if (way !== null) return way
  const dirt = dirtOf(trace, calls)
  return dirt === null ? `trace ${trace.id} differs` : dirtInWords(trace, dirt)
}

function dirtInWords({ id, outcome }: Trace, { why, step }: Dirt): string {
  if (step === null) return `trace ${id} ended ${outcome}`
  const said = { denied: 'was denied', failed: 'failed', clipped: 'was too long to be recorded in full', outcome: '' }
  return `step ${step} of trace ${id} ${said[why]}`
}
