import type { Reading, Said } from './format.ts'
import { fieldsOf, JsonLines, listOf, sumOf } from './lines.ts'
import type { Calls, OpenCall } from './tool-calls.ts'

/** Cached input is counted beside `input_tokens`, not within it. */
const counted = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const

/**
 * Reads `claude -p --output-format stream-json --verbose`: a JSON object per line.
 *
 * `assistant` carries `tool_use` blocks and `user` their `tool_result` (also those of subagents); the last is `result`. Whether it failed is
 * `is_error` or a subtype `error_…`: API errors come as subtype `success`, and `error_during_execution` comes with `is_error: false`. That
 * a call was denied stands only in `permission_denials`; its own result is an error like any other.
 */
export function readClaude(calls: Calls): Reading {
  const open = new Map<string, OpenCall>()
  const spent = new Map<string, number>()
  let result: Readonly<Record<string, unknown>> | null = null

  const block = (value: unknown) => {
    const { type, id, name, input, tool_use_id: of, content, is_error: isError } = fieldsOf(value)
    if (typeof type !== 'string') return
    if (/^(\w+_)?tool_use$/.test(type) && typeof id === 'string' && !open.has(id))
      open.set(id, calls.begin(String(name), input))
    if (/^(\w+_)?tool_result$/.test(type) && typeof of === 'string')
      open.get(of)?.end(isError === true || isErrorBlock(content) ? 'failed' : 'ok', textOf(content))
  }
  const lines = new JsonLines((value) => {
    const event = fieldsOf(value)
    const message = fieldsOf(event.message)
    if (event.type === 'result') result = event
    if (event.type !== 'assistant' && event.type !== 'user') return
    for (const each of listOf(message.content)) block(each)
    // One message of the model comes in several lines, a block each, all with the usage of the whole.
    const tokens = event.type === 'assistant' ? sumOf(message.usage, counted) : null
    if (tokens !== null) spent.set(String(message.id), tokens)
  })

  return {
    add: (chunk) => lines.add(chunk),
    end() {
      lines.end()
      for (const denial of listOf(result?.permission_denials)) open.get(String(fieldsOf(denial).tool_use_id))?.deny()
      return result === null ? { ...nothing, tokens: totalOf(spent) } : saidBy(result, totalOf(spent))
    },
  }
}

const nothing: Said = { answer: null, failure: null, isLimit: false, tokens: null, usd: null }

function saidBy(result: Readonly<Record<string, unknown>>, spent: number | null): Said {
  const subtype = String(result.subtype ?? 'success')
  const text = typeof result.result === 'string' ? result.result : null
  const told = { tokens: sumOf(result.usage, counted) ?? spent, usd: sumOf(result, ['total_cost_usd']) }
  if (result.is_error !== true && !subtype.startsWith('error')) return { ...nothing, ...told, answer: text ?? '' }
  const reasons = listOf(result.errors).filter((reason) => typeof reason === 'string')
  const why = [text ?? '', ...reasons].filter((reason) => reason !== '').join('; ')
  const name = subtype === 'success' ? 'error' : subtype
  return {
    ...nothing,
    ...told,
    failure: why === '' ? name : `${name}: ${why}`,
    isLimit: /^error_max_(turns|budget_usd)$/.test(subtype),
  }
}

/** A tool's result is a text, or blocks; those that are no text (images) are named only. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? ''
  return content
    .map((value) => {
      const { type, text } = fieldsOf(value)
      return typeof text === 'string' ? text : `[${String(type)}]`
    })
    .join('\n')
}

const isErrorBlock = (content: unknown): boolean => /_error$/.test(String(fieldsOf(content).type ?? ''))

const totalOf = (spent: ReadonlyMap<string, number>): number | null =>
  spent.size === 0 ? null : [...spent.values()].reduce((sum, n) => sum + n, 0)
