import type { FlowStep } from '../domain/promote.ts'
import type { ToolCall } from '../domain/trace.ts'
import type { FlowView } from '../engine/flow-items.ts'
import type { Suggestion } from '../engine/flow-suggestions.ts'
import type { TraceView } from '../engine/traces.ts'
import { formatInstant } from '../time/index.ts'

const instant = (at: number | null): string | null => (at === null ? null : formatInstant(at))

export function trace({ trace: t, calls }: TraceView) {
  return {
    id: t.id,
    agent: t.agent,
    session: t.session,
    project: t.project,
    source: t.source,
    turn: t.turn,
    origin: t.origin,
    outcome: t.outcome,
    tokens: t.tokens,
    usd: t.usd,
    startedAt: instant(t.startedAt),
    at: formatInstant(t.at),
    calls: calls.map(call),
  }
}

/** What was clipped goes out as the text that is left, everything else as the JSON it was. */
const call = (c: ToolCall) => ({
  tool: c.tool,
  args: c.argsClipped ? c.args : JSON.parse(c.args),
  status: c.status,
  result: c.result === null || c.resultClipped ? c.result : JSON.parse(c.result),
  clipped: c.argsClipped || c.resultClipped,
  argsClipped: c.argsClipped,
  resultClipped: c.resultClipped,
})

export function flow({ flow: f, steps, needsApproval, shadow = undefined }: FlowView) {
  return {
    name: f.name,
    agent: f.agent,
    steps: steps.map((s) => ({ ...step(s), hash: s.hash })),
    needsApproval,
    from: f.from,
    createdAt: formatInstant(f.createdAt),
    by: f.by,
    shadow: shadow ?? null,
  }
}

const step = ({ tool, args }: Pick<FlowStep, 'tool' | 'args'>) => ({ tool, args: JSON.parse(args) })

export const suggestion = (s: Suggestion) => ({
  fingerprint: s.fingerprint,
  count: s.count,
  tokens: s.tokens,
  usd: s.usd,
  traces: s.traces,
  steps: s.steps.map(step),
  lastAt: formatInstant(s.lastAt),
})
