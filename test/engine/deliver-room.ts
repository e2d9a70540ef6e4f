import type { Caller } from '../../shared/domain/access.ts'
import { listDeliveries } from '../../shared/engine/deliveries.ts'
import type { EndInput } from '../../shared/engine/turns.ts'
import type { OutboundRequest } from '../../shared/ports/world.ts'
import { addSchedule, claim, end, hour, type Room, start } from './room.ts'

export const hook = 'webhook:https://hooks.example.com/x?token=hidden'
export const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`

/** A schedule whose run has the turn. */
export async function running(room: Room, deliver: readonly string[] = [hook]) {
  const id = (await addSchedule(room, { deliver })).cursor.item.id
  await room.move(start + hour)
  return { id, claimed: await claim(room) }
}
export const ended = async (room: Room, deliver?: readonly string[], over: Partial<EndInput> = {}): Promise<string> => {
  const { id, claimed } = await running(room, deliver)
  await end(room, claimed, { answer: 'All is well.', ...over })
  return id
}
export const personOf = (caller: Caller): string => (caller.kind === 'person' ? caller.person : '')
export const ann = (room: Room): string => personOf(room.ann)
export const sentOf = (room: Room): OutboundRequest[] => room.outside.sent as OutboundRequest[]
export const shown = async (room: Room, id: string) =>
  (await listDeliveries(room.call(), id, { limit: 100, before: null })).items
export const statuses = async (room: Room, id: string) => (await shown(room, id)).map(({ sending }) => sending.status)
export const failing = (error = 'away') => ({ ok: false, reason: 'unreachable', error, retry: true }) as const

export const done = (): EndInput => ({
  outcome: 'ok',
  answer: 'All is well.',
  summary: null,
  tokens: null,
  usd: null,
  toolCalls: [],
  sleep: null,
})
