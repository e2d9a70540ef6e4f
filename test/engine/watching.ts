import type { Message } from '../../shared/domain/message.ts'
import type { Call } from '../../shared/engine/call.ts'
import { putDocument, removeDocument } from '../../shared/engine/documents.ts'
import { listCards } from '../../shared/engine/feed-list.ts'
import { listMessages } from '../../shared/engine/message-list.ts'
import { armMonitor, type MonitorInput, monitorFor } from '../../shared/engine/monitors.ts'
import { everything } from './cards.ts'
import type { Room } from './room.ts'

const always = { ifMatch: null, ifNoneMatch: null }

export const put = (room: Room, path: string, value: unknown, over: Partial<Call> = {}) =>
  putDocument(room.call(over), path, { type: 'json', media: 'application/json', text: JSON.stringify(value) }, always)

export const remove = (room: Room, path: string) => removeDocument(room.call(), path, always)

export const arm = (room: Room, input: Partial<MonitorInput> = {}, over: Partial<Call> = {}) =>
  armMonitor(room.call(over), {
    session: room.session,
    note: 'Tell them.',
    watch: { document: { path: 'd' } },
    ...input,
  })

export const shownAs = async (room: Room, id: string) => (await monitorFor(room.call(), id)).item

/** The events in a session, oldest first. */
export async function events(room: Room, session = room.session): Promise<Message[]> {
  const found: Message[] = []
  for (let after: string | null = null; ; ) {
    const page = await listMessages(room.call(), session, { limit: 100, after })
    found.push(...page.items)
    after = page.next
    if (after === null) return found.filter(({ kind }) => kind === 'monitor')
  }
}

/** Why each card of the feed was brought up, and how often. */
export const cards = async (room: Room) =>
  (await listCards(room.call(), everything, { limit: 100, after: null })).items.map(({ card }) => [
    card.reason,
    card.seen,
  ])
