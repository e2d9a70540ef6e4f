import type { Message, MessageKind } from '../domain/message.ts'
import { orderClass } from '../domain/message.ts'
import type { Stored } from '../ports/table.ts'
import type { Call } from './call.ts'
import { loadFront } from './inbox.ts'
import { sessionFor } from './reach.ts'
import { keys } from './store.ts'

/** Messages in the order in which they came; `more`: there are some behind the last one. */
interface Source {
  readonly messages: readonly Message[]
  readonly more: boolean
}

/** Inbox and history of a conversation, oldest first. `after`: an earlier page's `next`. */
export async function listMessages(
  call: Call,
  id: string,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly Message[]; readonly next: string | null }> {
  const { head } = await sessionFor(call, id)
  const { conv } = head.item
  const { after, limit } = page
  const sources = await Promise.all([
    rowsOf(call, conv, 'M#', { limit, from: after === null ? null : `M#${after}~` }),
    ...classes.map((order) => rowsOf(call, conv, `W#${order}#`, { limit, from: waitingAfter(order, after) })),
    withoutRows(call, conv, after),
  ])
  // Of a source that has more only what lies before its last one is known to be whole.
  const ends = sources.flatMap(({ messages, more }) => (more ? [placeOf(conv, messages.at(-1)!)] : []))
  const end = ends.toSorted()[0] ?? null
  const all = sources
    .flatMap(({ messages }) => messages)
    .filter((message) => end === null || placeOf(conv, message) <= end)
    .sort((a, b) => (placeOf(conv, a) < placeOf(conv, b) ? -1 : 1))
  const items = all.slice(0, limit)
  const isMore = all.length > limit || end !== null
  return { items, next: isMore && items.length > 0 ? placeOf(conv, items.at(-1)!) : null }
}

/** Waiting rows stand in the order in which they are claimed, which is by class first. */
const kinds: readonly MessageKind[] = ['user', 'agent', 'tick', 'note']
const classes = [...new Set(kinds.map(orderClass))]

const placeOf = (conv: string, message: Message): string => keys.history(conv, message)[1].slice(2)

/** Where the rows of a class begin that come after a place, which is `<time>#<a or b>#<id>`; an answer stands behind what came with it. */
function waitingAfter(order: string, after: string | null): string | null {
  if (after === null) return null
  const [time, rank, id] = after.split('#')
  return `W#${order}#${time}#${rank === 'b' ? '' : id}~`
}

async function rowsOf(
  call: Call,
  conv: string,
  prefix: string,
  o: { readonly limit: number; readonly from: string | null },
): Promise<Source> {
  const range = { prefix, limit: o.limit, ...(o.from === null ? {} : { from: o.from }) }
  const found = await call.world.table.list(`C#${conv}`, range)
  const rows = found.items as readonly Stored<unknown>[] as readonly Stored<Message>[]
  return { messages: rows.map((row) => row.item), more: found.next !== null }
}

/** Prompts of schedules wait in their cursors, a tick in the head: few, and without rows of their own. */
async function withoutRows(call: Call, conv: string, after: string | null): Promise<Source> {
  const front = await loadFront(call.world, conv)
  const messages = (front?.waiting ?? []).flatMap((candidate) => (candidate.from === 'row' ? [] : [candidate.message]))
  return { messages: messages.filter((message) => after === null || placeOf(conv, message) > after), more: false }
}
