import type { Json } from '../cel/index.ts'
import { parsedJson } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import { onOneLine } from '../domain/names.ts'
import type { DocumentGet, DocumentPut, HttpStep, McpStep, Step, StepResult } from '../domain/tool.ts'
import type { OutboundFailure, OutboundText, World } from '../ports/world.ts'
import type { Call } from './call.ts'
import { getDocument, putDocument } from './documents.ts'
import type { hostStep } from './jobs.ts'
import type { Agent } from './store.ts'

/** What a step comes to. `error`: fit to be shown, but for secrets that others have put into it. */
export type Taken =
  | { readonly ok: true; readonly result: StepResult }
  | { readonly ok: false; readonly error: string; readonly retry: boolean }

/**
 * What a read-only tool never does, brought by whoever lets a tool do it: a monitor looks at tools and a check runs one, so that neither
 * can be built on what arms monitors and sends work to hosts.
 */
export interface Effects {
  /** Arms what a monitor step says. @throws Refused */
  readonly arm: (call: Call, input: { readonly [field: string]: Json }) => Promise<StepResult>
  readonly onHost: typeof hostStep
}

/** What the steps of one run share. */
export interface Stage {
  readonly world: World
  readonly agent: Agent
  /** In whose name documents are read and written. */
  readonly as: Call
  /** The call that the run stands in; null where nobody called: nothing is armed then. */
  readonly call: Call | null
  readonly effects: Effects | null
  /** The same for a repeat of this step of this run. */
  readonly idempotencyKey: string
  readonly timeoutMs: number
}

export const failed = (error: string, retry = false): Taken => ({ ok: false, error, retry })
const done = (result: StepResult): Taken => ({ ok: true, result })

/**
 * Takes one step whose strings are filled in.
 *
 * @throws Refused where a document or a monitor is refused; Unavailable
 */
export async function takeStep(stage: Stage, step: Step): Promise<Taken> {
  if ('http' in step) return await http(stage, step.http)
  if ('document' in step)
    return 'get' in step.document ? await read(stage, step.document) : await write(stage, step.document)
  if ('monitor' in step) return await arm(stage, step.monitor)
  if ('lambda' in step) return await invoke(stage, step.lambda)
  if ('mcp' in step) return await callMcp(stage, step.mcp)
  return await onHost(stage, step.host)
}

async function http({ world, idempotencyKey, timeoutMs }: Stage, step: HttpStep): Promise<Taken> {
  const { method } = step
  const url = worded(step.url)
  if (url === null) return failed('url: expected a text')
  const reads = method === 'GET' || method === 'HEAD'
  const { body = null } = step
  const type = body === null ? null : typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const headers = headersOf(step.headers, {
    ...(type === null ? {} : { 'content-type': type }),
    ...(reads ? {} : { 'idempotency-key': idempotencyKey }),
  })
  if (headers === null) return failed('headers: expected texts')
  const answer = await world.outbound.request({
    method,
    url,
    headers,
    body: body === null || typeof body === 'string' ? body : JSON.stringify(body),
    timeoutMs,
    bytesMax: limits.toolAnswerBytesMax,
    rest: 'fail',
  })
  if (!answer.ok) return failedBy(answer)
  const { status } = answer
  if (status >= 400) {
    const again = status >= 500 || status === 408 || status === 429
    return failed(`${method} ${hostOf(url)} answered ${status}`, again)
  }
  const media = (answer.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isJson = media === 'application/json' || media.endsWith('+json')
  const parsed = isJson ? parsedJson(answer.body) : null
  return done({ status, headers: answer.headers, body: parsed === null ? answer.body : parsed.json })
}

/** A body that is JSON by its type and does not parse stays text: the status counts, and the output says what it needs. */
async function read({ as }: Stage, step: DocumentGet): Promise<Taken> {
  const path = worded(step.get)
  if (path === null) return failed('get: expected a path')
  const { media, text, version } = await getDocument(as, path)
  const parsed = media === 'application/json' ? parsedJson(text) : null
  return done({ path, version, body: parsed === null ? text : parsed.json })
}

async function write({ as }: Stage, step: DocumentPut): Promise<Taken> {
  const { body } = step
  const path = worded(step.put)
  if (path === null) return failed('put: expected a path')
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  if (Buffer.byteLength(text) > limits.documentBytesMax)
    return failed(`a document holds ${limits.documentBytesMax} bytes at most`)
  const kept = typeof body === 'string' ? ({ type: 'text', media: 'text/plain' } as const) : json
  const { version } = await putDocument(as, path, { ...kept, text }, { ifMatch: null, ifNoneMatch: null })
  return done({ path, version, body })
}

const json = { type: 'json', media: 'application/json' } as const

async function invoke({ world, timeoutMs }: Stage, step: { arn: string; payload: Json }): Promise<Taken> {
  const arn = worded(step.arn)
  if (arn === null) return failed('arn: expected a text')
  const payload = JSON.stringify(step.payload)
  return textual(await world.outbound.invoke({ arn, payload, timeoutMs, bytesMax: limits.toolAnswerBytesMax }))
}

async function callMcp({ world, timeoutMs }: Stage, step: McpStep): Promise<Taken> {
  const [url, tool, headers] = [worded(step.url), worded(step.tool), headersOf(step.headers, {})]
  if (url === null || tool === null || headers === null) return failed('url, tool and headers: expected texts')
  const { args } = step
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return failed('args: expected an object')
  const bytesMax = limits.toolAnswerBytesMax
  return textual(
    await world.outbound.mcpCall({ url, tool, headers, args: args as Record<string, Json>, timeoutMs, bytesMax }),
  )
}

async function arm({ call, effects }: Stage, input: { readonly [field: string]: Json }): Promise<Taken> {
  if (call === null || effects === null) return failed('a monitor is armed only where somebody calls the tool')
  // Where the call comes from, unless it says another one.
  return done(await effects.arm(call, call.session === null ? input : { session: call.session, ...input }))
}

async function onHost(
  { world, agent, as, call, effects, timeoutMs }: Stage,
  step: { tool: string; args: Json },
): Promise<Taken> {
  if (effects === null) return failed('work is sent to a host only where somebody calls the tool')
  const tool = worded(step.tool)
  if (tool === null) return failed('tool: expected a text')
  const session = call?.session ?? agent.mainSession
  const timeoutSeconds = Math.max(1, Math.floor(timeoutMs / 1000))
  const ended = await effects.onHost(world, { agent, session, tool, args: step.args, timeoutSeconds, now: as.now })
  if ('failed' in ended) return failed(ended.failed, true)
  if (ended.exit !== 0) return failed(`${tool} failed on the host: ${onOneLine(ended.output).slice(0, 300)}`)
  return textual({ ok: true, text: ended.output })
}

const textual = (answer: OutboundText | OutboundFailure): Taken => {
  if (!answer.ok) return failedBy(answer)
  const parsed = parsedJson(answer.text)
  return done(parsed === null ? answer.text : parsed.json)
}

const failedBy = ({ error, retry }: OutboundFailure): Taken => failed(error, retry)

const hostOf = (url: string): string => new URL(url).host

/** A string that was one expression has the type of its value. */
function worded(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

/** Those that are said win, however they are spelt. */
function headersOf(
  said: HttpStep['headers'],
  otherwise: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | null {
  const own = Object.entries(said ?? {}).map(([name, value]) => [name, worded(value)] as const)
  if (own.some(([, value]) => value === null)) return null
  const names = new Set(own.map(([name]) => name.toLowerCase()))
  const others = Object.entries(otherwise).filter(([name]) => !names.has(name))
  return Object.fromEntries([...others, ...own] as [string, string][])
}
