import type { Reported } from '../../../shared/domain/trace.ts'
import { eventsOfChat, eventsOfItems, isChat, isItem, type LogEvent } from './openai-events.ts'
import {
  callsIdentity,
  type Fields,
  type Imported,
  type Importer,
  instantOf,
  isFields,
  jsonOrLines,
  listOf,
  textOf,
  Unreadable,
} from './trace.ts'

/**
 * Logs of OpenAI's Responses and Chat Completions APIs, JSON or one JSON value a line: requests with their responses, stored completions,
 * conversations, or the bare items of one. A trace for each message of the user that led to tool calls and was answered.
 *
 * A log of every request has each turn many times over, each time a little longer: it counts once, when it has an end.
 */
export const importOpenai: Importer = (text) => {
  const entries: Entry[] = []
  const bad = jsonOrLines(text, (value, line) => {
    // A list is one of entries, or one conversation.
    for (const entry of listOf(value).some(isWhole) ? listOf(value) : [value]) entries.push(entryOf(entry, line))
  })
  const conversations = conversationsIn(entries)
  const finished = new Map<string, Imported>()
  const open = new Map<string, true>()
  for (const { events, line, at } of conversations) {
    for (const turn of turnsOf(events, line)) {
      if (turn.calls.length === 0) continue
      const key = turn.ids.join('\n')
      if (!turn.isOver) {
        open.set(key, true)
        continue
      }
      const trace = traceOf(turn, at)
      const before = finished.get(key)
      if (before === undefined || (before.tokens ?? 0) < (trace.tokens ?? 0)) finished.set(key, trace)
    }
  }
  // The beginning of a turn that stands there whole as well is not unfinished.
  const isBegun = (key: string): boolean =>
    [...finished.keys()].some((whole) => whole === key || whole.startsWith(`${key}\n`))
  return {
    traces: [...finished.values()],
    bad,
    unfinished: [...open.keys()].filter((key) => !isBegun(key)).length,
    ofOthers: 0,
  }
}

/** One value of a log, and what happens in it. */
interface Entry {
  readonly line: number
  readonly events: readonly LogEvent[]
  /** An item or a message by itself: all of them are one conversation. */
  readonly isBare: boolean
  readonly at: string | null
  /** Of a response, and of the one that it goes on from. */
  readonly id: string | null
  readonly previous: string | null
}

/** @throws Unreadable for what is neither a log entry nor a piece of a conversation */
function entryOf(value: unknown, line: number): Entry {
  const entry = { line, isBare: false, at: null, id: null, previous: null }
  if (Array.isArray(value)) return { ...entry, events: value.flatMap(eventsOfOne) }
  if (!isFields(value)) throw new Unreadable('is neither an object nor a list')
  if (!isWhole(value)) return { ...entry, isBare: true, events: eventsOfOne(value) }
  if (isChat(value)) return { ...entry, events: eventsOfChat(value), at: timeOf(value) }
  const { request, response } = partsOf(value)!
  return {
    line,
    isBare: false,
    events: [...eventsOfItems(request.input), ...eventsOfItems(response.output, response)],
    at: timeOf(response),
    id: textOf(response.id),
    previous: textOf(response.previous_response_id ?? request.previous_response_id),
  }
}

const isWhole = (value: unknown): boolean => isFields(value) && (isChat(value) || partsOf(value) !== null)

/** @throws Unreadable */
function eventsOfOne(value: unknown): LogEvent[] {
  if (!isFields(value) || (typeof value.role !== 'string' && !isItem(value)))
    throw new Unreadable(
      'is no log of the Responses or the Chat Completions API: expected "messages", "output", "input", or an item with "type" or "role"',
    )
  const isChatMessage = value.role === 'tool' || value.tool_calls !== undefined || value.function_call !== undefined
  return isChatMessage ? eventsOfChat({ messages: [value] }) : eventsOfItems([value])
}

interface Conversation {
  readonly events: readonly LogEvent[]
  readonly line: number
  readonly at: string | null
}

function conversationsIn(entries: readonly Entry[]): Conversation[] {
  const bare = entries.filter(({ isBare }) => isBare)
  const byResponse = new Map<string, readonly LogEvent[]>()
  return [
    ...(bare.length === 0 ? [] : [{ events: bare.flatMap(({ events }) => events), line: bare[0]!.line, at: null }]),
    ...entries
      .filter(({ isBare }) => !isBare)
      .map(({ line, at, id, previous, events: own }): Conversation => {
        const events = [...(byResponse.get(previous ?? '') ?? []), ...own]
        if (id !== null) byResponse.set(id, events)
        return { events, line, at }
      }),
  ]
}

/** A response by itself, or beside its request. */
function partsOf(entry: Fields): { readonly request: Fields; readonly response: Fields } | null {
  const request = [entry.request, entry.body].find(isFields) ?? entry
  const response = isFields(entry.response) ? entry.response : entry
  return Array.isArray(response.output) || Array.isArray(request.input) ? { request, response } : null
}

const timeOf = (entry: Fields): string | null => {
  const seconds = entry.created_at ?? entry.created ?? (isFields(entry.response) ? entry.response.created : null)
  return typeof seconds === 'number' ? instantOf(seconds * 1000) : null
}

interface Turn {
  readonly line: number
  readonly calls: Reported[]
  /** Of its calls; together they name it. */
  readonly ids: string[]
  readonly said: string[]
  tokens: number | null
  failed: boolean
  isOver: boolean
}

function turnsOf(events: readonly LogEvent[], line: number): Turn[] {
  const turns: Turn[] = []
  const byCall = new Map<string, { readonly turn: Turn; readonly at: number }>()
  const begin = (): Turn => {
    const turn: Turn = { line, calls: [], ids: [], said: [], tokens: null, failed: false, isOver: false }
    turns.push(turn)
    return turn
  }
  const pending = new Set<string>()
  for (const event of events) {
    if (event.kind === 'user') {
      const before = turns.at(-1)
      // Nobody answered, or a call had no result: it went on all the same.
      if (before !== undefined) before.isOver = true
      begin().said.push(event.text)
      continue
    }
    const turn = turns.at(-1) ?? begin()
    if (event.tokens !== null) turn.tokens = (turn.tokens ?? 0) + event.tokens
    if (event.kind === 'call') {
      // What was asked for first, and then allowed: one call.
      const asked = byCall.get(event.replaces ?? '')
      if (asked !== undefined) {
        pending.delete(event.replaces!)
        asked.turn.calls[asked.at] = { ...event.call, status: event.settled ?? 'failed' }
        continue
      }
      byCall.set(event.id, { turn, at: turn.calls.length })
      turn.calls.push({ ...event.call, status: event.settled ?? 'failed' })
      turn.ids.push(event.id)
      if (event.settled === null) pending.add(event.id)
    } else if (event.kind === 'result') {
      const found = byCall.get(event.id)
      if (found === undefined) continue
      pending.delete(event.id)
      found.turn.calls[found.at] = { ...found.turn.calls[found.at]!, status: event.status, result: event.result }
    } else {
      turn.said.push(event.text)
      turn.failed = event.failed
      turn.isOver = turn.ids.every((id) => !pending.has(id))
    }
  }
  for (const turn of turns) if (turn.ids.some((id) => pending.has(id))) turn.failed = true
  return turns
}

const traceOf = (turn: Turn, at: string | null): Imported => ({
  line: turn.line,
  identity: ['openai', turn.ids, turn.said, callsIdentity(turn.calls)],
  outcome: turn.failed ? 'failed' : 'ok',
  tokens: turn.tokens,
  startedAt: null,
  at,
  calls: turn.calls,
})
