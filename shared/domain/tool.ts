import type { Json } from '../cel/index.ts'
import { limits } from './limits.ts'

/**
 * A registered tool: steps that Rouse itself takes, in order, when the agent or a monitor calls it.
 *
 * Written by its owner's and the agent's calls; read by calls and by monitors that watch it; deleted with `DELETE`.
 */
export interface Tool {
  readonly agent: string
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: { readonly [keyword: string]: Json }
  /** True: no step changes anything anywhere. What a monitor may watch (decision 29). */
  readonly readOnly: boolean
  readonly steps: readonly Step[]
  /** CEL over `args` and `steps`; null: the body of the last step. */
  readonly output: string | null
  /** Of name, parameters, steps and output: the same for a tool that behaves the same (decision 29). */
  readonly hash: string
  /** Counts the writes from 1. */
  readonly version: number
  /** Epoch ms. */
  readonly updatedAt: number
  /** The person or the agent that wrote it. */
  readonly by: string
}

/** One step, as the caller wrote it. Strings inside may hold CEL in `${…}`. */
export type Step =
  | { readonly http: HttpStep }
  | { readonly document: DocumentGet | DocumentPut }
  | { readonly monitor: { readonly [field: string]: Json } }
  | { readonly lambda: { readonly arn: string; readonly payload: Json } }
  | { readonly mcp: McpStep }
  | { readonly host: { readonly tool: string; readonly args: Json } }

export interface HttpStep {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: { readonly [name: string]: string } | undefined
  /** A string goes out as it is, anything else as JSON. */
  readonly body?: Json | undefined
}

export interface DocumentGet {
  readonly get: string
}

export interface DocumentPut {
  readonly put: string
  /** A string is kept as text, anything else as JSON. */
  readonly body: Json
}

export interface McpStep {
  readonly url: string
  readonly tool: string
  readonly args: Json
  readonly headers?: { readonly [name: string]: string } | undefined
}

export type StepKind = 'http' | 'document' | 'monitor' | 'lambda' | 'mcp' | 'host'

/** What a step came to: what later steps and the output see as `steps[i]`. */
export type StepResult = Json

/** Says what is wrong with a tool's name, or null. */
export function toolNameFault(name: string): string | null {
  if (/^[A-Za-z0-9_.-]+$/.test(name) && name.length <= limits.toolNameCharsMax) return null
  return `expected 1 to ${limits.toolNameCharsMax} letters, digits, "_", "-" and "."`
}

/**
 * Why a step may not stand in a read-only tool, or null. What an MCP server says of its tool is not asked here.
 *
 * Decision 29: HTTP GET and HEAD, document get, and an MCP tool that its server calls read-only.
 */
export function writes(step: Step): string | null {
  const only = 'a read-only tool takes http GET or HEAD, document get, and mcp tools annotated readOnlyHint'
  if ('http' in step) {
    const { method } = step.http
    return method === 'GET' || method === 'HEAD' ? null : `http ${method} may change something: ${only}`
  }
  if ('document' in step) return 'get' in step.document ? null : `document put changes a document: ${only}`
  if ('mcp' in step) return null
  const kind = 'monitor' in step ? 'monitor' : 'lambda' in step ? 'lambda' : 'host'
  return `a ${kind} step may change something: ${only}`
}

/** S4-27: whoever watches such a tool is better off with a document watch, which costs no polling. */
export const onlyReadsDocuments = (tool: Pick<Tool, 'steps'>): boolean =>
  tool.steps.length > 0 && tool.steps.every((step) => 'document' in step && 'get' in step.document)
