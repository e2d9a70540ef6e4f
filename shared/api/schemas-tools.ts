import * as z from 'zod'
import type { Json } from '../cel/index.ts'
import { isShallow } from '../domain/json.ts'
import { limits } from '../domain/limits.ts'
import type { Step } from '../domain/tool.ts'
import type { ToolInput } from '../engine/tools.ts'
import { text } from './schemas-texts.ts'

/** Tools as callers send them. What the strings say is the engine's to check. */

const words = z.string().min(1).max(8_000)
/** Any JSON: what came in was JSON, and only its depth is looked at. */
const json = z.unknown().refine(isShallow, 'is nested too deep') as unknown as z.ZodType<Json>
const object = z.record(z.string(), z.unknown()).refine(isShallow, 'is nested too deep') as unknown as z.ZodType<{
  readonly [name: string]: Json
}>
const headers = z.record(z.string().max(100), z.string().max(8_000)).optional()

const http = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: words,
  headers,
  body: json.optional(),
})
const document = z
  .strictObject({ get: words.optional(), put: words.optional(), body: json.optional() })
  .refine(({ get, put }) => (get === undefined) !== (put === undefined), 'expected either get or put, with a path')
  .refine(
    ({ put, body }) => (put === undefined) === (body === undefined),
    'expected a body with put, and none with get',
  )

const kinds = {
  http,
  document,
  monitor: object,
  lambda: z.strictObject({ arn: words, payload: json.default({}) }),
  mcp: z.strictObject({ url: words, tool: words.max(200), args: json.default({}), headers }),
  host: z.strictObject({ tool: words.max(200), args: json.default({}) }),
}
const step = z
  .strictObject({
    http: kinds.http.optional(),
    document: kinds.document.optional(),
    monitor: kinds.monitor.optional(),
    lambda: kinds.lambda.optional(),
    mcp: kinds.mcp.optional(),
    host: kinds.host.optional(),
  })
  .refine((given) => Object.keys(given).length === 1, `expected one of ${Object.keys(kinds).join(', ')}`)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how it is written
  .meta({ description: 'one of http, document, monitor, lambda, mcp, host; strings may hold CEL in ${…}' })

const tool = z.strictObject({
  description: text(limits.toolDescriptionCharsMax),
  parameters: object.meta({ description: 'JSON Schema 2020-12 of the arguments' }),
  readOnly: z.boolean().meta({ description: 'true: every step only reads, so that a monitor may watch it' }),
  steps: z.array(step).min(1).max(limits.toolStepsMax),
  output: z
    .string()
    .min(1)
    .max(4_000)
    .nullish()
    .meta({ description: 'CEL over args and steps; else the body of the last step' }),
})

/** One of the kinds in each step has been made sure of. */
export const toolPut = tool as unknown as z.ZodType<ToolInput & { readonly steps: readonly Step[] }>
export const toolCall = z.strictObject({ args: z.unknown().optional() })
