import * as z from 'zod'
import type { Tool } from './mcp-tools.ts'

type Schema = { [word: string]: unknown }

/**
 * The JSON Schema of a tool's arguments, made by zod from the one that checks them, and then made small: models read it with every list, and
 * some clients take neither references nor unions with null. What it allows is allowed; what it leaves out (null for "left out", numbers as
 * text) may be, too.
 */
export function inputSchemaOf(tool: Tool): Schema & { type: 'object' } {
  const { $schema: _, $defs: __, ...schema } = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' })
  const small = simplified(schema) as Schema & { properties: Record<string, Schema> }
  for (const [name, description] of Object.entries(tool.fields ?? {})) {
    const field = small.properties[name]
    if (field === undefined) throw new Error(`${tool.name} has no argument ${name} to describe`)
    small.properties[name] = { ...field, description }
  }
  return { ...small, type: 'object' }
}

function simplified(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplified)
  if (typeof value !== 'object' || value === null) return value
  const schema = value as Schema
  // Only any JSON refers to itself.
  if ('$ref' in schema) return {}
  const { anyOf, ...rest } = schema
  const other = Array.isArray(anyOf) ? anyOf.filter((one) => one.type !== 'null') : []
  if (other.length === 1 && (anyOf as unknown[]).length === 2) return simplified({ ...other[0], ...rest })
  return Object.fromEntries(
    Object.entries(schema)
      .map(([word, given]) => [word, simplified(given)] as const)
      .filter(([word, given]) => !isNoise(word, given)),
  )
}

/** What says nothing, or what everybody knows. */
const isNoise = (word: string, given: unknown): boolean =>
  (word === 'propertyNames' && (given as Schema).type === 'string') ||
  // The check itself says in words what does not fit.
  (word === 'pattern' && typeof given === 'string') ||
  ((word === 'maximum' || word === 'minimum') && Math.abs(Number(given)) === Number.MAX_SAFE_INTEGER) ||
  ((word === 'additionalProperties' || word === 'items') &&
    given !== false &&
    Object.keys(Object(given)).every((said) => said === 'description'))
