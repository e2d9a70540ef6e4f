import type { Reported } from '../../../shared/domain/trace.ts'
import {
  callsIdentity,
  eachLine,
  type Fields,
  type Imported,
  type Importer,
  instantOf,
  isFields,
  listOf,
  textOf,
  toolName,
  Unreadable,
} from './trace.ts'

/**
 * Session files of Claude Code, `~/.claude/projects/<folder>/<session>.jsonl`: one trace for each prompt of the user that led to tool calls.
 *
 * There is no published schema. A line is one event; an assistant's message comes as one line for each block, all with its id and a usage
 * that grows; results come as `tool_result` blocks of user lines. Kinds of lines that are not known are passed over.
 */
export const importClaude: Importer = (text) => {
  const turns: Turn[] = []
  const byCall = new Map<string, { readonly turn: Turn; readonly at: number }>()
  let ofOthers = 0
  // A file of a subagent has nothing but side chain; in others, side chains are the work of subagents.
  const isSubagents = !/"isSidechain"\s*:\s*false/.test(text)

  const take = (value: unknown, line: number): void => {
    if (!isFields(value)) throw new Unreadable('is no object')
    const { type, message } = value
    if ((type !== 'user' && type !== 'assistant') || !isFields(message)) return
    const blocks = listOf(message.content).filter(isFields)
    if (value.isSidechain === true && !isSubagents) {
      ofOthers += blocks.filter((block) => block.type === 'tool_use').length
      return
    }
    if (type === 'user' && isPrompt(value, blocks)) {
      const id = textOf(value.promptId)
      if (id === null || turns.at(-1)?.prompt !== id) turns.push(newTurn(value, line))
    }
    const turn = turns.at(-1)
    if (turn === undefined) return
    turn.at = textOf(value.timestamp) ?? turn.at
    if (type === 'user') {
      if (isInterruption(value, blocks)) turn.failed = true
      for (const block of blocks) if (block.type === 'tool_result') takeResult(byCall, value, block)
      return
    }
    turn.failed = value.isApiErrorMessage === true
    const tokens = tokensOf(message.usage)
    if (tokens !== null) turn.tokens.set(textOf(message.id) ?? `line ${line}`, tokens)
    for (const block of blocks) {
      if (block.type !== 'tool_use') continue
      const id = textOf(block.id)
      if (id === null) throw new Unreadable('a tool_use without an id')
      // Lines that stand there twice, since a session was resumed.
      if (byCall.has(id)) continue
      byCall.set(id, { turn, at: turn.calls.length })
      turn.calls.push({ tool: toolName(block.name), args: block.input ?? {}, status: 'failed' })
      turn.pending.add(id)
    }
  }
  const bad = eachLine(text, take, () => {
    const turn = turns.at(-1)
    if (turn !== undefined) turn.broken = true
  })

  const worked = turns.filter(({ calls, broken }) => calls.length > 0 && !broken)
  const isOpen = (turn: Turn): boolean => turn === turns.at(-1) && turn.pending.size > 0 && !turn.failed
  return {
    traces: worked.filter((turn) => !isOpen(turn)).map(traceOf),
    bad,
    unfinished: worked.filter(isOpen).length,
    ofOthers,
  }
}

interface Turn {
  readonly line: number
  readonly prompt: string | null
  readonly uuid: string | null
  readonly startedAt: string | null
  at: string | null
  /** By message, since each of its lines says it again. */
  readonly tokens: Map<string, number>
  readonly calls: Reported[]
  readonly pending: Set<string>
  failed: boolean
  /** A line of it could not be read: a call may be missing. */
  broken: boolean
}

const newTurn = (event: Fields, line: number): Turn => ({
  line,
  prompt: textOf(event.promptId),
  uuid: textOf(event.uuid),
  startedAt: textOf(event.timestamp),
  at: textOf(event.timestamp),
  tokens: new Map(),
  calls: [],
  pending: new Set(),
  failed: false,
  broken: false,
})

function traceOf(turn: Turn): Imported {
  return {
    line: turn.line,
    // A fork and a resumed session have the same turn once more, under the same uuid.
    identity: ['claude', turn.uuid ?? turn.prompt, callsIdentity(turn.calls)],
    outcome: turn.failed || turn.pending.size > 0 ? 'failed' : 'ok',
    tokens: turn.tokens.size === 0 ? null : [...turn.tokens.values()].reduce((sum, tokens) => sum + tokens, 0),
    startedAt: instantOf(Date.parse(turn.startedAt ?? '')),
    at: instantOf(Date.parse(turn.at ?? '')),
    calls: turn.calls,
  }
}

/** What the user said, or what stands for it; not what the harness adds, and not the results of tools. */
function isPrompt(event: Fields, blocks: readonly Fields[]): boolean {
  if (event.isMeta === true || event.isCompactSummary === true || isInterruption(event, blocks)) return false
  const said = isFields(event.message) ? textOf(event.message.content) : null
  if (said !== null) return !/^\s*<(local-command-stdout|local-command-stderr|bash-stdout|bash-stderr)>/.test(said)
  return blocks.length > 0 && blocks.every((block) => block.type !== 'tool_result')
}

function isInterruption(event: Fields, blocks: readonly Fields[]): boolean {
  const said = isFields(event.message) ? textOf(event.message.content) : null
  return [said, ...blocks.map((block) => textOf(block.text))].some((text) =>
    text?.startsWith('[Request interrupted by user'),
  )
}

function takeResult(
  byCall: ReadonlyMap<string, { readonly turn: Turn; readonly at: number }>,
  event: Fields,
  block: Fields,
): void {
  const id = textOf(block.tool_use_id)
  const found = id === null ? undefined : byCall.get(id)
  // The call may stand in a part of the session that is not in this file.
  if (found === undefined || id === null || !found.turn.pending.delete(id)) return
  const call = found.turn.calls[found.at]!
  found.turn.calls[found.at] = { ...call, status: statusOf(event, block), result: resultOf(block.content) }
}

/** `toolDenialKind` says who denied it, in newer versions; older ones only have the words. A call that was cut off was not denied. */
function statusOf(event: Fields, block: Fields): Reported['status'] {
  const kind = textOf(event.toolDenialKind)
  if (kind !== null) return kind === 'interrupted' || kind === 'cancelled' ? 'failed' : 'denied'
  if (block.is_error !== true) return 'ok'
  const said = resultOf(block.content)
  return typeof said === 'string' && denials.some((words) => words.test(said)) ? 'denied' : 'failed'
}

/** Not "… take this action right now": that is a turn that was stopped. */
const denials = [
  /^The user doesn't want to proceed with this tool use/,
  /^Permission (to use|for) .* (has been|was) denied/s,
  /^Claude requested permissions to .*, but you haven't granted it yet/s,
  /^File is in a directory that is denied by your permission settings/,
  /^PreToolUse:\S+ hook error/,
]

/** Text as text; a list of blocks that is more than text as it is. */
function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? ''
  const texts = content.map((block) => (isFields(block) && block.type === 'text' ? textOf(block.text) : null))
  return texts.every((text) => text !== null) ? texts.join('\n') : content
}

/** As `rouse attach` counts: cached input stands beside `input_tokens`. */
function tokensOf(usage: unknown): number | null {
  if (!isFields(usage)) return null
  const counted = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']
  return counted.reduce((sum, name) => sum + (typeof usage[name] === 'number' ? usage[name] : 0), 0)
}
