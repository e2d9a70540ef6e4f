import type { Reading } from './format.ts'
import { fieldsOf, JsonLines, listOf, sumOf } from './lines.ts'
import type { Calls, OpenCall, Status } from './tool-calls.ts'

type Item = Readonly<Record<string, unknown>>

/**
 * Reads `codex exec --json`: a JSON object per line.
 *
 * A tool call is an item (`command_execution`, `file_change`, `mcp_tool_call`, `web_search`, `collab_tool_call`) that is started and completed,
 * some only completed; the answer is the last `agent_message`. Cached input is part of `input_tokens`. What a run costs is not told.
 */
export function readCodex(calls: Calls): Reading {
  const open = new Map<string, OpenCall>()
  let answer: string | null = null
  let failure: string | null = null
  let error: string | null = null
  let isComplete = false
  let tokens: number | null = null

  const itemIs = (event: unknown, item: Item) => {
    if (item.type === 'agent_message') answer = String(item.text ?? '')
    const call = callOf(item)
    if (call === null) return
    const id = String(item.id)
    const begun = open.get(id) ?? calls.begin(call.tool, call.args)
    open.set(id, begun)
    if (event !== 'item.completed') return
    begun.end(call.status, call.result)
    open.delete(id)
  }
  const lines = new JsonLines((value) => {
    const event = fieldsOf(value)
    if (String(event.type).startsWith('item.')) itemIs(event.type, fieldsOf(event.item))
    // Also said of a connection that is tried again, so that only the end of the run tells what it was worth.
    if (event.type === 'error') error = String(event.message ?? 'error')
    if (event.type === 'turn.failed') failure = String(fieldsOf(event.error).message ?? 'the turn failed')
    if (event.type !== 'turn.completed') return
    isComplete = true
    tokens = sumOf(event.usage, ['input_tokens', 'output_tokens'])
  })

  return {
    add: (chunk) => lines.add(chunk),
    end() {
      lines.end()
      if (isComplete) return { answer: answer ?? '', failure: null, isLimit: false, tokens, usd: null }
      return { answer, failure: failure ?? error, isLimit: false, tokens, usd: null }
    },
  }
}

interface Call {
  readonly tool: string
  readonly args: unknown
  readonly status: Status
  readonly result: unknown
}

function callOf(item: Item): Call | null {
  const status = statusOf(item)
  switch (item.type) {
    case 'command_execution':
      return {
        tool: item.type,
        args: { command: item.command },
        status,
        result: { exitCode: item.exit_code ?? null, output: item.aggregated_output ?? '' },
      }
    case 'file_change': {
      const changes = listOf(item.changes).map((change) => {
        const { path, kind } = fieldsOf(change)
        return { path, kind }
      })
      return { tool: item.type, args: { changes }, status, result: item.status }
    }
    case 'mcp_tool_call':
      return {
        tool: `mcp__${item.server}__${item.tool}`,
        args: item.arguments ?? {},
        status,
        result: item.result ?? fieldsOf(item.error).message ?? '',
      }
    case 'web_search':
      // What it found goes to the model alone.
      return { tool: item.type, args: { query: item.query }, status, result: undefined }
    case 'collab_tool_call':
      return {
        tool: item.type,
        args: { tool: item.tool, prompt: item.prompt ?? null },
        status,
        result: item.agents_states ?? '',
      }
    default:
      return null
  }
}

/** A declined patch comes as failed, a declined MCP call as an error: only commands say it. */
function statusOf({ status, exit_code: exit }: Item): Status {
  if (status === 'declined') return 'denied'
  return status === 'failed' || (typeof exit === 'number' && exit !== 0) ? 'failed' : 'ok'
}
