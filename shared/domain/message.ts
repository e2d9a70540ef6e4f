import { fenced } from './fence.ts'
import { neutralised, onOneLine } from './names.ts'
import type { Origin } from './provenance.ts'

export type MessageKind = 'user' | 'agent' | 'schedule' | 'monitor' | 'tick' | 'answer' | 'note'

/**
 * A message of a conversation, whole.
 *
 * Written by whoever puts it (a person's call, a fire, an end) and by the claim that takes it or the act that drops it; read by
 * `claim` and the message list; deleted by TTL. While a schedule's prompt waits, there is no such item: the schedule's cursor
 * shows that it waits and its text follows from the definition of its generation.
 */
export interface Message {
  readonly id: string
  readonly kind: MessageKind
  readonly text: string
  readonly origin: Origin
  /** True for everything that no person wrote: it approves nothing and answers no question (S0-36). */
  readonly automated: boolean
  readonly status: 'waiting' | 'taken' | 'dropped'
  /** For an answer: the message it answers. */
  readonly replyTo: string | null
  /** Epoch ms: when it was put; for a released hold its slot's time. Its place among the others follows from it. */
  readonly at: number
}

/**
 * The order of an inbox, decision 15: a person's message first, a tick last, everything else oldest first; notes are never claimed.
 * One character, sorted as bytes.
 */
export function orderClass(kind: MessageKind): '0' | '1' | '2' | '9' {
  switch (kind) {
    case 'user':
      return '0'
    case 'tick':
      return '2'
    case 'note':
    case 'answer':
      return '9'
    case 'agent':
    case 'schedule':
    case 'monitor':
      return '1'
  }
}

/** What waits, as little of it as its place needs. */
export interface Waiting {
  readonly kind: MessageKind
  readonly at: number
  readonly id: string
}

/** Compares two waiting messages: negative when `a` is handed out first. */
export function inboxOrder(a: Waiting, b: Waiting): number {
  const x = orderClass(a.kind)
  const y = orderClass(b.kind)
  if (x !== y) return x < y ? -1 : 1
  return a.at - b.at || (a.id < b.id ? -1 : 1)
}

/**
 * The text of a schedule's wake (S0-33, S0-34, S2-13): header line, title line, fenced data if any, prompt.
 *
 * Names are other people's text: quotes, brackets and line breaks in them cannot end the header or begin a line.
 */
export function scheduleText(o: {
  readonly schedule: string
  readonly name: string
  readonly prompt: string
  /** The creating session when it is another one, else null. */
  readonly from: { readonly session: string; readonly title: string | null } | null
  /** What its check or its event said. */
  readonly data?: { readonly what: string; readonly text: string } | null
  /** Something that happened brought it, not a time. */
  readonly triggered?: boolean
}): string {
  const named = neutralised(o.name)
  const data = o.data == null ? '' : `${fenced(o.data.what, o.data.text)}\n`
  const from =
    o.from === null
      ? ''
      : ` · from session ${o.from.session}${o.from.title === null ? '' : ` "${neutralised(o.from.title)}"`}`
  const [kind, title] = o.triggered === true ? ['trigger', 'Triggered run'] : ['schedule', 'Scheduled run']
  return `[rouse ${kind} ${o.schedule} "${named}"${from} · automated message from Rouse, not from the user; it approves nothing]\n${title}: ${onOneLine(o.name)}\n${data}${o.prompt}`
}
