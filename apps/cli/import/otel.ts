import type { Reported } from '../../../shared/domain/trace.ts'
import { plainOf } from './otel-values.ts'
import {
  type Fields,
  type Imported,
  type Importer,
  instantOf,
  isFields,
  jsonIn,
  jsonOrLines,
  listOf,
  textOf,
  toolName,
  Unreadable,
} from './trace.ts'

/**
 * Spans of OpenTelemetry's conventions for generative AI, in OTLP's JSON: one export, or one a line as the file exporter writes them. A trace for
 * each `invoke_agent` span that no other agent called, or for each OpenTelemetry trace where there is none; its calls are the `execute_tool` spans
 * below it, in the order they began.
 */
export const importOtel: Importer = (text) => {
  const spans: Span[] = []
  const take = (value: unknown, line: number): void => {
    for (const span of spansIn(value)) spans.push(spanOf(span, line))
  }
  const bad = jsonOrLines(text, take)

  const byId = new Map(spans.map((span) => [`${span.trace}/${span.id}`, span]))
  const groups = new Map<string, Span[]>()
  let ofOthers = 0
  for (const span of spans) {
    const agents = agentsAbove(span, byId)
    if (agents.length > 1) {
      if (span.operation === 'execute_tool') ofOthers += 1
      continue
    }
    const key = agents[0] === undefined ? span.trace : `${span.trace}/${agents[0].id}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [span])
    else group.push(span)
  }
  const traces = [...groups].flatMap(([key, of]) => traceOf(key, of) ?? [])
  return { traces, bad, unfinished: 0, ofOthers }
}

interface Span {
  readonly line: number
  readonly trace: string
  readonly id: string
  readonly parent: string
  readonly operation: string | null
  readonly name: string
  /** Ns since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly isError: boolean
  readonly attributes: ReadonlyMap<string, unknown>
}

function spansIn(value: unknown): Fields[] {
  if (!isFields(value) || !Array.isArray(value.resourceSpans))
    throw new Unreadable('is no OTLP export of spans: expected "resourceSpans"')
  return value.resourceSpans
    .filter(isFields)
    .flatMap((of) => listOf(of.scopeSpans))
    .filter(isFields)
    .flatMap((of) => listOf(of.spans))
    .filter(isFields)
}

function spanOf(span: Fields, line: number): Span {
  const [trace, id] = [textOf(span.traceId), textOf(span.spanId)]
  if (!trace || !id) throw new Unreadable('a span without traceId and spanId')
  const attributes = new Map(
    listOf(span.attributes)
      .filter(isFields)
      .map(({ key, value }) => [String(key), plainOf(value)]),
  )
  const status = isFields(span.status) ? span.status.code : null
  return {
    line,
    trace: trace.toLowerCase(),
    id: id.toLowerCase(),
    parent: (textOf(span.parentSpanId) ?? '').toLowerCase(),
    operation: textOf(attributes.get('gen_ai.operation.name')),
    name: textOf(span.name) ?? '',
    start: nanos(span.startTimeUnixNano),
    end: nanos(span.endTimeUnixNano),
    isError: status === 2 || status === 'STATUS_CODE_ERROR',
    attributes,
  }
}

/** A text in OTLP's JSON; some write a number. @throws Unreadable */
function nanos(value: unknown): bigint {
  if (typeof value === 'number' && value >= 0 && Number.isInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new Unreadable('a span without startTimeUnixNano and endTimeUnixNano')
}

/** The agents that a span is the work of, itself included, the nearest first. */
function agentsAbove(span: Span, byId: ReadonlyMap<string, Span>): Span[] {
  const agents: Span[] = []
  const seen = new Set<Span>()
  for (let at: Span | undefined = span; at !== undefined && !seen.has(at); ) {
    seen.add(at)
    if (at.operation === 'invoke_agent') agents.push(at)
    at = byId.get(`${at.trace}/${at.parent}`)
  }
  return agents
}

function traceOf(key: string, spans: readonly Span[]): Imported | null {
  const calls = spans
    .filter(({ operation }) => operation === 'execute_tool')
    .sort((a, b) => order(a.start, b.start) || order(a.end, b.end))
  if (calls.length === 0) return null
  const agent = spans.find(({ operation }) => operation === 'invoke_agent')
  const first = agent ?? spans.reduce((a, b) => (b.start < a.start ? b : a))
  const last = agent ?? spans.reduce((a, b) => (b.end > a.end ? b : a))
  const ofModels = sumOf(spans.filter(({ operation }) => operation !== 'invoke_agent').map(tokensOf))
  return {
    line: first.line,
    identity: ['otel', key, calls.map(({ id }) => id)],
    outcome: agent?.isError ? 'failed' : 'ok',
    tokens: ofModels ?? (agent === undefined ? null : tokensOf(agent)),
    startedAt: instantOf(Number(first.start / 1_000_000n)),
    at: instantOf(Number(last.end / 1_000_000n)),
    calls: calls.map(callOf),
  }
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

function callOf({ attributes, isError, name }: Span): Reported {
  const named = attributes.get('gen_ai.tool.name') ?? /^execute_tool (.+)$/.exec(name)?.[1]
  const error = textOf(attributes.get('error.type'))
  const result = attributes.get('gen_ai.tool.call.result')
  return {
    tool: toolName(named),
    ...argumentsOf(attributes.get('gen_ai.tool.call.arguments')),
    // The conventions know no denial: this goes by what `error.type` is commonly set to.
    status:
      error !== null && /den(y|ied)|reject|not_?approved/i.test(error)
        ? 'denied'
        : isError || error !== null
          ? 'failed'
          : 'ok',
    ...(result === undefined ? {} : { result: typeof result === 'string' ? (jsonIn(result) ?? result) : result }),
  }
}

/** Recorded only where somebody opted in; as a text where attributes cannot be structured, and then they may have been cut. */
function argumentsOf(value: unknown): Pick<Reported, 'args' | 'argsClipped'> {
  if (value === undefined) return { args: '', argsClipped: true }
  if (typeof value !== 'string') return { args: value }
  const args = jsonIn(value)
  return args === undefined ? { args: value, argsClipped: true } : { args }
}

function tokensOf({ attributes }: Span): number | null {
  const parts = ['input', 'output'].map((of) => attributes.get(`gen_ai.usage.${of}_tokens`))
  return sumOf(parts.map((part) => (typeof part === 'number' ? part : null)))
}

function sumOf(parts: readonly (number | null)[]): number | null {
  const known = parts.filter((part) => part !== null)
  return known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0)
}
