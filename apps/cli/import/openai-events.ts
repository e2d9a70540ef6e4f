import type { CallStatus, Reported } from '../../../shared/domain/trace.ts'
import { type Fields, isFields, jsonIn, listOf, textOf, toolName, Unreadable } from './trace.ts'

/** What happens in a conversation, the same for both of OpenAI's APIs. */
export type LogEvent = { readonly tokens: number | null } & (
  | { readonly kind: 'user'; readonly text: string }
  /** `settled`: the status of a call that has no result of its own. */
  | {
      readonly kind: 'call'
      readonly id: string
      readonly call: Omit<Reported, 'status'>
      readonly settled: CallStatus | null
      /** The id of the request for approval that it came of. */
      readonly replaces: string | null
    }
  | { readonly kind: 'result'; readonly id: string; readonly status: CallStatus; readonly result: unknown }
  | { readonly kind: 'answer'; readonly text: string; readonly failed: boolean }
)

export const isChat = (entry: Fields): boolean => Array.isArray(entry.messages) || messagesOf(entry).length > 0

/** A request's messages, and the message it was answered with; also where they stand beside each other in a log. */
function messagesOf(entry: Fields): readonly unknown[] {
  const request = [entry.request, entry.body].find(isFields) ?? entry
  const response = isFields(entry.response) ? entry.response : entry
  const choice = listOf(response.choices).find(isFields)
  return [...listOf(request.messages), ...(isFields(choice?.message) ? [choice.message] : [])]
}

/** @throws Unreadable */
export function eventsOfChat(entry: Fields): LogEvent[] {
  const response = isFields(entry.response) ? entry.response : entry
  const events = messagesOf(entry).flatMap((message) => (isFields(message) ? eventsOfMessage(message) : []))
  return withTokens(events, tokensOf(response.usage))
}

function eventsOfMessage(message: Fields): LogEvent[] {
  const { role, tool_calls, tool_call_id } = message
  if (role === 'user') return [{ kind: 'user', text: wordsOf(message.content), tokens: null }]
  if (role === 'tool') {
    const id = textOf(tool_call_id)
    if (id === null) throw new Unreadable('a message of role "tool" without tool_call_id')
    return [resultOf(id, message.content)]
  }
  if (role !== 'assistant') return []
  if (isFields(message.function_call))
    throw new Unreadable('uses function_call, whose place tool_calls has taken, and is not read')
  const calls = listOf(tool_calls).filter(isFields)
  if (calls.length === 0) return [answer(message.content)]
  return calls.map((call) => {
    const id = textOf(call.id)
    if (id === null) throw new Unreadable('a tool call without an id')
    // `type: "custom"` has free text in place of JSON.
    const custom = isFields(call.custom) ? call.custom : null
    const made = custom ?? (isFields(call.function) ? call.function : {})
    const args = custom === null ? argumentsOf(made.arguments) : { args: custom.input ?? '' }
    return {
      kind: 'call',
      id,
      call: { tool: toolName(made.name), ...args },
      settled: null,
      replaces: null,
      tokens: null,
    }
  })
}

export const isItem = (value: Fields): boolean => typeof value.type === 'string' && itemTypes.test(value.type)

const itemTypes =
  /^(message|reasoning|function_call|function_call_output|custom_tool_call|custom_tool_call_output|mcp_list_tools|mcp_approval_request|mcp_approval_response|item_reference|compaction|.+_call|.+_call_output)$/

/** @throws Unreadable */
export function eventsOfItems(items: unknown, response: Fields = {}): LogEvent[] {
  if (typeof items === 'string') return [{ kind: 'user', text: items, tokens: null }]
  const failed = response.status === 'failed' || response.status === 'incomplete' || response.status === 'cancelled'
  const events = listOf(items).flatMap((item) => (isFields(item) ? eventsOfItem(item) : []))
  const told: LogEvent[] = failed ? [{ kind: 'answer', text: '', failed, tokens: null }] : []
  return withTokens([...events, ...told], tokensOf(response.usage))
}

function eventsOfItem(item: Fields): LogEvent[] {
  const { type, role } = item
  const isMessage = type === undefined || type === 'message'
  if (isMessage && role === 'user') return [{ kind: 'user', text: wordsOf(item.content), tokens: null }]
  if (isMessage && role === 'assistant') return [answer(item.content)]
  if (typeof type !== 'string') return []
  const id = textOf(item.call_id) ?? textOf(item.id) ?? textOf(item.approval_request_id)
  if (type.endsWith('_call_output')) {
    if (textOf(item.call_id) === null) throw new Unreadable(`a ${type} without call_id`)
    return [resultOf(id!, item.output, item.status === 'incomplete')]
  }
  if (type === 'mcp_approval_request') return [callOf(id, item, argumentsOf(item.arguments), null)]
  if (type === 'mcp_approval_response')
    return item.approve === false && id !== null
      ? [
          {
            kind: 'result',
            id: textOf(item.approval_request_id) ?? id,
            status: 'denied',
            result: item.reason ?? null,
            tokens: null,
          },
        ]
      : []
  if (!type.endsWith('_call')) return []
  if (type === 'function_call') return [callOf(id, item, argumentsOf(item.arguments), cutOff(item))]
  if (type === 'custom_tool_call') return [callOf(id, item, { args: item.input ?? '' }, cutOff(item))]
  if (type === 'mcp_call') {
    const status = item.error == null && item.status !== 'failed' ? 'ok' : 'failed'
    const made = { ...argumentsOf(item.arguments), result: item.error ?? item.output ?? null }
    return [callOf(id, item, made, status, textOf(item.approval_request_id))]
  }
  // What OpenAI runs itself: nothing that it did may be missing from the trace.
  const { id: _, status, type: __, ...args } = item
  const hasOutput = textOf(item.call_id) !== null
  const settled = hasOutput ? null : status === 'failed' || status === 'incomplete' ? 'failed' : 'ok'
  return [callOf(id, { name: type }, { args }, settled)]
}

const cutOff = (item: Fields): CallStatus | null => (item.status === 'incomplete' ? 'failed' : null)

function callOf(
  id: string | null,
  item: Fields,
  made: Omit<Reported, 'tool' | 'status'>,
  settled: CallStatus | null,
  replaces: string | null = null,
): LogEvent {
  if (id === null) throw new Unreadable('a tool call without an id')
  return { kind: 'call', id, call: { tool: toolName(item.name), ...made }, settled, replaces, tokens: null }
}

/** JSON in a text. A text that is none was cut, or is what a model made up: either way it is not what a tool was called with. */
function argumentsOf(text: unknown): Pick<Reported, 'args' | 'argsClipped'> {
  if (typeof text !== 'string') return { args: text ?? {} }
  if (text === '') return { args: {} }
  const args = jsonIn(text)
  return args === undefined ? { args: text, argsClipped: true } : { args }
}

/** Neither API says whether a tool failed. These are the words of OpenAI's own Agents SDK for it. */
function resultOf(id: string, content: unknown, isCutOff = false): LogEvent {
  const said = wordsOf(content)
  const result = typeof content === 'string' ? (jsonIn(content) ?? content) : (content ?? null)
  const status = said.startsWith('Tool execution was not approved')
    ? 'denied'
    : isCutOff || said.startsWith('An error occurred while running the tool') || isError(result)
      ? 'failed'
      : 'ok'
  return { kind: 'result', id, status, result, tokens: null }
}

/** `{"error": …}` and MCP's `{"isError": true}`. */
const isError = (result: unknown): boolean =>
  isFields(result) &&
  (result.isError === true || (result.error != null && result.error !== false && result.error !== ''))

const answer = (content: unknown): LogEvent => ({ kind: 'answer', text: wordsOf(content), failed: false, tokens: null })

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => (isFields(part) ? (textOf(part.text) ?? '') : ''))
    .join('')
}

function tokensOf(usage: unknown): number | null {
  if (!isFields(usage)) return null
  if (typeof usage.total_tokens === 'number') return usage.total_tokens
  const parts = [usage.input_tokens ?? usage.prompt_tokens, usage.output_tokens ?? usage.completion_tokens]
  return parts.reduce<number>((sum, part) => sum + (typeof part === 'number' ? part : 0), 0)
}

/** What a response cost belongs to the turn that its last event is of. */
const withTokens = (events: readonly LogEvent[], tokens: number | null): LogEvent[] =>
  events.map((event, i) => (i === events.length - 1 ? { ...event, tokens } : event))
