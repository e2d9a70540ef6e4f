import { path, textOf } from '../api.ts'
import { type Live, useLiveWhole } from '../live.ts'
import type { Message } from '../shapes.ts'

interface Page {
  readonly data: readonly Message[]
  readonly nextCursor: string | null
}

interface Kept extends Page {
  readonly cursor: string | null
  readonly text: string
}

/** A message and the answers to it, oldest first. */
export interface Exchange {
  readonly message: Message
  readonly answers: readonly Message[]
  /** What an answer without its message answers. */
  readonly to: Message | null
}

/** The messages of a conversation, as they are read: answers below what they answer. */
export const useThread = (id: string): Live<readonly Exchange[]> =>
  useLiveWhole(`thread of ${id}`, () => {
    let kept: readonly Kept[] = []
    return async () => {
      kept = await grown(id, kept)
      const messages = kept.flatMap(({ data }) => data)
      return { text: kept.map(({ text }) => text).join('\n'), data: () => exchanges(messages) }
    }
  })

/**
 * Pages that are full and hold nothing that waits will not change any more: only what comes after them is asked for again. The API tells history oldest
 * first, and a look must not cost the whole of it.
 */
async function grown(id: string, before: readonly Kept[]): Promise<readonly Kept[]> {
  const open = before.findIndex(({ data, nextCursor }) => nextCursor === null || data.some(isWaiting))
  const pages = before.slice(0, open === -1 ? before.length : open)
  for (let cursor = pages.at(-1)?.nextCursor ?? null; ; ) {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) })
    const text = await textOf('GET', `${path`/v1/sessions/${id}/messages`}?${query}`)
    const page = JSON.parse(text) as Page
    pages.push({ ...page, cursor, text })
    cursor = page.nextCursor
    if (cursor === null) return pages
  }
}

const isWaiting = ({ status }: Message): boolean => status === 'waiting'

/**
 * A run in a conversation of its own is told in the channel by a note and by its answer (S2-18): the answer stands below the note.
 *
 * S4-11: what a monitor has told the agent is no message of the conversation; the agent's answer to it is.
 */
function exchanges(messages: readonly Message[]): readonly Exchange[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const noteOf = new Map(messages.filter(({ kind }) => kind === 'note').map((one) => [toldBy(one), one] as const))
  const answers = new Map<string, Message[]>()
  const tops: Message[] = []
  for (const message of messages) {
    const to = message.kind === 'answer' ? (byId.get(message.replyTo ?? '') ?? noteOf.get(toldBy(message))) : undefined
    if (to !== undefined && isShown(to)) answers.set(to.id, [...(answers.get(to.id) ?? []), message])
    else if (isShown(message)) tops.push(message)
  }
  return tops.map((message) => ({
    message,
    answers: answers.get(message.id) ?? [],
    to: message.replyTo === null ? null : (byId.get(message.replyTo) ?? null),
  }))
}

/** Where what is told here came from, and when: a note and its answer come in one. */
const toldBy = ({ origin, at }: Message): string => `${origin?.session} ${at}`

const isShown = ({ kind }: Message): boolean => kind !== 'monitor'
